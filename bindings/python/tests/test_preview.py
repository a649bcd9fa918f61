# SPDX-License-Identifier: MIT
"""The HTML table of a dataset in notebooks: its content, its escaping, and its limits."""

import base64
import html.parser
import re
import struct
import sys
import zlib

import numpy as np
import pytest

import loaderx as lx
from loaderx.sources import preview

GREY = np.arange(64 * 28 * 28, dtype=np.uint8).reshape(64, 28, 28)


def create(path, fields, **columns):
    with lx.create(path, fields) as writer:
        if columns:
            writer.extend(columns)
    return lx.open(path)


class Cells(html.parser.HTMLParser):
    """The texts of the cells, and the images, of a table whose tags are all closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.images = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag == 'img':
            self.images.append(dict(attributes))
        if tag in ('img', 'br'):
            return
        self.open.append(tag)
        if tag == 'tr':
            self.rows.append([])
        if tag in ('td', 'th'):
            self.rows[-1].append('')

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if 'td' in self.open or 'th' in self.open:
            self.rows[-1][-1] += data


def decode(image):
    """Decode an image of the preview with an independent reader of PNG."""
    content = base64.b64decode(image['src'].partition('data:image/png;base64,')[2])
    assert content[:8] == b'\x89PNG\r\n\x1a\n'
    chunks, place = {}, 8
    while place < len(content):
        size, = struct.unpack_from('>I', content, place)
        kind, data = content[place + 4:place + 8], content[place + 8:place + 8 + size]
        assert struct.unpack_from('>I', content, place + 8 + size)[0] == zlib.crc32(kind + data)
        chunks[kind] = data
        place += 12 + size
    width, height, depth, colour = struct.unpack('>IIBB', chunks[b'IHDR'][:10])
    assert depth == 8 and (str(width), str(height)) == (image['width'], image['height'])
    lines = np.frombuffer(zlib.decompress(chunks[b'IDAT']), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape((height, width, 3) if colour == 2 else (height, width))


def test_shows_the_first_records(tmp_path):
    fields = {'image': lx.Field('uint8', (28, 28)), 'label': lx.Field('int64'),
              'point': lx.Field('float32', (2,)), 'text': lx.Field(bytes)}
    ds = create(tmp_path / 'd', fields, image=GREY[:7], label=range(7),
                point=np.arange(14, dtype='f4').reshape(7, 2),
                text=['häßlich'.encode(), b'\xff\0', b'', None, b'y' * 100, b'', b''])
    text = ds._repr_html_()
    assert f'<code>{tmp_path}/d</code>: 7 records (the first 5 are shown)' in text
    table = Cells(text)
    assert table.rows == [
        ['', 'imageuint8[28, 28]', 'labelint64', 'pointfloat32[2]', 'textbytes'],
        ['0', '', '0', '[0., 1.]', 'häßlich'],
        ['1', '', '1', '[2., 3.]', "b'\\xff\\x00'"],
        ['2', '', '2', '[4., 5.]', ''],
        ['3', '', '3', '[6., 7.]', 'missing'],
        ['4', '', '4', '[8., 9.]', 'y' * 80 + '…']]
    assert [np.array_equal(decode(image), GREY[i]) for i, image in enumerate(table.images)] == [
        True] * 5


@pytest.mark.parametrize('shape', [(8, 20), (8, 9, 1), (8, 9, 3), (64, 64, 3), (200, 70, 3),
                                   (65, 8)])
def test_images_are_shown_small(tmp_path, shape):
    pixels = np.random.default_rng(1).integers(0, 256, (1, *shape), np.uint8)
    image, = Cells(create(tmp_path / 'd', {'x': lx.Field('uint8', shape)}, x=pixels)
                   ._repr_html_()).images
    step = -(-max(shape[:2]) // 64)
    wanted = pixels[0, ::step, ::step]
    got = decode(image)
    assert max(got.shape[:2]) <= 64
    assert np.array_equal(got, wanted[..., 0] if shape[2:] == (1,) else wanted)


@pytest.mark.parametrize('dtype, shape', [('uint8', (28, 28, 2)), ('uint8', (784,)),
                                          ('uint8', (3, 28)), ('int8', (28, 28)),
                                          ('uint8', (2, 28, 28))])
def test_other_arrays_are_no_images(tmp_path, dtype, shape):
    ds = create(tmp_path / 'd', {'x': lx.Field(dtype, shape)}, x=np.zeros((1, *shape), dtype))
    table = Cells(ds._repr_html_())
    assert table.images == [] and '0' in table.rows[1][1]


def test_image_files_are_shown_small(tmp_path, monkeypatch):
    pytest.importorskip('loaderx._images', reason='libloaderx was built without images')
    from loaderx import images
    pixels = np.random.default_rng(1).integers(0, 256, (50, 200, 3), np.uint8)
    large = images.encode(np.zeros((4097, 4096), np.uint8), 'png')
    files = [images.encode(pixels, 'png'), images.encode(pixels[:, :, 0]), b'GIF89a<',
             b'\xff\xd8\xff', large]
    ds = create(tmp_path / 'd', {'x': lx.Field('image')}, x=files)
    table = Cells(ds._repr_html_())
    assert np.array_equal(decode(table.images[0]), pixels[::4, ::4])
    assert decode(table.images[1]).shape == (13, 50, 3) and len(table.images) == 2
    cells = [row[1] for row in table.rows[1:]]
    assert cells[:2] == ['png 200 x 50, colour', 'jpeg 200 x 50, grey']
    assert cells[2].startswith('7 bytes: the image is not a JPEG, PNG or WebP')
    assert cells[3].startswith('3 bytes: ')
    assert re.match('[0-9,]+ bytes: the image has 4096 x 4097 pixels, more than', cells[4])
    monkeypatch.setitem(sys.modules, 'loaderx._images', None)
    assert Cells(ds._repr_html_()).rows[3] == ['2', '7 bytes']


def test_large_values_are_not_read(tmp_path, monkeypatch):
    fields = {'dense': lx.Field('float32', (2000,)), 'image': lx.Field('uint8', (1024, 1024)),
              'text': lx.Field(bytes, compress='flate'), 'label': lx.Field('int64')}
    ds = create(tmp_path / 'd', fields, dense=np.zeros((9, 2000), 'f4'), label=range(9),
                image=np.zeros((9, 1024, 1024), 'u1'), text=[b'x' * 5000] * 9)
    read = []

    class Reading:
        path = ds.path
        _sizes = ds._sizes

        def __len__(self):
            return len(ds)

        def _get(self, name, row):
            read.append((name, row))
            return ds._get(name, row)

    text = preview.preview(Reading(), ds.fields)
    assert text == ds._repr_html_() and read == [('label', i) for i in range(5)]
    assert Cells(text).rows[1] == ['0', '8,000 bytes', '1,048,576 bytes', '5,000 bytes', '0']


def test_the_page_stays_small(tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (5, 256, 256, 3), np.uint8)
    fields = {f'image{i}': lx.Field('uint8', (256, 256, 3)) for i in range(30)}
    ds = create(tmp_path / 'd', fields, **dict.fromkeys(fields, noise))
    text = ds._repr_html_()
    assert '5 records (the first 12 of 30 fields)' in text and len(text) < 1_200_000
    assert [len(row) for row in Cells(text).rows] == [13] * 6


def test_escapes_everything(tmp_path):
    hostile = b'<script>alert("x")</script>&amp;<img src=x>'
    folder = tmp_path / '<b>&'
    folder.mkdir()
    text = create(folder / 'd', {'x': lx.Field(bytes)}, x=[hostile])._repr_html_()
    assert '<script' not in text and '<b>' not in text and Cells(text).images == []
    assert Cells(text).rows[1][1] == hostile.decode()


def test_empty_and_closed_datasets(tmp_path):
    ds = create(tmp_path / 'd', {'x': lx.Field('int64')})
    assert Cells(ds._repr_html_()).rows == [['', 'xint64']]
    ds.close()
    assert re.fullmatch('<code>&lt;loaderx.Dataset .*closed&gt;</code>', ds._repr_html_())


@pytest.mark.parametrize('on_damage, text', [('raise', 'damaged'), ('zeros', 'missing')])
def test_damage_is_shown(tmp_path, on_damage, text):
    create(tmp_path / 'd', {'x': lx.Field(bytes)}, x=[b'a' * 100, b'b' * 100]).close()
    chunk = next((tmp_path / 'd' / 'chunk').iterdir())
    content = bytearray(chunk.read_bytes())
    content[content.find(b'a' * 100) + 5] ^= 1
    chunk.write_bytes(content)
    with lx.open(tmp_path / 'd', on_damage=on_damage) as ds:
        assert [row[1] for row in Cells(ds._repr_html_()).rows[1:]] == [text, 'b' * 80 + '…']


def test_a_live_dataset_shows_one_snapshot(tmp_path):
    create(tmp_path / 'd', {'x': lx.Field('int64')}, x=[1]).close()
    live = lx.open(tmp_path / 'd', live=True)
    with lx.open(tmp_path / 'd', mode='a') as writer:
        writer.append(x=2)
    assert Cells(live._repr_html_()).rows[1:] == [['0', '1'], ['1', '2']]
