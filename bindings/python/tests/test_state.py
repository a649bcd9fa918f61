# SPDX-License-Identifier: MIT
"""Saved states: a run stops, and continues with exactly the remaining samples."""

import json
import random
import sysconfig
import threading

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

N = 1003


@pytest.fixture(scope='module')
def data():
    return {'data': np.arange(N * 30, dtype=np.int32).reshape(N, 30), 'label': np.arange(N)}


def take(loader, count):
    """Return the labels of the next batches, across the ends of epochs."""
    got = []
    while len(got) < count:
        for batch in loader:
            got.append(batch['label'].tolist())
            if len(got) == count:
                break
    return got


def test_a_state_is_a_small_dict_for_json(data):
    loader = lx.Loader(data, batch_size=10, order=lx.Shuffle(seed=1))
    next(loader)
    state = loader.state_dict()
    assert isinstance(state, dict) and state['version'] == 1 and state['position'] == 10
    assert state['order'] == {'kind': 'shuffle', 'formula': 1, 'length': N, 'seed': 1}
    assert len(json.dumps(state)) < 4096


@pytest.mark.parametrize('order', [
    lx.Shuffle(seed=5), lx.Random(seed=5), lx.Sequential(window=8, stride=5), None,
], ids=repr)
@pytest.mark.parametrize('transform', [None, dict])
def test_continues_exactly_with_other_threads(data, order, transform):
    options = dict(batch_size=17, order=order, transform=transform)
    expected = take(lx.Loader(data, threads=0, **options), 200)
    draw = random.Random(3)
    for _ in range(8):
        count = draw.randrange(199)
        first = lx.Loader(data, threads=draw.choice([0, 1, 2, 16]), **options)
        assert take(first, count) == expected[:count]
        state = json.loads(json.dumps(first.state_dict()))
        first.close()
        second = lx.Loader(data, threads=draw.choice([0, 1, 2, 16]), **options)
        second.load_state_dict(state)
        assert second.tell() == state['position']
        assert take(second, 200 - count) == expected[count:]


def test_excludes_prefetched_batches(data):
    loader = lx.Loader(data, batch_size=10, threads=2, transform=dict)
    for count in range(1, 20):
        next(loader)
        assert loader.tell() == loader.state_dict()['position'] == 10 * count


def test_stops_where_the_first_run_would(data):
    whole = lx.Loader(data, batch_size=10, epochs=3)
    lengths = [len(list(whole)), len(list(whole))]
    loader = lx.Loader(data, batch_size=10, epochs=3)
    loader.seek(N + 500)
    assert [len(list(loader)), len(list(loader))] == [lengths[0] - 101 - 50, lengths[1]]


@pytest.mark.parametrize('before, after', [(1, 4), (4, 1), (2, 3), (3, 2)])
def test_continues_with_another_number_of_ranks(data, before, after):
    """Every sample of the epoch occurs exactly once over the whole run."""
    def ranks(world):
        return [lx.Loader(data, batch_size=7, order=lx.Shuffle(seed=8), rank=rank, world=world)
                for rank in range(world)]

    seen = []
    for loader in ranks(before):
        for _ in range(11):
            seen.extend(next(loader)['label'].tolist())
        state = loader.state_dict()
    assert state['position'] == 77 * before
    for loader in ranks(after):
        loader.load_state_dict(state)
        for batch in loader:
            seen.extend(batch['label'][batch.real].tolist())
    assert sorted(seen) == list(range(N))


def test_seek_and_tell(data):
    order = lx.Shuffle(n=N, seed=2).take(3 * N).tolist()
    loader = lx.Loader(data, batch_size=50, order=lx.Shuffle(seed=2), epochs=None)
    for position in (0, 1, 7, N - 1, N, N + 1, 2 * N - 20, 5):
        loader.seek(position)
        assert loader.tell() == position
        got = next(loader)['label'].tolist()
        assert got == order[position : position + len(got)]
        assert len(got) == min(50, N - position % N)
        assert loader.tell() == position + len(got)
    loader.seek(10**15)
    assert len(next(loader)['label']) and loader.tell() > 10**15


# ---- resuming by the count of samples


@pytest.mark.parametrize('start', [0, 1, 500, N - 1, N, N + 7, 2 * N - 1, 2 * N, 3 * N + 11])
def test_a_start_skips_earlier_records(data, start):
    """Epochs end at the same positions as for a loader that began at 0: 2 N, 4 N, ..."""
    def opened(**more):
        return lx.Loader(data, order=lx.Shuffle(seed=6), batch_size=10, epochs=2, **more)

    rest = lx.Shuffle(n=N, seed=6).take(6 * N)[start:].tolist()
    loader = opened(start=start)
    assert loader.tell() == start
    first, second = (sum((b['label'].tolist() for b in loader), []) for _ in range(2))
    assert len(first) == 2 * N - start % (2 * N) and len(second) == 2 * N
    assert first + second == rest[:len(first) + len(second)]
    other = opened()
    other.load_state_dict(opened(start=start).state_dict())
    assert next(other)['label'].tolist() == rest[:min(10, N - start % N)]


@pytest.mark.parametrize('drop_last', [False, True])
@pytest.mark.parametrize('before, after', [(1, 3), (3, 1), (2, 5), (4, 4)])
def test_ranks_continue_by_a_count(data, before, after, drop_last):
    def ranks(world, size, **more):
        return [lx.Loader(data, batch_size=size, order=lx.Shuffle(seed=8), rank=rank, world=world,
                          epochs=None, drop_last=drop_last, threads=0, **more)
                for rank in range(world)]

    def run(loaders, steps):
        return [i for _ in range(steps) for loader in loaders
                for i in next(loader)['label'].tolist()]

    first = ranks(before, 7)
    seen = run(first, 5)
    count = {loader.tell() for loader in first}
    assert count == {35 * before} and len(seen) == 35 * before
    left = (N - len(seen)) // (3 * after)
    seen += run(ranks(after, 3, start=count.pop()), left)
    assert sorted(seen) == sorted(lx.Shuffle(n=N, seed=8).take(len(seen)).tolist())
    beyond = ranks(after, 3, start=2 * N)
    assert sorted(run(beyond, N // (3 * after))) == sorted(
        lx.Shuffle(n=N, seed=8).take(3 * N)[2 * N:][:N // (3 * after) * 3 * after].tolist())


def test_starts_far_from_the_beginning(data):
    loader = lx.Loader(data, order=lx.Shuffle(seed=2), batch_size=5, start=10**18, epochs=None)
    order = lx.Shuffle(n=N, seed=2)
    order.seek(10**18)
    assert next(loader)['label'].tolist() == order.take(5).tolist()
    assert len(list(lx.Loader(data, epochs=None, start=2**64 - 2))) == 1    # the last position


@pytest.mark.skipif(bool(sysconfig.get_config_var('Py_GIL_DISABLED')),
                    reason='a free-threaded CPython destroys objects of other threads later')
def test_seek_drops_the_results_of_a_transform(data):
    alive = []

    class Result:
        def __init__(self, batch):
            self.batch = batch
            alive.append(1)

        def __del__(self):
            alive.pop()

    loader = lx.Loader(data, batch_size=10, threads=4, epochs=None, transform=Result)
    for position in range(0, 900, 30):
        loader.seek(position)
        assert next(loader).batch['label'][0] == position
    loader.seek(0)
    assert not alive
    next(loader)
    loader.close()
    assert not alive


@pytest.mark.parametrize('other, word', [
    (dict(order=lx.Shuffle(seed=2)), 'seed'),
    (dict(order=lx.Random(seed=1)), 'kind'),
])
def test_rejects_a_state_of_another_order(data, other, word):
    state = lx.Loader(data, order=lx.Shuffle(seed=1)).state_dict()
    loader = lx.Loader(data, **other)
    next(loader)
    with pytest.raises(ValueError, match=word):
        loader.load_state_dict(state)
    assert loader.tell() == 1


def test_rejects_a_state_of_a_longer_order(data):
    state = lx.Loader(data, order=lx.Shuffle(seed=1)).state_dict()
    fewer = {name: values[:500] for name, values in data.items()}
    with pytest.raises(ValueError, match='length'):
        lx.Loader(fewer, order=lx.Shuffle(seed=1)).load_state_dict(state)


@pytest.mark.parametrize('change', [
    lambda d: {**d, 'data': d['data'].astype('int64')},
    lambda d: {'label': d['label']},
    lambda d: {**d, 'data': d['data'][:, :3].copy()},
], ids=['dtype', 'columns', 'shape'])
def test_rejects_a_state_of_another_source(data, change):
    order = lx.Shuffle(n=N, seed=1)
    state = lx.Loader(data, order=order).state_dict()
    with pytest.raises(ValueError, match='source'):
        lx.Loader(change(data), order=order).load_state_dict(state)


def test_rejects_another_dataset_of_the_same_form(tmp_path):
    for name in 'ab':
        with lx.create(tmp_path / name, {'x': lx.Field('int64')}) as writer:
            writer.extend(x=np.arange(10))
    loader = lx.Loader(tmp_path / 'a', batch_size=3)
    next(loader)
    state = loader.state_dict()
    again = lx.Loader(lx.open(tmp_path / 'a'), batch_size=4)
    again.load_state_dict(state)
    assert next(again)['x'].tolist() == [3, 4, 5, 6]
    with pytest.raises(ValueError, match='uuid'):
        lx.Loader(tmp_path / 'b', batch_size=3).load_state_dict(state)


def test_rejects_invalid_states(data):
    loader = lx.Loader(data, order=lx.Shuffle(seed=1))
    state = loader.state_dict()
    for wrong in 'text', None, 5, [state]:
        with pytest.raises(TypeError, match='state'):
            loader.load_state_dict(wrong)
    with pytest.raises(ValueError, match='state'):
        loader.load_state_dict({'a': {1, 2}})
    for wrong in {}, {'version': 1}, lx.Shuffle(n=N, seed=1).state_dict():
        with pytest.raises((ValueError, lx.LoaderxError)):
            loader.load_state_dict(wrong)
    with pytest.raises(lx.CorruptError):
        loader.load_state_dict({**state, 'position': 10})
    with pytest.raises(lx.LoaderxError) as caught:
        loader.load_state_dict({**state, 'version': 2})
    assert caught.value.status == 'LX_ERR_UNSUPPORTED'
    for wrong, error in ((-1, ValueError), (2**64 - 1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match='samples'):
            loader.seek(wrong)
    assert loader.tell() == 0


def test_seeks_while_other_threads_wait(data):
    loader = lx.Loader(data, batch_size=10, epochs=None, threads=2, transform=dict)
    stop = threading.Event()

    def consume():
        while not stop.is_set():
            labels = next(loader)['label']
            assert labels.tolist() == list(range(labels[0], labels[0] + len(labels)))

    threads = [threading.Thread(target=consume) for _ in range(2)]
    for thread in threads:
        thread.start()
    for position in range(0, 5000, 10):
        loader.seek(position)
    stop.set()
    for thread in threads:
        thread.join(50)
        assert not thread.is_alive()


def test_continues_after_a_killed_process(tmp_path):
    script = f"""
        import hashlib, json
        path, kill, threads = {str(tmp_path / 'state')!r}, STOP, THREADS
        loader = lx.Loader(arrays(), batch_size=32, order=lx.Shuffle(seed=6), epochs=2,
                           threads=threads, transform=dict)
        if os.path.exists(path):
            loader.load_state_dict(json.load(open(path)))
        for batch in loader:
            print(hashlib.sha256(batch['data'].tobytes()).hexdigest(), flush=True)
            if loader.tell() == kill:
                json.dump(loader.state_dict(), open(path, 'w'))
                os.kill(os.getpid(), signal.SIGKILL)
    """
    whole = run_script(script.replace('STOP', '-1').replace('THREADS', '0'))
    first = run_script(script.replace('STOP', '3200').replace('THREADS', '2'), status=-9)
    second = run_script(script.replace('STOP', '-1').replace('THREADS', '4'))
    assert len(whole.split()) == 256 and len(first.split()) == 100
    assert first + second == whole
