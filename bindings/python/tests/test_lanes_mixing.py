# SPDX-License-Identifier: MIT
"""How well orders mix 4.2 million records that are stored sorted by class, and what that costs.

Eight hosts with eight ranks each read batches of 32 records of 110 KB. The measure of a batch of
all ranks is chi-squared of the numbers of records of each class, per degree of freedom: 1 by
chance, more if classes clump. `pytest -s` prints the measures, also those of the shuffles of Mosaic
Streaming (`MOSAIC_PYTHON` is an interpreter that has it), LitData and WebDataset, which are run on
the same records, in shards of 64 MiB as they recommend.
"""

import inspect
import os
import random
import subprocess

import numpy as np
import pytest

import loaderx as lx

N = 2**22
CLASSES = 1000
RECORD = 110_000    # bytes
HOSTS, RANKS, WORKERS, BATCH = 8, 8, 4, 32    # ranks of a host, workers of a rank
WORLD = HOSTS * RANKS
SHARD = 2**26 // RECORD
BLOCK = 9    # 1 MiB


def chi_squared(steps, batches):
    """Return the mean chi-squared per degree of freedom of so many consecutive batches."""
    rows = steps[:len(steps) // batches * batches].reshape(-1, batches * WORLD * BATCH)
    labels = rows * CLASSES // N + np.arange(len(rows))[:, None] * CLASSES
    counts = np.bincount(labels.ravel(), minlength=len(rows) * CLASSES).reshape(-1, CLASSES)
    expected = rows.shape[1] / CLASSES
    return float(((counts - expected) ** 2).sum(1).mean() / expected / (CLASSES - 1))


def host_of(steps):
    """Return the host that reads each record: of consecutive records, each is of another rank."""
    return np.broadcast_to(np.arange(WORLD * BATCH) % WORLD // RANKS, steps.shape)


def live_and_reads(steps, hosts, units, length):
    """Return the most GiB that a host has in use at a time, and how many hosts read a unit.

    Units are what a host reads at once, `length` adjacent records. A host has a unit in use from
    its first record to its last."""
    count = int(units.max()) + 1
    most = reads = 0
    at = np.broadcast_to(np.arange(len(steps))[:, None], steps.shape)
    for host in range(HOSTS):
        mine, when = units[hosts == host], at[hosts == host]
        first, last = np.full(count, len(steps)), np.full(count, -1)
        np.minimum.at(first, mine, when)
        np.maximum.at(last, mine, when)
        used = last >= 0
        reads += int(used.sum())
        changes = np.bincount(first[used], minlength=len(steps) + 1)
        changes -= np.bincount(last[used] + 1, minlength=len(steps) + 1)
        most = max(most, int(np.cumsum(changes).max()))
    return most * length * RECORD / 2**30, reads / len(np.unique(units))


def blocks_of(lanes, block):
    """Return the number of the block at each position."""
    number, lane = np.divmod(np.arange(N).reshape(-1, WORLD * BATCH), lanes)
    return lane * (N // lanes // block + 1) + number // block


def measure(name, steps, length, units=None, hosts=None):
    """Return and print the measures of an epoch: an array with the records of each global batch."""
    steps = np.asarray(steps, np.int64)
    one, many = chi_squared(steps, 1), chi_squared(steps, 32)
    live, reads = live_and_reads(steps, host_of(steps) if hosts is None else hosts,
                                 steps // length if units is None else units, length)
    print(f'{name:32} chi2 of a batch {one:6.2f}, of 32 {many:7.2f}, live {live:6.2f} GiB a host, '
          f'each read by {reads:.2f} hosts')
    return one, many, live, reads


def steps_of(order):
    return order.take(N).reshape(-1, WORLD * BATCH)


def measure_lanes(lanes, block=BLOCK):
    steps = steps_of(lx.Lanes(n=N, lanes=lanes, block=block, seed=1))
    return measure(f'lanes {lanes} of {block}', steps, block, blocks_of(lanes, block))


def test_lanes_mix_like_a_shuffle_in_a_gibibyte():
    shuffle = measure('shuffle', steps_of(lx.Shuffle(n=N, seed=1)), 1)
    blocks = measure('blocks of 64 MiB', steps_of(lx.Blocks(n=N, block=SHARD, seed=1)),
                     SHARD)
    assert 0.95 < shuffle[0] < 1.05 and 0.9 < shuffle[1] < 1.1
    assert blocks[0] > 100 and blocks[3] == HOSTS
    for lanes in 2048, 7680:
        one, many, live, hosts = measure_lanes(lanes)
        assert one <= 1.05 and many <= 1.5 and live <= 1 and hosts == 1


def test_sorted_shards_mix_too():
    """Each segment has all classes, in the same order: only the places of blocks mix them."""
    order = lx.Lanes(n=N, lanes=2048, block=BLOCK, seed=1)
    steps = steps_of(order).astype(np.int64) % 2048 * (N // 2048)    # as if sorted in one
    assert chi_squared(steps, 1) < 1.05
    assert chi_squared(steps, 32) < 1.2 * BLOCK


def test_fewer_lanes_than_a_batch_has_records_clump():
    assert 1.05 < measure_lanes(512)[0] < 10


# ---- other packages

def measure_workers(name, streams):
    """Return and print the measures of an epoch; a stream is what one worker reads.

    A rank takes batches from its workers in turn."""
    count = min(len(stream) for stream in streams) // BATCH
    whole = np.array([stream[:count * BATCH] for stream in streams], np.int64)
    batches = whole.reshape(WORLD, WORKERS, count, BATCH).transpose(2, 1, 0, 3)
    steps = batches.reshape(count * WORKERS, WORLD * BATCH)
    hosts = np.broadcast_to(np.arange(WORLD * BATCH) // BATCH // RANKS, steps.shape)
    return measure(name, steps, SHARD, hosts=hosts)


def of_mosaic(path):
    """Store what each worker reads; runs in another interpreter, with these constants."""
    import numpy as np
    from streaming.base.partition import get_partitions
    from streaming.base.shuffle import get_shuffle
    sizes = np.full(N // SHARD, SHARD)
    sizes = np.append(sizes, N - sizes.sum()) if N % SHARD else sizes
    shuffled = get_shuffle('py1e', sizes, HOSTS, 9176, 1, max(4_000_000 // HOSTS, 1 << 18))
    placed = get_partitions('relaxed', N, HOSTS, HOSTS, RANKS, WORKERS, BATCH)
    np.save(path, shuffled[placed].reshape(HOSTS * RANKS * WORKERS, -1))


def test_mosaic_streaming_needs_more_memory(tmp_path):
    python = os.environ.get('MOSAIC_PYTHON')
    if python is None:
        pytest.skip('MOSAIC_PYTHON is not set')
    sizes = {'N': N, 'SHARD': SHARD, 'HOSTS': HOSTS, 'RANKS': RANKS, 'WORKERS': WORKERS,
             'BATCH': BATCH}
    code = '\n'.join([f'{name} = {value}' for name, value in sizes.items()] +
                     [inspect.getsource(of_mosaic), f'of_mosaic({str(tmp_path / "p.npy")!r})'])
    subprocess.run([python, '-c', code], check=True, timeout=300,
                   env={**os.environ, 'LD_LIBRARY_PATH': '',
                        'PYTHONPATH': os.environ.get('MOSAIC_PATH', '')})
    mosaic = measure_workers('Mosaic Streaming, py1e', np.load(tmp_path / 'p.npy'))
    one, many, live, _ = measure_lanes(7680)
    assert one < mosaic[0] and many < mosaic[1] and live < mosaic[2] / 10


def of_litdata():
    shuffle = pytest.importorskip('litdata.streaming.shuffle')
    from litdata.streaming.item_loader import Interval
    from litdata.utilities.env import _DistributedEnv

    class Chunks:    # what FullShuffle wants to know of the dataset
        _reader = None

        def get_chunk_intervals(self):
            return [Interval(begin, begin, min(begin + SHARD, N), min(begin + SHARD, N))
                    for begin in range(0, N, SHARD)]

    mixed = shuffle.FullShuffle(Chunks(), 42, True)
    chunks, intervals = mixed.get_chunks_and_intervals_per_workers(
        _DistributedEnv(WORLD, 0, HOSTS), WORKERS, BATCH, 1)
    streams = []
    for some, ranges in zip(chunks, intervals):
        streams.append([index for chunk, (_, begin, end, _) in zip(some, ranges)
                        for index in mixed(np.arange(begin, end), len(some), 1, chunk)])
    return streams


def test_litdata_clumps():
    litdata = measure_workers('LitData, FullShuffle', of_litdata())
    one, many, live, _ = measure_lanes(2048)
    assert one < litdata[0] and many < litdata[1] and live < litdata[2]


def of_webdataset():
    filters = pytest.importorskip('webdataset.filters')
    shards = list(range(-(-N // SHARD)))
    streams = []
    for worker in range(WORLD * WORKERS):
        rng = random.Random(worker)
        own = shards[worker // WORKERS::WORLD][worker % WORKERS::WORKERS]
        rng.shuffle(own)
        records = (index for shard in own
                   for index in range(shard * SHARD, min((shard + 1) * SHARD, N)))
        streams.append(list(filters._shuffle(records, 5000, 5000, rng)))
    return streams


def test_webdataset_clumps():
    webdataset = measure_workers('WebDataset, buffer of 5000', of_webdataset())
    one, many, live, _ = measure_lanes(2048)
    assert one < webdataset[0] and many < webdataset[1] and live < webdataset[2]
