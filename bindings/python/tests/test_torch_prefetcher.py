# SPDX-License-Identifier: MIT
"""loaderx.torch.DevicePrefetcher: the batches, and the position, of the loader that it wraps."""

import collections
import itertools

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('hypothesis')

from hypothesis import given, settings, strategies as st
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt

DEVICES = [pytest.param('cpu'), pytest.param('cuda', marks=pytest.mark.skipif(
    not torch.cuda.is_available(), reason='needs a GPU'))]
ROWS = np.arange(60 * 5, dtype=np.int64).reshape(60, 5)


def make(device, **options):
    loader = lx.Loader({'data': ROWS, 'label': np.arange(60)}, out='torch', **options)
    return lt.DevicePrefetcher(loader, device)


def labels(batch):
    values = batch['label'] if isinstance(batch, dict) else batch
    return values.tolist()


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('threads', [0, 2])
def test_returns_the_batches_of_a_loader_on_the_device(device, threads):
    prefetcher = make(device, batch_size=7, threads=threads, order=lx.Shuffle(seed=3))
    with lx.Loader(ROWS, batch_size=7, order=lx.Shuffle(seed=3)) as arrays:
        expected = list(arrays)
    batches = list(prefetcher)
    assert len(prefetcher) == len(batches) == len(expected)
    for batch, right in zip(batches, expected):
        assert batch['data'].device.type == device
        assert batch['data'].cpu().numpy().tolist() == right['data'].tolist()
        assert isinstance(batch, lx.Batch) and batch.position == right.position
    assert f'DevicePrefetcher to {prefetcher.device} of <loaderx.Loader' in repr(prefetcher)


@pytest.mark.parametrize('device', DEVICES)
def test_containers_and_other_values_stay_as_they_are(device):
    pair = collections.namedtuple('pair', 'left right')
    batch = {'tuple': (torch.ones(2), 'text'), 'named': pair(torch.zeros(3), None),
             'list': [torch.arange(3), [torch.ones(())]], 'array': np.arange(3),
             'ordered': collections.OrderedDict(b=torch.ones(1), a=1),
             'default': collections.defaultdict(list, x=torch.ones(1)),
             'ragged': lx.Ragged(torch.arange(4), np.array([0, 1, 4])),
             'nested': torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
             'sparse': torch.eye(3).to_sparse()}
    got, = lt.DevicePrefetcher([batch], device)
    assert got['tuple'][1] == 'text' and got['array'] is batch['array']
    assert type(got['named']) is pair and got['named'].right is None
    assert list(got['ordered']) == ['b', 'a'] and got['default'].default_factory is list
    assert type(got['ragged']) is lx.Ragged and got['ragged'][1].tolist() == [1, 2, 3]
    moved = [got['tuple'][0], got['named'].left, got['list'][0], got['list'][1][0],
             got['ordered']['b'], got['default']['x'], got['ragged'].values, got['nested'],
             got['sparse']]
    assert all(tensor.device.type == device for tensor in moved)
    assert batch['ordered']['b'].device.type == 'cpu'    # the loader's batch stays unchanged
    assert torch.equal(got['sparse'].to_dense().cpu(), torch.eye(3))


@pytest.mark.parametrize('device', DEVICES)
def test_accepts_any_iterable(device):
    assert [int(batch) for batch in lt.DevicePrefetcher(map(torch.tensor, range(5)), device)] == (
        list(range(5)))
    assert list(lt.DevicePrefetcher([], device)) == []
    with pytest.raises(TypeError, match='len'):
        len(lt.DevicePrefetcher(iter([]), device))


def test_rejects_devices_without_streams():
    with pytest.raises(ValueError, match='has streams, or the CPU, not meta'):
        lt.DevicePrefetcher([], 'meta')


@pytest.mark.skipif(not torch.cuda.is_available(), reason='needs a GPU')
def test_batches_without_tensors_are_an_error():
    loader = lx.Loader(ROWS, batch_size=10)
    with pytest.raises(TypeError, match="no tensors.*out='torch'"):
        next(iter(lt.DevicePrefetcher(loader, 'cuda')))


# ---- the position

@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('threads', [0, 2])
def test_positions_are_those_of_the_loader(device, threads):
    prefetcher = make(device, batch_size=8, threads=threads, order=lx.Shuffle(seed=3))
    everything = [labels(batch) for batch in prefetcher]
    for count in range(len(everything)):
        prefetcher.loader.set_epoch(0)
        begun = [labels(batch) for batch in itertools.islice(prefetcher, count)]
        other = make(device, batch_size=8, threads=threads, order=lx.Shuffle(seed=3))
        assert prefetcher.loader.tell() == count * 8
        other.load_state_dict(prefetcher.state_dict())
        assert begun + [labels(batch) for batch in other] == everything


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('workers', [0, 2])
def test_a_data_loader_resumes_exactly(device, workers):
    def make_loader():
        return lt.DevicePrefetcher(lt.DataLoader(
            lx.NPDataset(np.arange(60)), 8, shuffle=True, num_workers=workers,
            generator=torch.Generator().manual_seed(4)), device)

    whole = make_loader()
    everything, following = ([labels(batch) for batch in whole] for _ in range(2))
    for count in range(len(everything) + 1):
        loader, resumed = make_loader(), make_loader()
        batches = iter(loader)
        begun = [labels(next(batches)) for _ in range(count)]
        rest = everything[count:] or following
        resumed.load_state_dict(loader.state_dict())
        assert begun == everything[:count] and [labels(batch) for batch in resumed] == rest
        loader.load_state_dict(loader.state_dict())
        assert [labels(batch) for batch in loader] == rest


def test_a_moved_loader_returns_no_batch_of_its_old_position():
    prefetcher = make('cpu', batch_size=10, threads=2)
    batches = iter(prefetcher)
    assert labels(next(batches))[0] == 0
    prefetcher.loader.seek(40)
    assert labels(next(batches))[0] == 40
    state = prefetcher.state_dict()
    assert labels(next(batches))[0] == 50
    prefetcher.load_state_dict(state)
    assert labels(next(batches))[0] == 50


def test_an_endless_loader_continues_with_the_next_epoch():
    prefetcher = make('cpu', batch_size=20, threads=2, epochs=None, order=lx.Shuffle(seed=1))
    plain = lx.Loader(np.arange(60), batch_size=20, epochs=None, order=lx.Shuffle(seed=1))
    for _ in range(4):    # the batch in advance belongs to the next epoch
        ours = [labels(batch) for batch in itertools.islice(prefetcher, 3)]
        assert ours == [labels(batch['data']) for batch in itertools.islice(plain, 3)]


@pytest.mark.filterwarnings('ignore:an older pass')
@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(['next', 'next', 'iter', 'drop', 'save', 'load', 'epoch', 'seek']),
                max_size=25), st.sampled_from([0, 2]), st.sampled_from([1, 2]))
def test_behaves_as_the_loader_does(calls, threads, epochs):
    """A prefetcher and a loader without one return the same after the same calls."""
    options = {'batch_size': 16, 'threads': threads, 'epochs': epochs, 'order': lx.Shuffle(seed=2)}
    prefetcher, plain = make('cpu', **options), make('cpu', **options).loader
    pairs, state = [(iter(prefetcher), iter(plain))], None
    for call in calls:
        if call == 'next' and pairs:
            ours, theirs = (next(one, None) for one in pairs[-1])
            assert (ours is None) == (theirs is None)
            assert ours is None or labels(ours) == labels(theirs)
        elif call == 'iter':
            pairs.append((iter(prefetcher), iter(plain)))
        elif call == 'drop':
            del pairs[-1:]
        elif call == 'save':
            state = prefetcher.state_dict()
            assert state == plain.state_dict()
        elif call == 'load' and state is not None:
            prefetcher.load_state_dict(state)
            plain.load_state_dict(state)
        elif call == 'epoch':
            prefetcher.loader.set_epoch(epochs)
            plain.set_epoch(epochs)
        elif call == 'seek':
            prefetcher.loader.seek(32)
            plain.seek(32)
        assert prefetcher.loader.tell() == plain.tell()
        assert len(prefetcher) == len(plain)


class Unsaved(list):
    """Batches, and a state that cannot be saved."""

    def state_dict(self):
        raise ValueError('no state')


def test_a_state_that_cannot_be_saved_is_an_error_only_if_it_is_needed():
    prefetcher = lt.DevicePrefetcher(Unsaved(map(torch.tensor, range(3))), 'cpu')
    batches = iter(prefetcher)
    assert int(next(batches)) == 0
    with pytest.raises(ValueError, match='no state'):
        prefetcher.state_dict()
    assert [int(batch) for batch in batches] == [1, 2]
    with pytest.raises(AttributeError):
        lt.DevicePrefetcher([], 'cpu').state_dict()


# ---- exceptions

class Failing(data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 3:
            raise KeyError('three')
        return torch.tensor(index)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('kind', ['loader', 'data loader'])
def test_an_exception_comes_in_the_place_of_its_batch(device, kind):
    def fail(batch):
        if batch['label'][0] == 30:
            raise KeyError('three')
        return batch

    loader = (lt.DataLoader(Failing()) if kind == 'data loader' else
              make(device, batch_size=10, transform=fail, threads=2).loader)
    batches, got = iter(lt.DevicePrefetcher(loader, device)), []
    while True:
        try:
            batch = next(batches, None)
        except KeyError:
            got.append('error')
        else:
            if batch is None:
                break
            got.append(int(batch if kind == 'data loader' else batch['label'][0] // 10))
    assert got == [0, 1, 2, 'error', 4, 5]
    assert next(batches, None) is None


def test_a_closed_loader_raises_its_error():
    prefetcher = make('cpu', batch_size=10)
    batches = iter(prefetcher)
    next(batches)
    prefetcher.loader.close()
    with pytest.raises(lx.LoaderxError, match='closed'):
        next(batches)


# ---- streams

@pytest.mark.skipif(not torch.cuda.is_available(), reason='needs a GPU')
@pytest.mark.parametrize('pin', [False, True])
@pytest.mark.parametrize('own_stream', [False, True])
def test_every_byte_is_right_while_the_device_is_busy(pin, own_stream):
    rows = np.arange(2048 * 4096, dtype=np.int32).reshape(2048, 4096)
    loader = lx.Loader(rows, batch_size=32, epochs=8, order=lx.Shuffle(seed=3), out='torch',
                       pin_memory=pin)
    stream = torch.cuda.Stream() if own_stream else torch.cuda.current_stream()
    with torch.cuda.stream(stream):
        wrong = torch.zeros((), dtype=torch.int64, device='cuda')
        columns = torch.arange(4096, device='cuda')
        for batch in lt.DevicePrefetcher(loader, 'cuda'):
            index = torch.from_numpy(batch.index).to('cuda')
            torch.cuda._sleep(500_000)    # the batch is used later, after its last reference
            wrong += (batch['data'] != index[:, None] * 4096 + columns).sum()
            del batch
        assert int(wrong) == 0


# ---- what a batch in advance would change


@pytest.mark.parametrize('threads', [0, 1])
def test_an_interrupt_loses_neither_a_batch_nor_itself(threads):
    def slow(batch):
        if batch['label'][0] == 20:
            raise KeyboardInterrupt
        return batch

    prefetcher = make('cpu', batch_size=10, threads=threads, transform=slow)
    batches, got = iter(prefetcher), []
    with pytest.raises(KeyboardInterrupt):
        for batch in batches:
            got.append(int(batch['label'][0]))
    assert got == [0, 10] and prefetcher.loader.tell() == 20


def test_a_loop_that_ends_early_leaves_no_pass_behind():
    prefetcher = make('cpu', batch_size=4, drop_last=True)
    for batch in prefetcher:
        break
    prefetcher.loader.seek(52)
    assert [labels(batch)[0] for batch in prefetcher] == [52, 56]


def test_an_iterator_continues_after_a_break():
    prefetcher = lt.DevicePrefetcher((torch.tensor(i) for i in range(6)), 'cpu')
    for batch in prefetcher:
        break
    assert [int(batch) for batch in prefetcher] == [1, 2, 3, 4, 5]


def test_counts_and_packed_sequences_keep_their_values():
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)])
    got, = lt.DevicePrefetcher([{'count': collections.Counter(a=2), 'packed': packed,
                                 'x': torch.ones(1)}], 'cpu')
    assert got['count'] == {'a': 2} and torch.equal(got['packed'].data, packed.data)
