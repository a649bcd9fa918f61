# SPDX-License-Identifier: MIT
"""Records with images: pack_img and unpack_img of MXNet."""

import os
import struct
import subprocess
import zlib

import numpy as np
import pytest

import loaderx as lx
from loaderx.recordio import IRHeader, pack, pack_img, unpack, unpack_img

pytest.importorskip('loaderx._images', reason='libloaderx was built without images')

from loaderx import images  # noqa: E402

BLUE = np.zeros((8, 16, 3), np.uint8)
BLUE[:, :, 0] = 255    # the first channel, as in OpenCV


def make_photo(channels=3):
    y, x, c = np.ogrid[:40, :56, :channels]
    return np.clip(128 + 60 * np.sin(x / 9 + c) + 60 * np.cos(y / 7 + 2 * c), 0, 255).astype('u1')


@pytest.mark.parametrize('form', ['.jpg', '.JPEG', '.png'])
def test_colours_are_blue_green_red(form):
    record = pack_img(IRHeader(0, 3.0, 17, 9), BLUE, img_fmt=form)
    header, data = unpack(record)
    assert header == (0, 3.0, 17, 9) == unpack_img(record)[0]
    red, green, blue = images.decode(data)[0, 0]
    assert blue > 250 and red < 5 and green < 5
    img = unpack_img(record)[1]
    assert img.flags.c_contiguous and img.flags.writeable
    assert np.abs(img - BLUE.astype(int)).max() < 5


def test_png_is_lossless():
    for img in make_photo(), make_photo(1)[:, :, 0], make_photo(1):
        header, same = unpack_img(pack_img((0, [1, 2, 3], 5, 0), img, img_fmt='.png'))
        np.testing.assert_array_equal(same, img if img.shape[2:] == (3,) else img.reshape(40, 56))
        assert header.label.tolist() == [1, 2, 3]


def test_quality():
    sizes = [len(pack_img((0, 1, 1, 0), make_photo(), quality)) for quality in (10, 50, 95)]
    assert sizes == sorted(sizes) and sizes[2] == len(pack_img((0, 1, 1, 0), make_photo()))


def test_iscolor():
    colour, grey = (pack_img((0, 1, 1, 0), img) for img in (make_photo(), make_photo(1)))
    assert unpack_img(colour)[1].shape == unpack_img(colour, 1)[1].shape == (40, 56, 3)
    assert unpack_img(grey, 1)[1].shape == (40, 56, 3)
    for record, iscolor in (colour, 0), (grey, 0), (grey, -1):
        assert unpack_img(record, iscolor)[1].shape == (40, 56)


def test_orientation():
    """As in OpenCV, -1 returns the pixels as they are stored."""
    png = images.encode(BLUE, 'png')
    exif = b'eXIfMM\0*\0\0\0\10' + struct.pack('>HHHIHHI', 1, 0x112, 3, 1, 6, 0, 0)
    chunk = struct.pack('>I', len(exif) - 4) + exif + struct.pack('>I', zlib.crc32(exif))
    record = pack((0, 1, 1, 0), png[:33] + chunk + png[33:])
    assert unpack_img(record)[1].shape == (8, 16, 3)
    assert unpack_img(record, 1)[1].shape == (16, 8, 3)
    assert unpack_img(record, 0)[1].shape == (16, 8)


def test_wrong_use():
    for form in '.webp', 'jpg', '':
        with pytest.raises(ValueError, match="img_fmt must be '.jpg', '.jpeg' or '.png'"):
            pack_img((0, 1, 1, 0), BLUE, img_fmt=form)
    with pytest.raises(ValueError, match='quality'):
        pack_img((0, 1, 1, 0), BLUE, 101)
    with pytest.raises(ValueError, match='array must be'):
        pack_img((0, 1, 1, 0), np.zeros((4, 4, 4), np.uint8))
    with pytest.raises(TypeError, match='uint8'):
        pack_img((0, 1, 1, 0), BLUE.astype(float))
    record = pack_img((0, 1, 1, 0), BLUE)
    for iscolor in 2, -2, None:
        with pytest.raises(ValueError, match='iscolor'):
            unpack_img(record, iscolor)
    with pytest.raises(ValueError, match='more than max_pixels, 3: raise max_pixels'):
        unpack_img(record, max_pixels=3)
    with pytest.raises(ValueError, match='24'):
        unpack_img(record[:20])
    with pytest.raises(lx.CorruptError, match='0 bytes'):
        unpack_img(record[:24])
    with pytest.raises(lx.CorruptError):
        unpack_img(record[:200])
    with pytest.raises(lx.LoaderxError, match='not a JPEG, PNG or WebP'):
        unpack_img(pack((0, 1, 1, 0), b'image'), 1)
    header = struct.pack('>IIBBBBB', 1, 1, 8, 6, 0, 0, 0)    # with alpha
    png = b'\x89PNG\r\n\x1a\n'
    for kind, data in ((b'IHDR', header), (b'IDAT', zlib.compress(b'\0' + b'\x05' * 4)),
                       (b'IEND', b'')):
        png += struct.pack('>I', len(data)) + kind + data
        png += struct.pack('>I', zlib.crc32(kind + data))
    record = pack((0, 1, 1, 0), png)
    with pytest.raises(ValueError, match='has alpha or 16 bits.*iscolor=1 or 0'):
        unpack_img(record)
    assert unpack_img(record, 1)[1].tolist() == [[[5, 5, 5]]]


# Run by a Python that has MXNet and OpenCV: packs the images, and unpacks our records.
PEER = """
import sys
import numpy as np
from mxnet import recordio
if recordio.cv2 is None: sys.exit(77)
for name in sys.argv[1:]:
    img = np.load(name + '.npy')
    for form, quality in ('.jpg', 80), ('.png', 3):
        with open(name + form + '.theirs', 'wb') as file:
            file.write(recordio.pack_img((0, [1, 2], 7, 0), img, quality, form))
        for iscolor in -1, 0, 1:
            with open(name + form + '.ours', 'rb') as file:
                header, pixels = recordio.unpack_img(file.read(), iscolor)
            assert header.id == 7 and list(header.label) == [1, 2]
            np.save(name + form + str(iscolor), pixels)
"""


def test_images_are_those_of_mxnet(tmp_path, monkeypatch):
    peer = os.environ.get('MXNET_PYTHON')
    if peer is None:
        pytest.skip('MXNET_PYTHON is not set to a Python that has MXNet 1.x and OpenCV')
    monkeypatch.chdir(tmp_path)
    arrays = {'colour': make_photo(), 'grey': make_photo(1)[:, :, 0]}
    for name, img in arrays.items():
        np.save(name, img)
        for form, quality in ('.jpg', 80), ('.png', 3):
            (tmp_path / f'{name}{form}.ours').write_bytes(
                pack_img((0, [1, 2], 7, 0), img, quality, form))
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([peer, '-c', PEER, *arrays], env=environment, stderr=subprocess.PIPE,
                          timeout=120)
    if done.returncode == 77:
        pytest.skip('the Python of MXNET_PYTHON has no OpenCV, which pack_img of MXNet needs')
    assert done.returncode == 0, done.stderr.decode()
    for name in arrays:
        for form in '.jpg', '.png':
            ours, theirs = ((tmp_path / f'{name}{form}.{whose}').read_bytes()
                            for whose in ('ours', 'theirs'))
            assert unpack(ours)[0][2:] == unpack(theirs)[0][2:] == (7, 0)
            for iscolor in -1, 0, 1:
                read = unpack_img(ours, iscolor)[1]
                np.testing.assert_array_equal(read, unpack_img(theirs, iscolor)[1])
                by_peer = np.load(f'{name}{form}{iscolor}.npy')
                assert read.shape == by_peer.shape
                # Grey of a PNG is computed from its colours, and rounded in another way.
                assert np.abs(read.astype(int) - by_peer).max() <= (form == '.png' and iscolor == 0)
