# SPDX-License-Identifier: MIT
"""Tables of pyarrow, polars, pandas, DuckDB and Hugging Face, and the files that pyarrow writes."""

import datetime
import decimal
import json
import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx

pa = pytest.importorskip('pyarrow')


def imported(folder, source, **options):
    """Import a source to a new folder, and return the dataset."""
    path = folder / f'made{len(list(folder.glob("made*")))}'
    count = lx.import_arrow(source, path, progress=False, **options)
    ds = lx.open(path)
    assert count == len(ds)
    return ds


def values(ds, name):
    """Return the values of a field as Python objects."""
    return [None if value is None else value if isinstance(value, (bytes, str)) else value.tolist()
            for value in ds[name]]


DAY = datetime.date(2026, 3, 14)
MOMENT = datetime.datetime(2026, 3, 14, 15, 9, 26)

# Name: an array of four values, their field, and what is read.
COLUMNS = {
    'bool': (pa.array([True, None, False, True]), lx.Field('bool'), None),
    'uint64': (pa.array([0, None, 2**64 - 1, 7], pa.uint64()), lx.Field('uint64'), None),
    'float16': (pa.array(np.array([1, -2, 3, np.inf], np.float16)), lx.Field('float16'), None),
    'float64': (pa.array([1.5, None, -0.0, 1e300]), lx.Field('float64'), None),
    'string': (pa.array(['a', None, '', 'Zürich']), lx.Field(str), None),
    'large_string': (pa.array(['x' * 100, '', None, 'y'], pa.large_string()), lx.Field(str), None),
    'binary': (pa.array([b'\0', None, b'', b'ab']), lx.Field(bytes), None),
    'large_binary': (pa.array([b'\0', None, b'', b'ab'], pa.large_binary()), lx.Field(bytes), None),
    'fixed_binary': (pa.array([b'abcd', None, b'0123', b'wxyz'], pa.binary(4)), lx.Field(bytes),
                     None),
    'list': (pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.float32(), 2)),
             lx.Field('float32', (2,)), None),
    'nested': (pa.array([[[1, 2], [3, 4]], None, [[5, 6], [7, 8]], [[9, 10], [11, 12]]],
                        pa.list_(pa.list_(pa.int16(), 2), 2)), lx.Field('int16', (2, 2)), None),
    'flags': (pa.array([[True, False, True], None, [False] * 3, [True] * 3],
                       pa.list_(pa.bool_(), 3)), lx.Field('bool', (3,)), None),
    'category': (pa.array(['red', 'blue', None, 'red']).dictionary_encode(), lx.Field(str), None),
    'numbers': (pa.array([7, 8, None, 7], pa.int16()).dictionary_encode(), lx.Field('int16'), None),
    'timestamp': (pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp('ms', 'UTC')),
                  lx.Field('datetime64[ms]'), [MOMENT, None, MOMENT, MOMENT]),
    'date': (pa.array([DAY, None, DAY, DAY]), lx.Field('datetime64[D]'), None),
    'time': (pa.array([1, None, 3, 4], pa.time32('s')), lx.Field('int64'), [1, None, 3, 4]),
    'duration': (pa.array([1, None, -3, 4], pa.duration('ns')), lx.Field('int64'),
                 [1, None, -3, 4]),
}
for dtype in ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'float32'):
    COLUMNS[dtype] = pa.array([0, None, 3, 100], dtype), lx.Field(dtype), None
if hasattr(pa, 'string_view'):
    for view, text in ((pa.string_view(), str), (pa.binary_view(), bytes)):
        long = [b'x' * 40, b'short', None, b'']
        made = [one if one is None or text is bytes else one.decode() for one in long]
        COLUMNS[str(view)] = pa.array(made, view), lx.Field(text), None


@pytest.mark.parametrize('name', COLUMNS)
def test_each_type(name, tmp_path):
    array, field, wanted = COLUMNS[name]
    wanted = array.to_pylist() if wanted is None else wanted
    table = pa.table({'x': array})
    for start, count in ((0, 4), (1, 3), (1, 2), (2, 0)):
        ds = imported(tmp_path, table.slice(start, count))
        assert dict(ds.fields) == {'x': field}
        assert values(ds, 'x') == wanted[start:start + count]
    chunked = pa.concat_tables([table.slice(1), table.slice(0, 0), table.slice(0, 3)])
    assert values(imported(tmp_path, chunked), 'x') == wanted[1:] + wanted[:3]
    batch = pa.record_batch({'x': array})
    assert values(imported(tmp_path, batch), 'x') == wanted
    back = pa.table(imported(tmp_path, table).to_arrow([3, 0, 1]))
    assert back['x'].to_pylist() == [wanted[3], wanted[0], wanted[1]]


def test_all_types_at_once(tmp_path):
    table = pa.table({name: column[0] for name, column in COLUMNS.items()})
    ds = imported(tmp_path, table)
    assert list(ds.fields) == list(COLUMNS)
    for name, (array, _, wanted) in COLUMNS.items():
        assert values(ds, name) == (array.to_pylist() if wanted is None else wanted)
    back = pa.table(ds.to_arrow())
    back.validate(full=True)
    assert back.num_rows == 4 and back.column_names == list(COLUMNS)
    again = imported(tmp_path, back)
    assert dict(again.fields) == dict(ds.fields)
    for name in COLUMNS:
        assert values(again, name) == values(ds, name)


def test_dictionaries_that_differ_between_chunks(tmp_path):
    chunks = [pa.array(texts).dictionary_encode() for texts in (['a', 'b'], ['c'], [None, 'b'])]
    ds = imported(tmp_path, pa.table({'x': pa.chunked_array(chunks)}))
    assert values(ds, 'x') == ['a', 'b', 'c', None, 'b']


def test_columns_become_wider_fields(tmp_path):
    table = pa.table({'x': pa.array([1, -2], pa.int8()), 'y': pa.array([1.5, 2], pa.float32())})
    ds = imported(tmp_path, table, fields={'x': lx.Field('int64'), 'y': lx.Field('float64')})
    assert values(ds, 'x') == [1, -2] and values(ds, 'y') == [1.5, 2]
    lists = pa.table({'x': pa.array([[1, -2]], pa.list_(pa.int8(), 2))})
    assert values(imported(tmp_path, lists, fields={'x': lx.Field('int64', 2)}), 'x') == [[1, -2]]
    with pytest.raises(ValueError, match="field 'x'.*int8, but the field is uint64"):
        imported(tmp_path, table, fields={'x': lx.Field('uint64')})


def test_lists_of_equal_length_become_arrays(tmp_path):
    table = pa.table({'x': [[1., 2., 3.], None, [4., 5., 6.]]})
    ds = imported(tmp_path, table.cast(pa.schema({'x': pa.list_(pa.float64(), 3)})))
    assert values(ds, 'x') == [[1, 2, 3], None, [4, 5, 6]]
    with lx.create(tmp_path / 'd', {'x': lx.Field('float64', (3,))}) as writer:
        writer.extend(table)
        with pytest.raises(ValueError, match="field 'x', record 1.*2 elements, but .* has 3"):
            writer.extend(pa.table({'x': [[1., 2., 3.], [4., 5.]]}))
        with pytest.raises(ValueError, match="field 'x', record 0.*contains a null"):
            writer.extend(pa.table({'x': [[1., None, 3.]]}))
    assert values(lx.open(tmp_path / 'd'), 'x') == [[1, 2, 3], None, [4, 5, 6]]


def test_errors_count_the_rows_of_all_batches(tmp_path):
    table = pa.table({'x': pa.chunked_array([[[1]] * 5, [[2]] * 3 + [[3, 4]]])})
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64', 1)}) as writer:
        with pytest.raises(ValueError, match="field 'x', record 8"):
            writer.extend(table)
        assert len(writer) == 5    # the first batch


@pytest.mark.parametrize('column, said', [
    ([{'a': 1}], 'struct'),
    ([['a']], 'lists of the Arrow type string'),
    ([decimal.Decimal('1.5')], 'decimal'),
    ([None], 'only nulls'),
    (pa.array([[('a', 1)]], pa.map_(pa.string(), pa.int64())), 'map'),
])
def test_columns_without_a_field_are_named(column, said, tmp_path):
    with pytest.raises(lx.LoaderxError, match=f"field 'x'.*({said})"):
        imported(tmp_path, pa.table({'good': range(len(column)), 'x': column}))
    assert not list(tmp_path.glob('made*'))


def test_a_column_of_nulls_fits_any_field(tmp_path):
    ds = imported(tmp_path, pa.table({'x': [1, 2]}))
    with lx.open(ds.path, 'a') as writer:
        writer.extend(pa.table({'x': pa.nulls(2)}))
    ds.refresh()
    assert values(ds, 'x') == [1, 2, None, None]


def test_other_arrays_are_not_tables(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        with pytest.raises(ValueError, match='must have the Arrow type struct'):
            writer.extend(pa.array([1, 2]))
        with pytest.raises(ValueError, match='row is null'):
            writer.extend(pa.array([{'x': 1}, None]))
        writer.extend(pa.array([{'x': 1}, {'x': 2}]))
    assert values(lx.open(tmp_path / 'd'), 'x') == [1, 2]


def test_errors_of_a_stream(tmp_path):
    def batches():
        yield pa.record_batch({'x': [1, 2]})
        raise KeyError('lost')
    reader = pa.RecordBatchReader.from_batches(pa.schema({'x': pa.int64()}), batches())
    with pytest.raises(OSError, match='lost'):
        imported(tmp_path, reader)
    assert not list(tmp_path.glob('made*'))


def test_a_stream_may_use_the_writer(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        def batches():
            for i in range(3):
                writer.append(x=10 * i)
                yield pa.record_batch({'x': [i]})
        writer.extend(pa.RecordBatchReader.from_batches(pa.schema({'x': pa.int64()}), batches()))
    assert values(lx.open(tmp_path / 'd'), 'x') == [0, 0, 10, 1, 20, 2]


def test_progress(tmp_path):
    steps = []
    table = pa.table({'x': range(10)})
    lx.import_arrow(pa.concat_tables([table] * 3), tmp_path / 'd',
                    progress=lambda done, total: steps.append((done, total)))
    assert steps == [(10, 30), (20, 30), (30, 30)]


# ---- files


def write(table, path):
    if path.suffix == '.parquet':
        import pyarrow.parquet
        pyarrow.parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == '.feather':
        import pyarrow.feather
        pyarrow.feather.write_feather(table, str(path))
    else:
        with pa.OSFile(str(path), 'wb') as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize('suffix', ['.parquet', '.feather', '.arrow'])
def test_files(suffix, tmp_path):
    table = pa.table({'text': ['a', None, 'c'], 'x': [1, 2, 3], 'struct': [{'a': 1}] * 3})
    path = tmp_path / f'table{suffix}'
    write(table, path)
    for source in (path, str(path)):
        ds = imported(tmp_path, source, columns=['x', 'text'])
        assert list(ds.fields) == ['x', 'text']
        assert values(ds, 'text') == ['a', None, 'c'] and values(ds, 'x') == [1, 2, 3]
    with pytest.raises(lx.LoaderxError, match="field 'struct'"):
        imported(tmp_path, path)
    with pytest.raises(ValueError, match="columns: 'y' not found"):
        imported(tmp_path, path, columns=['y'])
    with pytest.raises(TypeError, match='single name'):
        imported(tmp_path, path, columns='x')
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises((OSError, ValueError)):
        imported(tmp_path, path)
    assert len(list(tmp_path.glob('made*'))) == 2    # of the first loop
    with pytest.raises(FileNotFoundError):
        imported(tmp_path, tmp_path / f'absent{suffix}')


def test_files_require_pyarrow(tmp_path):
    script = ('import sys; sys.modules["pyarrow"] = None; import loaderx as lx; '
              'lx.import_arrow("table.parquet", "made")')
    failed = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                            cwd=tmp_path, check=False)
    assert "pyarrow is required to read 'table.parquet'" in failed.stderr


# ---- other libraries


def test_ragged():
    ragged = lx.Ragged.of([[1, 2], [], [3]], dtype=np.int32)
    assert pa.array(ragged).to_pylist() == [[1, 2], [], [3]]
    texts = lx.Ragged.of([b'a', b'', b'bc'])
    assert pa.array(texts).to_pylist() == [b'a', b'', b'bc']
    assert pa.array(texts).buffers()[2].address == texts.values.ctypes.data


def test_polars(tmp_path):
    pl = pytest.importorskip('polars')
    frame = pl.DataFrame({
        'x': [1, None, 3], 'text': ['a', 'b' * 50, None],
        'color': pl.Series(['red', 'blue', 'red'], dtype=pl.Categorical),
        'pair': pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int32, 2))})
    ds = imported(tmp_path, frame)
    assert values(ds, 'x') == [1, None, 3] and values(ds, 'text') == ['a', 'b' * 50, None]
    assert values(ds, 'color') == ['red', 'blue', 'red']
    assert ds['pair'][:].tolist() == [[1, 2], [3, 4], [5, 6]]
    back = pl.DataFrame(ds.to_arrow([2, 0]))
    assert back['x'].to_list() == [3, 1] and back['pair'].to_list() == [[5, 6], [1, 2]]


def test_pandas(tmp_path):
    pd = pytest.importorskip('pandas')
    frame = pd.DataFrame({'x': [1, 2, 3], 'text': ['a', 'b', None]})
    if not hasattr(frame, '__arrow_c_stream__'):
        pytest.skip('pandas is older than 2.2')
    ds = imported(tmp_path, frame)
    assert values(ds, 'x') == [1, 2, 3] and values(ds, 'text') == ['a', 'b', None]
    with lx.create(tmp_path / 'd', {'x': lx.Field('float64'), 'text': lx.Field(bytes)}) as writer:
        frame = pd.DataFrame({'x': [1, np.nan], 'text': pd.array(['a', None], 'string')})
        writer.extend(frame)    # column by column: NaN is a number
    ds = lx.open(tmp_path / 'd')
    assert ds['x'].present().all() and values(ds, 'text') == [b'a', None]


def test_duckdb(tmp_path):
    duckdb = pytest.importorskip('duckdb')
    relation = duckdb.sql("select range as x, 'v' || range as text from range(5000)")
    if not hasattr(relation, '__arrow_c_stream__'):
        pytest.skip('this DuckDB exports no Arrow streams')
    ds = imported(tmp_path, relation)
    assert len(ds) == 5000 and ds[4999] == {'x': 4999, 'text': 'v4999'}


def test_hugging_face(tmp_path):
    datasets = pytest.importorskip('datasets')
    made = datasets.Dataset.from_dict({'x': list(range(2500)),
                                       'text': [str(i) for i in range(2500)]})
    chosen = made.select(range(2499, -1, -2))    # which has a table of indices
    for source in (made, chosen):
        ds = imported(tmp_path, source)
        assert values(ds, 'x') == source['x'][:]
        assert values(ds, 'text') == list(source['text'][:])
    with lx.open(ds.path, 'a') as writer:
        assert writer.extend(chosen) == 1250


def test_images_of_hugging_face(tmp_path):
    datasets = pytest.importorskip('datasets')
    photos = [b'\x89PNG\r\n\x1a\n 1', None, b'\xff\xd8\xff JPEG']
    made = datasets.Dataset.from_dict({
        'photo': [None if photo is None else {'bytes': photo, 'path': None} for photo in photos],
        'sound': [{'bytes': b'RIFF', 'path': 'a.wav'}] * 3, 'label': [1, 2, 3]})
    features = made.features.copy()
    features['photo'] = datasets.Image()
    features['sound'] = datasets.Audio()
    typed = datasets.Dataset(made.data.cast(features.arrow_schema),
                             datasets.DatasetInfo(features=features))
    typed.to_parquet(tmp_path / 'photos.parquet')
    for source in (typed, typed.to_iterable_dataset(), tmp_path / 'photos.parquet'):
        ds = imported(tmp_path, source)
        assert dict(ds.fields) == {'photo': lx.Field('image'), 'sound': lx.Field(bytes),
                                   'label': lx.Field('int64')}
        assert values(ds, 'photo') == photos and values(ds, 'sound') == [b'RIFF'] * 3
    with lx.open(ds.path, 'a') as writer:
        assert writer.extend(typed.select([2, 0])) == 3
    ds.refresh()
    assert values(ds, 'photo') == [*photos, photos[2], photos[0]]
    only_path = datasets.Dataset(
        pa.table({'photo': [{'bytes': b'\xff\xd8\xff', 'path': None},
                            {'bytes': None, 'path': 'a.png'}]}))
    with pytest.raises(ValueError, match="field 'photo', record 1: .*a path but no bytes"):
        imported(tmp_path, only_path.cast(datasets.Features({'photo': datasets.Image()})))


def test_class_names_of_hugging_face(tmp_path):
    datasets = pytest.importorskip('datasets')
    import pyarrow.parquet
    names = ['chat', 'b\u00eate', '"']
    made = datasets.Dataset.from_dict(
        {'label': [0, 2], 'x': [1, 2]}, features=datasets.Features(
            {'label': datasets.ClassLabel(names=names), 'x': datasets.Value('int64')}))
    made.to_parquet(tmp_path / 'a.parquet')
    table = pyarrow.parquet.read_table(tmp_path / 'a.parquet')
    for source in (made, made.to_iterable_dataset(), table, table.to_batches()[0],
                   table.to_reader(), tmp_path / 'a.parquet', [tmp_path / 'a.parquet']):
        ds = imported(tmp_path, source, card={'source': 'here'})
        assert ds.card.keys() == {'source', 'classes'} and values(ds, 'label') == [0, 2]
        assert json.loads(ds.card['classes']) == names
        assert imported(tmp_path, source, card={'classes': 'mine'}).card == {'classes': 'mine'}
    ds = imported(tmp_path, tmp_path / 'a.parquet', columns=['x'])
    assert ds.card == {}
    tags = datasets.Sequence(datasets.ClassLabel(names=['O', 'P']))
    both = made.add_column('the tags', [[0, 1], []]).cast_column('the tags', tags)
    assert imported(tmp_path, both).card == {
        'classes.label': '["chat","b\u00eate","\\""]', 'classes.the_tags': '["O","P"]'}


FEATURE = '{"_type": "ClassLabel", "names": ["a", "b"]}'


@pytest.mark.parametrize('text, stored', [
    ('{"info": {"features": {"x": %s}}}' % FEATURE, True),
    ('{"info": {"features": {"x": [%s]}}}' % FEATURE, True),
    ('{"info": {"features": {"x": {"_type": "LargeList", "feature": %s}}}}' % FEATURE, True),
    ('{"info": {"features": {"x": {"_type": "Value", "feature": %s}}}}' % FEATURE, False),
    ('{"info": {"features": {"y": %s}}}' % FEATURE, False),
    ('{"info": {"features": [%s]}}' % FEATURE, False),
    ('{"info": {"features": {"x": []}}}', False),
    ('{"info": {"features": {"x": {"_type": "Sequence"}}}}', False),
    ('{"info": {"features": {"x": {"_type": "ClassLabel"}}}}', False),
    ('{"info": {"features": {"x": {"_type": "ClassLabel", "names": "ab"}}}}', False),
    ('{"info": {"features": {"x": {"_type": "ClassLabel", "names": ["a", 1]}}}}', False),
    ('{"info": []}', False), ('[]', False), ('', False), ('\xff', False), ('[' * 100000, False)])
def test_class_names_in_any_metadata(tmp_path, text, stored):
    table = pa.table({'x': [0]}).replace_schema_metadata({b'huggingface': text.encode('latin-1')})
    ds = imported(tmp_path, table)
    assert ds.card == ({'classes': '["a","b"]'} if stored else {})


def test_class_names_that_do_not_fit(tmp_path, caplog):
    for names in ['x' * 20] * 100_000, ['\ud800', 'a']:
        caplog.clear()
        features = {'x': {'_type': 'ClassLabel', 'names': names}}
        metadata = json.dumps({'info': {'features': features}})
        ds = imported(tmp_path, pa.table({'x': [0]}).replace_schema_metadata(
            {'huggingface': metadata}), card={'a': 'b'})
        assert ds.card == {'a': 'b'}
        assert caplog.messages == [f"the names of the {len(names)} classes of the field 'x' are "
                                   'not stored in the card, because they do not fit']


def test_categories_are_their_values(tmp_path):
    table = pa.table({'x': pa.array(['b', 'a', None]).dictionary_encode()})
    ds = imported(tmp_path, table)
    assert values(ds, 'x') == ['b', 'a', None] and ds.card == {}


def test_other_datasets_of_hugging_face(tmp_path):
    datasets = pytest.importorskip('datasets')

    def records():
        for i in range(2500):
            yield {'x': i, 'text': str(i)}

    stream = datasets.IterableDataset.from_generator(records)
    assert stream.features is None
    ds = imported(tmp_path, stream)
    assert values(ds, 'x') == list(range(2500)) and values(ds, 'text')[7] == '7'
    with pytest.raises(ValueError, match='no records'):
        imported(tmp_path, datasets.IterableDataset.from_generator(lambda: iter(())))
    part = datasets.Dataset.from_dict({'x': [1]})
    for kind in (datasets.DatasetDict, datasets.IterableDatasetDict):
        with pytest.raises(TypeError, match=r"several datasets: .*dataset\['test'\]"):
            imported(tmp_path, kind({'test': part}))


def test_readers_whose_batches_differ_are_refused(tmp_path):
    schema = pa.schema({'x': pa.int64()})
    for other in ({'x': pa.array([1], pa.int8())}, {'y': [1]}, {'x': [1], 'y': [1]}):
        def batches(other=other):
            yield pa.record_batch({'x': [1]})
            yield pa.record_batch(other)
        with pytest.raises(OSError, match='a batch has the columns'):
            imported(tmp_path, pa.RecordBatchReader.from_batches(schema, batches()))
    assert not list(tmp_path.glob('made*'))


def test_names_of_columns_become_names_of_fields(tmp_path):
    import pyarrow.parquet
    table = pa.table({'a b': [1], 'é': ['[1]'], '.c': [2.5]})
    pyarrow.parquet.write_table(table, tmp_path / 't.parquet')
    for source in (table, tmp_path / 't.parquet'):
        ds = imported(tmp_path, source, fields={'a b': lx.Field('int64'), 'é': 'json'})
        assert dict(ds.fields) == {'a_b': lx.Field('int64'), '__': lx.Field('json'),
                                   '_c': lx.Field('float64')}
        with lx.open(ds.path, 'a') as writer:
            assert writer.extend(table) == 1
    for names in (('a b', 'a_b'), ('a:b', 'a b')):
        with pytest.raises(ValueError, match=f"field '{names[1]}'.*'a_b' already exists"):
            imported(tmp_path, pa.table({name: [1] for name in names}))
    with pytest.raises(ValueError, match="'a_b' not found: the columns are"):
        imported(tmp_path, table, fields={'a_b': 'int64'})


def test_extension_types(tmp_path):
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(
        np.arange(12, dtype=np.float32).reshape(2, 2, 3))
    columns = {'tensor': tensors}
    if hasattr(pa, 'json_'):
        columns['j'] = pa.array(['{"a": 1}', None]).cast(pa.json_(pa.string()))
    ds = imported(tmp_path, pa.table(columns))
    assert ds.fields['tensor'] == lx.Field('float32', (2, 3))
    assert ds['tensor'][1].tolist() == [[6, 7, 8], [9, 10, 11]]
    assert 'j' not in columns or ds[0]['j'] == {'a': 1}


def test_columns_become_the_fields_that_the_documentation_says(tmp_path):
    table = pa.table({
        'date': [DAY], 'moment': pa.array([MOMENT], pa.timestamp('ms')), 'text': ['a'],
        'time': pa.array([1], pa.time32('s')), 'binary': [b'a'], 'list': [[1, 2]],
        'j': ['{"a": 1}']})
    lx.import_arrow(table, tmp_path / 'd', fields={'j': lx.Field('json')})
    ds = lx.open(tmp_path / 'd')
    assert dict(ds.fields) == {
        'date': lx.Field('datetime64[D]'), 'moment': lx.Field('datetime64[ms]'),
        'text': lx.Field(str), 'time': lx.Field('int64'), 'binary': lx.Field(bytes),
        'list': lx.Field('int64', (None,)), 'j': lx.Field('json')}
    assert ds[0]['j'] == {'a': 1} and ds[0]['list'].tolist() == [1, 2]


@pytest.mark.parametrize('field', ['int64', 'float32[2]', 'int32[?]', 'str', 'json', 'image'])
def test_fields_types_a_column_of_nulls(tmp_path, field):
    table = pa.table({'x': pa.nulls(3), 'y': [1, 2, 3], 'z': pa.nulls(3)})
    with pytest.raises(lx.LoaderxError, match="'z'.*only nulls"):
        lx.import_arrow(table, tmp_path / 'refused', fields={'x': field})
    lx.import_arrow(table, tmp_path / 'd', fields={'x': field, 'z': 'int8'})
    ds = lx.open(tmp_path / 'd')
    assert list(ds.fields) == ['x', 'y', 'z'] and ds.fields['z'] == lx.Field('int8')
    assert ds['x'].present().tolist() == [False] * 3 and ds['y'][:].tolist() == [1, 2, 3]
