# SPDX-License-Identifier: MIT
"""Imports of Parquet and Arrow files: damaged ones, several ones, and interrupted ones."""

import fcntl
import json
import struct

import numpy as np
import pytest

import loaderx as lx
import loaderx._arrow_files
import loaderx.arrow
from processes import run_script

pa = pytest.importorskip('pyarrow')


def save(path, table, rows=4):
    """Write a file in the format that its name says; name.stream.arrow is a stream."""
    if path.suffix == '.parquet':
        import pyarrow.parquet
        pyarrow.parquet.write_table(table, path, row_group_size=rows)
        return path
    new = pa.ipc.new_stream if '.stream' in path.suffixes else pa.ipc.new_file
    with pa.OSFile(str(path), 'wb') as sink, new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def numbers(start, count):
    return pa.table({'x': range(start, start + count),
                     'text': [f'text {i}' for i in range(start, start + count)]})


def check(path, count):
    """The dataset must have the records of numbers(0, count), and no import may be interrupted."""
    ds = lx.open(path)
    assert ds['x'][:].tolist() == list(range(count))
    assert list(ds['text'][:]) == [f'text {i}' for i in range(count)]
    assert not path.with_name(path.name + '.import').exists()


@pytest.fixture
def often(monkeypatch):
    """Imports of files commit after each batch, which has at most 30 rows."""
    monkeypatch.setattr(loaderx.arrow, '_COMMIT_BYTES', 1)
    monkeypatch.setattr(loaderx._arrow_files, '_MAX_ROWS', 30)


def test_int96_timestamps_of_all_years(tmp_path):
    import pyarrow.parquet
    moments = np.array(['0001-01-01T00:00:00.000001', '2024-02-29T12:00:00.123456',
                        '2262-04-12T00:00:00', '9999-12-31T23:59:59.999999'], 'datetime64[us]')
    path = tmp_path / 'x.parquet'
    pyarrow.parquet.write_table(pa.table({'x': moments}), path,
                                use_deprecated_int96_timestamps=True)
    lx.import_arrow(path, tmp_path / 'd')
    assert np.array_equal(lx.open(tmp_path / 'd')['x'][:], moments)


# ---- damaged files


def lying(path, offset):
    """Write a file with one text column, the last offset of which lies."""
    save(path, pa.table({'text': ['abc', 'def']}))
    data = path.read_bytes()
    offsets = struct.pack('<3i', 0, 3, 6)
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, struct.pack('<3i', 0, 3, offset)))
    return path


@pytest.mark.parametrize('name', ['t.arrow', 't.stream.arrow'])
@pytest.mark.parametrize('offset', [300, 2_000_000_000, -1, 2**31 - 1])
def test_offsets_that_lie_are_refused(name, offset, tmp_path):
    path = lying(tmp_path / name, offset)
    with pytest.raises(ValueError, match=r"t\.(stream\.)?arrow', batch 0: "):
        lx.import_arrow(path, tmp_path / 'd')
    assert sorted(each.name for each in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize('open_table', [
    lambda path: pa.ipc.open_file(pa.memory_map(str(path))).read_all(),
    lambda path: pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0),
    lambda path: pa.RecordBatchReader.from_batches(
        pa.schema({'text': pa.string()}), [pa.ipc.open_file(str(path)).get_batch(0)]),
])
def test_tables_of_damaged_files_are_refused(open_table, tmp_path):
    path = lying(tmp_path / 't.arrow', 2_000_000_000)
    with pytest.raises((ValueError, OSError), match='offset|Offset'):
        lx.import_arrow(open_table(path), tmp_path / 'd')
    with lx.create(tmp_path / 'd', {'text': lx.Field(str)}) as writer:
        with pytest.raises((ValueError, OSError), match='offset|Offset'):
            writer.extend(open_table(path))
        assert len(writer) == 0


@pytest.mark.parametrize('name', ['t.arrow', 't.stream.arrow', 't.parquet'])
def test_damaged_bytes_never_crash(name, tmp_path):
    run_script(f'''
        import random, sys
        sys.path.insert(0, {str(__file__.rpartition('/')[0])!r})
        from pathlib import Path
        import pyarrow as pa, test_arrow_files as files
        folder = Path({str(tmp_path)!r})
        table = pa.table({{
            'x': [1, None, 3, 4, 5], 'text': ['a', 'b' * 40, None, '', 'c'],
            'category': pa.array(['p', 'q', 'p', None, 'q']).dictionary_encode(),
            'list': [[1], [2, 3], None, [], [4]], 'flag': [True, None, False, True, True],
            'view': pa.array(['a' * 30, 'b', None, '', 'c' * 20]).cast(pa.string_view()),
            'fixed': pa.array([[1, 2]] * 5, pa.list_(pa.int16(), 2))}})
        good = files.save(folder / {name!r}, table, 3).read_bytes()
        chance = random.Random(7)
        failed = 0
        for i in range(150):
            bad = bytearray(good)
            for _ in range(chance.choice((1, 1, 2, 5))):
                at = chance.randrange(len(bad))
                bad[at] = chance.choice((0, 1, 0x7f, 0xff, chance.randrange(256)))
            (folder / {name!r}).write_bytes(bad)
            try:
                lx.import_arrow(folder / {name!r}, folder / f'd{{i}}')
                lx.remove(folder / f'd{{i}}')
            except (ValueError, OSError, lx.LoaderxError, MemoryError, NotImplementedError,
                    TypeError, KeyError):
                failed += 1
        assert failed > 20, failed
        assert not list(folder.glob('d*')), list(folder.glob('d*'))
    ''')


# ---- several files


@pytest.mark.parametrize('suffix', ['.parquet', '.arrow', '.stream.arrow'])
def test_files_are_imported_in_order(suffix, tmp_path):
    paths = [save(tmp_path / f'{i}{suffix}', numbers(10 * i, 10)) for i in range(3)]
    steps = []
    assert lx.import_arrow(paths, tmp_path / 'd', progress=lambda *step: steps.append(step)) == 30
    check(tmp_path / 'd', 30)
    assert steps[-1] == (30, 30 if suffix == '.parquet' else None)


def test_errors_name_the_file_and_the_row_in_it(tmp_path):
    good = save(tmp_path / 'good.parquet', pa.table({'x': [[1, 2]] * 70}))
    bad = save(tmp_path / 'bad.parquet', pa.table({'x': [[1, 2]] * 70 + [[1]]}))
    with pytest.raises(ValueError, match="bad.parquet'.*field 'x', record 70: .* 1 elements"):
        lx.import_arrow([good, bad], tmp_path / 'd', fields={'x': 'int64[2]'})
    other = save(tmp_path / 'other.parquet', pa.table({'y': [1]}))
    with pytest.raises(ValueError, match="other.parquet'.*field 'y'"):
        lx.import_arrow([good, other], tmp_path / 'd')
    with pytest.raises(ValueError, match="'x' not found: the columns of .*other.parquet"):
        lx.import_arrow([good, other], tmp_path / 'd', columns=['x'])
    with pytest.raises(FileNotFoundError, match='absent'):
        lx.import_arrow([good, tmp_path / 'absent.parquet'], tmp_path / 'd')
    with pytest.raises(ValueError, match='not .*csv'):
        lx.import_arrow([good, 'a.csv'], tmp_path / 'd')
    with pytest.raises(TypeError, match='source must be paths'):
        lx.import_arrow([good, 5], tmp_path / 'd')
    assert not list(tmp_path.glob('d*'))


def test_append(tmp_path):
    first = save(tmp_path / 'a.parquet', numbers(0, 10))
    more = save(tmp_path / 'b.arrow', numbers(10, 5))
    assert lx.import_arrow(first, tmp_path / 'd') == 10
    with pytest.raises(FileExistsError, match='append=True'):
        lx.import_arrow(more, tmp_path / 'd')
    assert lx.import_arrow(more, tmp_path / 'd', append=True, durability='full') == 5
    assert lx.import_arrow(numbers(15, 5), tmp_path / 'd', append=True) == 5
    check(tmp_path / 'd', 20)
    for source in (more, numbers(0, 1)):
        with pytest.raises(ValueError, match="only 'ignore' is allowed"):
            lx.import_arrow(source, tmp_path / 'd', append=True, fields={'x': 'int64'})
        with pytest.raises(ValueError, match='card applies to new datasets only'):
            lx.import_arrow(source, tmp_path / 'd', append=True, card={'source': 'a'})
        with pytest.raises(FileNotFoundError):
            lx.import_arrow(source, tmp_path / 'absent', append=True)
    with pytest.raises(ValueError, match="field 'y'"):
        lx.import_arrow(pa.table({'y': [1]}), tmp_path / 'd', append=True)
    with pytest.raises(ValueError, match="field 'text'"):
        lx.import_arrow(more, tmp_path / 'd', append=True, columns=['x'])
    check(tmp_path / 'd', 20)


def test_columns_can_be_left_out(tmp_path):
    path = save(tmp_path / 'a.parquet', pa.table({
        'x': [1], 'bad': [{'a': 1}], 'y': pa.array([2], pa.float32())}))
    lx.import_arrow(path, tmp_path / 'd', fields={'bad': 'ignore', 'y': 'float64'})
    assert dict(lx.open(tmp_path / 'd').fields) == {'x': lx.Field('int64'),
                                                    'y': lx.Field('float64')}
    lx.import_arrow(path, tmp_path / 'd', fields={'bad': 'ignore'}, append=True)
    assert lx.open(tmp_path / 'd')['x'][:].tolist() == [1, 1]


# ---- interrupted imports


def stop_at(count):
    def progress(done, total):
        if done >= count:
            raise RuntimeError('stop')
    return progress


@pytest.mark.parametrize('suffix', ['.parquet', '.arrow', '.stream.arrow'])
@pytest.mark.parametrize('append', [False, True])
def test_an_interrupted_import_continues(suffix, append, often, tmp_path):
    paths = [save(tmp_path / f'{i}{suffix}', numbers(100 * i + 10, 100), 30) for i in range(3)]
    if append:
        lx.import_arrow(numbers(0, 10), tmp_path / 'd')
    else:
        paths.insert(0, save(tmp_path / f'first{suffix}', numbers(0, 10)))
    options = {'append': append, 'card': None if append else {'source': 'numbers'}}
    for count in (40, 41, 130, 250):
        with pytest.raises(RuntimeError, match='stop'):
            lx.import_arrow(paths, tmp_path / 'd', progress=stop_at(count), resume=count > 40,
                            **options)
        assert 10 < len(lx.open(tmp_path / 'd')) < 310
        with pytest.raises(lx.LoaderxError, match='d.import: .*resume=True') as caught:
            lx.import_arrow(paths, tmp_path / 'd', **options)
        assert caught.value.status == 'LX_ERR_STATE'
        with pytest.raises(lx.LoaderxError, match='interrupted'):
            lx.import_arrow(numbers(0, 1), tmp_path / 'd', append=True)
        with pytest.raises(ValueError, match='other inputs'):
            lx.import_arrow(paths[1:], tmp_path / 'd', resume=True, **options)
    assert lx.import_arrow(paths, tmp_path / 'd', resume=True, **options) == 310 - 10 * append
    check(tmp_path / 'd', 310)
    if append:
        with pytest.raises(FileNotFoundError, match='no interrupted import'):
            lx.import_arrow(paths, tmp_path / 'd', resume=True, **options)
    else:
        assert lx.open(tmp_path / 'd').card == {'source': 'numbers'}
        assert lx.import_arrow(paths, tmp_path / 'd', resume=True, **options) == 310
    check(tmp_path / 'd', 310)


@pytest.mark.parametrize('append', [False, True])
def test_an_import_that_committed_nothing_leaves_no_trace(append, tmp_path):
    path = save(tmp_path / 'a.parquet', numbers(0, 100))
    if append:
        lx.import_arrow(numbers(0, 10), tmp_path / 'd')
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(path, tmp_path / 'd', append=append, progress=stop_at(1))
    assert not (tmp_path / 'd.import').exists()
    if append:
        check(tmp_path / 'd', 10)
    assert (tmp_path / 'd').exists() == append
    assert lx.import_arrow(path, tmp_path / 'new', resume=True) == 100    # begins
    check(tmp_path / 'new', 100)


@pytest.mark.parametrize('commit, left', [(1, 100), (1 << 30, 0)])
def test_a_killed_import_continues(commit, left, tmp_path):
    paths = [save(tmp_path / f'{i}.parquet', numbers(100 * i, 100)) for i in range(2)]
    run_script(f'''
        import loaderx.arrow
        loaderx.arrow._COMMIT_BYTES = {commit}
        lx.import_arrow({list(map(str, paths))!r}, {str(tmp_path / 'd')!r},
                        progress=lambda done, total: done < 150 or os.kill(os.getpid(), 9))
    ''', status=-9)
    assert len(lx.open(tmp_path / 'd')) >= left
    with pytest.raises(lx.LoaderxError, match='interrupted'):
        lx.import_arrow(list(map(str, paths)), tmp_path / 'd')
    assert lx.import_arrow(list(map(str, paths)), tmp_path / 'd', resume=True) == 200
    check(tmp_path / 'd', 200)


def test_a_record_of_an_interruption_is_hostile(often, tmp_path):
    path = save(tmp_path / 'a.parquet', numbers(0, 100))
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(path, tmp_path / 'd', progress=stop_at(70))
    state = tmp_path / 'd.import'
    good = json.loads(state.read_text())
    for bad in ('{}', '[]', '1', 'x', '{"version":1', '\xff', '[' * 5000, 'null',
                json.dumps({**good, 'first': -1}), json.dumps({**good, 'digest': 'a'}),
                json.dumps({**good, 'first': True})):
        state.write_text(bad + '\n', encoding='latin-1')
        with pytest.raises(lx.CorruptError, match='d.import: .*damaged'):
            lx.import_arrow(path, tmp_path / 'd', resume=True)
    state.write_text(json.dumps({**good, 'version': 2}) + '\n')
    with pytest.raises(lx.LoaderxError, match='newer'):
        lx.import_arrow(path, tmp_path / 'd', resume=True)
    state.write_text(json.dumps({**good, 'first': 1000}) + '\n')
    with pytest.raises(ValueError, match='fewer records than before'):
        lx.import_arrow(path, tmp_path / 'd', resume=True)
    state.write_text(json.dumps(good) + '\n')
    save(path, numbers(0, 10))
    with pytest.raises(ValueError, match='were changed'):
        lx.import_arrow(path, tmp_path / 'd', resume=True)
    save(path, numbers(0, 100))
    assert lx.import_arrow(path, tmp_path / 'd', resume=True) == 100
    check(tmp_path / 'd', 100)


def test_other_importers_and_this_one_respect_each_other(often, tmp_path):
    path, lines = save(tmp_path / 'a.parquet', numbers(0, 100)), tmp_path / 'lines'
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(path, tmp_path / 'd', progress=stop_at(70))
    lines.write_text('{"x": 1, "text": "a"}\n')
    with pytest.raises(lx.LoaderxError, match='interrupted'):
        lx.import_jsonl(lines, tmp_path / 'd', append=True)
    with pytest.raises(ValueError, match='other inputs'):
        lx.import_jsonl(lines, tmp_path / 'd', resume=True)
    lines.write_text('{"x": 1, "text": "a"}\n{"x": "a"}\n')
    with pytest.raises(ValueError):
        lx.import_jsonl(lines, tmp_path / 'e', fields={'x': 'int64'})
    with pytest.raises(lx.LoaderxError, match='interrupted'):
        lx.import_arrow(path, tmp_path / 'e', append=True)
    with pytest.raises(ValueError, match='no import of Arrow files'):
        lx.import_arrow(path, tmp_path / 'e', append=True, resume=True)


def test_one_import_at_a_time(often, tmp_path):
    path = save(tmp_path / 'a.parquet', numbers(0, 200))
    nested = []

    def progress(done, total):
        if not nested:
            nested.append(run_script(f'''
                try:
                    lx.import_arrow({str(path)!r}, {str(tmp_path / 'd')!r}, resume=True)
                except BlockingIOError as error:
                    print(error)
            '''))

    assert lx.import_arrow(path, tmp_path / 'd', progress=progress) == 200
    assert 'another import into the dataset is running' in nested[0]
    check(tmp_path / 'd', 200)


def test_the_file_of_another_import_stays(tmp_path):
    """The other import has created its file, but not yet the dataset."""
    path = save(tmp_path / 'a.parquet', numbers(0, 200))
    with open(tmp_path / 'd.import', 'w') as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        run_script(f'''
            import pyarrow as pa
            for source in {str(path)!r}, pa.table({{'x': [1]}}):
                try:
                    lx.import_arrow(source, {str(tmp_path / 'd')!r})
                except BlockingIOError as error:
                    assert 'another import' in str(error)
        ''')
        assert (tmp_path / 'd.import').exists() and not (tmp_path / 'd').exists()


def test_what_a_kill_before_the_start_left_is_replaced(tmp_path):
    state = tmp_path / 'd.import'
    path = save(tmp_path / 'a.parquet', numbers(0, 200))
    for source in (path, numbers(0, 200)):
        for text in ('', '{"version":1', '{"digest":1,"fields":[],"version":1,"first":0}\n'):
            state.write_text(text)
            assert lx.import_arrow(source, tmp_path / 'd') == 200
            check(tmp_path / 'd', 200)
            lx.remove(tmp_path / 'd')
    (tmp_path / 'd').mkdir()
    (tmp_path / 'd' / 'other').write_text('')
    for source in (path, numbers(0, 200)):
        with pytest.raises(FileExistsError):
            lx.import_arrow(source, tmp_path / 'd')
        assert not state.exists() and (tmp_path / 'd' / 'other').exists()


def test_columns_may_be_any_sequence(tmp_path):
    path = save(tmp_path / 'a.parquet', numbers(0, 3))
    for i, columns in enumerate((('x',), iter(['x']), np.array(['x']))):
        lx.import_arrow(path, tmp_path / f'd{i}', columns=columns)
        assert list(lx.open(tmp_path / f'd{i}').fields) == ['x']
    for arguments in ({'columns': []}, {'fields': {'x': 'ignore', 'text': 'ignore'}}):
        with pytest.raises(ValueError, match='at least one field'):
            lx.import_arrow(path, tmp_path / 'd', **arguments)
    with pytest.raises(TypeError, match='fields must be a dict'):
        lx.import_arrow(path, tmp_path / 'd', fields=['x'])


def test_tables_cannot_be_resumed(tmp_path):
    with pytest.raises(ValueError, match='resume requires paths'):
        lx.import_arrow(numbers(0, 10), tmp_path / 'd', resume=True)
    with pytest.raises(ValueError, match='ignoring a column requires the path'):
        lx.import_arrow(numbers(0, 10), tmp_path / 'd', fields={'x': 'ignore'})
    for wrong in ('int33', 'bytes[3]', 'int8[', 'int8[a]', 'int8[1,?]', '<i4', ''):
        with pytest.raises(ValueError, match=r"fields\['x'\]: |shape"):
            lx.import_arrow(numbers(0, 10), tmp_path / 'd', fields={'x': wrong})
    with pytest.raises(TypeError, match='Field or a str'):
        lx.import_arrow(numbers(0, 10), tmp_path / 'd', fields={'x': 5})
    assert not list(tmp_path.glob('d*'))
