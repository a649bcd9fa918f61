# SPDX-License-Identifier: MIT
"""Imports of Parquet and Arrow files: damaged ones, several ones, and interrupted ones."""

import json
import struct

import numpy as np
import pytest

import loaderx as lx
from loaderx._import_state import MARK
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
    assert MARK not in lx.open(path).card


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
        with pytest.raises(lx.LoaderxError, match='/d: .*resume=True') as caught:
            lx.import_arrow(paths, tmp_path / 'd', **options)
        assert caught.value.status == 'LX_ERR_STATE'
        with pytest.raises(lx.LoaderxError, match='not complete'):
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
    with pytest.raises(lx.LoaderxError, match='not complete'):
        lx.import_arrow(list(map(str, paths)), tmp_path / 'd')
    assert lx.import_arrow(list(map(str, paths)), tmp_path / 'd', resume=True) == 200
    check(tmp_path / 'd', 200)


def test_the_entry_of_an_interruption_is_hostile(often, tmp_path):
    path = save(tmp_path / 'a.parquet', numbers(0, 100))
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(path, tmp_path / 'd', progress=stop_at(70))
    text = lx.open(tmp_path / 'd').card[MARK]
    good = json.loads(text)
    for bad in ('', '{}', '[]', '1', 'x', '{"version":1', '[' * 5000, 'null', '{"version":1}',
                *(json.dumps({**good, **change})
                  for change in ({'first': -1}, {'first': True}, {'first': 1000}, {'digest': 'a'},
                                 {'done': 5}, {'done': [0, 0, 0]}, {'next': [0, 0, 0, '0']},
                                 {'next': [0, 0, 0, 0]}))):
        set_card(tmp_path / 'd', {MARK: bad})
        with pytest.raises(lx.CorruptError, match='/d: .*damaged: remove'):
            lx.import_arrow(path, tmp_path / 'd', resume=True)
        assert lx.open(tmp_path / 'd').card == {MARK: bad}
    set_card(tmp_path / 'd', {MARK: json.dumps({**good, 'version': 2})})
    with pytest.raises(lx.LoaderxError, match='newer'):
        lx.import_arrow(path, tmp_path / 'd', resume=True)
    set_card(tmp_path / 'd', {MARK: text})
    save(path, numbers(0, 10))
    with pytest.raises(ValueError, match='were changed'):
        lx.import_arrow(path, tmp_path / 'd', resume=True)
    save(path, numbers(0, 100))
    assert lx.import_arrow(path, tmp_path / 'd', resume=True) == 100
    check(tmp_path / 'd', 100)


def set_card(path, card):
    with lx.open(path, 'r+') as writer:
        writer.set_card(card)


def nothing(path):
    pass


def rewrite(path):
    with lx.open(path, 'r+') as writer:
        writer[3] = {'x': 3}


def append(path):
    with lx.open(path, 'a') as writer:
        writer.append({'x': 3, 'text': 'a'})


def delete(path):
    with lx.open(path, 'r+') as writer:
        writer.truncate(len(writer) - 1)


def delete_and_append(path):
    delete(path)
    append(path)


def edit(path):
    set_card(path, {'source': 'here'})


def rebalance(path):
    with lx.open(path, 'r+') as writer:
        writer.rebalance(progress=False)


def fail_to_seal(path):
    with lx.open(path, 'r+') as writer, pytest.raises(lx.LoaderxError, match='not complete'):
        writer.seal()


def interrupted(when, kept=lx.Writer._commit_card):
    """A second commit that fails before or after it is made, as if a kill came."""
    count = []

    def interrupt(writer, card):
        count.append(None)
        if len(count) == 2 and when == 'before':
            text = dict(card)
            writer._finish(False)
            set_card(writer.path, text)
            raise RuntimeError('stop')
        kept(writer, card)
        if len(count) == 2:
            raise RuntimeError('stop')
    return interrupt


@pytest.mark.parametrize('change, refused', [
    (nothing, False), (edit, False), (rebalance, False), (fail_to_seal, False),
    (rewrite, True), (append, True), (delete, True), (delete_and_append, True)])
@pytest.mark.parametrize('when', ['before', 'after'])
def test_an_import_continues_only_what_it_left(change, refused, when, often, tmp_path, caplog):
    path, d = save(tmp_path / 'a.parquet', numbers(0, 100), 30), tmp_path / 'd'
    with pytest.MonkeyPatch.context() as patch, pytest.raises(RuntimeError, match='stop'):
        patch.setattr(lx.Writer, '_commit_card', interrupted(when))
        lx.import_arrow(path, d)
    assert MARK in lx.open(d).card and 'import into the dataset is not complete' in caplog.text
    change(d)
    length = len(lx.open(d))
    assert 0 < length < 100
    if refused:
        with pytest.raises(ValueError, match='remove the dataset'):
            lx.import_arrow(path, d, resume=True)
        assert len(lx.open(d)) == length and MARK in lx.open(d).card
    else:
        assert lx.import_arrow(path, d, resume=True) == 100
        check(d, 100)
        assert MARK not in lx.open(d).card


def test_other_importers_and_this_one_respect_each_other(often, tmp_path):
    path, lines = save(tmp_path / 'a.parquet', numbers(0, 100)), tmp_path / 'lines'
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(path, tmp_path / 'd', progress=stop_at(70))
    lines.write_text('{"x": 1, "text": "a"}\n')
    with pytest.raises(lx.LoaderxError, match='not complete'):
        lx.import_jsonl(lines, tmp_path / 'd', append=True)
    with pytest.raises(ValueError, match='other inputs'):
        lx.import_jsonl(lines, tmp_path / 'd', resume=True)
    lines.write_text('{"x": 1, "text": "a"}\n{"x": "a"}\n')
    with pytest.raises(ValueError):
        lx.import_jsonl(lines, tmp_path / 'e', fields={'x': 'int64'})
    with pytest.raises(lx.LoaderxError, match='not complete'):
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
    assert 'being written' in nested[0]
    check(tmp_path / 'd', 200)


def test_a_file_of_the_first_release_candidate_is_refused(tmp_path):
    path, state = save(tmp_path / 'a.parquet', numbers(0, 200)), tmp_path / 'd.import'
    state.write_text('{"digest":1,"fields":[],"version":1,"first":0}\n')
    assert lx.import_arrow(path, tmp_path / 'd') == 200    # the dataset is new
    for source, options in ((path, {'resume': True}), (path, {'append': True}),
                            (numbers(0, 5), {'append': True})):
        with pytest.raises(lx.LoaderxError, match='d.import: .*remove the file and the dataset'):
            lx.import_arrow(source, tmp_path / 'd', **options)
    assert state.exists()
    check(tmp_path / 'd', 200)


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
