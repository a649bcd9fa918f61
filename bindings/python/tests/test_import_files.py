# SPDX-License-Identifier: MIT
"""Imports of other formats: the values are those that the reference library reads."""

import csv
import gzip
import io
import json
import math
import operator
import os
import random
import tarfile
import threading

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings, strategies as st

import loaderx as lx

JPEG = b'\xff\xd8\xff'    # how each begins


def values(dataset, name):
    """The values of a field: None for missing ones."""
    column = dataset[name]
    present = column.present()
    kind = dataset.fields[name].dtype
    convert = bytes if kind in (bytes, 'image') else lambda value: value
    if isinstance(kind, np.dtype):
        convert = operator.methodcaller('tolist')
    return [convert(column[i]) if present[i] else None for i in range(len(dataset))]


# ---- lines


def test_lines_are_those_of_python(tmp_path):
    text = 'one\ntwo\r\n\n caf\u00e9 \U0001f600\nlast'
    (tmp_path / 'a.txt').write_bytes(text.encode())
    report = lx.import_lines(tmp_path / 'a.txt', tmp_path / 'd', field='line', progress=False)
    wanted = io.StringIO(text).read().replace('\r\n', '\n').split('\n')
    assert values(lx.open(tmp_path / 'd'), 'line') == wanted
    assert (report.records, report.length, report.bad, report.skipped) == (5, 5, 0, [])


# ---- JSON Lines


def records(count, seed=1):
    rng = random.Random(seed)
    for i in range(count):
        yield {
            'id': rng.randrange(-2**63, 2**63),
            'x': rng.uniform(-1e300, 1e300) if i % 3 else rng.random() * 10**rng.randrange(-30, 30),
            'flag': rng.random() < 0.5,
            'text': ''.join(rng.choices('a"\\/\n\t\u00e9\u4e2d\U0001f600\x01 ', k=i % 50)),
            'list': [rng.random(), rng.randrange(100)],
            'matrix': [[i, 1], [2, -i]],
            'tokens': list(range(i % 7)),
            'any': rng.choice([{'a': [1, {'b': None}]}, [], 'text', 1.5, True]),
            **({'rare': i} if i % 10 == 0 else {}),
            **({'null': None} if i % 2 else {'null': 'x'}),
        }


@pytest.mark.parametrize('ascii_only', [True, False])
@pytest.mark.parametrize('spaced', [True, False])
def test_jsonl_values_are_those_of_json(tmp_path, ascii_only, spaced):
    lines = [json.dumps(record, ensure_ascii=ascii_only,
                        separators=None if spaced else (',', ':')) for record in records(3000)]
    (tmp_path / 'a.jsonl.gz').write_bytes(gzip.compress('\n'.join(lines).encode()))
    lx.import_jsonl(tmp_path / 'a.jsonl.gz', tmp_path / 'd', progress=False)
    dataset = lx.open(tmp_path / 'd')
    wanted = [json.loads(line) for line in lines]
    for name in wanted[0].keys() | {'rare'}:
        assert values(dataset, name) == [record.get(name) for record in wanted]
    assert dataset.fields['matrix'] == lx.Field('int64', (2, 2))
    assert dataset.fields['tokens'] == lx.Field('int64', (None,))
    assert dataset.fields['text'] == lx.Field(str) and dataset.fields['any'] == lx.Field('json')
    assert dataset.fields['flag'] == lx.Field('bool')


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 2)),
                min_size=1, max_size=12), st.booleans())
def test_floats_are_those_of_python(tmp_path_factory, numbers, single):
    folder = tmp_path_factory.mktemp('float')
    dtype = 'float32' if single else 'float64'

    def load(texts, name):
        (folder / 'a').write_text(''.join(f'{{"x": {text}}}\n' for text in texts))
        lx.import_jsonl(folder / 'a', folder / name, fields={'x': dtype}, progress=False)
        return lx.open(folder / name)['x'][:]

    def fits(text):
        with np.errstate(over='ignore'):
            return math.isfinite(np.float64(text).astype(dtype))

    texts = [[repr, '{:.25e}'.format, '{:.3g}'.format][form](number) for number, form in numbers]
    for text in [text for text in texts if not fits(text)][:1]:
        with pytest.raises(ValueError, match='does not fit'):
            load([text], 'bad')
    good = list(filter(fits, texts))
    if good:
        assert load(good, 'good').tobytes() == np.array(list(map(float, good)), dtype).tobytes()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.recursive(
    st.none() | st.booleans() | st.integers(-10**20, 10**20) | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=20),
    min_size=1, max_size=8))
def test_any_json_is_kept(tmp_path_factory, wanted):
    folder = tmp_path_factory.mktemp('json')
    (folder / 'a').write_text(''.join(json.dumps({'x': value}) + '\n' for value in wanted))
    lx.import_jsonl(folder / 'a', folder / 'd', fields={'x': 'json'}, progress=False)
    assert values(lx.open(folder / 'd'), 'x') == wanted


# ---- CSV


@pytest.mark.parametrize('delimiter', [',', ';', '\t'])
@pytest.mark.parametrize('quoting', [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize('end', ['\n', '\r\n'])
def test_csv_words_are_those_of_csv(tmp_path, delimiter, quoting, end):
    rng = random.Random(2)
    letters = 'ab,;\t"\n\u00e9 ' + end    # Python quotes a CR only if lines end with it
    rows = [[i, rng.random(), ''.join(rng.choices(letters, k=i % 30)), f'{i % 7:03}']
            for i in range(1500)]
    with open(tmp_path / 'a.csv', 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerows([['id', 'x', 'text', 'code'], *rows])
    lx.import_csv(tmp_path / 'a.csv', tmp_path / 'd', delimiter=delimiter, progress=False)
    dataset = lx.open(tmp_path / 'd')
    with open(tmp_path / 'a.csv', newline='', encoding='utf-8') as file:
        wanted = list(csv.DictReader(file, delimiter=delimiter))
    assert values(dataset, 'id') == [int(row['id']) for row in wanted]
    assert values(dataset, 'x') == [float(row['x']) for row in wanted]
    assert values(dataset, 'text') == [row['text'] for row in wanted]
    assert values(dataset, 'code') == [row['code'] for row in wanted]


def test_csv_without_a_header(tmp_path):
    (tmp_path / 'a.csv').write_text('1,a\n,b\n')
    lx.import_csv(tmp_path / 'a.csv', tmp_path / 'd', header=False, progress=False)
    dataset = lx.open(tmp_path / 'd')
    assert values(dataset, 'column0') == [1, None] and values(dataset, 'column1') == ['a', 'b']


def test_csv_of_polars(tmp_path):
    polars = pytest.importorskip('polars')
    for i, column in enumerate([[1, None, 3, None], ['x', None, '', 'y'],
                                [1.5, None, math.inf, -math.inf]]):
        polars.DataFrame({'a': column}).write_csv(tmp_path / 'a.csv')
        lx.import_csv(tmp_path / 'a.csv', tmp_path / f'd{i}', progress=False)
        assert values(lx.open(tmp_path / f'd{i}'), 'a') == column


@pytest.mark.parametrize('word', ['nan', 'NaN', 'inf', '-inf', 'Infinity', '-Infinity', '+INF'])
def test_csv_words_for_numbers_are_those_of_python(tmp_path, word):
    (tmp_path / 'a.csv').write_text(f'x,y\n1,{word}\n{word},2\n')
    lx.import_csv(tmp_path / 'a.csv', tmp_path / 'd', fields={'y': 'float32'}, progress=False)
    dataset = lx.open(tmp_path / 'd')
    assert np.array_equal(dataset['x'][:], [1, float(word)], equal_nan=True)
    assert np.array_equal(dataset['y'][:], [float(word), 2], equal_nan=True)


# ---- tar


@pytest.mark.parametrize('form', [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize('compress', [False, True])
def test_tar_members_are_those_of_tarfile(tmp_path, form, compress):
    rng = random.Random(3)
    with tarfile.open(tmp_path / 'a.tar', 'w:gz' if compress else 'w', format=form) as archive:
        for i in range(300):
            stem = 'deep/' * (i % 40) + f'{i:05}' + ('_long' * (i % 9))
            for name in rng.sample(['jpg', 'cls', 'seg.PNG', 'json'], rng.randrange(1, 5)):
                data = {'cls': b'%d\n' % i, 'json': json.dumps({'i': i}).encode()}.get(
                    name, JPEG + rng.randbytes(rng.randrange(2000)))
                member = tarfile.TarInfo(f'{stem}.{name}')
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    lx.import_tar(tmp_path / 'a.tar', tmp_path / 'd', key='key', progress=False)
    wanted = {}
    with tarfile.open(tmp_path / 'a.tar') as archive:
        for member in archive:
            folder, base = os.path.split(member.name)
            stem, _, name = base.partition('.')
            wanted.setdefault(os.path.join(folder, stem), {})[name.lower()] = \
                archive.extractfile(member).read()
    dataset = lx.open(tmp_path / 'd')
    assert values(dataset, 'key') == list(wanted)
    for name in 'jpg', 'seg.png':
        assert dataset.fields[name] == lx.Field('image')
        assert values(dataset, name) == [parts.get(name) for parts in wanted.values()]
    assert values(dataset, 'json') == [json.loads(parts['json']) if 'json' in parts else None
                                       for parts in wanted.values()]
    assert values(dataset, 'cls') == [int(parts['cls']) if 'cls' in parts else None
                                      for parts in wanted.values()]


def test_tar_samples_are_those_of_webdataset(tmp_path):
    webdataset = pytest.importorskip('webdataset')
    with webdataset.TarWriter(str(tmp_path / 'a.tar')) as sink:
        for i in range(100):
            sink.write({'__key__': f'sample{i:04}', 'cls': i % 10, 'txt': f'text {i} \u00e9',
                        'json': {'i': i}, 'bin': bytes([i]) * i})
    lx.import_tar(tmp_path / 'a.tar', tmp_path / 'd', key='key', progress=False)
    dataset = lx.open(tmp_path / 'd')
    wanted = list(webdataset.WebDataset(str(tmp_path / 'a.tar'), shardshuffle=False).decode())
    assert values(dataset, 'key') == [sample['__key__'] for sample in wanted]
    assert values(dataset, 'cls') == [sample['cls'] for sample in wanted]
    assert values(dataset, 'txt') == [sample['txt'] for sample in wanted]
    assert values(dataset, 'json') == [sample['json'] for sample in wanted]
    assert values(dataset, 'bin') == [sample['bin'] for sample in wanted]


# ---- folders


def test_folders_are_those_of_image_folder(tmp_path):
    for name in 'dog/1.png', 'cat/a/2.PNG', 'cat/1.png', 'cat/notes.txt', 'dog/.hidden.png':
        path = tmp_path / 'in' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(JPEG + name.encode())
    lx.import_folder(tmp_path / 'in', tmp_path / 'd', extensions=['.png', 'jpg'], progress=False)
    dataset = lx.open(tmp_path / 'd')
    names = ['cat/1.png', 'cat/a/2.PNG', 'dog/1.png']
    assert values(dataset, 'name') == names
    assert values(dataset, 'data') == [JPEG + name.encode() for name in names]
    assert dataset.fields['data'] == lx.Field('image')
    assert values(dataset, 'label') == [0, 0, 1]
    assert values(dataset, 'class') == ['cat', 'cat', 'dog']


def test_files_that_are_no_images_are_bad_records(tmp_path):
    (tmp_path / 'in').mkdir()
    for name, data in ('0.jpg', JPEG), ('1.jpg', b'a cat'), ('2.jpg', b''), ('3.jpg', JPEG):
        (tmp_path / 'in' / name).write_bytes(data)
    with pytest.raises(lx.CorruptError, match='the value is no image: its 5 bytes'):
        lx.import_folder(tmp_path / 'in', tmp_path / 'stopped', progress=False)
    report = lx.import_folder(tmp_path / 'in', tmp_path / 'd', on_bad='skip', progress=False)
    assert report.bad == 2 and values(lx.open(tmp_path / 'd'), 'data') == [JPEG, JPEG]


def test_class_names_go_into_the_card(tmp_path):
    for name in 'in/dog/1', 'in/b\u00e4r/1', 'in/.git/1', 'more/ant/1':
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    lx.import_folder(tmp_path / 'in', tmp_path / 'd', card={'source': 'here'}, progress=False)
    lx.import_folder(tmp_path / 'more', tmp_path / 'd', append=True, progress=False)
    card = lx.open(tmp_path / 'd').card
    assert card.keys() == {'source', 'classes'}
    assert json.loads(card['classes']) == ['b\u00e4r', 'dog', 'ant']
    lx.import_folder(tmp_path / 'in', tmp_path / 'e', card={'classes': 'mine'}, hidden=True,
                     progress=False)
    assert lx.open(tmp_path / 'e').card == {'classes': 'mine'}
    assert values(lx.open(tmp_path / 'e'), 'label') == [0, 1, 2]


def test_the_classes_of_all_folders_are_numbered_together(tmp_path):
    for name in 'a/cat/1', 'a/dog/1', 'b/ant/1', 'b/dog/1':
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(JPEG + name.encode())
    folders = [tmp_path / 'a', tmp_path / 'b']
    lx.import_folder(folders, tmp_path / 'both', progress=False)
    for i, folder in enumerate(folders):
        lx.import_folder(folder, tmp_path / 'appended', append=i > 0, progress=False)
    for name, labels in ('both', [1, 2, 0, 2]), ('appended', [0, 1, 2, 1]):
        dataset = lx.open(tmp_path / name)
        assert values(dataset, 'class') == ['cat', 'dog', 'ant', 'dog']
        assert values(dataset, 'label') == labels


# ---- what all imports have


def test_fields_are_stored_as_asked(tmp_path):
    (tmp_path / 'a').write_text(json.dumps({'a': 'text' * 50, 'b': 'text' * 50, 'c': [1, 2],
                                            'd': [3, 4]}))
    lx.import_jsonl([tmp_path / 'a'] * 2, tmp_path / 'd', compress='flate', progress=False,
                    fields={'a': lx.Field(bytes, compress='flate', level=9),
                            'c': lx.Field('uint8', (2,)),
                            'd': lx.Field('int32', (None,), compress='zstd')})
    fields = lx.open(tmp_path / 'd').fields
    assert fields == {'a': lx.Field(bytes, compress='flate', level=9),
                      'b': lx.Field(str, compress='flate'), 'c': lx.Field('uint8', (2,)),
                      'd': lx.Field('int32', (None,), compress='zstd')}


def test_bad_records_are_listed(tmp_path):
    (tmp_path / 'a').write_text('{"a": 1}\n{"a": x}\n{"a": 2}\n')
    with pytest.raises(lx.CorruptError) as caught:
        lx.import_jsonl(tmp_path / 'a', tmp_path / 'd', progress=False)
    assert (caught.value.record, caught.value.offset) == (1, 9)
    report = lx.import_jsonl(tmp_path / 'a', tmp_path / 'd', on_bad='skip', progress=False)
    assert report.records == 2 and report.bad == 1
    assert report.skipped[0]['path'] == str(tmp_path / 'a')
    assert report.skipped[0]['record'] == 1 and report.skipped[0]['offset'] == 9
    assert 'expected a value at byte 6' in report.skipped[0]['message']


def test_an_import_is_appended(tmp_path):
    (tmp_path / 'a').write_text('one\n')
    for length in 1, 2:
        report = lx.import_lines(tmp_path / 'a', tmp_path / 'd', append=length > 1, progress=False)
        assert report.length == length
    with pytest.raises(FileExistsError):
        lx.import_lines(tmp_path / 'a', tmp_path / 'd', progress=False)


def test_an_exception_in_the_progress_interrupts_and_the_import_continues(tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        assert total == os.path.getsize(tmp_path / 'a')
        if done > 5 << 20:
            raise Enough

    (tmp_path / 'a').write_text(''.join(f'line {i}\n' for i in range(1000000)))
    with pytest.raises(Enough):
        lx.import_lines(tmp_path / 'a', tmp_path / 'd', progress=stop)
    with pytest.raises(lx.LoaderxError, match='not complete'):
        lx.import_lines(tmp_path / 'a', tmp_path / 'd', progress=False)
    report = lx.import_lines(tmp_path / 'a', tmp_path / 'd', resume=True, progress=False)
    assert 0 < report.resumed < report.length == 1000000
    assert lx.open(tmp_path / 'd')['text'][999999] == 'line 999999'


def test_pipes_are_read(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    feeder = threading.Thread(target=(tmp_path / 'pipe').write_text, args=('one\ntwo\n',))
    feeder.start()
    totals = []
    lx.import_lines(tmp_path / 'pipe', tmp_path / 'd',
                    progress=lambda done, total: totals.append(total))
    feeder.join()
    assert values(lx.open(tmp_path / 'd'), 'text') == ['one', 'two'] and set(totals) <= {None}


@pytest.mark.parametrize('arguments, error', [
    ({'on_bad': 'ignore'}, ValueError),
    ({'compress': 'zip'}, ValueError),
    ({'fields': ['text']}, TypeError),
    ({'fields': {'text': bytes}}, TypeError),
    ({'fields': {1: 'str'}}, TypeError),
    ({'fields': {'text': 'string'}}, ValueError),
    ({'resume': 1}, TypeError),
    ({'append': None}, TypeError),
    ({'field': 5}, TypeError),
    ({'durability': 'some'}, ValueError),
    ({'progress': 5}, TypeError),
])
def test_wrong_arguments(tmp_path, arguments, error):
    (tmp_path / 'a').write_text('text\n')
    with pytest.raises(error):
        lx.import_lines(tmp_path / 'a', tmp_path / 'd', **{'progress': False, **arguments})
    assert not (tmp_path / 'd').exists()


def test_the_card_of_a_new_dataset(tmp_path):
    (tmp_path / 'a').write_text('one\n')
    lx.import_lines(tmp_path / 'a', tmp_path / 'd', card={'license': 'MIT'})
    assert lx.open(tmp_path / 'd').card == {'license': 'MIT'}
    lx.import_lines(tmp_path / 'a', tmp_path / 'd', card={'license': 'MIT'}, resume=True)
    with pytest.raises(ValueError, match='card applies to new datasets only'):
        lx.import_lines(tmp_path / 'a', tmp_path / 'd', card={'license': 'BSD'}, append=True)
    with pytest.raises(TypeError, match='card must be a dict'):
        lx.import_lines(tmp_path / 'a', tmp_path / 'e', card='MIT')
    with pytest.raises(TypeError, match='license'):
        lx.import_lines(tmp_path / 'a', tmp_path / 'e', card={'license': 5})
    assert not (tmp_path / 'e').exists()
