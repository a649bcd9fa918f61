# SPDX-License-Identifier: MIT
"""loaderx pack."""

import json
import os
import random
import signal
import struct
import subprocess
import time
import zlib

import pytest

from conftest import BUILD

IMAGES = 'define HAVE_IMAGES 1' in (BUILD / 'config.h').read_text()


def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


def write_png(rows):
    """A PNG of rows of pixels, each of which has 3 bytes."""
    head = struct.pack('>IIBBBBB', len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    data = zlib.compress(b''.join(b'\0' + row for row in rows), 1)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', data) +
            chunk(b'IEND', b''))


def png(number, width=4, height=3):
    """A PNG whose pixels depend on the number."""
    pixels = random.Random(number)
    return write_png([pixels.randbytes(width * 3) for _ in range(height)])


def read(path):
    """The records of a RecordIO file and its index: a list of (key, id, labels, image)."""
    data = path.read_bytes()
    found = []
    for line in path.with_suffix('.idx').read_text().splitlines():
        key, offset = line.split('\t')
        at, record = int(offset), b''
        while True:
            magic, head = struct.unpack_from('<II', data, at)
            assert magic == 0xced7230a
            size, kind = head & (1 << 29) - 1, head >> 29
            record += data[at + 8:at + 8 + size]
            at += 8 + size + -size % 4
            if kind in (0, 3):
                break
            record += struct.pack('<I', magic)
        flag, label, number, other = struct.unpack_from('<IfQQ', record)
        labels = list(struct.unpack_from(f'<{flag}f', record, 24)) if flag else [label]
        assert other == 0 and (flag != 1) and (not flag or label == 0)
        found.append((key, number, labels, record[24 + 4 * flag:]))
    assert sum(1 for _ in found) == 0 or at == len(data)
    return found


@pytest.fixture
def photos(folder):
    """A folder of 60 images in three classes, with files that are no images; return their bytes."""
    files = {}
    for number in range(60):
        name = f'{"abc"[number % 3]}/{"deep/" if number % 7 == 0 else ""}{number:02}.png'
        files[name] = png(number, 4 + number)
    for name, data in files.items():
        path = folder / 'photos' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / 'photos' / 'b' / 'notes.txt').write_text('no image')
    (folder / 'photos' / 'b' / '.hidden.png').write_bytes(b'no image')
    (folder / 'photos' / 'd').mkdir()
    return dict(sorted(files.items()))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def expected(photos, order=None, labels=lambda name: ['abcd'.index(name[0])]):
    listed = [(str(i), i, labels(name), data) for i, (name, data) in enumerate(photos.items())]
    return [listed[i] for i in order] if order is not None else listed


def test_folder(loaderx, folder, photos):
    printed = loaderx.text('pack', 'photos', 'x.rec')
    assert printed.startswith('x.rec: packed 60 images (') and printed.endswith(' of 4 classes\n')
    assert read(folder / 'x.rec') == expected(photos)
    assert names(folder) == ['photos', 'x.idx', 'x.rec']
    assert loaderx.json('recordio', 'verify', 'x.rec')['records'] == 60
    assert loaderx.text('pack', 'photos/', 'y.rec', '-q') == ''
    assert (folder / 'y.rec').read_bytes() == (folder / 'x.rec').read_bytes()
    report = loaderx.json('pack', 'photos', 'z.rec')
    assert report.pop('seconds') >= 0 and report.pop('bytes') > 60 * 24
    assert report == {'files': ['z.rec'], 'images': 60, 'classes': 4, 'packed': 60, 'resumed': 0,
                      'skipped': 0}


def test_any_number_of_threads_gives_the_same_bytes(loaderx, folder, photos):
    for threads in 0, 1, 2, 7:
        loaderx.text('pack', 'photos', f'{threads}.rec', '--threads', threads, '--shuffle')
    for threads in 1, 2, 7:
        for end in 'rec', 'idx':
            assert (folder / f'{threads}.{end}').read_bytes() == (folder / f'0.{end}').read_bytes()


def test_links_are_followed_but_not_in_a_circle(loaderx, folder, photos):
    os.symlink('photos', folder / 'link')
    loaderx.text('pack', 'photos', 'x.rec')
    loaderx.text('pack', 'link', 'y.rec')
    assert (folder / 'y.rec').read_bytes() == (folder / 'x.rec').read_bytes() != b''
    (folder / 'link').unlink()
    for link, end, found in ('up', '..', 'up'), ('far', '../..', 'far/photos'):
        os.symlink(end, folder / 'photos' / 'a' / link)
        assert (f'photos/a/{found} leads back, through a link, to a folder above it: remove the '
                'link') in loaderx.fails(2, 'pack', 'photos', 'z.rec')
        (folder / 'photos' / 'a' / link).unlink()


def test_a_folder_without_classes(loaderx, folder):
    (folder / 'flat').mkdir()
    assert 'flat: no images: no names of files end in .jpg' in loaderx.fails(2, 'pack', 'flat',
                                                                             'x.rec')
    for number in range(3):
        (folder / 'flat' / f'{number}.PNG').write_bytes(png(number))
    loaderx.text('pack', 'flat', 'x.rec')
    assert read(folder / 'x.rec') == [(str(i), i, [0], png(i)) for i in range(3)]
    (folder / 'flat' / 'a').mkdir()
    (folder / 'flat' / 'a' / '0.png').write_bytes(png(0))
    assert 'some images are in sub-folders, which are classes, and others are not' in loaderx.fails(
        2, 'pack', 'flat', 'y.rec')
    (folder / 'flat' / 'a' / '1\t.png').write_bytes(png(0))
    assert 'a list cannot have this name' in loaderx.fails(2, 'pack', 'flat', 'y.rec')


# ---- lists


def test_list(loaderx, folder, photos):
    loaderx.text('pack', 'photos', 'all.lst')
    lines = [f'{i}\t{"abc".index(name[0])}\t{name}\n' for i, name in enumerate(photos)]
    assert (folder / 'all.lst').read_text() == ''.join(lines)
    loaderx.text('pack', 'photos', 'x.rec')
    loaderx.text('pack', 'all.lst', 'y.rec', '--root', 'photos')
    assert (folder / 'y.rec').read_bytes() == (folder / 'x.rec').read_bytes()
    assert 'all.lst exists: --force' in loaderx.fails(2, 'pack', 'photos', 'all.lst')
    loaderx.text('pack', 'photos', 'all.lst', '--shuffle', '--seed', 5, '--force')
    shuffled = (folder / 'all.lst').read_text().splitlines(True)
    assert shuffled != lines and sorted(shuffled) == sorted(lines)
    order = [int(line.split('\t')[0]) for line in shuffled]
    sampled = loaderx.text('sample', '--length', 60, '--count', 60, '--order', 'shuffle',
                           '--seed', 5)
    assert sampled.split() == [str(i) for i in order]
    loaderx.text('pack', 'all.lst', 'z.rec', '--root', 'photos')
    assert read(folder / 'z.rec') == expected(photos, order)
    loaderx.text('pack', 'all.lst', 'again.lst')
    assert (folder / 'again.lst').read_text() == ''.join(shuffled)


def test_labels_and_paths_of_a_list(loaderx, folder):
    for name in 'x y.png', 'é.png':
        (folder / name).write_bytes(png(1))
    text = (f'18446744073709551615\t-1.5\t0.1\t1e30\tx y.png\r\n'
            f'\n7\t3\t{folder}/é.png')
    (folder / 'a.lst').write_bytes(text.encode())
    loaderx.text('pack', 'a.lst', 'a.rec')
    first, second = read(folder / 'a.rec')
    assert first[:2] == ('18446744073709551615', 2**64 - 1) and second == ('7', 7, [3], png(1))
    assert first[2] == list(struct.unpack('<3f', struct.pack('<3f', -1.5, .1, 1e30)))
    loaderx.text('pack', 'a.lst', 'b.lst')
    assert (folder / 'b.lst').read_text() == (
        f'18446744073709551615\t-1.5\t0.1\t1e+30\tx y.png\n7\t3\t{folder}/é.png\n')


@pytest.mark.parametrize('text, message', [
    ('', 'the list has no images'),
    ('\n\n', 'the list has no images'),
    ('1\t0\ta.png\nx', "line 2, field 1: the index 'x' is not a number"),
    ('18446744073709551616\t0\ta.png', "line 1, field 1: the index '18446744073709551616'"),
    ('-1\t0\ta.png', "line 1, field 1: the index '-1' is not a number"),
    ('\t0\ta.png', "line 1, field 1: the index '' is not a number"),
    ('1', 'line 1 must have an index, one or more labels and a path, separated by tabs'),
    ('1\ta.png', 'line 1 must have an index, one or more labels and a path'),
    ('1 0 a.png', "line 1, field 1: the index '1 0 a.png'"),
    ('1\t0\t', 'line 1: the path, its last field, is empty'),
    ('1\t0\tnan\ta.png', "line 1, field 3: the label 'nan' is not a number that a float can hold"),
    ('1\t1e39\ta.png', "line 1, field 2: the label '1e39'"),
    ('1\t 1\ta.png', "line 1, field 2: the label ' 1'"),
    ('1\t0x1\ta.png', "line 1, field 2: the label '0x1'"),
    ('1\t1.2.3\ta.png', "line 1, field 2: the label '1.2.3'"),
    ('1\t\ta.png', "line 1, field 2: the label ''"),
    ('1\t' + '1' * 64 + '\ta.png', "line 1, field 2: the label '1111"),
    ('1\t0\ta\0.png', 'line 1 has a NUL byte'),
    ('5\t0\ta.png\n6\t0\ta.png\n5\t1\tb.png\n', 'the index 5, the first field, is in two lines'),
])
def test_lists_that_are_refused(loaderx, folder, text, message):
    (folder / 'a.lst').write_text(text)
    (folder / 'a.png').write_bytes(png(0))
    assert f'a.lst: {message}' in loaderx.fails(1, 'pack', 'a.lst', 'a.rec')
    assert names(folder) == ['a.lst', 'a.png']


def test_many_labels(loaderx, folder):
    (folder / 'a.png').write_bytes(png(0))
    labels = [i / 4 for i in range(5000)]
    (folder / 'a.lst').write_text('1\t' + '\t'.join(map(str, labels)) + '\ta.png\n')
    loaderx.text('pack', 'a.lst', 'a.rec')
    assert read(folder / 'a.rec') == [('1', 1, labels, png(0))]


# ---- sets, files and parts


def test_sets_and_files(loaderx, folder, photos):
    loaderx.text('pack', 'photos', 'x.rec', '--fractions', 'train=0.7,test=0.2', '--seed', 3,
                 '--chunks', 2)
    loaderx.text('pack', 'photos', 'y.lst', '--fractions', 'train=0.7,test=0.2', '--seed', 3)
    split = loaderx.json('split', '--length', 60, '--fractions', 'train=0.7,test=0.2', '--seed', 3,
                         '--out', '.')
    assert split
    records = {name: read(folder / f'x_{name}.rec')
               for name in ('train_0', 'train_1', 'test_0', 'test_1')}
    for name in 'train', 'test':
        listed = (folder / f'y_{name}.lst').read_text().splitlines()
        halves = records[f'{name}_0'], records[f'{name}_1']
        assert [line.split('\t')[0] for line in listed] == [
            key for key, *_ in halves[0] + halves[1]]
        assert 0 <= len(halves[0]) - len(halves[1]) <= 1
        raw = (folder / f'{name}.npy').read_bytes()
        indices = struct.unpack(f'<{len(listed)}Q', raw[-8 * len(listed):])
        assert [str(i) for i in indices] == [line.split('\t')[0] for line in listed]
    assert 30 < sum(map(len, records.values())) < 60


@pytest.mark.parametrize('parts', [1, 3, 61])
def test_parts_are_the_whole(loaderx, folder, photos, parts):
    loaderx.text('pack', 'photos', 'all.lst', '--shuffle')
    loaderx.text('pack', 'all.lst', 'whole.rec', '--root', 'photos')
    for k in range(1, parts + 1):
        loaderx.text('pack', 'all.lst', f'{k}.rec', '--root', 'photos', '--part', f'{k}/{parts}')
    loaderx.text('recordio', 'merge', 'merged.rec', *(f'{k}.rec' for k in range(1, parts + 1)))
    for end in 'rec', 'idx':
        assert (folder / f'merged.{end}').read_bytes() == (folder / f'whole.{end}').read_bytes()


# ---- bad images


@pytest.fixture
def bad(folder, photos):
    """Make some images bad, as a list of them with what is wrong."""
    listed = list(photos)
    wrong = {listed[3]: 'cannot open the image: No such file', listed[20]: 'is not a regular file'}
    for name in wrong:
        (folder / 'photos' / name).unlink()
    os.symlink('nowhere', folder / 'photos' / listed[3])
    os.mkfifo(folder / 'photos' / listed[20])
    if IMAGES:
        for at, data, message in ((41, b'', 'the image is empty'),
                                  (59, photos[listed[59]][:30], '')):
            (folder / 'photos' / listed[at]).write_bytes(data)
            wrong[listed[at]] = message
    return wrong


def test_bad_images(loaderx, folder, photos, bad):
    first = next(iter(bad))
    line = loaderx.fails(2, 'pack', 'photos', 'x.rec')
    assert f'photos/{first}: cannot open the image' in line and 'continue with --resume' in line
    assert not (folder / 'x.rec').exists() and not (folder / 'x.idx').exists()
    assert 'x.rec.pack-' in loaderx.fails(2, 'pack', 'photos', 'x.rec')
    (folder / 'photos' / first).unlink()
    (folder / 'photos' / first).write_bytes(photos[first])
    del bad[first]
    done = loaderx('pack', 'photos', 'x.rec', '--resume', '--on-bad', 'skip', '--json')
    report, lines = json.loads(done.stdout), done.stderr.decode().splitlines()
    assert done.returncode == 0 and report['skipped'] == len(bad) == len(lines)
    for line, (name, message) in zip(lines, bad.items()):
        assert line.startswith(f'loaderx pack: skipped: photos/{name}: ') and message in line
    good = [record for record, name in zip(expected(photos), photos) if name not in bad]
    assert read(folder / 'x.rec') == good
    assert (report['resumed'], report['packed']) == (3, len(good) - 3)
    assert names(folder) == ['photos', 'x.idx', 'x.rec']


def test_nothing_is_left_if_the_first_image_is_bad(loaderx, folder):
    (folder / 'a.lst').write_text('0\t0\tnone.png\n')
    assert 'none.png: cannot open the image; --root names the folder of the paths: ' in (
        loaderx.fails(2, 'pack', 'a.lst', 'a.rec'))
    assert 'none.png: cannot open the image: No such' in loaderx.fails(
        2, 'pack', 'a.lst', 'a.rec', '--root', '.')
    assert names(folder) == ['a.lst']
    done = loaderx('pack', 'a.lst', 'a.rec', '--on-bad', 'skip')
    assert done.returncode == 0 and done.stdout.endswith(b'; 1 bad images skipped\n')
    assert read(folder / 'a.rec') == [] and (folder / 'a.rec').read_bytes() == b''


# ---- other images


def pack_images(loaderx, folder, images, *arguments):
    """The images of a pack, in order."""
    lines = []
    for number, data in enumerate(images):
        (folder / f'{number}.png').write_bytes(data)
        lines.append(f'{number}\t0\t{number}.png\n')
    (folder / 'a.lst').write_text(''.join(lines))
    loaderx.text('pack', 'a.lst', 'a.rec', '--force', *arguments)
    return [image for *_, image in read(folder / 'a.rec')]


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_resize_and_crop(loaderx, folder):
    pixels = random.Random(1)
    rows = [pixels.randbytes(30 * 3) for _ in range(21)]
    middle = write_png([row[10 * 3:20 * 3] for row in rows[7:14]])
    cropped, whole = pack_images(loaderx, folder, [write_png(rows), middle], '--crop', '10x7',
                                 '--encoding', 'png')
    assert cropped == whole
    for width, height, sides in ((60, 40, (15, 10)), (40, 61, (10, 15)), (10, 10, (10, 10)),
                                 (3, 6, (10, 20))):
        large = write_png([b'\x80\x40\x20' * width] * height)
        small = write_png([b'\x80\x40\x20' * sides[0]] * sides[1])
        resized, whole = pack_images(loaderx, folder, [large, small], '--resize', 10, '--encoding',
                                     'png')
        assert resized == whole
        square, = pack_images(loaderx, folder, [large], '--resize', 10, '--crop', 10, '--encoding',
                              'png')
        assert square == pack_images(loaderx, folder, [write_png([b'\x80\x40\x20' * 10] * 10)],
                                     '--encoding', 'png')[0]
    (folder / '0.png').write_bytes(png(0, 3, 6))
    assert '0.png: the image has 3 x 6 pixels, which is smaller than the crop' in loaderx.fails(
        2, 'pack', 'a.lst', 'b.rec', '--crop', 4)
    (folder / '0.png').write_bytes(write_png([b'abc' * 40000]))
    assert 'the image would have 1200000 x 30 pixels' in loaderx.fails(
        1, 'pack', 'a.lst', 'b.rec', '--resize', 30)


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_encodings(loaderx, folder, photos):
    kinds = {'jpeg': b'\xff\xd8', 'png': b'\x89PNG', 'webp': b'RIFF', 'webp-lossless': b'RIFF'}
    sizes = {}
    for kind, begin in kinds.items():
        for quality in (20, 90) if kind in ('jpeg', 'webp') else (None,):
            chosen = ['--quality', quality] if quality else []
            for threads in 0, 1, 2, 7:
                loaderx.text('pack', 'photos', f'{threads}.rec', '--resize', 30, '--encoding', kind,
                             '--threads', threads, *chosen, '--force')
                assert (folder / f'{threads}.rec').read_bytes() == (folder / '0.rec').read_bytes()
            records = read(folder / '0.rec')
            assert [record[:3] for record in records] == [
                record[:3] for record in expected(photos)]
            assert all(image.startswith(begin) for *_, image in records)
            sizes[kind, quality] = sum(len(image) for *_, image in records)
    assert sizes['jpeg', 20] < sizes['jpeg', 90] and sizes['webp', 20] < sizes['webp', 90]
    loaderx.text('pack', 'photos', 'jpeg.rec', '--resize', 30)
    loaderx.text('pack', 'photos', '95.rec', '--resize', 30, '--encoding', 'jpeg', '--quality', 95)
    assert (folder / 'jpeg.rec').read_bytes() == (folder / '95.rec').read_bytes()


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_headers_that_promise_too_many_pixels(loaderx, folder):
    for name, width in ('most', 17895697), ('more', 17895698):
        head = struct.pack('>IIBBBBB', width, 10, 8, 0, 0, 0, 0)
        (folder / f'{name}.png').write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) +
                                             chunk(b'IDAT', zlib.compress(b'')))
        (folder / f'{name}.lst').write_text(f'0\t0\t{name}.png\n')
    loaderx.text('pack', 'most.lst', 'most.rec')
    assert 'more than max_pixels, 178956970' in loaderx.fails(1, 'pack', 'more.lst', 'more.rec')


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_damage_in_the_pixels_is_found_when_images_are_changed(loaderx, folder, photos):
    name = list(photos)[30]
    (folder / 'photos' / name).write_bytes(photos[name][:-20])
    loaderx.text('pack', 'photos', 'x.rec')
    assert f'photos/{name}: ' in loaderx.fails(1, 'pack', 'photos', 'y.rec', '--encoding', 'png')
    done = loaderx('pack', 'photos', 'y.rec', '--encoding', 'png', '--resume', '--on-bad', 'skip')
    assert done.returncode == 0 and len(read(folder / 'y.rec')) == 59


@pytest.mark.skipif(IMAGES, reason='libloaderx-image was built')
def test_images_cannot_be_changed_without_the_library(loaderx, folder, photos):
    assert 'built without libloaderx-image' in loaderx.fails(1, 'pack', 'photos', 'x.rec',
                                                             '--resize', 10)
    assert names(folder) == ['photos']


# ---- interruptions


@pytest.fixture
def many(folder):
    """A list of 20000 images in 50 files; return its lines."""
    for number in range(50):
        (folder / f'{number}.png').write_bytes(png(number, 60, 50))
    lines = [f'{i * 7919 % 30011}\t{i % 10}\t{i % 50}.png\n' for i in range(20000)]
    (folder / 'many.lst').write_text(''.join(lines))
    return lines


@pytest.mark.parametrize('cut', [1, 4, 1000])
def test_continues_after_kill(loaderx, folder, many, cut):
    loaderx.text('pack', 'many.lst', 'whole.rec')
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1)
    while not any(path.stat().st_size > 1 << 20 for path in folder.glob('x.rec.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.kill()
    running.communicate(timeout=60)
    unfinished, = folder.glob('x.rec.pack-*')
    os.truncate(unfinished, unfinished.stat().st_size - cut)
    assert not (folder / 'x.rec').exists() and not (folder / 'x.idx').exists()
    assert f'{unfinished.name} is what an interrupted pack has left: --resume' in loaderx.fails(
        2, 'pack', 'many.lst', 'x.rec')
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--resume')
    assert report['resumed'] > 20 and report['resumed'] + report['packed'] == 20000
    for end in 'rec', 'idx':
        assert (folder / f'x.{end}').read_bytes() == (folder / f'whole.{end}').read_bytes()
    assert not list(folder.glob('*.pack-*'))
    assert 'x.rec exists: --force' in loaderx.fails(2, 'pack', 'many.lst', 'x.rec', '--resume')


def test_signal(loaderx, folder, many):
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--chunks', 3, '--threads', 1)
    while not list(folder.glob('x_1.rec.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGTERM)
    printed = running.communicate(timeout=60)[1]
    assert b'stopped by signal: Terminated; continue with --resume' in printed
    assert running.returncode == 128 + signal.SIGTERM and not list(folder.glob('x*.rec'))
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--chunks', 3, '--resume')
    assert report['resumed'] >= 6666 and report['resumed'] + report['packed'] == 20000
    loaderx.text('pack', 'many.lst', 'y.rec', '--chunks', 3)
    for number in range(3):
        assert ((folder / f'x_{number}.rec').read_bytes() ==
                (folder / f'y_{number}.rec').read_bytes())


def test_another_list_is_not_continued(loaderx, folder, many):
    (folder / '7.png').unlink()
    assert '7.png: cannot open the image' in loaderx.fails(2, 'pack', 'many.lst', 'x.rec')
    first = set(folder.glob('x.rec.pack-*'))
    (folder / 'many.lst').write_text(''.join(many).replace('\t3\t', '\t30\t'))
    loaderx.fails(2, 'pack', 'many.lst', 'x.rec', '--resume')
    assert len(set(folder.glob('x.rec.pack-*')) - first) == 1
    (folder / 'many.lst').write_text(''.join(many[:7]))
    loaderx.text('pack', 'many.lst', 'x.rec', '--resume')
    assert len(read(folder / 'x.rec')) == 7


def test_gaps_are_filled_if_bad_images_stop(loaderx, folder, many):
    """What was skipped is packed by a later run that does not skip."""
    (folder / 'many.lst').write_text(''.join(many[:60]))
    (folder / '20.png').rename(folder / 'away')
    (folder / '45.png').rename(folder / 'far')
    loaderx.fails(2, 'pack', 'many.lst', 'x.rec')
    os.mkfifo(folder / '45.png')
    unfinished, = folder.glob('x.rec.pack-*')
    assert loaderx('pack', 'many.lst', 'y.rec', '--on-bad', 'skip').returncode == 0
    os.replace(folder / 'y.rec', unfinished)    # as if it had been killed at the end
    (folder / '45.png').unlink()
    (folder / '20.png').write_bytes((folder / 'away').read_bytes())
    (folder / '45.png').write_bytes((folder / 'far').read_bytes())
    assert loaderx.json('pack', 'many.lst', 'x.rec', '--resume')['resumed'] == 20
    assert len(read(folder / 'x.rec')) == 60


def test_two_processes(loaderx, folder, many):
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1)
    while not list(folder.glob('x.idx.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGSTOP)
    for option in '--resume', '--force':
        assert 'another process packs x.rec' in loaderx.fails(2, 'pack', 'many.lst', 'x.rec',
                                                              option)
    running.send_signal(signal.SIGCONT)
    assert running.communicate(timeout=60)[1] == b''
    assert len(read(folder / 'x.rec')) == 20000


def test_two_parts_of_the_same_name(loaderx, folder, many):
    """The part that ends last replaces the other only with --force."""
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1, '--part', '1/2')
    while not list(folder.glob('x.idx.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGSTOP)
    loaderx.text('pack', 'many.lst', 'x.rec', '--part', '2/2')
    other = (folder / 'x.rec').read_bytes()
    running.send_signal(signal.SIGCONT)
    assert b'x.rec exists: --force replaces it' in running.communicate(timeout=60)[1]
    assert running.returncode == 2 and (folder / 'x.rec').read_bytes() == other
    (folder / 'x.rec').rename(folder / '2.rec')
    (folder / 'x.idx').rename(folder / '2.idx')
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--part', '1/2', '--resume')
    assert (report['resumed'], report['packed']) == (10000, 0)


def test_full_disk(loaderx, folder, many):
    """A limit of file sizes stands for a full disk."""
    limited = ['bash', '-c', 'ulimit -f 2000; exec "$@"', 'limited', loaderx.command, 'pack',
               'many.lst', 'x.rec']
    done = subprocess.run(limited, cwd=folder, capture_output=True, timeout=120)
    assert done.returncode == 1 and b'File too large' in done.stderr
    assert not (folder / 'x.rec').exists()
    assert loaderx.json('pack', 'many.lst', 'x.rec', '--resume')['resumed'] > 100
    assert len(read(folder / 'x.rec')) == 20000


def test_force(loaderx, folder, photos):
    (folder / 'x.rec').write_bytes(b'old')
    assert 'x.rec exists: --force replaces it' in loaderx.fails(2, 'pack', 'photos', 'x.rec')
    loaderx.text('pack', 'photos', 'x.rec', '--force')
    assert read(folder / 'x.rec') == expected(photos)
    (folder / 'x.rec').unlink()
    assert 'x.idx exists' in loaderx.fails(2, 'pack', 'photos', 'x.rec')


# ---- datasets


def values(loaderx, folder, dataset):
    """The values of a dataset, as read() returns those of a RecordIO file, without keys."""
    def lines(field):
        printed = loaderx.text('get', dataset, ':', '--field', field).splitlines()
        return [line.split(': ')[-1] for line in printed]

    out = folder / 'out'
    loaderx.text('export', dataset, '--files', f'image={out}')
    images = [path.read_bytes() for path in sorted(out.iterdir(), key=lambda path: int(path.name))]
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    labels = [[float(line)] for line in lines('label')]
    return [(int(number), label, image)
            for number, label, image in zip(lines('id'), labels, images)]


def test_dataset(loaderx, folder, photos):
    assert loaderx.text('pack', 'photos', 'x', '--shuffle').startswith('x: packed 60 images (')
    loaderx.text('pack', 'photos', 'x.rec', '--shuffle')
    assert values(loaderx, folder, 'x') == [record[1:] for record in read(folder / 'x.rec')]
    loaderx.text('verify', 'x')
    fields = loaderx.json('stat', 'x')['fields']
    assert [(field['name'], field['dtype'], field['shape']) for field in fields] == [
        ('label', 'float32', []), ('id', 'int64', []), ('image', 'image', [])]
    for option in [], ['--force'], ['--resume']:
        assert 'x exists: give the dataset another name' in loaderx.fails(2, 'pack', 'photos', 'x',
                                                                          *option)
    assert 'photos exists: give the dataset' in loaderx.fails(2, 'pack', 'photos', 'photos')
    loaderx.text('pack', 'photos', 'y/', '--fractions', 'a=.5,b=.5', '--chunks', 2, '-q')
    assert names(folder) == ['photos', 'x', 'x.idx', 'x.rec', 'y_a_0', 'y_a_1', 'y_b_0', 'y_b_1']


def test_conversion_both_ways(loaderx, folder, photos):
    loaderx.text('pack', 'photos', 'x.rec', '--shuffle')
    loaderx.text('pack', 'photos', 'x', '--shuffle')
    assert loaderx.text('pack', 'x.rec', 'y/').startswith('y: packed 60 images (')
    assert ' have the same 60 records' in loaderx.text('diff', 'x', 'y')
    report = loaderx.json('pack', 'x/', 'y.rec')
    assert (report['images'], report['packed']) == (60, 60)
    for end in 'rec', 'idx':
        assert (folder / f'x.{end}').read_bytes() == (folder / f'y.{end}').read_bytes()
    assert 'y.rec exists: --force' in loaderx.fails(2, 'pack', 'x', 'y.rec')
    loaderx.text('pack', 'x', 'y.rec', '--force', '-q')
    assert "'loaderx recordio merge' copies them" in loaderx.fails(2, 'pack', 'x.rec', 'z.rec')
    assert "'loaderx copy' copies them" in loaderx.fails(2, 'pack', 'x', 'z')
    for option in ['--shuffle'], ['--resize', '9'], ['--chunks', '2'], ['--resume']:
        assert 'only --force, --quiet' in loaderx.fails(2, 'pack', 'x', 'z.rec', *option)
    loaderx.text('pack', 'x', 'z.rec', '-q')    # what an interruption has left is replaced
    (folder / 'z.rec').rename(folder / 'z.rec.pack-00000000')
    (folder / 'z.idx').rename(folder / 'z.idx.pack-00000000')
    loaderx.text('pack', 'x', 'z.rec', '-q')
    assert read(folder / 'z.rec') == read(folder / 'x.rec')
    for end in 'rec', 'idx':
        (folder / f'z.{end}').unlink()
    data = (folder / 'x.rec').read_bytes()
    (folder / 'x.rec').write_bytes(data[:-8])
    line = loaderx.fails(1, 'pack', 'x.rec', 'z')
    assert 'x.rec, record 59, offset ' in line
    assert "'loaderx recordio merge --skip' leaves out what is damaged" in line
    (folder / 'x.rec').write_bytes(struct.pack('<II', 0xced7230a, 4) + b'none')
    assert 'record 0, offset 0: the record has 4 bytes' in loaderx.fails(1, 'pack', 'x.rec', 'z')
    assert 'none.rec: the input does not exist' in loaderx.fails(2, 'pack', 'none.rec', 'z')
    assert names(folder) == ['photos', 'x', 'x.idx', 'x.rec', 'y', 'y.idx', 'y.rec']


def test_large_ids_keep_their_bits_in_a_dataset(loaderx, folder):
    (folder / 'a.png').write_bytes(png(1))
    (folder / 'a.lst').write_text('18446744073709551615\t3\ta.png\n')
    loaderx.text('pack', 'a.lst', 'x')
    assert loaderx.text('get', 'x', '0', '--field', 'id').split()[-1] == '-1'
    loaderx.text('pack', 'x', 'a.rec')
    assert read(folder / 'a.rec')[0][1] == 2**64 - 1


@pytest.mark.parametrize('source, output', [('x', 'y.rec'), ('x.rec', 'y')])
def test_a_conversion_leaves_nothing_on_a_full_disk(loaderx, folder, photos, source, output):
    """A limit of file sizes stands for a full disk. Only the end of the conversion writes."""
    loaderx.text('pack', 'photos', source)
    before = names(folder)
    done = subprocess.run(['bash', '-c', 'ulimit -f 4; exec "$@"', 'limited', loaderx.command,
                           'pack', source, output], cwd=folder, capture_output=True, timeout=60)
    assert done.returncode == 1 and b'File too large' in done.stderr
    assert names(folder) == before


@pytest.mark.parametrize('labels, shape', [('1\t2.5\t3', [3]), ('7', [])])
def test_several_labels_in_a_dataset(loaderx, folder, labels, shape):
    (folder / 'a.png').write_bytes(png(0))
    (folder / 'a.lst').write_text(f'4\t{labels}\ta.png\n9\t{labels}\ta.png\n')
    loaderx.text('pack', 'a.lst', 'a')
    loaderx.text('pack', 'a.lst', 'b.rec')
    assert loaderx.json('stat', 'a')['fields'][0]['shape'] == shape
    loaderx.text('pack', 'a', 'a.rec')
    assert (folder / 'a.rec').read_bytes() == (folder / 'b.rec').read_bytes()
    loaderx.text('pack', 'b.rec', 'c')
    assert ' have the same 2 records' in loaderx.text('diff', 'a', 'c')


def test_numbers_of_labels_that_vary(loaderx, folder):
    (folder / 'a.png').write_bytes(png(0))
    (folder / 'a.lst').write_text('4\t1\t2\ta.png\n9\t3\ta.png\n')
    loaderx.text('pack', 'a.lst', 'a')
    loaderx.text('pack', 'a.lst', 'b.rec')
    loaderx.text('pack', 'a', 'a.rec')
    assert (folder / 'a.rec').read_bytes() == (folder / 'b.rec').read_bytes()
    loaderx.text('pack', 'b.rec', 'c')
    assert ' have the same 2 records' in loaderx.text('diff', 'a', 'c')
    assert loaderx.json('stat', 'c')['fields'][0]['shape'] == [None]


def test_an_imported_folder_becomes_a_file(loaderx, folder, photos):
    loaderx.text('import', 'ds', '--format', 'folder', 'photos', '--option', 'extensions=png')
    loaderx.text('pack', 'ds', 'x.rec')
    assert read(folder / 'x.rec') == expected(photos)


def test_other_datasets_are_refused(loaderx, folder, images):
    assert 'images: the dataset has 0 fields of the type image' in loaderx.fails(
        1, 'pack', 'images', 'a.rec')
    (folder / 'photos' / 'a').mkdir(parents=True)
    for name in 'a/0.png', 'b.png':
        (folder / 'photos' / name).write_bytes(png(0))
    loaderx.text('import', 'ds', '--format', 'folder', 'photos')
    assert "ds, field 'label', record 1: the value is missing" in loaderx.fails(1, 'pack', 'ds',
                                                                               'a.rec')
    assert names(folder) == ['data', 'ds', 'images', 'label', 'photos']


def test_dataset_continues_after_kill(loaderx, folder, many):
    loaderx.text('pack', 'many.lst', 'whole')
    running = loaderx.start('pack', 'many.lst', 'x', '--threads', 1)
    while not list(folder.glob('x.pack-*/meta.json')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGTERM)
    assert b'stopped by signal' in running.communicate(timeout=60)[1]
    if list(folder.glob('x.pack-*')):
        assert 'is what an interrupted pack has left' in loaderx.fails(2, 'pack', 'many.lst', 'x')
    for _ in range(3):
        running = loaderx.start('pack', 'many.lst', 'x', '--resume')
        time.sleep(.1)
        running.kill()
        running.communicate(timeout=60)
    if not (folder / 'x').exists():
        loaderx.text('pack', 'many.lst', 'x', '--resume')
    assert ' have the same 20000 records' in loaderx.text('diff', 'whole', 'x')
    loaderx.text('verify', 'x')
    assert names(folder)[-3:] == ['many.lst', 'whole', 'x']


# ---- other readers and the command line


def test_mxnet_reads_it_and_writes_the_same(loaderx, folder, photos):
    """im2rec calls pack() and write_idx() for each line of a list."""
    peer = os.environ.get('MXNET_PYTHON')
    if peer is None:
        pytest.skip('MXNET_PYTHON is not set to a Python that has MXNet 1.x')
    (folder / 'two.lst').write_text('7\t1\t2\ta/03.png\n5\t-1\tb/01.png\n')
    loaderx.text('pack', 'two.lst', 'x.rec', '--root', 'photos')
    program = """
from mxnet import recordio
r = recordio.MXIndexedRecordIO('x.idx', 'x.rec', 'r')
w = recordio.MXIndexedRecordIO('y.idx', 'y.rec', 'w')
for key in 7, 5:
    header, image = recordio.unpack(r.read_idx(key))
    label = list(header.label) if header.flag else header.label
    print(key, header.flag, label, header.id, len(image))
    w.write_idx(key, recordio.pack(recordio.IRHeader(0, label, key, 0), image))
w.close()
"""
    done = subprocess.run([peer, '-c', program], cwd=folder, capture_output=True, timeout=120,
                          text=True)
    sizes = len(photos['a/03.png']), len(photos['b/01.png'])
    assert done.stdout == f'7 2 [1.0, 2.0] 7 {sizes[0]}\n5 0 -1.0 5 {sizes[1]}\n', done
    for end in 'rec', 'idx':
        assert (folder / f'x.{end}').read_bytes() == (folder / f'y.{end}').read_bytes()


@pytest.mark.parametrize('status, message, arguments', [
    (2, 'INPUT is missing', []),
    (2, 'OUTPUT is missing', ['a']),
    (2, "unexpected argument 'c'", ['a', 'b.rec', 'c']),
    (2, 'none.lst: cannot open the list: No such file', ['none.lst', 'b.rec']),
    (2, 'none: cannot find INPUT: No such file', ['none', 'b.rec']),
    (2, 'cannot find INPUT: No such file', ['', 'b.rec']),
    (2, "INPUT '/dev/null' is neither a folder nor a list", ['/dev/null', 'b.rec']),
    (2, '--root requires a list', ['.', 'b.rec', '--root', '.']),
    (2, 'a list takes only --shuffle', ['.', 'b.lst', '--resume']),
    (2, 'a list takes only --shuffle', ['.', 'b.lst', '--part', '1/2']),
    (2, "--part '1' is invalid: use K/N", ['.', 'b.rec', '--part', '1']),
    (2, "--part: '0' is not a number from 1 to 2", ['.', 'b.rec', '--part', '0/2']),
    (2, "--part: '3' is not a number from 1 to 2", ['.', 'b.rec', '--part', '3/2']),
    (2, "--chunks: '0' is not a number from 1 to 65536", ['.', 'b.rec', '--chunks', '0']),
    (2, "--on-bad 'zeros' is invalid: use stop or skip", ['.', 'b.rec', '--on-bad', 'zeros']),
    (2, '--encoding keep stores files as they are',
     ['.', 'b.rec', '--encoding', 'keep', '--crop', '9']),
    (2, "--encoding 'bmp' is invalid", ['.', 'b.rec', '--encoding', 'bmp']),
    (2, "--crop: '9x' is not a number", ['.', 'b.rec', '--crop', '9x9x']),
    (2, "--crop: '' is not a number", ['.', 'b.rec', '--crop', '9x']),
    (2, "--resize: '0' is not a number from 1 to 65500", ['.', 'b.rec', '--resize', '0']),
    (2, "--quality: '101' is not a number", ['.', 'b.rec', '--quality', '101']),
    (2, '--quality requires --encoding jpeg or webp', ['.', 'b.rec', '--quality', '9']),
    (2, '--quality requires --encoding jpeg or webp',
     ['.', 'b.rec', '--quality', '9', '--encoding', 'png']),
    (2, 'a list takes only --shuffle', ['.', 'b.lst', '--resize', '9']),
    (2, '--seed requires --shuffle or --fractions', ['.', 'b.rec', '--seed', '1']),
    (2, '--resume and --force are mutually exclusive', ['.', 'b.rec', '--resume', '--force']),
])
def test_usage(loaderx, folder, status, message, arguments):
    assert message in loaderx.fails(status, 'pack', *arguments)
    assert names(folder) == []


def test_outputs_that_are_refused(loaderx, folder, photos):
    (folder / 'd.rec').mkdir()
    assert 'cannot write to d.rec' in loaderx.fails(2, 'pack', 'photos', 'd.rec', '--force')
    for name in 'no/x.rec', 'no/x':
        assert f"{name}: the parent directory 'no' does not exist" in loaderx.fails(
            2, 'pack', 'photos', name)
