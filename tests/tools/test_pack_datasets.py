# SPDX-License-Identifier: MIT
"""loaderx pack: datasets, and conversions between them and RecordIO files."""

import struct
import subprocess

import pytest

from image_files import expected, names, png, read


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


def test_ids_of_merged_datasets(loaderx, folder, photos):
    """A key that two records have would find only one of them."""
    loaderx.text('pack', 'photos', 'x')
    loaderx.text('copy', 'x', 'x', 'twice', '-q')
    assert ("twice: two records have the id 0, and ids are the keys of the index: 'loaderx copy "
            "--field label --field image' leaves ids out") in loaderx.fails(1, 'pack', 'twice',
                                                                            'y.rec')
    assert names(folder) == ['photos', 'twice', 'x']
    loaderx.text('copy', 'twice', 'new', '--field', 'label', '--field', 'image', '-q')
    loaderx.text('pack', 'new', 'y.rec')
    images = [record[2:] for record in expected(photos)]
    assert read(folder / 'y.rec') == [(str(i), i, *rest) for i, rest in enumerate(images * 2)]


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
