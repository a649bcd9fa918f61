# SPDX-License-Identifier: MIT
"""Loaders: their batches, their order, and closing."""

import copy
import gc
import hashlib
import json
import os
import pickle
import resource
import threading
import time

import numpy as np
import pytest

import loaderx as lx
from loaderx._loader_stats import LoaderStats
from processes import run_script

N = 1003


@pytest.fixture(scope='module')
def data():
    return {'data': np.arange(N * 30, dtype=np.int32).reshape(N, 30), 'label': np.arange(N)}


def digest(batches):
    whole = hashlib.sha256()
    for batch in batches:
        for name, array in batch.items():
            whole.update(name.encode() + str((array.dtype, array.shape)).encode() + array.tobytes())
    return whole.hexdigest()


def labels(batches):
    return [b['label'].tolist() for b in batches]


# ---- batches


def test_a_batch_is_a_dict_of_arrays_that_the_caller_owns(data):
    batch = next(lx.Loader(data, batch_size=8))
    assert isinstance(batch, dict) and list(batch) == ['data', 'label']
    assert type(batch['data']) is np.ndarray
    assert batch['data'].shape == (8, 30) and batch['data'].dtype == np.int32
    assert batch['data'].flags.c_contiguous and batch['data'].flags.writeable
    batch['data'][:] = 0
    assert data['data'].any()


def test_batches_follow_the_order(data):
    order = lx.Shuffle(n=N, seed=5)
    got = labels(lx.Loader(data, batch_size=64, order=order, epochs=2))
    expected = order.take(2 * N).tolist()
    assert [len(b) for b in got] == ([64] * 15 + [43]) * 2
    assert sum(got, []) == expected


def test_columns_belong_together(data):
    for batch in lx.Loader(data, batch_size=64, order=lx.Random(seed=1)):
        assert np.array_equal(batch['data'], data['data'][batch['label']])


@pytest.mark.parametrize('transform', [None, dict])
def test_the_same_bytes_for_any_number_of_threads(transform):
    wide = {'data': np.random.default_rng(1).bytes(300 * 4096), 'label': np.arange(300)}
    wide['data'] = np.frombuffer(wide['data'], dtype=np.uint8).reshape(300, 4096)
    digests = {
        digest(lx.Loader(wide, batch_size=64, order=lx.Shuffle(seed=9), epochs=3,
                         threads=threads, transform=transform))
        for threads in (0, 1, 2, 16, None)
    }
    assert len(digests) == 1


def test_returns_fields_in_the_requested_order(data):
    assert list(next(lx.Loader(data, fields=['label']))) == ['label']
    assert list(next(lx.Loader(data, fields=['label', 'data']))) == ['label', 'data']


def test_drop_last(data):
    kept = lx.Loader(data, batch_size=100)
    dropped = lx.Loader(data, batch_size=100, drop_last=True)
    assert len(kept) == len(list(kept)) == 11
    assert len(dropped) == len(list(dropped)) == 10


def test_one_order_serves_sources_of_different_length():
    order = lx.Shuffle(seed=1)
    for n in 10, 20:
        got = [b['data'] for b in lx.Loader(np.arange(n), batch_size=4, order=order)]
        assert sorted(np.concatenate(got)) == list(range(n))


def test_an_empty_source_has_no_batches():
    loader = lx.Loader(np.zeros((0, 3)), batch_size=4, order=lx.Shuffle())
    assert list(loader) == [] and len(loader) == 0
    assert list(lx.Loader(np.zeros((0, 3)), epochs=None)) == []


# ---- epochs


def test_each_for_loop_is_an_epoch(data):
    loader = lx.Loader(data, batch_size=100, order=lx.Shuffle(seed=2))
    epochs = [sum(labels(loader), []) for _ in range(3)]
    assert all(sorted(epoch) == list(range(N)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert loader.tell() == 3 * N
    assert sum(epochs, []) == lx.Shuffle(n=N, seed=2).take(3 * N).tolist()


def test_the_end_lasts_until_the_next_for_loop(data):
    loader = lx.Loader(data, batch_size=1000)
    assert len(list(loader)) == 2
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(loader)
    assert next(iter(loader))['label'][0] == 0


@pytest.mark.parametrize('drop_last', [False, True])
def test_continues_with_the_next_epoch_after_an_unseen_end(data, drop_last):
    loader = lx.Loader(data, batch_size=64, order=lx.Shuffle(seed=2), drop_last=drop_last)
    whole = lx.Loader(data, batch_size=64, order=lx.Shuffle(seed=2), drop_last=drop_last)
    for _ in range(3):
        epoch = [batch['label'].tolist() for _, batch in zip(range(len(loader)), loader)]
        assert len(epoch) == len(loader)
        assert epoch == labels(whole)


def test_epochs_limits_a_for_loop(data):
    loader = lx.Loader(data, batch_size=100, epochs=3)
    assert len(loader) == 33
    assert len(list(loader)) == 33
    assert len(list(loader)) == 33


def test_runs_forever_without_a_number_of_epochs(data):
    loader = lx.Loader(data, batch_size=500, epochs=None)
    for count, batch in enumerate(loader):
        if count == 50:
            break
    assert loader.tell() > 15 * N


def test_list_ends(data):
    """The caller holds more batches than can be prefetched."""
    wide = np.zeros((200, 100_000), dtype=np.uint8)
    batches = list(lx.Loader(wide, batch_size=4, threads=2, prefetch_bytes=1_000_000))
    assert len(batches) == 50


# ---- ranks


@pytest.mark.parametrize('world', [2, 3, 7])
@pytest.mark.parametrize('last', ['padded', 'uneven', 'dropped'])
def test_ranks_share_each_global_batch(data, world, last):
    size = 20
    order = lx.Shuffle(n=N, seed=3).take(2 * N)
    ranks = [labels(lx.Loader(data, batch_size=size, order=lx.Shuffle(seed=3), epochs=2,
                              rank=rank, world=world, drop_last=last == 'dropped',
                              uneven=last == 'uneven'))
             for rank in range(world)]
    expected = [[] for _ in range(world)]
    for epoch in range(2):
        for start in range(0, N, size * world):
            block = order[epoch * N + start : epoch * N + min(start + size * world, N)]
            if last == 'dropped' and len(block) < size * world:
                continue
            if last == 'padded':    # from the start of the epoch, as torch's DistributedSampler
                block = np.concatenate([block, order[epoch * N:][:-len(block) % world]])
            for rank in range(world):
                if len(block[rank::world]):
                    expected[rank].append(block[rank::world].tolist())
    assert ranks == expected


def test_an_evaluation_counts_each_record_once():
    """1,025 records on 4 ranks: 9 batches each, and 3 repeats, all marked."""
    records = np.arange(1025)
    ranks = [list(lx.Loader(records, batch_size=32, rank=rank, world=4)) for rank in range(4)]
    assert [len(batches) for batches in ranks] == [9] * 4
    repeated = [batch['data'][~batch.real].tolist() for batches in ranks for batch in batches]
    assert sorted(sum(repeated, [])) == [0, 1, 2]
    counted = np.concatenate([batch['data'][batch.real] for batches in ranks for batch in batches])
    assert sorted(counted.tolist()) == records.tolist()


@pytest.mark.parametrize('length', [1, 2, 31, 32, 33, 127, 128, 129, 1025])
@pytest.mark.parametrize('world', [1, 3, 4])
@pytest.mark.parametrize('order', [lx.Sequential(), lx.Shuffle(seed=3)], ids=str)
def test_an_evaluation_at_one_shape_counts_each_record_once(length, world, order):
    """The transform sees full batches, too, and what fills them is from the epoch's start."""
    shapes, counted, steps = set(), [], set()
    for rank in range(world):
        loader = lx.Loader(np.arange(length), batch_size=32, order=order, rank=rank, world=world,
                           pad_last=True, transform=lambda batch: shapes.add(
                               batch['data'].shape) or batch)
        for step, batch in enumerate(loader):
            assert len(batch['data']) == len(batch.real) == 32
            counted += batch['data'][batch.real].tolist()
            assert [(record['index'], record['real']) for record in loader.explain(step)] == list(
                zip(batch.index.tolist(), batch.real.tolist()))
        steps.add((step + 1, len(loader), loader.tell()))
    assert shapes == {(32,)} and sorted(counted) == list(range(length))
    assert steps == {(-(-length // (32 * world)),) * 2 + (length,)}


def test_filling_batches_has_no_other_way_to_end_an_epoch(data):
    budgeted = lx.Budgeted(lx.Shuffle(seed=3), np.arange(N) % 7 + 1, 40)
    for options, name in (({'drop_last': True}, 'mutually exclusive'),
                          ({'uneven': True}, 'mutually exclusive'),
                          ({'order': budgeted}, 'Budgeted')):
        with pytest.raises(ValueError, match=f'pad_last.*{name}'):
            lx.Loader(data, pad_last=True, **options)
    with pytest.raises(TypeError, match='pad_last'):
        lx.Loader(data, pad_last='yes')


@pytest.mark.parametrize('length', [1, 5, 8, 63, 64, 65])
@pytest.mark.parametrize('shuffle', [False, True])
def test_pads_as_the_distributed_sampler_does(length, shuffle):
    torch = pytest.importorskip('torch')
    order = lx.Distributed(seed=7, world=1) if shuffle else lx.Sequential()
    for rank in range(3):
        sampler = torch.utils.data.DistributedSampler(range(length), 3, rank, shuffle, seed=7)
        theirs = torch.utils.data.DataLoader(range(length), 4, sampler=sampler)
        ours = lx.Loader(np.arange(length), batch_size=4, order=order, rank=rank, world=3)
        assert len(ours) == len(theirs)
        assert [b['data'].tolist() for b in ours] == [batch.tolist() for batch in theirs]


def test_no_rank_drops_a_batch_of_damaged_records(tmp_path):
    """Rank 1 of 2 has a batch whose records are all damaged; it repeats a record."""
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64', (100,))}) as writer:
        writer.extend(x=np.arange(8)[:, None] * np.ones(100, np.int64))
    chunk, = (tmp_path / 'd' / 'chunk').iterdir()
    data = bytearray(chunk.read_bytes())
    for record in 1, 3:
        data[data.find(np.full(100, record).tobytes())] ^= 64
    chunk.write_bytes(data)
    for threads in 0, 2:
        filled = [list(lx.Loader(tmp_path / 'd', batch_size=2, rank=rank, world=2, pad_last=True,
                                 on_damage='skip', threads=threads)) for rank in range(2)]
        assert [[batch['x'][:, 0].tolist() for batch in batches] for batches in filled] == [
            [[0, 2], [4, 6]], [[4, 4], [5, 7]]]
        assert [batch.real.tolist() for batch in filled[1]] == [[False, False], [True, True]]
        ranks = [list(lx.Loader(tmp_path / 'd', batch_size=2, rank=rank, world=2,
                                on_damage='skip', threads=threads)) for rank in range(2)]
        assert [[batch['x'][:, 0].tolist() for batch in batches] for batches in ranks] == [
            [[0, 2], [4, 6]], [[4], [5, 7]]]
        assert [batch.real.tolist() for batch in ranks[1]] == [[False], [True, True]]


@pytest.mark.parametrize('threads', [0, 2])
@pytest.mark.parametrize('order', [lx.Shuffle(seed=3), lx.Random(seed=3), lx.Sequential(),
                                   lx.Budgeted(lx.Shuffle(seed=3), np.arange(N) % 7 + 1, 40)])
def test_batches_know_their_records(data, order, threads):
    size = {} if isinstance(order, lx.Budgeted) else {'batch_size': 16}
    for rank in range(3):
        loader = lx.Loader(data, order=order, rank=rank, world=3, epochs=2, threads=threads,
                           start=7 * 48 if size else 0, **size)
        at = loader.tell()
        for batch in loader:
            assert batch.index.dtype == np.int64 and batch.position == at
            assert np.array_equal(batch.index, batch['label'])
            at = loader.tell()
    loader.seek(batch.position)
    assert np.array_equal(next(loader).index, batch.index)


def test_records_of_a_batch_with_damage_and_after_a_transform(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64', (100,))}) as writer:
        writer.extend(x=np.arange(8)[:, None] * np.ones(100, np.int64))
    chunk, = (tmp_path / 'd' / 'chunk').iterdir()
    content = bytearray(chunk.read_bytes())
    content[content.find(np.full(100, 3).tobytes())] ^= 64
    chunk.write_bytes(content)
    loader = lx.Loader(tmp_path / 'd', batch_size=4, on_damage='skip',
                       transform=lambda batch: batch.with_values({'sum': batch['x'].sum(1)}))
    assert [batch.index.tolist() for batch in loader] == [[0, 1, 2], [4, 5, 6, 7]]
    loader.seek(0)
    assert [batch.position for batch in loader] == [0, 4]


def test_batches_are_dicts_with_attributes(data):
    batch = next(lx.Loader(data, batch_size=3))
    assert isinstance(batch, dict) and type(batch) is lx.Batch
    assert batch.real.tolist() == [True] * 3
    again = pickle.loads(pickle.dumps(batch))
    assert again.real.tolist() == [True] * 3 and again.keys() == batch.keys()
    assert again.index.tolist() == [0, 1, 2] and again.position == 0
    assert not hasattr(type(batch)(batch), 'real')
    made = lx.Loader(data, batch_size=3, transform=lambda batch: batch).__next__()
    assert made.real.tolist() == [True] * 3


@pytest.mark.parametrize('copied', [
    lambda batch: batch, copy.copy, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch)),
    lambda batch: batch.with_values({}),
])
def test_attributes_are_still_true_when_the_memory_has_been_reused(copied):
    with lx.Loader({'x': np.arange(50)}, batch_size=20, order=lx.Shuffle(seed=3), epochs=4, rank=1,
                   world=2, threads=2, prefetch_bytes=0) as loader:
        batches = []
        for number, batch in enumerate(loader):
            if number % 3 == 0:
                batch.index[0] += 100
                batch.real = None
            batch.clear()
            batches.append(copied(batch))
    assert loader.closed and len(batches) == 8
    whole = lx.Shuffle(n=50, seed=3)
    for number, batch in enumerate(batches):
        epoch, last = divmod(number, 2)
        whole.seek(50 * epoch + 40 * last)
        expected = whole.take(10 if last else 40)[1::2]
        changed = 100 if number % 3 == 0 else 0
        assert batch.index.tolist() == [expected[0] + changed, *expected[1:]]
        assert batch.index.dtype == np.int64 and batch.index.flags.writeable
        assert batch.real is None if changed else batch.real.all()
        assert batch.position == 50 * epoch + 40 * last and batch.present == {}
        assert batch.index is batch.index and {'index', 'real'} <= set(dir(batch))


def test_rejects_an_order_that_is_a_shard(data):
    with pytest.raises(ValueError, match='order'):
        lx.Loader(data, order=lx.Shuffle(n=N, seed=1).shard(0, 2))


# ---- memory


def test_arrays_stay_readable(data):
    loader = lx.Loader(data, batch_size=100, order=lx.Shuffle(seed=1))
    held = list(loader)
    before = digest(held)
    parts = [batch['data'][3:5] for batch in held]
    copies = [part.copy() for part in parts]
    assert len(list(loader)) == 11
    loader.close()
    del loader
    gc.collect()
    assert digest(held) == before
    del held
    gc.collect()
    assert all(np.array_equal(a, b) for a, b in zip(parts, copies))


def test_reuses_memory():
    wide = np.zeros((1000, 10_000), dtype=np.uint8)
    loader = lx.Loader(wide, batch_size=50, epochs=20, threads=2, prefetch_bytes=2_000_000)
    for batch in loader:
        pass
    assert loader.stats()['batches'] == 400
    assert loader.stats()['blocks'] < 20


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def test_memory_does_not_grow_with_batches_and_loaders(data):
    def work():
        for _ in range(20):
            with lx.Loader(data, batch_size=100, order=lx.Shuffle(seed=1), threads=2,
                           transform=lambda b: (b, [b])) as loader:
                for _ in range(2):
                    for batch in loader:
                        pass
                next(iter(loader))
                loader.seek(3)
                loader.load_state_dict(loader.state_dict())
                next(loader)
        gc.collect()

    work()
    before, objects = resident(), len(gc.get_objects())
    for _ in range(5):
        work()
    assert len(gc.get_objects()) < objects + 100
    assert resident() < before + (32 << 20)


def test_a_loader_in_a_cycle_is_collected(data):
    class Owner:
        def __init__(self):
            self.loader = lx.Loader(data, batch_size=10, threads=2, transform=self.change)

        def change(self, batch):
            return self, batch

    collected = []
    for _ in range(10):
        owner = Owner()
        next(owner.loader)
        owner.mark = type('Mark', (), {'__del__': lambda mark: collected.append(1)})()
        del owner
        gc.collect()
    assert len(collected) == 10


# ---- repr


def test_repr_names_source_order_batch_size_and_rank(tmp_path):
    array = np.zeros((20, 3), np.float32)
    np.save(tmp_path / 'x.npy', array)
    with lx.create(tmp_path / 'd', {'x': lx.Field('int64')}) as writer:
        writer.extend(x=np.arange(20))
    budget = lx.Budgeted(lx.Sequential(), np.ones(20, int), 5)
    for source, options, text in [
        (array, {}, 'ndarray float32[20, 3], Sequential(), batch_size=1:'),
        (tmp_path / 'x.npy', {'batch_size': 4}, f"'{tmp_path}/x.npy', Sequential(), batch_size=4:"),
        (lx.open(tmp_path / 'd'), {'order': lx.Shuffle(seed=3), 'rank': 1, 'world': 2},
         f"<loaderx.Dataset '{tmp_path}/d': 20 records of {{'x': Field('int64')}}>, "
         'Shuffle(seed=3), batch_size=1, rank 1 of 2:'),
        ((array, lx.NPDataset(array)), {}, '(ndarray float32[20, 3], NPDataset(20 x float32[3])), '),
        ({'a': array}, {'order': budget}, "{'a': ndarray float32[20, 3]}, Budgeted("),
        ([{'x': 1}], {}, '1 dicts, Sequential()'),
    ]:
        loader = lx.Loader(source, **options)
        assert repr(loader).startswith(f'<loaderx.Loader of {text}')
        assert ' at sample 0, ' in repr(loader)
        assert ('batch_size' in repr(loader)) == ('Budgeted' not in text)
        loader.close()
        assert repr(loader).startswith(f'<loaderx.Loader of {text}') and 'closed' in repr(loader)


# ---- ending


def test_reports_use_after_close(data):
    with lx.Loader(data) as loader:
        next(loader)
    assert loader.closed and 'closed' in repr(loader)
    loader.close()
    loader.cancel()
    for use in (lambda: next(loader), lambda: iter(loader), loader.tell, loader.state_dict,
                loader.stats, lambda: loader.seek(0), lambda: len(loader),
                lambda: loader.load_state_dict({})):
        with pytest.raises(lx.LoaderxError, match='closed'):
            use()


def test_cancel_ends_every_next(data):
    loader = lx.Loader(data)
    next(loader)
    loader.cancel()
    for _ in range(2):
        with pytest.raises(lx.LoaderxError) as caught:
            next(loader)
        assert caught.value.status == 'LX_ERR_CANCELED'
    assert loader.tell() == 1


@pytest.mark.parametrize('end', ['close', 'cancel'])
def test_close_wakes_waiting_threads(data, end):
    hold, held, errors, consumer = threading.Event(), threading.Event(), [], []

    def transform(batch):
        if threading.current_thread() not in consumer:  # the waiting thread may run it
            held.set()
            hold.wait(60)

    def consume():
        try:
            while True:
                next(loader)
        except lx.LoaderxError as error:
            errors.append(error.status)

    loader = lx.Loader(data, batch_size=10, epochs=None, threads=1, transform=transform)
    consumer.append(threading.Thread(target=consume))
    consumer[0].start()
    assert held.wait(50)
    ender = threading.Thread(target=getattr(loader, end))
    ender.start()
    consumer[0].join(50)
    assert not consumer[0].is_alive() and len(errors) == 1
    hold.set()  # close waits for a running transform
    ender.join(50)
    assert not ender.is_alive()
    loader.close()


def test_many_threads_can_share_one_pass(data):
    loader = lx.Loader(data, batch_size=7, epochs=2, threads=2, transform=lambda b: b)
    got, lock, batches = [], threading.Lock(), iter(loader)

    def consume():
        for batch in batches:
            with lock:
                got.extend(batch['label'].tolist())
            loader.tell(), loader.stats(), loader.state_dict()

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    counts = np.bincount(got, minlength=N)
    assert counts.min() == counts.max() == 2


def test_loaders_share_an_executor(data):
    with lx.Executor(readers=2) as executor:
        one, two = (lx.Loader(data, batch_size=50, order=lx.Shuffle(seed=4), executor=executor,
                              transform=lambda b: b) for _ in range(2))
        pairs = list(zip(one, two))
        assert len(pairs) == 21
        assert all(np.array_equal(a['label'], b['label']) for a, b in pairs)
        one.close()
        assert len(list(two)) == 21


def test_a_closed_executor_is_an_error(data):
    executor = lx.Executor(readers=1)
    loader = lx.Loader(data, batch_size=10, executor=executor, transform=lambda b: b)
    next(loader)
    executor.close()
    with pytest.raises(lx.LoaderxError):
        for _ in range(1000):
            next(loader)
    loader.close()
    with pytest.raises(lx.LoaderxError, match='closed'):
        lx.Loader(data, executor=executor)


def test_stats_count(data):
    loader = lx.Loader(data, batch_size=100)
    list(loader)
    stats = loader.stats()
    assert stats['batches'] == 11 and stats['records'] == N and stats['bytes'] == N * 128
    assert stats['failures'] == 0
    assert set(stats) == {'batches', 'records', 'bytes', 'failures', 'time_ns', 'wait_ns',
                          'fill_ns', 'map_ns', 'transform_ns', 'blocks', 'block_bytes',
                          'prefetched', 'damaged', 'read_ahead'}
    assert 0 < stats['wait_ns'] <= stats['time_ns']
    assert json.loads(json.dumps(stats)) == stats == eval(repr(stats))


def stats_of(time, wait, fill, transform, **more):
    seconds = {'time_ns': time, 'wait_ns': wait, 'fill_ns': fill, 'transform_ns': transform}
    return LoaderStats({'failures': 0, 'damaged': 0, 'read_ahead': 0, 'records': 10,
                        'bytes': 10 << 20, 'map_ns': 0, **more,
                        **{name: int(value * 1e9) for name, value in seconds.items()}})


@pytest.mark.parametrize('stats, text', [
    (stats_of(0, 0, 0, 0), 'No batch has been requested yet.'),
    (stats_of(50, 1, 60, 0), 'The consumer waited 2% of the time (1 of 50 s) for batches: the '
     'loader keeps up, and the consumer is the bottleneck.'),
    (stats_of(5, 0.6, 9.87, 1), 'The consumer waited 12% of the time (0.6 of 5 s) for batches: '
     'reading is the bottleneck. It took 9.87 s, summed over all threads. More threads,'),
    (stats_of(5, 4, 9, 1, read_ahead=2500, records=3000), 'batches: the disk is the bottleneck. '
     '2,500 records were not in memory and were read ahead of the batches.'),
    (stats_of(5, 4, 9, 1, read_ahead=200, records=3000), 'batches: reading is the bottleneck.'),
    (stats_of(1, 0.9, 1.5, 0, read_ahead=10**6, records=10**6, bytes=10**9 + 10**8),
     'batches: reading is the bottleneck.'),
    (stats_of(5, 4, 9, 1, read_ahead=3000, records=3000, map_ns=6 * 10**9),
     'batches: computing columns, such as decoding and augmenting images, is the bottleneck. It '
     'took 6 s, summed over all threads, and reading 3 s. More threads on more processors,'),
    (stats_of(5, 4, 9, 1, read_ahead=3000, records=3000, map_ns=4 * 10**9),
     'batches: the disk is the bottleneck.'),
    (stats_of(1, 0.9, 3, 0, read_ahead=10**6, records=10**6, bytes=11 * 10**8, map_ns=15 * 10**8),
     'batches: reading is the bottleneck. It took 1.5 s, summed over all threads.'),
    (stats_of(5, 4, 1, 9), 'batches: the transform is the bottleneck. It took 9 s, summed over all '
     'threads, and reading 1 s.'),
    (stats_of(5, 4, 0.2, 0), 'but preparing them took only 0.2 s. Other users of the executor,'),
    (stats_of(5, 4, 5, 0, failures=3, damaged=2), ' Failed batches: 3. Damaged records: 2.'),
])
def test_stats_say_who_waits_for_whom(stats, text):
    assert text in stats.summary and str(stats) == stats.summary


def test_stats_of_a_slow_consumer_and_of_a_slow_transform(data):
    assert str(lx.Loader(data).stats()) == 'No batch has been requested yet.'

    def check(name, consumer, transform):
        """On a busy machine, the slowest part must be even slower."""
        for seconds in 0.02, 0.1, 0.5:
            loader = lx.Loader(data, batch_size=100, transform=lambda batch: time.sleep(
                seconds * transform) or batch)
            for _ in loader:
                time.sleep(seconds * consumer)
            if f'the {name} is the bottleneck' in str(loader.stats()):
                return
        raise AssertionError(str(loader.stats()))

    check('consumer', consumer=1, transform=0)
    check('transform', consumer=0, transform=1)


def test_damage_fails_only_its_batch(tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8', (100,))}) as writer:
        writer.extend(x=np.full((50, 100), 7, dtype=np.uint8))
    chunk = next((tmp_path / 'd' / 'chunk').iterdir())
    content = bytearray(chunk.read_bytes())
    place = content.find(b'\7' * 100, len(content) // 2)
    content[place + 5] ^= 1
    chunk.write_bytes(content)
    loader, good, bad = lx.Loader(tmp_path / 'd', batch_size=10), 0, []
    iterator = iter(loader)
    while True:
        try:
            next(iterator)
            good += 1
        except lx.CorruptError as error:
            bad.append(error)
        except StopIteration:
            break
    assert good == 4 and len(bad) == 1
    assert bad[0].field == 'x' and bad[0].record is not None and 'chunk' in bad[0].path
    assert loader.stats()['failures'] == 1


@pytest.mark.parametrize('saved', [False, True])
@pytest.mark.parametrize('on_damage', ['raise', 'skip', 'zeros'])
def test_after_a_failed_read_the_same_batch_comes(tmp_path, saved, on_damage):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8', (100,))}) as writer:
        writer.extend(x=np.arange(50, dtype=np.uint8).repeat(100).reshape(50, 100))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with lx.Loader(lx.open(tmp_path / 'd', access='pread'), batch_size=10, threads=2,
                   on_damage=on_damage) as loader:
        batches = iter(loader)
        for _ in range(3):
            lowest = os.dup(0)
            os.close(lowest)
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
            try:
                with pytest.raises(OSError, match='open'):
                    next(batches)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            assert loader.tell() == 0
        assert loader.stats()['failures'] == 3
        if saved:
            loader.load_state_dict(loader.state_dict())
            batches = iter(loader)
        assert [batch['x'][0, 0] for batch in batches] == [0, 10, 20, 30, 40]


def test_bytes_after_a_short_value_are_damage(tmp_path):
    writer = lx.create(tmp_path / 'd', {'x': lx.Field('int8')})
    writer.extend(x=np.zeros(5000, dtype=np.int8))
    writer.seal()
    writer.close()
    table = tmp_path / 'd' / 'x.offset'  # 16 bytes a row, the value in the last 8
    content = bytearray(table.read_bytes())
    content[4321 * 16 + 8 + 3] = 1
    table.write_bytes(content)
    assert len(next(lx.Loader(tmp_path / 'd', batch_size=4321))['x']) == 4321
    with pytest.raises(lx.CorruptError) as caught:
        list(lx.Loader(tmp_path / 'd', batch_size=4322))
    assert caught.value.record == 4321 and caught.value.field == 'x'


# ---- arguments


@pytest.mark.parametrize('options, error', [
    ({'batch_size': 0}, ValueError),
    ({'batch_size': -1}, ValueError),
    ({'batch_size': 2.0}, TypeError),
    ({'batch_size': 2**63, 'world': 4}, ValueError),
    ({'epochs': 0}, ValueError),
    ({'epochs': 'one'}, TypeError),
    ({'start': -1}, ValueError),
    ({'start': 2**64 - 1}, ValueError),
    ({'start': 2**64}, ValueError),
    ({'start': 2.0}, TypeError),
    ({'start': True}, TypeError),
    ({'start': None}, TypeError),
    ({'rank': 1}, ValueError),
    ({'rank': -1, 'world': 2}, ValueError),
    ({'world': 0}, ValueError),
    ({'drop_last': 1}, TypeError),
    ({'threads': 65}, ValueError),
    ({'threads': -1}, ValueError),
    ({'threads': True}, TypeError),
    ({'executor': 4}, TypeError),
    ({'prefetch_bytes': -1}, ValueError),
    ({'prefetch_bytes': 1.5}, TypeError),
    ({'transform': 3}, TypeError),
    ({'out': 'tensorflow'}, ValueError),
    ({'out': None}, TypeError),
    ({'order': 'shuffle'}, TypeError),
    ({'order': lx.Shuffle(n=N + 1)}, ValueError),
    ({'fields': 'data'}, TypeError),
    ({'fields': []}, ValueError),
    ({'fields': ['nothing']}, ValueError),
    ({'fields': ['data', 'data']}, ValueError),
    ({'fields': [3]}, TypeError),
    ({'fields': 3}, TypeError),
])
def test_rejects_invalid_arguments_by_name(data, options, error):
    name = next(iter(options))
    with pytest.raises(error, match=name):
        lx.Loader(data, **options)


def test_threads_and_executor_exclude_each_other(data):
    with lx.Executor(readers=1) as executor, pytest.raises(ValueError, match='threads'):
        lx.Loader(data, threads=1, executor=executor)


def test_rejects_unknown_arguments(data):
    with pytest.raises(TypeError):
        lx.Loader(data, shuffle=True)
    with pytest.raises(TypeError):
        lx.Loader()
    with pytest.raises(TypeError, match='pickle'):
        lx.Loader(data).__reduce__()


def test_can_be_subclassed(data):
    class Mine(lx.Loader):
        def __init__(self, source, **options):
            self.options = options

        def __iter__(self):
            return (batch['label'] for batch in super(Mine, self).__iter__())

    loader = Mine(data, batch_size=10)
    assert loader.options == {'batch_size': 10}
    assert sum(len(batch) for batch in loader) == N


# ---- processes


@pytest.mark.parametrize('threads', [0, 1])
def test_ctrl_c_interrupts_a_wait_without_loss(threads):
    printed = run_script(f"""
        hold, once = threading.Event(), iter([True])
        def transform(batch):
            if next(once, False):
                os.kill(os.getpid(), signal.SIGINT)
            hold.wait(50)
            return batch['label'].tolist()
        loader = lx.Loader(arrays(), batch_size=4, threads={threads}, transform=transform)
        try:
            next(loader)
        except KeyboardInterrupt:
            print('interrupted', loader.tell())
        hold.set()
        assert loader.state_dict()['position'] == 0
        print(next(loader), next(loader), loader.tell())
    """)
    assert printed == 'interrupted 0\n[0, 1, 2, 3] [4, 5, 6, 7] 8\n'


def test_a_signal_handler_can_close_the_loader():
    printed = run_script("""
        once = iter([True])
        def transform(batch):
            if next(once, False):
                os.kill(os.getpid(), signal.SIGUSR1)
            handled.wait(50)
        handled = threading.Event()
        loader = lx.Loader(arrays(), batch_size=8, threads=1, transform=transform)
        def close(*ignored):
            threading.Timer(0.1, handled.set).start()    # the transform runs until then
            loader.close()
        signal.signal(signal.SIGUSR1, close)
        try:
            next(loader)
        except lx.LoaderxError as error:
            print(error.status)
    """)
    assert printed == 'LX_ERR_STATE\n'


@pytest.mark.parametrize('threads', [0, 1, 4])
@pytest.mark.parametrize('where', ['global', 'in a cycle', 'in another thread', 'an iterator'])
def test_the_process_exits_with_a_running_loader(threads, where):
    run_script(f"""
        loader = lx.Loader(arrays(), batch_size=8, threads={threads}, epochs=None,
                           transform=lambda b: (time.sleep(0.001), b))
        next(loader)
        where = {where!r}
        if where == 'in a cycle':
            cycle = [loader]
            cycle.append(cycle)
            del loader
        elif where == 'in another thread':
            def consume():
                for batch in loader:
                    pass
            threading.Thread(target=consume, daemon=True).start()
            time.sleep(0.1)
        elif where == 'an iterator':
            iterator = iter(loader)
            del loader
    """, silent=True)


def test_the_process_exits_by_an_exception_in_a_transform():
    run_script("""
        def transform(batch):
            sys.exit(3)
        for batch in lx.Loader(arrays(), batch_size=8, threads=2, transform=transform):
            pass
    """, status=3)


def test_use_in_a_child_of_fork_is_an_error():
    printed = run_script("""
        import atexit, warnings
        warnings.simplefilter('ignore')
        x, y = arrays()
        loader = lx.Loader((x, y), batch_size=8, threads=2, epochs=None, transform=lambda b: b)
        held = next(loader)
        busy = threading.Thread(target=lambda: [next(loader) for _ in range(2000)])
        busy.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(120)
                assert held['label'][0] == 0
                for use in (lambda: next(loader), lambda: loader.seek(0), loader.peek,
                            lambda: next(iter(loader)), lambda: loader.set_epoch(0)):
                    try:
                        use()
                    except lx.LoaderxError as error:
                        assert error.status == 'LX_ERR_FORKED', error.status
                    else:
                        os._exit(1)
                loader.tell(), loader.stats(), loader.state_dict()
                with lx.Loader((x, y), batch_size=8, threads=2, transform=lambda b: b) as own:
                    assert len(list(own)) == 512
                loader.close()
                del loader, held
                gc.collect()
                atexit._run_exitfuncs()
                os._exit(7)  # ending the interpreter would wait for the watch of faulthandler
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        busy.join()
        print('done')
    """)
    assert printed == 'done\n'


def test_a_batch_is_a_window_in_every_epoch():
    """The last window of an epoch wraps around, and the next epoch begins with its first window."""
    loader = lx.Loader(np.arange(10), batch_size=4, order=lx.Sequential(window=4, stride=3),
                       epochs=None)
    windows = [next(loader)['data'].tolist() for _ in range(8)]
    assert windows == 2 * [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9], [9, 0, 1, 2]]
