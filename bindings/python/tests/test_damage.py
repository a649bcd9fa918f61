# SPDX-License-Identifier: MIT
"""Damaged records: zeros and skipping, probe, the report of verify, and repair."""

import os
import pathlib
import re
import shutil

import numpy as np
import pytest

import loaderx as lx
from damage import corrupt

N = 60
DATA = np.random.default_rng(3).integers(1, 256, (N, 40), np.uint8)
TEXTS = [bytes(DATA[i][:20]) * 3 for i in range(N)]
FIELDS = {'data': lx.Field('uint8', 40), 'text': lx.Field(bytes), 'label': lx.Field('int64')}
BAD = [7, 31]


@pytest.fixture
def path(tmp_path):
    """Two records have damaged data, and one of them also a damaged text."""
    path = tmp_path / 'dataset'
    with lx.create(path, FIELDS) as writer:
        writer.extend(data=DATA, text=TEXTS, label=range(N))
    for index in BAD:
        corrupt(path, DATA[index].tobytes())
    corrupt(path, TEXTS[31])
    return path


def zeroed(indices=BAD):
    data = DATA.copy()
    data[indices] = 0
    return data


# ---- datasets


def test_raise_is_the_default(path):
    for options in ({}, {'on_damage': 'raise'}):
        with lx.open(path, **options) as dataset:
            with pytest.raises(lx.CorruptError):
                dataset['data'][:]
            assert dataset.damaged >= 1


def test_zeros_replace_damaged_values(path):
    with lx.open(path, on_damage='zeros') as dataset:
        assert dataset.damaged == 0
        assert np.array_equal(dataset['data'][:], zeroed())
        assert dataset.damaged == 2
        assert dataset['text'][[30, 31, 32]] == [TEXTS[30], None, TEXTS[32]]
        record = dataset[31]
        assert record['data'] is None and record['text'] is None and record['label'] == 31
        assert not dataset['data'].present(BAD).any()
        out = np.full((3, 40), 9, np.uint8)
        dataset.gather([6, 7, 8], out={'data': out})
        assert np.array_equal(out, zeroed()[6:9])
        with dataset.views([6, 7], fields=['data']) as views:
            assert np.array_equal(views['data'][0], DATA[6]) and views['data'][1] is None


@pytest.mark.parametrize('live', [False, True])
def test_a_damage_is_counted_once(path, live):
    with lx.open(path, live=live, on_damage='zeros') as dataset:
        dataset.gather([7], ['data'])
        assert dataset.damaged == 1
        dataset.gather([8], ['data'])
        assert dataset.damaged == 1
        with lx.open(path, mode='a') as writer:
            writer.append(data=DATA[0], text=b'', label=0)
        assert dataset.refresh() or live
        assert dataset.damaged == 1
        dataset.gather([31], ['data'])
        assert dataset.damaged == 2
    assert dataset.damaged == 2


def test_counts_a_single_value(path):
    with lx.open(path, on_damage='zeros') as dataset:
        assert dataset['data'][7] is None and dataset.damaged == 1
        assert dataset[7]['data'] is None and dataset.damaged == 2
        assert dataset['data'][8] is not None and dataset.damaged == 2


def test_an_export_counts_damaged_records(path, tmp_path):
    with lx.open(path, on_damage='zeros') as dataset:
        done = dataset.export('data', tmp_path / 'x.npy')
        assert (done['missing'], done['damaged'], dataset.damaged) == (0, 2, 2)
        assert np.array_equal(np.load(tmp_path / 'x.npy'), zeroed())
        done = dataset.export('text', tmp_path / 'texts', indices=[31, 32])
        assert (done['damaged'], done['bytes'], dataset.damaged) == (1, len(TEXTS[32]), 3)


def test_probe_reports_damaged_records(path):
    bad = [i in BAD for i in range(N)]
    for options in ({}, {'verify': 'never'}, {'on_damage': 'zeros'}):
        with lx.open(path, **options) as dataset:
            damaged = dataset.probe(slice(None))
            assert damaged.dtype == bool and damaged.tolist() == bad
            assert dataset.probe([31, 7, -29], fields=['text']).tolist() == [True, False, True]
            assert dataset.probe(np.array(BAD), ['label']).tolist() == [False, False]
            assert dataset.probe([]).shape == (0,)
            good = ~damaged
            assert np.array_equal(dataset['data'][good], DATA[good])


@pytest.mark.parametrize('call, error, named', [
    (lambda d: d.probe([N]), IndexError, str(N)),
    (lambda d: d.probe('a'), TypeError, 'indices'),
    (lambda d: d.probe([0], ['no']), KeyError, 'no'),
    (lambda d: d.probe([0], 'data'), TypeError, 'fields'),
    (lambda d: d.probe(), TypeError, 'indices'),
    (lambda d: d.verify(damaged=3), TypeError, 'damaged'),
    (lambda d: d.verify(progress=3), TypeError, 'progress'),
    (lambda d: lx.open(d.path, on_damage='skip'), ValueError, 'on_damage'),
    (lambda d: lx.open(d.path, on_damage=0), TypeError, 'on_damage'),
    (lambda d: lx.open(d.path, 'a', on_damage='raise'), ValueError, 'on_damage'),
    (lambda d: lx.Loader(d, fields=['data'], on_damage='none'), ValueError, 'on_damage'),
    (lambda d: lx.Loader(d, fields=['data'], on_damage=None), TypeError, 'on_damage'),
])
def test_rejects_invalid_arguments(path, call, error, named):
    with lx.open(path) as dataset, pytest.raises(error, match=named):
        call(dataset)


# ---- verify


@pytest.mark.parametrize('readers', [None, 0, 1, 3])
def test_the_report_of_verify(path, readers):
    executor = None if readers is None else lx.Executor(readers=readers)
    with lx.open(path, executor=executor) as dataset:
        found = []
        with pytest.raises(lx.CorruptError) as caught:
            dataset.verify(damaged=found.append)
    report = caught.value.report
    assert report['records'] == N and report['values'] == 3 * N
    assert report['damage_count'] == 3 == len(report['damages'])
    places = [(damage['record'], damage['field']) for damage in report['damages']]
    assert places == [(7, 'data'), (31, 'data'), (31, 'text')]
    assert [(error.record, error.field) for error in found] == places
    for damage in report['damages']:
        assert set(damage) == {'field', 'record', 'path', 'offset', 'message'}
        assert damage['offset'] >= 0 and os.path.exists(damage['path']) and damage['message']
        assert damage['path'] not in damage['message']
    assert caught.value.record == 7


def test_the_report_of_an_undamaged_dataset(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS) as writer:
        writer.extend(data=DATA, text=TEXTS, label=range(N))
    with lx.open(tmp_path / 'd') as dataset:
        report = dataset.verify(progress=False)
        assert report['damages'] == [] and report['damage_count'] == 0
        assert dataset.verify(progress=None) == dataset.verify(progress=True) == report


def test_raises_exceptions_of_the_callback(path):
    def stop(error):
        raise ZeroDivisionError(error.record)

    with lx.open(path) as dataset, pytest.raises(ZeroDivisionError, match='7'):
        dataset.verify(damaged=stop)


# ---- loaders


@pytest.mark.parametrize('threads', [0, 2])
def test_a_loader_raises_in_place_of_the_batch(path, threads):
    with lx.Loader(lx.open(path), fields=['data', 'label'], batch_size=10,
                   threads=threads) as loader:
        seen = []
        while len(seen) < 6:
            try:
                seen.append(next(loader)['label'].tolist())
            except lx.CorruptError as error:
                seen.append(error.record)
    expected = [list(range(first, first + 10)) for first in range(0, N, 10)]
    expected[0], expected[3] = BAD
    assert seen == expected


@pytest.mark.parametrize('threads', [0, 2])
def test_a_loader_skips(path, threads):
    with lx.Loader(lx.open(path), fields=['data', 'label'], batch_size=10, threads=threads,
                   on_damage='skip') as loader:
        batches = list(loader)
        assert [len(batch['label']) for batch in batches] == [9, 10, 10, 9, 10, 10]
        labels = np.concatenate([batch['label'] for batch in batches])
        assert labels.tolist() == [i for i in range(N) if i not in BAD]
        assert np.array_equal(np.concatenate([batch['data'] for batch in batches]), DATA[labels])
        assert loader.stats()['damaged'] == 2 and loader.tell() == N


def test_a_loader_fills_zeros(path):
    with lx.Loader(lx.open(path), fields=['data', 'label'], batch_size=10,
                   on_damage='zeros') as loader:
        batches = list(loader)
        assert np.array_equal(np.concatenate([batch['data'] for batch in batches]), zeroed())
        assert np.concatenate([batch['label'] for batch in batches]).tolist() == list(range(N))
        assert loader.stats()['damaged'] == 2


def test_a_loader_of_damaged_fields_alone_skips_by_field(path):
    with lx.Loader(lx.open(path), fields=['label'], batch_size=N, on_damage='skip') as loader:
        assert [len(batch['label']) for batch in loader] == [N]


def test_a_loader_that_can_read_no_record_says_what_to_do(tmp_path):
    with lx.create(tmp_path / 'd', {'data': FIELDS['data']}) as writer:
        writer.extend(data=DATA[:1])
    corrupt(tmp_path / 'd', DATA[0].tobytes())
    with pytest.raises(lx.CorruptError, match='all records of an epoch are damaged: repair the '
                       'dataset, or let zeros replace damaged values$'):
        next(lx.Loader(tmp_path / 'd', on_damage='skip'))
    loader = lx.Loader(tmp_path / 'd', on_damage='zeros')
    assert not next(loader)['data'].any()


# ---- rows of zeros, as an interrupted copy or a sparse restore leaves them

ROWS = 9000
KINDS = {'byte': (lx.Field('int8'), np.arange(ROWS, dtype=np.int8)),
         'number': (lx.Field('int64'), np.arange(ROWS)),
         'triple': (lx.Field('float32', 3), np.ones((ROWS, 3), np.float32)),
         'packed': (lx.Field('int32', 16, compress='flate'), np.ones((ROWS, 16), np.int32)),
         'text': (lx.Field(str), [f'text {i}' * (i % 3) for i in range(ROWS)]),
         'blob': (lx.Field(bytes), [b'blob' * (i % 4) for i in range(ROWS)]),
         'json': (lx.Field('json'), [i for i in range(ROWS)]),
         'list': (lx.Field('int32', (None,)), [np.ones(i % 4, np.int32) for i in range(ROWS)])}
READERS = {'item': lambda dataset, name, rows: dataset[name][rows[0]],
           'record': lambda dataset, name, rows: dataset[rows[0]],
           'slice': lambda dataset, name, rows: dataset[name][rows[0]:rows[-1] + 1],
           'all': lambda dataset, name, rows: dataset[name][:],
           'list': lambda dataset, name, rows: dataset[name][rows[::-1]],
           'gather': lambda dataset, name, rows: dataset.gather(rows, [name]),
           'lengths': lambda dataset, name, rows: dataset[name].lengths(rows),
           'read': lambda dataset, name, rows: dataset[name].read(rows[0], 0, 1),
           'views': lambda dataset, name, rows: dataset.views(rows, fields=[name]),
           'arrow': lambda dataset, name, rows: lx.import_arrow(
               dataset.to_arrow(rows, fields=[name]), dataset.path + '-arrow',
               durability='none'),
           'digest': lambda dataset, name, rows: dataset.digest(),
           'stat': lambda dataset, name, rows: dataset.stat(),
           'loader': lambda dataset, name, rows: list(lx.Loader(dataset, fields=[name],
                                                                batch_size=1000)),
           'copy': lambda dataset, name, rows: lx.copy(dataset.path, dataset.path + '-copy',
                                                       fields=[name], progress=False,
                                                       durability='none')}
UNFIT = {'lengths': ('byte', 'number', 'triple', 'packed'), 'read': ('byte', 'number')}


def zero_rows(path, name, first, count):
    for table, row in ('offset', 16), ('check', 8):
        with open(path / f'{name}.{table}', 'r+b') as file:
            file.seek(first * row)
            file.write(bytes(count * row))


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp('whole') / 'dataset'
    with lx.create(path, {name: kind for name, (kind, _) in KINDS.items()}) as writer:
        writer.extend({name: values for name, (_, values) in KINDS.items()})
        writer.seal()
    return path


@pytest.mark.parametrize('name', KINDS)
def test_each_reader_finds_rows_of_zeros(whole, tmp_path, name):
    pages = 512, 4096, 16384, 65536    # of disks, systems and caches, in the table of entries
    for at, page in enumerate(pages):
        path = tmp_path / str(page)
        shutil.copytree(whole, path)
        first = page // 16 * (at % 2)
        rows = list(range(first, first + page // 16))
        zero_rows(path, name, first, len(rows))
        if at % 2:
            lx.unseal(path)
        for access, verify in ('mmap', 'first'), ('mmap', 'never'), ('pread', 'always'):
            with lx.open(path, access=access, verify=verify) as dataset:
                for reader, call in READERS.items():
                    if name in UNFIT.get(reader, ()):
                        continue
                    with pytest.raises((lx.CorruptError, OSError)) as caught:    # Arrow's
                        call(dataset, name, rows)
                    found = re.search(rf"/{page}/{name}\.offset, field '{name}', record (\d+), "
                                      r'offset (\d+): .* row was lost', str(caught.value))
                    assert found and int(found[1]) in rows, (reader, caught.value)
                    assert int(found[2]) == 16 * int(found[1])


# ---- copies


def test_a_copy_of_a_damaged_record_ends_the_transaction(path, tmp_path):
    with lx.open(path) as dataset:
        writer = lx.create(tmp_path / 'd', FIELDS)
        writer.copy(dataset, [0])
        writer.commit()
        writer.copy(dataset, [1])
        for call in (lambda: writer.copy(dataset, BAD),
                     lambda: writer.append(data=DATA[0], text=b'', label=1), writer.commit):
            with pytest.raises(lx.CorruptError, match='record 7'):
                call()
        writer.rollback()
        writer.copy(dataset, [2])
        writer.close()
        with pytest.raises(lx.CorruptError, match='record 7'):
            with lx.open(tmp_path / 'd', 'a') as writer:
                writer.copy(dataset, [3])
                with pytest.raises(lx.CorruptError):
                    writer.copy(dataset, BAD)
    assert read(tmp_path / 'd')['label'].tolist() == [0, 2]


# ---- repair


def read(path):
    with lx.open(path) as dataset:
        dataset.verify()
        return dataset.gather(slice(None), missing='zeros')


def test_a_dry_run_changes_nothing(path):
    before = {name: (path / name).read_bytes() for name in ('meta.json', 'LOG')}
    found = []
    report = lx.repair(path, found=found.append)
    assert report['changed'] is False and report['damages'] == 3 and report['missing'] == 3
    assert report['findings'] == found and len(found) == 3
    assert [(f['record'], f['field'], f['action']) for f in found] == [
        (7, 'data', 'missing'), (31, 'data', 'missing'), (31, 'text', 'missing')]
    assert all((path / name).read_bytes() == data for name, data in before.items())
    with lx.open(path) as dataset, pytest.raises(lx.CorruptError):
        dataset.verify()


def test_values_become_missing(path):
    report = lx.repair(path, apply=True)
    assert report['changed'] and report['missing'] == 3 and report['deleted'] == 0
    records = read(path)
    assert np.array_equal(records['data'], zeroed())
    assert records['text'][31] is None and records['text'][7] == TEXTS[7]
    assert lx.repair(path, apply=True)['changed'] is False


def test_records_are_deleted(path):
    report = lx.repair(path, delete=True)
    assert {finding['action'] for finding in report['findings']} == {'delete'}
    report = lx.repair(path, apply=True, delete=True)
    assert report['changed'] and report['deleted'] == 2
    labels = read(path)['label'].tolist()
    assert sorted(labels) == [i for i in range(N) if i not in BAD]
    assert labels[7] in (58, 59)


def test_leaves_an_undamaged_dataset_unchanged(tmp_path):
    with lx.create(tmp_path / 'd', FIELDS) as writer:
        writer.extend(data=DATA, text=TEXTS, label=range(N))
    report = lx.repair(tmp_path / 'd', apply=True)
    assert report['changed'] is False and report['findings'] == [] and report['records'] == N


def test_a_repair_can_be_rejected_or_stopped(path):
    with lx.open(path, mode='a'):
        with pytest.raises(BlockingIOError):
            lx.repair(path, apply=True)

    def stop(finding):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lx.repair(path, apply=True, found=stop)
    with pytest.raises(FileNotFoundError):
        lx.repair(path.parent / 'no')
    for options, named in [({'apply': 1}, 'apply'), ({'delete': 'x'}, 'delete'),
                           ({'found': 3}, 'found'), ({'progress': 3}, 'progress')]:
        with pytest.raises(TypeError, match=named):
            lx.repair(path, **options)
    with pytest.raises(TypeError, match='path'):
        lx.repair(3)
    with lx.open(path) as dataset, pytest.raises(lx.CorruptError):
        dataset.verify()


def test_reports_damage_that_cannot_be_repaired(path):
    (path / 'meta.json').write_text('{')
    check_beyond_repair(path, 'meta.json')


def test_a_dataset_without_log_cannot_be_repaired(path):
    (path / 'LOG').unlink()
    check_beyond_repair(path, 'LOG')


def check_beyond_repair(path, named):
    for apply in (False, True):
        with pytest.raises(lx.CorruptError, match=named) as caught:
            lx.repair(path, apply)
        report = caught.value.report
        assert report['findings'] == [] and not report['changed']
        assert report['records'] == report['damages'] == 0


def test_a_repair_removes_the_seal(path, tmp_path):
    with lx.open(path, 'a') as writer:
        writer.seal()
    lx.repair(path)
    assert lx.open(path).identity['sealed']
    report = lx.repair(path, apply=True)
    assert report['changed'] and report['missing'] == 3
    assert not lx.open(path).identity['sealed']


def test_a_recovery_leaves_the_damaged_dataset(path, tmp_path):
    with lx.open(path, 'a') as writer:
        writer.seal()    # the rows are in the tables now
    before = {name.relative_to(path): name.read_bytes() for name in path.rglob('*')
              if name.is_file() and name.name != 'LOCK'}
    (path / 'text.check').write_bytes(b'')
    with pytest.raises(lx.CorruptError, match='--into') as caught:
        lx.repair(path, apply=True)
    assert not caught.value.report['changed']
    report = lx.repair(path, into=tmp_path / 'new')
    assert report['changed'] and report['copied_bytes'] == 0
    assert [finding['action'] for finding in report['findings']] == ['drop', 'missing', 'missing']
    records = read(tmp_path / 'new')
    assert np.array_equal(records['data'], zeroed())
    assert all(text is None for text in records['text'])
    before[pathlib.Path('text.check')] = b''
    assert before == {name.relative_to(path): name.read_bytes() for name in path.rglob('*')
                      if name.is_file() and name.name != 'LOCK'}
    with pytest.raises(FileExistsError):
        lx.repair(path, into=tmp_path / 'new')
    with pytest.raises(ValueError, match='pass only one of them'):
        lx.repair(path, apply=True, into=tmp_path / 'other')
