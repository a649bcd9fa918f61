# SPDX-License-Identifier: MIT
"""Arrow tables without a library of Arrow: datasets that are copied by their own Arrow streams."""

import gc

import numpy as np
import pytest

import loaderx as lx
from damage import corrupt

FIELDS = {
    'flag': lx.Field('bool'),
    'half': lx.Field('float16', (3,)),
    'image': lx.Field('uint8', (2, 3)),
    'none': lx.Field('int16', (4, 0)),
    'number': lx.Field('int64'),
    'text': lx.Field(bytes),
}


class OnlyStream:
    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream


def numbers(path, count=5):
    with lx.create(path, {'x': lx.Field('int64'), 'text': lx.Field(bytes)}) as writer:
        writer.extend(x=np.arange(count) ** 2, text=[b'a' * i for i in range(count)])
    return lx.open(path)


def test_fields_of_a_table(tmp_path):
    lx.create(tmp_path / 'from', FIELDS).close()
    ds = lx.open(tmp_path / 'from')
    assert lx.import_arrow(ds.to_arrow(), tmp_path / 'to') == 0
    assert dict(lx.open(tmp_path / 'to').fields) == FIELDS
    lx.import_arrow(ds.to_arrow(fields=['text', 'number']), tmp_path / 'flate', durability='full',
                    fields={'text': lx.Field(bytes, compress='flate')})
    assert dict(lx.open(tmp_path / 'flate').fields) == {
        'text': lx.Field(bytes, compress='flate'), 'number': lx.Field('int64')}


def test_exported_records(tmp_path):
    ds = numbers(tmp_path / 'd')
    exported = ds.to_arrow(slice(1, None, 2), ['x'])
    assert len(exported) == 2
    assert repr(exported) == f'<loaderx.ArrowRecords: 2 records of {str(tmp_path / "d")!r}>'
    assert len(ds.to_arrow(np.arange(5) > 2)) == 2
    assert len(ds.to_arrow(iter([1, 2, 3]), iter(['x']))) == 3
    with pytest.raises(IndexError, match='5'):
        ds.to_arrow([5])
    with pytest.raises(KeyError, match='y'):
        ds.to_arrow(fields=['y'])
    with pytest.raises(TypeError, match='fields'):
        ds.to_arrow(fields='x')


def test_the_export_is_a_snapshot(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.append(x=1)
    live = lx.open(tmp_path / 'd', live=True)
    exported = live.to_arrow()
    with lx.open(tmp_path / 'd', 'a') as writer:
        writer.append(x=2)
    assert len(live) == 2 and len(exported) == 1
    live.close()
    lx.import_arrow(exported, tmp_path / 'to')
    assert lx.open(tmp_path / 'to')['x'][:].tolist() == [1]


def test_large_exports_have_several_batches(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8', (1 << 20,))}) as writer:
        for i in range(70):
            writer.append(x=np.full(1 << 20, i, np.uint8))
    steps = []
    lx.import_arrow(lx.open(tmp_path / 'd').to_arrow(), tmp_path / 'to',
                    progress=lambda done, total: steps.append((done, total)))
    assert steps == [(32, None), (64, None), (70, None)]
    assert lx.open(tmp_path / 'to')['x'][:, 5].tolist() == list(range(70))


def test_damage_is_reported(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8', (100,))}) as writer:
        writer.extend(x=np.tile(np.arange(9, dtype=np.uint8)[:, None], 100))
    corrupt(tmp_path / 'd', bytes([7] * 100))
    with pytest.raises(OSError, match="field 'x', record 7") as caught:
        lx.import_arrow(lx.open(tmp_path / 'd').to_arrow(), tmp_path / 'to')
    assert caught.value.errno == 5
    assert not (tmp_path / 'to').exists()
    lx.import_arrow(lx.open(tmp_path / 'd', on_damage='zeros').to_arrow(), tmp_path / 'to')
    assert lx.open(tmp_path / 'to')['x'].present().tolist() == [True] * 7 + [False, True]


def test_a_failed_import_leaves_nothing(tmp_path):
    ds = numbers(tmp_path / 'd')
    def fail(done, total):
        raise RuntimeError('stop')
    with pytest.raises(RuntimeError, match='stop'):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to', progress=fail)
    with pytest.raises(ValueError, match="field 'x'.*int64, but the field is int8"):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to', fields={'x': lx.Field('int8')})
    assert not (tmp_path / 'to').exists()
    (tmp_path / 'to').write_text('')
    with pytest.raises(FileExistsError):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to')


def test_extend_refuses_tables_that_do_not_match(tmp_path):
    ds = numbers(tmp_path / 'd')
    with lx.create(tmp_path / 'to', {'x': lx.Field('int64')}) as writer:
        with pytest.raises(ValueError, match="field 'text'.*no field with the name"):
            writer.extend(ds.to_arrow())
        with pytest.raises(ValueError, match="field 'x'.*no column"):
            writer.extend(ds.to_arrow(fields=[]))
        with pytest.raises(TypeError, match='no keyword arguments'):
            writer.extend(ds.to_arrow(fields=['x']), casting='unsafe')
        assert len(writer) == 0
        assert writer.extend(ds.to_arrow(fields=['x'])) == 0
        assert writer.extend(ds.to_arrow([], ['x'])) == 5
    assert lx.open(tmp_path / 'to')['x'][:].tolist() == [0, 1, 4, 9, 16]


def test_a_stream_is_read_once(tmp_path):
    ds = numbers(tmp_path / 'd')
    stream = OnlyStream(ds.to_arrow().__arrow_c_stream__())
    with lx.create(tmp_path / 'to', dict(ds.fields)) as writer:
        writer.extend(stream)
        assert writer.extend(stream) == 5    # which adds nothing
        assert len(writer) == 5
        with pytest.raises(ValueError, match='PyCapsule'):
            writer.extend(OnlyStream(ds.to_arrow().__arrow_c_schema__()))
        with pytest.raises(TypeError):
            writer._extend_arrow((1,), None)


def test_import_refuses_other_sources(tmp_path):
    ds = numbers(tmp_path / 'd')
    for source in (5, [1, 2], {'x': [1]}, lx.ArrowRecords):
        with pytest.raises(TypeError, match='source must be paths of files or an Arrow table'):
            lx.import_arrow(source, tmp_path / 'to')
    with pytest.raises(ValueError, match='.parquet, .arrow or .feather'):
        lx.import_arrow('table.csv', tmp_path / 'to')
    with pytest.raises(ValueError, match='columns requires the path of a file'):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to', columns=['x'])
    with pytest.raises(ValueError, match="fields: 'y' not found"):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to', fields={'y': lx.Field('int8')})
    with pytest.raises(TypeError, match='progress'):
        lx.import_arrow(ds.to_arrow(), tmp_path / 'to', progress=5)


def test_complex_numbers_have_no_type(tmp_path):
    with lx.create(tmp_path / 'd', {'z': lx.Field('complex64'), 'x': lx.Field('int8')}) as writer:
        writer.append(z=1j, x=1)
    ds = lx.open(tmp_path / 'd')
    with pytest.raises(lx.LoaderxError, match="field 'z'.*no type for complex64"):
        ds.to_arrow()
    assert len(ds.to_arrow(fields=['x'])) == 1


def test_capsules_free_what_was_not_read(tmp_path):
    ds = numbers(tmp_path / 'd')
    for _ in range(50):
        exported = ds.to_arrow()
        exported.__arrow_c_schema__(), exported.__arrow_c_array__(), exported.__arrow_c_stream__()
    ds.close()
    del exported
    gc.collect()
    lx.remove(tmp_path / 'd')
