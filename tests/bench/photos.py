#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cut photographs into small JPEG files, for the benchmark of images.

    photos.py FOLDER [COUNT]

The photographs are the wallpapers of Debian's package mate-backgrounds. Each file is a random part
of one of them, resized to 500 x 400 pixels and saved with quality 90 by Pillow. The same files come
out each time.
"""
import glob
import os
import random
import sys

from PIL import Image

WALLPAPERS = '/usr/share/backgrounds/mate/nature/*.jpg'
SIZE = 500, 400


def cut(photo, chance):
    """Return a random part with the proportions of SIZE."""
    most = min(photo.width / SIZE[0], photo.height / SIZE[1])
    scale = most * chance.uniform(0.4, 1)
    width, height = SIZE[0] * scale, SIZE[1] * scale
    left, top = chance.uniform(0, photo.width - width), chance.uniform(0, photo.height - height)
    return photo.resize(SIZE, Image.BICUBIC, (left, top, left + width, top + height))


def main(folder, count='256'):
    """Write the files."""
    paths = sorted(glob.glob(WALLPAPERS))
    if not paths:
        sys.exit('photos.py: no photographs: install mate-backgrounds')
    photos = [Image.open(path).convert('RGB') for path in paths]
    chance = random.Random(1)
    os.makedirs(folder, exist_ok=True)
    for number in range(int(count)):
        part = cut(photos[number % len(photos)], chance)
        part.save(os.path.join(folder, '%05d.jpg' % number), quality=90)


if __name__ == '__main__':
    main(*sys.argv[1:])
