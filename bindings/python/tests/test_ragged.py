# SPDX-License-Identifier: MIT
"""Fields whose records vary in length: ragged and padded batches."""

import datetime
import pickle
import random

import numpy as np
import pytest

import loaderx as lx

N = 200


def text(i):
    return bytes([65 + i % 26]) * ((i * 37) % 90)


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp('texts') / 'd'
    fields = {'id': lx.Field('int64'), 'text': lx.Field(bytes, compress='flate'),
              'note': lx.Field(bytes)}
    with lx.create(path, fields) as writer:
        writer.extend(id=np.arange(N), text=[text(i) for i in range(N)],
                      note=[text(i)[:3] for i in range(N)])
    return path


# ---- loaders


@pytest.mark.parametrize('threads', [0, 2])
@pytest.mark.parametrize('rank, world', [(0, 1), (1, 3)])
def test_batches_contain_the_records(path, threads, rank, world):
    options = {'order': lx.Shuffle(seed=3), 'batch_size': 16, 'threads': threads, 'rank': rank,
               'world': world}
    for batch in lx.Loader(path, **options):
        assert batch['text'].tolist() == [text(i) for i in batch['id'].tolist()]
        assert list(batch['note']) == [text(i)[:3] for i in batch['id'].tolist()]
        assert batch['text'].offsets.dtype == np.int64 and batch['text'].values.dtype == np.uint8


def test_a_batch_outlives_its_loader_and_later_batches(path):
    kept = list(lx.Loader(path, batch_size=7, threads=2))
    for batch in kept:
        assert batch['text'].tolist() == [text(i) for i in batch['id'].tolist()]
    values = kept[3]['text'].values
    ids = kept[3]['id'].tolist()
    del kept
    assert values.tobytes() == b''.join(text(i) for i in ids)


def test_combined_sources_have_ragged_fields(path):
    ds = lx.Dataset(path)
    for source in (ds, ds + ds, lx.SubsetDataset(ds, range(N - 1, -1, -3)),
                   ds.where(ds['id'][:] % 2 == 1), lx.ConcatDataset([ds] * 70)):
        loader = lx.Loader(source, batch_size=50, order=lx.Shuffle(seed=1))
        for batch in loader:
            column = batch['text']
            ids = batch['id'].tolist()
            assert column.tolist() == [text(i) for i in ids]


def test_a_state_resumes_on_other_ranks(path):
    whole = [batch['text'].tolist() for batch in lx.Loader(path, batch_size=20)]
    with lx.Loader(path, batch_size=20) as loader:
        seen = [next(loader)['text'].tolist() for _ in range(4)]
        state = loader.state_dict()
    rest = []
    for rank in range(2):
        with lx.Loader(path, batch_size=10, rank=rank, world=2) as loader:
            loader.load_state_dict(state)
            rest.append([batch['text'].tolist() for batch in loader])
    merged = [[value for pair in zip(*both) for value in pair] for both in zip(*rest)]
    assert seen + merged == whole


def test_lists_and_padded_arrays(path):
    forms = {'text': lx.Pad(32, side='left', multiple=8, mask=True), 'note': 'list'}
    for batch in lx.Loader(path, batch_size=16, order=lx.Shuffle(seed=3), ragged=forms):
        ids = batch['id'].tolist()
        assert batch['note'] == [text(i)[:3] for i in ids]
        width = batch['text'].shape[1]
        assert width % 8 == 0 and width - 8 < max(len(text(i)) for i in ids) <= width
        for i, row, mask in zip(ids, batch['text'], batch['text_mask']):
            assert row.tobytes() == text(i).rjust(width)
            assert mask.tolist() == [False] * (width - len(text(i))) + [True] * len(text(i))


def test_a_transform_receives_the_arranged_fields(path):
    loader = lx.Loader(path, fields=['text'], batch_size=10, ragged=lx.Pad(lengths=[64, 128]),
                       transform=lambda batch: batch['text'].shape)
    assert set(loader) <= {(10, 64), (10, 128)}


@pytest.mark.parametrize('ragged, text', [
    ('lists', "must be 'ragged', 'list' or a Pad"), ({'id': 'list'}, "'id' is a field of a fixed"),
    ({'nothing': 'list'}, "'nothing' is not a field"), ({'text': 7}, r"ragged\['text'\] must be")])
def test_wrong_forms_are_errors(path, ragged, text):
    with pytest.raises(ValueError, match=text):
        lx.Loader(path, ragged=ragged)


def test_missing_values_are_empty(tmp_path):
    with lx.create(tmp_path / 'd', {'text': lx.Field(bytes)}) as writer:
        writer.extend(text=[b'a', None, b'', b'bcd'])
    with pytest.raises(ValueError, match="'text', record 1"):
        lx.Loader(tmp_path / 'd')
    batch = next(lx.Loader(tmp_path / 'd', batch_size=4, missing='mask'))
    assert batch['text'].tolist() == [b'a', b'', b'', b'bcd']
    assert batch.present['text'].tolist() == [True, False, True, True]
    with pytest.raises(ValueError, match='vary in length'):
        lx.Loader(tmp_path / 'd', missing={'text': 7})


def test_tensors_share_the_memory(path):
    torch = pytest.importorskip('torch')
    batch = next(lx.Loader(path, batch_size=16, out='torch'))
    assert isinstance(batch['text'].values, torch.Tensor)
    assert batch['text'].tolist() == [text(i) for i in range(16)]
    if hasattr(torch.nested, 'nested_tensor_from_jagged'):
        nested = batch['text'].to_torch()
        assert [bytes(part.tolist()) for part in nested.unbind()] == [text(i) for i in range(16)]
        assert nested.values().data_ptr() == batch['text'].values.data_ptr()


@pytest.mark.parametrize('library', ['torch', 'jax.numpy'])
def test_selected_values_keep_the_type_of_the_array(library):
    module = pytest.importorskip(library)
    make = module.tensor if library == 'torch' else module.asarray
    for values in make([1, 2, 3, 4, 5, 6]), make([[1, 2]] * 6):
        ragged = lx.Ragged(values, np.array([0, 4, 4, 6]))
        for index, expected in [(slice(None, None, -1), [2, 1, 0]), (np.array([2, 0, 2]), [2, 0, 2]),
                                ([True, False, True], [0, 2]), ([], []), (slice(1, None), [1, 2])]:
            chosen = ragged[index]
            assert type(chosen.values) is type(values) and chosen.values.dtype == values.dtype
            assert chosen.tolist() == [ragged[i].tolist() for i in expected]


def test_jax_arrays(path):
    pytest.importorskip('jax')
    batch = next(lx.Loader(path, batch_size=16, out='jax'))
    assert batch['text'].tolist() == [text(i) for i in range(16)]


def test_arrow_arrays_share_the_memory(path):
    pa = pytest.importorskip('pyarrow')
    batch = next(lx.Loader(path, batch_size=16))
    array = batch['text'].to_arrow()
    assert array.type == pa.large_binary()
    assert array.to_pylist() == [text(i) for i in range(16)]
    assert array.buffers()[2].address == batch['text'].values.ctypes.data
    lists = lx.Ragged.of([[1, 2], [], [3]], np.int32).to_arrow()
    assert lists.to_pylist() == [[1, 2], [], [3]]


# ---- Ragged


def test_indexing_agrees_with_a_list():
    rng = random.Random(5)
    for _ in range(200):
        plain = [list(range(rng.randrange(5))) for _ in range(rng.randrange(8))]
        ragged = lx.Ragged.of(plain, np.int64)
        assert ragged.tolist() == plain and len(ragged) == len(plain)
        first, last, step = rng.randrange(-9, 9), rng.randrange(-9, 9), rng.choice([1, 1, 2, -1])
        assert ragged[first:last:step].tolist() == plain[first:last:step]
        if plain:
            indices = [rng.randrange(-len(plain), len(plain)) for _ in range(4)]
            assert ragged[indices].tolist() == [plain[i] for i in indices]
            mask = np.array([rng.random() < .5 for _ in plain])
            assert ragged[mask].tolist() == [one for one, keep in zip(plain, mask) if keep]
            assert ragged[indices[0]].tolist() == plain[indices[0]]
        part = ragged[1:][1:]
        assert part.tolist() == plain[2:] and part.lengths.tolist() == list(map(len, plain[2:]))
        copy = pickle.loads(pickle.dumps(ragged))
        assert copy.tolist() == plain


@pytest.mark.parametrize('index', [3, -4])
def test_an_index_out_of_range_is_an_error(index):
    with pytest.raises(IndexError, match='3 values'):
        lx.Ragged.of([[1], [2], [3]])[index]


def test_it_does_not_become_an_array_by_accident():
    with pytest.raises(ValueError, match='pad'):
        np.asarray(lx.Ragged.of([[1], [2, 3]]))


# ---- Pad


@pytest.mark.parametrize('side', ['left', 'right'])
@pytest.mark.parametrize('shape', [(), (4,), (2, 3)])
@pytest.mark.parametrize('dtype', ['uint8', 'int16', 'float32', 'complex128'])
def test_pads_items_of_any_shape(side, shape, dtype):
    rng = np.random.default_rng(1)
    plain = [rng.integers(0, 99, (k, *shape)).astype(dtype) for k in (2, 0, 5, 1)]
    padded, mask = lx.Pad(7, side=side, multiple=3, mask=True).with_mask(lx.Ragged.of(plain, dtype))
    assert padded.shape == (4, 6, *shape) and padded.dtype == dtype
    for one, row, marks in zip(plain, padded, mask):
        begin = 6 - len(one) if side == 'left' else 0
        assert np.array_equal(row[begin:begin + len(one)], one)
        assert np.array_equal(np.flatnonzero(marks), np.arange(begin, begin + len(one)))
        assert (row[~marks] == 7).all()


def test_pads_a_part():
    ragged = lx.Ragged.of([[1], [2, 3], [4, 5, 6]], np.int8)[1:]
    assert ragged.pad(-1).tolist() == [[2, 3, -1], [4, 5, 6]]


@pytest.mark.parametrize('options, error, text', [
    ({'side': 'top'}, ValueError, "'left'"), ({'multiple': 0}, ValueError, 'multiple'),
    ({'lengths': []}, ValueError, 'at least one'), ({'lengths': [-1]}, ValueError, 'length'),
    ({'lengths': [4], 'multiple': 2}, ValueError, 'mutually exclusive'),
    ({'mask': 1}, TypeError, 'mask')])
def test_wrong_arguments_are_errors(options, error, text):
    with pytest.raises(error, match=text):
        lx.Pad(0, **options)


@pytest.mark.parametrize('value', [256, -1, 0.5, [1, 2]])
def test_a_value_that_does_not_fit_is_an_error(value):
    with pytest.raises(ValueError, match='cannot be stored as uint8'):
        lx.Ragged.of([b'a']).pad(value)


def test_a_value_longer_than_all_lengths_is_an_error():
    with pytest.raises(ValueError, match='length 3, which exceeds'):
        lx.Ragged.of([[1, 2, 3]]).pad(lengths=[2, 1])


WRONG_OFFSETS = [[0, 9], [2, 1], [-1, 2], [0, 10**9], [0, 2, 20], [0, 3, 2, 3], [0, 2**62, 3],
                 np.array([0, 2**63], np.uint64), []]


@pytest.mark.parametrize('offsets', WRONG_OFFSETS)
@pytest.mark.parametrize('item', [None, bytes])
def test_offsets_that_lie_are_an_error(offsets, item):
    with pytest.raises(ValueError, match='offsets'):
        lx.Ragged(np.arange(4, dtype=np.uint8), offsets, item)


@pytest.mark.parametrize('offsets', [[[0, 1]], 3, [0., 1.], ['0', '1'], None])
def test_offsets_must_be_ints(offsets):
    with pytest.raises(TypeError, match='offsets must be an array of ints with one axis'):
        lx.Ragged(np.arange(4), offsets)


@pytest.mark.parametrize('offsets', WRONG_OFFSETS)
@pytest.mark.parametrize('library, use', [
    ('numpy', lambda r: r.pad()), ('pyarrow', lambda r: r.to_arrow()),
    ('torch', lambda r: r.to_torch())])
def test_offsets_are_checked_where_they_are_used(offsets, library, use):
    module = pytest.importorskip(library)
    if library == 'torch' and not hasattr(module.nested, 'nested_tensor_from_jagged'):
        pytest.skip('this torch has no jagged nested tensors')
    ragged = lx.Ragged(np.arange(4, dtype=np.uint8), [0, 4])
    ragged.offsets = offsets
    with pytest.raises(ValueError, match='offsets'):
        use(ragged)


@pytest.mark.parametrize('offsets', WRONG_OFFSETS)
def test_writers_check_the_offsets(tmp_path, offsets):
    ragged = lx.Ragged(np.arange(3, dtype=np.int32), [0, 1, 3])
    with lx.create(tmp_path / 'd', {'x': lx.Field('int32', (None,))}) as writer:
        writer.extend(x=ragged)
        ragged.offsets = offsets
        with pytest.raises(ValueError, match='offsets'):
            writer.extend(x=ragged)
        with pytest.raises(ValueError, match='offsets'):
            writer[[0, 1]] = {'x': ragged}
    assert [x.tolist() for x in lx.open(tmp_path / 'd')['x'][:]] == [[0], [1, 2]]


# ---- found by reviews


def test_slices_as_nested_tensors():
    torch = pytest.importorskip('torch')
    if not hasattr(torch.nested, 'nested_tensor_from_jagged'):
        pytest.skip('this torch has no jagged nested tensors')
    ragged = lx.Ragged(np.arange(6.), np.array([0, 4, 4, 6]))
    for part in ragged, ragged[2:], ragged[:1], ragged[1:]:
        nested = part.to_torch()
        assert [one.tolist() for one in nested.unbind()] == part.tolist()
        assert nested.sum().item() == sum(map(sum, part.tolist()))


def test_lists_of_ints_stay_ints():
    assert lx.Ragged.of([[1, 2], []]).values.dtype == np.int64
    assert lx.Ragged.of([[1, 2], []])[[]].tolist() == []


@pytest.mark.parametrize('index', [1.7, '1', True])
def test_an_index_must_be_an_int(index):
    with pytest.raises(TypeError):
        lx.Ragged.of([[1], [2], [3]])[index]


def test_items_without_bytes_have_a_mask():
    for side in 'left', 'right':
        ragged = lx.Ragged(np.empty((3, 0)), np.array([0, 1, 3]))
        mask = lx.Pad(mask=True, side=side).with_mask(ragged)[1]
        assert mask.tolist() == [[side == 'right', side == 'left'], [True, True]]


def test_objects_cannot_be_padded():
    with pytest.raises(TypeError, match='object'):
        lx.Ragged.of([[None], [None, 'a']], dtype=object).pad()


@pytest.mark.parametrize('value, dtype, fits', [
    (0.1, 'float16', True), (2049, 'float16', True), (70000, 'float16', False),
    (np.nan, 'complex64', True), (2**64 - 1, 'uint64', True), (2**64, 'uint64', False),
    (2**70, 'float64', True), (1j, 'float32', False), (None, 'float32', False),
    ('x', 'int32', False), (np.nan, 'int32', False), (True, 'int8', True)])
def test_rounding_is_allowed_but_not_loss(value, dtype, fits):
    ragged = lx.Ragged.of([[1], []], dtype)
    if fits:
        ragged.pad(value)
    else:
        with pytest.raises(ValueError, match='cannot be stored'):
            ragged.pad(value)


@pytest.mark.parametrize('value', ['NaT', np.datetime64('NaT'), '2024-01-02',
                                   datetime.datetime(2024, 1, 2)])
def test_times_are_padded_with_times(value):
    ragged = lx.Ragged.of([['2024-01-01', '2024-01-02'], []], 'datetime64[s]')
    padded, mask = lx.Pad(value, mask=True).with_mask(ragged)
    assert padded.dtype == 'datetime64[s]' and mask.tolist() == [[True, True], [False, False]]
    assert np.array_equal(padded[1], np.full(2, value, 'datetime64[s]'), equal_nan=True)


@pytest.mark.parametrize('value', [0, None, 'x', ['NaT'], np.timedelta64('NaT'),
                                   '2024-01-01T12:00:00.5'])
def test_times_are_padded_with_nothing_else(value):
    with pytest.raises(ValueError, match="stored as datetime64.s.: pad with a time .* 'NaT'"):
        lx.Ragged.of([['2024-01-01'], []], 'datetime64[s]').pad(value)


@pytest.mark.parametrize('dtype', [None, np.float32])
def test_an_empty_list_has_the_axes_of_the_other_values(dtype):
    ragged = lx.Ragged.of([[], [[1, 2]], np.empty((0, 2)), []], dtype)
    assert ragged.tolist() == [[], [[1, 2]], [], []] and ragged.values.shape == (1, 2)
    assert ragged.values.dtype == (dtype or np.int64)
    assert lx.Ragged.of([[], np.empty((0, 2))]).values.shape == (0, 2)
    assert lx.Ragged.of([[], []]).values.shape == (0,)
    with pytest.raises(ValueError):
        lx.Ragged.of([[], [[1, 2]], [[1]]], dtype)


@pytest.mark.parametrize('name', ['complex64', 'bfloat16', 'float8_e5m2'])
def test_types_that_arrow_does_not_have_are_named(name):
    pytest.importorskip('pyarrow')
    dtype = 'complex64' if name == 'complex64' else getattr(pytest.importorskip('ml_dtypes'), name)
    for values in [[1, 2]], [[[1, 2]]]:
        with pytest.raises(lx.LoaderxError, match=f'Arrow has no type for {name}') as caught:
            lx.Ragged.of(values, dtype).to_arrow()
        assert caught.value.status == 'LX_ERR_UNSUPPORTED'


@pytest.mark.parametrize('out', ['numpy', 'torch'])
@pytest.mark.parametrize('name', ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz'])
def test_types_of_ml_dtypes_in_other_forms(tmp_path, name, out):
    torch = pytest.importorskip('torch')
    dtype = getattr(pytest.importorskip('ml_dtypes'), name)
    with lx.create(tmp_path / 'd', {'x': lx.Field(name, (None,))}) as writer:
        writer.extend(x=[np.array([1, 2], dtype), np.array([4], dtype)])
    ragged = next(lx.Loader(tmp_path / 'd', batch_size=2, out=out))['x']
    padded = ragged.pad(.5)
    assert padded.dtype == dtype and padded.tolist() == [[1, 2], [4, .5]]
    if hasattr(torch.nested, 'nested_tensor_from_jagged'):
        nested = ragged.to_torch()
        assert nested.dtype is getattr(torch, name)
        assert [one.float().tolist() for one in nested.unbind()] == [[1, 2], [4]]
    pytest.importorskip('pyarrow')
    with pytest.raises(lx.LoaderxError, match=f'Arrow has no type for {name}'):
        ragged.to_arrow()
