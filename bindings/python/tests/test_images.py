# SPDX-License-Identifier: MIT
"""Decoding of images: arguments, errors, regions. test_images_pillow.py compares the pixels."""

import struct
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images', reason='libloaderx was built without images')

from loaderx import images  # noqa: E402
from processes import run_script  # noqa: E402


def make_png(pixels, exif=b''):
    """Return a PNG file of an array (height, width, 3) of uint8."""
    height, width, _ = pixels.shape

    def chunk(kind, data):
        checksum = struct.pack('>I', zlib.crc32(kind + data))
        return struct.pack('>I', len(data)) + kind + data + checksum

    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header)
            + (chunk(b'eXIf', exif) if exif else b'')
            + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


PIXELS = np.random.default_rng(1).integers(0, 256, (19, 31, 3), np.uint8)
PNG = make_png(PIXELS)
TURNED = make_png(PIXELS, b'MM\0*\0\0\0\10' + struct.pack('>HHHIHHI', 1, 0x112, 3, 1, 6, 0, 0))


def test_reads_the_header():
    assert images.info(PNG) == ('png', 31, 19, 3, 8, 1)
    assert images.info(TURNED) == images.ImageInfo('png', 19, 31, 3, 8, 6)
    assert images.info(TURNED, exif=False).width == 31


def test_decodes_and_turns():
    np.testing.assert_array_equal(images.decode(PNG), PIXELS)
    np.testing.assert_array_equal(images.decode(TURNED), np.rot90(PIXELS, -1))
    np.testing.assert_array_equal(images.decode(TURNED, exif=False), PIXELS)


@pytest.mark.parametrize('data', [
    bytearray(PNG), memoryview(PNG), np.frombuffer(PNG, np.uint8),
    np.frombuffer(b'x' + PNG + b'y', np.int8)[1:-1]], ids=lambda data: type(data).__name__)
def test_takes_bytes_and_arrays(data):
    np.testing.assert_array_equal(images.decode(data), PIXELS)


@pytest.mark.parametrize('data, error', [
    ('text', TypeError), (None, TypeError), (3, TypeError), (np.zeros(30), TypeError),
    (np.zeros((2, 4), np.uint8), TypeError), (np.uint8(3), TypeError),
    (np.zeros(40, np.uint8)[::2], (ValueError, BufferError))])
def test_refuses_other_data(data, error):
    with pytest.raises(error):
        images.decode(data)


def test_decodes_regions():
    for left, top, width, height in [(0, 0, 1, 1), (3, 4, 20, 10), (30, 18, 1, 1), (0, 5, 31, 2)]:
        part = images.decode(PNG, region=(left, top, width, height))
        np.testing.assert_array_equal(part, PIXELS[top:top + height, left:left + width])
    for region in [(0, 0, 32, 1), (31, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2**32 - 1), (-1, 0, 1, 1),
                   (0, 0, 1), 'abcd', (0, 0, 1, 2**40)]:
        with pytest.raises((ValueError, TypeError), match='region'):
            images.decode(PNG, region=region)


def test_decodes_into_an_array():
    batch = np.zeros((2, 19, 40, 3), np.uint8)
    out = batch[1, :, 4:35]
    assert images.decode(PNG, out=out) is out
    np.testing.assert_array_equal(batch[1, :, 4:35], PIXELS)
    assert not batch[0].any() and not batch[1, :, :4].any() and not batch[1, :, 35:].any()
    grey = np.zeros((19, 31), np.uint8)
    images.decode(PNG, mode='L', out=grey)
    assert grey.any()


@pytest.mark.parametrize('out', [
    np.zeros((19, 30, 3), np.uint8), np.zeros((31, 19, 3), np.uint8), np.zeros((19, 31), np.uint8),
    np.zeros((19, 31, 4), np.uint8), np.zeros((19, 62, 3), np.uint8)[:, ::2],
    np.zeros((19, 31, 3), np.uint8)[::-1], np.zeros((3, 19, 31), np.uint8).transpose(1, 2, 0)])
def test_refuses_an_array_that_does_not_fit(out):
    with pytest.raises(ValueError, match='out must have 19 rows of 31 pixels'):
        images.decode(PNG, out=out)


def test_refuses_wrong_arguments():
    with pytest.raises(TypeError, match='uint8'):
        images.decode(PNG, out=np.zeros((19, 31, 3), np.int8))
    with pytest.raises(ValueError, match='mode'):
        images.decode(PNG, mode='RGBA')
    with pytest.raises(ValueError, match='scale must be 1, 2, 4 or 8, not 3'):
        images.decode(PNG, scale=3)
    with pytest.raises(lx.LoaderxError, match='only JPEG images'):
        images.decode(PNG, scale=2)
    with pytest.raises(TypeError, match='exif'):
        images.decode(PNG, exif=1)
    frozen = np.zeros((19, 31, 3), np.uint8)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        images.decode(PNG, out=frozen)


def test_names_what_is_wrong():
    with pytest.raises(lx.CorruptError, match='0 bytes'):
        images.decode(b'')
    with pytest.raises(lx.LoaderxError, match='but GIF: convert it .* 47 49 46 38') as caught:
        images.info(b'GIF89a' + bytes(20))
    assert caught.value.status == 'LX_ERR_UNSUPPORTED'
    size = len(PNG) - 30
    with pytest.raises(lx.CorruptError, match=f'at byte {size} of {size}: the file ends too early'):
        images.decode(PNG[:size])
    with pytest.raises(ValueError, match='31 x 19 pixels, more than max_pixels, 588: raise'):
        images.decode(PNG, max_pixels=588)
    assert images.decode(PNG, max_pixels=589).shape == (19, 31, 3)


def test_survives_changed_bytes():
    generator = np.random.default_rng(2)
    for _ in range(300):
        data = np.frombuffer(PNG, np.uint8).copy()
        data[generator.integers(0, len(data), 3)] = generator.integers(0, 256, 3)
        try:
            assert images.decode(data, max_pixels=10_000).dtype == np.uint8
        except (lx.LoaderxError, ValueError):
            pass


def test_decodes_in_threads():
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(images.decode(PNG), PIXELS):
                wrong.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_importing_the_package_does_not_load_the_codecs():
    code = ('import loaderx; text = open("/proc/self/maps").read(); '
            'print("libjpeg" in text, "libloaderx-image" in text)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ['False', 'False']


def test_says_that_the_library_has_no_images():
    code = ('import sys; import loaderx\n'
            'class Finder:\n'
            '    def find_spec(self, name, path=None, target=None):\n'
            '        if name == "loaderx._images":\n'
            '            raise ModuleNotFoundError(name=name)\n'
            'sys.meta_path.insert(0, Finder())\n'
            'import loaderx.images')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False)
    assert 'ImportError: libloaderx was installed without images: install libjpeg' in done.stderr


def make_grey(bits):
    """Return a PNG file of 2 x 2 zeros."""
    def chunk(kind, data):
        checksum = struct.pack('>I', zlib.crc32(kind + data))
        return struct.pack('>I', len(data)) + kind + data + checksum

    header = struct.pack('>IIBBBBB', 2, 2, bits, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1 + 2 * bits // 8) * 2)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', rows)
            + chunk(b'IEND', b''))


@pytest.mark.parametrize('way', ['images.decode(file)', 'train[0]', 'next(lx.Loader(train))'])
def test_16_bits_are_reduced_with_one_warning(way, tmp_path):
    """The values of a depth map would be lost unnoticed."""
    printed = run_script(f"""
    import logging
    from loaderx import images
    logging.basicConfig(format='%(message)s', stream=sys.stdout, level=logging.WARNING)
    for name, file in ('8', {make_grey(8)}), ('16', {make_grey(16)}):
        images.info(file)
        with lx.create({str(tmp_path)!r} + '/' + name, {{'image': lx.Field('image')}}) as writer:
            writer.extend(image=[file])
        train = images.ImageDataset({str(tmp_path)!r} + '/' + name, [images.Resize((2, 2))])
        print('read')
        for turn in range(2):
            {way}
            print('done')
    """)
    lines = printed.splitlines()
    assert lines[:4] == ['read', 'done', 'done', 'read'] and lines[5:] == ['done', 'done']
    assert lines[4].startswith('a PNG image of 16 bits was decoded to 8')
