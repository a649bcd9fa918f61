#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/unit/image/pixel/pillow.h: what Pillow makes of some images.

Needs Pillow before 13, which resizes these images horizontally first. With --check, compares the
output with a file instead.
"""
import sys

try:
    import PIL
    from PIL import Image
except ImportError:
    print("Pillow not found")
    sys.exit(77)

# Pillow's numbers of nearest, box, bilinear, hamming, bicubic and lanczos.
FILTERS = (0, 4, 2, 5, 3, 1)

# Width, height, new width, new height, box.
CASES = [
    (1, 1, 7, 5, None),
    (1, 40, 9, 3, None),
    (3, 2, 50, 41, None),
    (17, 13, 17, 13, None),
    (17, 13, 17, 13, (1, 2, 16.5, 12.25)),
    (17, 13, 17, 20, None),
    (17, 13, 30, 13, None),
    (64, 48, 33, 31, None),
    (64, 48, 32, 24, (3, 5, 45, 40)),
    (90, 70, 4, 3, (0.3, 20.7, 89.1, 69.9)),
    (301, 233, 224, 224, None),
    (1500, 2, 3, 1, None),
    (3, 250, 2, 7, None),
]


def make_image(width, height, channels):
    """Return the image of the C test: random bytes, most of them 0 or 255."""
    state, pixels = width * 1000 + height * 10 + channels, bytearray()
    for _ in range(width * height * channels):
        state = (state * 1103515245 + 12345) & 0xFFFFFFFF
        byte = state >> 16 & 0x1FF
        pixels.append(0 if byte < 128 else 255 if byte >= 384 else byte - 128)
    return Image.frombytes("L" if channels == 1 else "RGB", (width, height), bytes(pixels))


def hash_of(pixels):
    """Return the FNV-1a hash of bytes."""
    value = 0x811C9DC5
    for byte in pixels:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def lines():
    """Yield the lines of the file."""
    yield "/* SPDX-License-Identifier: MIT */"
    yield "/* Written by tests/golden/resizes.py: the hashes of images that Pillow resized. */"
    yield "/* clang-format off */"
    for width, height, new_width, new_height, box in CASES:
        for channels in (1, 3):
            image = make_image(width, height, channels)
            hashes = []
            for number in FILTERS:
                resized = image.resize((new_width, new_height), number, box=box)
                hashes.append(f"0x{hash_of(resized.tobytes()):08x}")
            edges = ", ".join(map(str, box or (0, 0, width, height)))
            yield f"{{{width}, {height}, {channels}, {new_width}, {new_height}, {{{edges}}},"
            yield f" {{{', '.join(hashes)}}}}},"


if __name__ == "__main__":
    if int(PIL.__version__.split(".")[0]) >= 13:
        print("Pillow", PIL.__version__, "may resize vertically first")
        sys.exit(77)
    text = "\n".join(lines()) + "\n"
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="ascii") as file:
            sys.exit(0 if file.read() == text else "the file differs from what Pillow makes")
    print(text, end="")
