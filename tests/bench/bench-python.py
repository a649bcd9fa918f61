# SPDX-License-Identifier: MIT
"""The bindings and NumPy: shuffled batches of Fashion-MNIST, and gathered records of 4 KiB.

    PYTHONPATH=... PATH=... python3 tests/bench/bench-python.py DIR [--json FILE] [--plot FILE]

DIR is created if necessary, and keeps the data for the next run; a tmpfs is best. The images are
those of Debian's package dataset-fashion-mnist, which `loaderx import` reads as they are. The cases
of a comparison alternate for at least seven rounds; the results are medians, and mainly their ratio
to the first case. Our cases include order, verification (in the previous epoch) and delivery;
NumPy's rows use precomputed indices.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys

import numpy as np

import loaderx as lx
from turns import (ROUNDS, Case, add_arguments, compare, import_fashion, new_report, read_idx,
                   write_report)

BATCH = 256
RECORD = 4096
SEED = 42


def cache_bytes():
    """Bytes of the last-level cache, 0 if the system does not report them."""
    try:    # os.sysconf() does not know the name
        output = subprocess.run(['getconf', 'LEVEL3_CACHE_SIZE'], stdout=subprocess.PIPE,
                                check=True)
        return int(output.stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


# ---- Fashion-MNIST

def take_from(loader):
    """Return a function that takes the next batch of an endless loader, and drops it."""
    def take():
        next(loader)
    return take


def python_overhead(dataset, report):
    """Print what Python adds to a batch: next() for a batch of one record, filled by the caller."""
    loader = lx.Loader(dataset, fields=['data', 'label'], batch_size=1, epochs=None, threads=0,
                       order=lx.Shuffle(seed=SEED))
    take = take_from(loader)
    runs = [Case('', take, 1) for _ in range(ROUNDS)]
    best = statistics.median(case.time(20000) / 20000 for case in runs)
    loader.close()
    print(f'next() of a batch of one record, all in all: {best * 1e6:.2f} us')
    report['python_seconds_a_batch'] = best


def compare_loaders(report, folder, idx_folder, rounds):
    path = import_fashion(folder, idx_folder)
    images = read_idx(os.path.join(idx_folder, 'train-images-idx3-ubyte.gz'))
    labels = read_idx(os.path.join(idx_folder, 'train-labels-idx1-ubyte.gz'))
    dataset = lx.open(path)
    length = len(dataset)
    permutation = np.random.default_rng(SEED).permutation(length)
    batches = [permutation[i:i + BATCH] for i in range(0, length - BATCH + 1, BATCH)]
    place = 0

    def index_arrays():
        nonlocal place
        place = (place + 1) % len(batches)
        indices = batches[place]
        return images[indices], labels[indices]

    cases = [Case('NumPy: x[idx]; y[idx]', index_arrays, BATCH)]
    loaders = []
    for threads in (None, 0, 1, 2):
        loader = lx.Loader(dataset, fields=['data', 'label'], batch_size=BATCH, epochs=None,
                           order=lx.Shuffle(seed=SEED), threads=threads, drop_last=True)
        for _ in range(len(dataset) // BATCH):    # the first epoch verifies
            batch = next(loader)
        assert batch['data'].shape == (BATCH, 28, 28) and len(batch['label']) == BATCH
        name = {None: 'as many threads as CPUs', 1: '1 thread'}.get(threads, f'{threads} threads')
        cases.append(Case(f'lx.Loader, {name}', take_from(loader), BATCH))
        loaders.append(loader)
    compare(report, f'shuffled Fashion-MNIST, {BATCH} a batch', cases, rounds)
    for loader in loaders:
        loader.close()
    python_overhead(dataset, report)


# ---- records of 4 KiB

def make_records(folder, count):
    """A dataset and a plain file of the same records, each created if it does not exist."""
    path = os.path.join(folder, f'records-{count}')
    plain = path + '.bin'
    if os.path.exists(plain):
        return path, plain
    shutil.rmtree(path, ignore_errors=True)    # left by an interrupted run
    step = 4096
    rng = np.random.default_rng(SEED)
    with open(plain + '.part', 'wb') as file, \
            lx.create(path, {'data': lx.Field('uint8', (RECORD,))}) as writer:
        for first in range(0, count, step):
            rows = rng.integers(0, 256, (min(step, count - first), RECORD), np.uint8)
            writer.extend(data=rows)
            rows.tofile(file)
    os.replace(plain + '.part', plain)
    return path, plain


def compare_gather(report, folder, megabytes, rounds):
    count = (megabytes << 20) // RECORD
    path, plain = make_records(folder, count)
    memmap = np.memmap(plain, np.uint8, 'r', shape=(count, RECORD))
    dataset = lx.open(path)
    rng = np.random.default_rng(SEED)
    batches = [rng.integers(0, count, BATCH) for _ in range(4096)]
    out = np.empty((BATCH, RECORD), np.uint8)
    for first in range(0, count, BATCH):    # maps the pages, verifies the records
        rows = dataset['data'][first:first + BATCH]
        assert np.array_equal(rows, memmap[first:first + BATCH])

    def in_turn(run):
        place = 0

        def run_next():
            nonlocal place
            place = (place + 1) % len(batches)
            run(batches[place])
        return run_next

    cases = [
        Case('NumPy memmap: m[idx]', in_turn(lambda idx: memmap[idx]), BATCH),
        Case('NumPy memmap: np.take(m, idx, axis=0, out=)',
             in_turn(lambda idx: np.take(memmap, idx, axis=0, out=out)), BATCH),
        Case("ds.gather(idx, fields=['data'], out=)",
             in_turn(lambda idx: dataset.gather(idx, fields=['data'], out={'data': out})), BATCH),
        Case("ds['data'][idx]", in_turn(lambda idx: dataset['data'][idx]), BATCH),
    ]
    title = (f'{BATCH} random records of {RECORD} bytes of {megabytes} MiB '
             f'(last-level cache: {cache_bytes() >> 20} MiB)')
    compare(report, title, cases, rounds)


# ---- reports

def plot(report, path):
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(report['groups']), figsize=(9, 5), squeeze=False)
    for axis, group in zip(axes[:, 0], report['groups']):
        names = [case['name'] for case in group['cases']]
        speeds = [case['records'] / case['median_seconds'] for case in group['cases']]
        axis.barh(names, speeds, color=['0.6' if 'NumPy' in name else 'C0' for name in names])
        axis.invert_yaxis()
        axis.set_title(group['title'], fontsize=9)
        axis.set_xlabel('records a second')
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def default_megabytes():
    """Four times the last-level cache, at least 256 MiB, at most a sixth of the free memory."""
    free = os.sysconf('SC_AVPHYS_PAGES') * os.sysconf('SC_PAGESIZE')
    return min(max(4 * cache_bytes(), 256 << 20), free // 6) >> 20


def parse_arguments():
    parser = argparse.ArgumentParser(description='The bindings compared with NumPy.')
    add_arguments(parser)
    parser.add_argument('--mib', type=int, default=None,
                        help='size of the records of 4 KiB (default: 4 last-level caches)')
    parser.add_argument('--plot', metavar='FILE', help='draw a PNG there (needs matplotlib)')
    arguments = parser.parse_args()
    if arguments.rounds < ROUNDS:
        parser.error(f'fewer than {ROUNDS} rounds are too few')
    if arguments.mib is not None and arguments.mib < 1:
        parser.error('--mib: at least 1')
    return arguments


def main():
    arguments = parse_arguments()
    os.makedirs(arguments.folder, exist_ok=True)
    report = new_report(arguments.rounds)
    compare_loaders(report, arguments.folder, arguments.idx, arguments.rounds)
    compare_gather(report, arguments.folder, arguments.mib or default_megabytes(),
                   arguments.rounds)
    if arguments.json:
        write_report(report, arguments.json)
    if arguments.plot:
        plot(report, arguments.plot)
    return 0


if __name__ == '__main__':
    sys.exit(main())
