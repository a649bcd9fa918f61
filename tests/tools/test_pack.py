# SPDX-License-Identifier: MIT
"""loaderx pack."""

import json
import os
import random
import struct
import subprocess
import zlib

import pytest

from conftest import CHECKS_THREADS, IMAGES
from image_files import chunk, expected, names, png, read, write_png


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
                      'skipped': 0, 'skipped_extensions': {}, 'left_out': {}}


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
                'link') in loaderx.fails(1, 'pack', 'photos', 'z.rec')
        (folder / 'photos' / 'a' / link).unlink()


def test_a_folder_without_classes(loaderx, folder):
    (folder / 'flat').mkdir()
    assert 'flat: no images: no file has the name of an image' in loaderx.fails(1, 'pack', 'flat',
                                                                                'x.rec')
    for number in range(3):
        (folder / 'flat' / f'{number}.PNG').write_bytes(png(number))
    loaderx.text('pack', 'flat', 'x.rec')
    assert read(folder / 'x.rec') == [(str(i), i, [0], png(i)) for i in range(3)]
    (folder / 'flat' / 'a').mkdir()
    (folder / 'flat' / 'a' / '0.png').write_bytes(png(0))
    assert 'some images are in sub-folders, which are classes, and others are not' in loaderx.fails(
        1, 'pack', 'flat', 'y.rec')
    (folder / 'flat' / 'a' / '1\t.png').write_bytes(png(0))
    assert 'a list cannot have this name' in loaderx.fails(1, 'pack', 'flat', 'y.rec')


def test_hidden_names_are_left_out(loaderx, folder, photos):
    for name in '.ipynb_checkpoints/00.png', 'a/._00.png', 'b/.1.png':
        (folder / 'photos' / name).parent.mkdir(exist_ok=True)
        (folder / 'photos' / name).write_bytes(png(0))
    done = loaderx('pack', 'photos', 'x.rec', '-q')
    assert done.returncode == 0 and done.stdout == b''
    assert done.stderr == (b'loaderx pack: warning: names that begin with a dot were left out of '
                           b'photos: 3\n')
    assert read(folder / 'x.rec') == expected(photos)
    assert loaderx.json('pack', 'photos', 'all.lst', '--hidden')['classes'] == 5
    labels = {line.split('\t')[2]: float(line.split('\t')[1])
              for line in (folder / 'all.lst').read_text().splitlines()}
    assert labels.pop('.ipynb_checkpoints/00.png') == 0 and labels.pop('a/._00.png') == 1
    assert labels.pop('b/.1.png') == 2
    assert labels == {name: 'abc'.index(name[0]) + 1 for name in photos}
    assert '--hidden requires that INPUT' in loaderx.fails(2, 'pack', 'all.lst', 'y', '--hidden')
    assert 'only --force' in loaderx.fails(2, 'pack', 'x.rec', 'y', '--hidden')


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_no_image_is_left_out_without_a_word(loaderx, folder):
    """Files are images by their names or first bytes; those that cannot be decoded are bad."""
    (folder / 'mixed' / 'a').mkdir(parents=True)
    good = ['1.JPG', '2.jpe', '3.JFIF', '4.Png', '5', '6.dat', '7.tif', '8.WEBP']
    bad = {'b1.tif': b'II*\0', 'b2.TIFF': b'MM\0*', 'b3.bmp': b'BM' + bytes(10),
           'b4.gif': b'GIF89a', 'b5.avif': b'1234ftypavif', 'b6.heic': b'1234ftypheic',
           'b7.ppm': b'P6 ', 'b8.jpg': b'<a>'}
    for name in good:
        (folder / 'mixed' / 'a' / name).write_bytes(png(1))
    for name, data in {**bad, 'n.txt': b'a', 'o.TXT': b'', 'p.csv': b'1', 'q': b'x'}.items():
        (folder / 'mixed' / 'a' / name).write_bytes(data)
    os.mkfifo(folder / 'mixed' / 'a' / 'r.fifo')    # which is not opened
    left = {'.csv': 1, '.fifo': 1, '.txt': 2, 'none': 1}
    done = loaderx('pack', 'mixed', 'x.rec')
    assert done.returncode == 1 and b'none 1\n' in done.stderr
    assert ('a/b1.tif: the image is not a JPEG, PNG or WebP file, but TIFF: convert it to one of '
            'these') in done.stderr.decode()
    done = loaderx('pack', 'mixed', 'x.rec', '--on-bad', 'skip', '--force')
    assert (b'warning: files that are no images were left out of mixed: .csv 1, .fifo 1, .txt 2, '
            b'none 1\n') in done.stderr
    assert done.stdout.endswith(b'; 8 bad images skipped (.avif 1, .bmp 1, .gif 1, .heic 1, '
                                b'.jpg 1, .ppm 1, .tif 1, .tiff 1)\n')
    assert [image for *_, image in read(folder / 'x.rec')] == [png(1)] * len(good)
    done = loaderx('pack', 'mixed', 'y', '--on-bad', 'skip', '--json')
    report = json.loads(done.stdout)
    assert report['left_out'] == left and report['packed'] == len(good)
    assert sum(report['skipped_extensions'].values()) == report['skipped'] == len(bad)
    assert json.loads(loaderx('pack', 'mixed', 'z.lst', '--json').stdout)['left_out'] == left
    assert len((folder / 'z.lst').read_text().splitlines()) == len(good) + len(bad)


def test_many_extensions_are_counted(loaderx, folder):
    (folder / 'many').mkdir()
    (folder / 'many' / 'a.png').write_bytes(png(0))
    for number in range(40):
        (folder / 'many' / f'{number}.{number:02}').write_bytes(b'')
    (folder / 'many' / ('a.' + 'b' * 60)).write_bytes(b'')
    (folder / 'many' / 'a.\n\x1b').write_bytes(b'')
    done = loaderx('pack', 'many', 'x.lst', '--json')
    left = json.loads(done.stdout)['left_out']
    assert sum(left.values()) == 42 and len(left) <= 24 and left['others'] >= 16
    assert b'\x1b' not in done.stderr


def test_a_dataset_in_its_input(loaderx, folder, photos):
    """It would be a sub-folder, and so a class, when the input is packed again."""
    for output in 'photos/x', 'photos/b/deep/x/':
        line = loaderx.fails(2, 'pack', 'photos', output)
        assert f'a dataset in {os.path.dirname(output.rstrip("/"))}, which is a part of' in line
    loaderx.text('pack', 'photos', 'photos/x.rec')
    done = loaderx('pack', 'photos', 'x.rec')
    assert done.returncode == 0 and done.stderr.endswith(b'photos: .idx 1, .rec 1\n')
    assert read(folder / 'x.rec') == expected(photos)
    assert names(folder) == ['photos', 'x.idx', 'x.rec']


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
    text = (f'\ufeff18446744073709551615\t-1.5\t0.1\t1e30\tx y.png\r\n'
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
    ('\ufeff', 'the list has no images'),
    ('\ufeff\ufeff1\t0\ta.png', "line 1, field 1: the index '\ufeff1' is not a number"),
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
    line = loaderx.fails(1, 'pack', 'photos', 'x.rec')
    assert (f'photos/{first}: cannot open the image: No such file or directory; --on-bad skip '
            'leaves it out; continue with --resume') in line
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
    assert ('none.png: cannot open the image: No such file or directory; --on-bad skip leaves it '
            'out; --root names the folder of the paths') in loaderx.fails(1, 'pack', 'a.lst',
                                                                          'a.rec')
    assert 'none.png: cannot open the image: No such' in loaderx.fails(
        1, 'pack', 'a.lst', 'a.rec', '--root', '.')
    assert names(folder) == ['a.lst']
    done = loaderx('pack', 'a.lst', 'a.rec', '--on-bad', 'skip')
    assert done.returncode == 0 and done.stdout.endswith(b'; 1 bad images skipped (.png 1)\n')
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
        1, 'pack', 'a.lst', 'b.rec', '--crop', 4)
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
def test_16_bits_are_reduced_with_one_warning(loaderx, folder):
    (folder / 'depth').mkdir()
    file = (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 2, 2, 16, 0, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(bytes(10))) + chunk(b'IEND', b''))
    for number in range(5):
        (folder / 'depth' / f'{number}.png').write_bytes(file)
    loaderx.text('pack', 'depth', 'kept.rec')
    assert [image for *_, image in read(folder / 'kept.rec')] == [file] * 5
    done = loaderx('pack', 'depth', 'x.rec', '--encoding', 'png')
    assert done.returncode == 0 and done.stderr.count(b'\n') == 1
    assert b'a PNG image of 16 bits was decoded to 8' in done.stderr


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_headers_that_promise_too_many_pixels(loaderx, folder):
    for name, width in ('most', 17895697), ('more', 17895698):
        head = struct.pack('>IIBBBBB', width, 10, 8, 0, 0, 0, 0)
        (folder / f'{name}.png').write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) +
                                             chunk(b'IDAT', zlib.compress(b'')))
        (folder / f'{name}.lst').write_text(f'0\t0\t{name}.png\n')
    loaderx.text('pack', 'most.lst', 'most.rec')
    line = loaderx.fails(1, 'pack', 'more.lst', 'more.rec')
    assert 'more than max_pixels, 178956970' in line and '--max-pixels does so' in line
    loaderx.text('pack', 'more.lst', 'more.rec', '--max-pixels', 178956980)
    assert 'more than max_pixels, 100' in loaderx.fails(1, 'pack', 'most.lst', 'x.rec',
                                                        '--max-pixels', 100)


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_the_limit_of_pixels_is_that_of_resized_images_too(loaderx, folder):
    (folder / 'a.png').write_bytes(write_png([b'abc' * 40] * 40))
    (folder / 'a.lst').write_text('0\t0\ta.png\n')
    more = '--resize', 50, '--encoding', 'png', '--max-pixels'
    assert 'would have 50 x 50 pixels, which is too large: --max-pixels sets' in loaderx.fails(
        1, 'pack', 'a.lst', 'a.rec', *more, 2499)
    loaderx.text('pack', 'a.lst', 'a.rec', *more, 2500)
    loaderx.text('pack', 'a.lst', 'a.rec', *more, 2**64 - 1, '--force')
    for number in '0', '-1', 'x', '18446744073709551616':
        assert '--max-pixels: ' in loaderx.fails(2, 'pack', 'a.lst', 'b.rec', '--max-pixels', number)


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_damage_in_the_pixels_is_found_when_images_are_changed(loaderx, folder, photos):
    name = list(photos)[30]
    (folder / 'photos' / name).write_bytes(photos[name][:-20])
    loaderx.text('pack', 'photos', 'x.rec')
    assert f'photos/{name}: ' in loaderx.fails(1, 'pack', 'photos', 'y.rec', '--encoding', 'png')
    done = loaderx('pack', 'photos', 'y.rec', '--encoding', 'png', '--resume', '--on-bad', 'skip')
    assert done.returncode == 0 and len(read(folder / 'y.rec')) == 59


def measure_peak(loaderx, *arguments):
    """The most memory that a pack takes, in MB."""
    running = loaderx.start('pack', *arguments)
    _, running.returncode, usage = os.wait4(running.pid, 0)
    assert running.returncode == 0, running.communicate()
    running.communicate()
    return usage.ru_maxrss / 1000


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
@pytest.mark.skipif(CHECKS_THREADS, reason='ThreadSanitizer takes several times the memory')
def test_few_large_images_are_decoded_at_once(loaderx, folder):
    """Each of them takes 64 MB, and 4 fit into the budget."""
    head = struct.pack('>IIBBBBB', 8000, 8000, 8, 0, 0, 0, 0)
    (folder / 'a.png').write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) +
                                   chunk(b'IDAT', zlib.compress(bytes(8001 * 8000), 1)) +
                                   chunk(b'IEND', b''))
    (folder / 'a.lst').write_text(''.join(f'{i}\t0\ta.png\n' for i in range(14)))
    assert measure_peak(loaderx, 'a.lst', 'a.rec', '--resize', 10, '--threads', 14) < 650
    assert len(read(folder / 'a.rec')) == 14


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
@pytest.mark.skipif(CHECKS_THREADS, reason='ThreadSanitizer takes several times the memory')
def test_large_files_fill_a_block(loaderx, folder):
    """A thread could read 32 images before the first of them is taken."""
    (folder / 'a.png').write_bytes(b'')
    os.truncate(folder / 'a.png', 60_000_000)
    lines = [f'{i}\t0\t{"b" if i % 10 == 7 else "a"}.png\n' for i in range(40)]
    (folder / 'b.png').write_bytes(png(1))
    (folder / 'a.lst').write_text(''.join(lines))
    peak = measure_peak(loaderx, 'a.lst', 'a.rec', '--on-bad', 'skip', '--threads', 1)
    assert peak < 1100 and [key for key, *_ in read(folder / 'a.rec')] == ['7', '17', '27', '37']


@pytest.mark.skipif(IMAGES, reason='libloaderx-image was built')
def test_images_cannot_be_changed_without_the_library(loaderx, folder, photos):
    assert 'built without libloaderx-image' in loaderx.fails(1, 'pack', 'photos', 'x.rec',
                                                             '--resize', 10)
    assert names(folder) == ['photos']


def test_force(loaderx, folder, photos):
    (folder / 'x.rec').write_bytes(b'old')
    assert 'x.rec exists: --force replaces it' in loaderx.fails(2, 'pack', 'photos', 'x.rec')
    loaderx.text('pack', 'photos', 'x.rec', '--force')
    assert read(folder / 'x.rec') == expected(photos)
    (folder / 'x.rec').unlink()
    assert 'x.idx exists' in loaderx.fails(2, 'pack', 'photos', 'x.rec')


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
