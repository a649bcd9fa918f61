# SPDX-License-Identifier: MIT
"""loaderx.torch compared with torch: shuffled batches of Fashion-MNIST, and collation.

    PYTHONPATH=... PATH=... python3 tests/bench/bench-torch.py DIR [--json FILE]

DIR is created if necessary, and keeps the data for the next run; a tmpfs is best. The cases of a
comparison alternate for at least seven rounds; the results are medians, and mainly their ratio to
the first case. torch reads arrays in memory: record by record, as its datasets do, and in its
fastest form, with a `__getitems__` that indexes the arrays once for a batch, which needs no
collation. A new pass begins when one ends.
"""

import argparse
import os
import sys

import numpy as np
import torch
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from peers.loaders import Indexed, Samples, to_tensors
from turns import (ROUNDS, Case, add_arguments, compare, import_fashion, new_report, read_idx,
                   write_report)

BATCH = 256


def take_from(loader):
    """Return a function that takes the next batch, of a new pass if one ends, and drops it."""
    batches = iter(loader)

    def take():
        nonlocal batches
        try:
            next(batches)
        except StopIteration:
            batches = iter(loader)
            next(batches)
    return take


def compare_loaders(report, arguments):
    path = import_fashion(arguments.folder, arguments.idx)
    files = [os.path.join(arguments.idx, f'train-{kind}.gz')
             for kind in ('images-idx3-ubyte', 'labels-idx1-ubyte')]
    images, labels = map(read_idx, files)
    dataset = lx.open(path)
    for first in range(0, len(dataset), BATCH):    # records are verified at their first read
        assert np.array_equal(dataset['data'][first:first + BATCH], images[first:first + BATCH])
    common = {'batch_size': BATCH, 'shuffle': True, 'drop_last': True}
    cases = [
        Case('torch, __getitem__',
             take_from(data.DataLoader(Samples(images, labels), **common)), BATCH),
        Case('torch, __getitems__',
             take_from(data.DataLoader(Indexed(images, labels), collate_fn=to_tensors, **common)),
             BATCH),
        Case('torch over the loaderx dataset', take_from(data.DataLoader(dataset, **common)),
             BATCH),
        Case('loaderx.torch, over the Python dataset',
             take_from(lt.DataLoader(Samples(images, labels), **common)), BATCH),
    ]
    for workers in 0, 1, 2:
        loader = lt.DataLoader(dataset, num_workers=workers, **common)
        cases.append(Case(f'loaderx.torch, num_workers={workers}', take_from(loader), BATCH))
    compare(report, f'shuffled Fashion-MNIST, {BATCH} a batch', cases, arguments.rounds)
    best = min(case.median for case in cases[4:])
    print(f'the fastest: {cases[0].median / best:.1f} times torch, '
          f'{cases[1].median / best:.1f} times torch with __getitems__')


def compare_collation(report, rounds):
    rng = np.random.default_rng(1)
    batches = {
        'pairs of a 28x28 array and an int': [
            (rng.random((28, 28), np.float32), i) for i in range(BATCH)],
        'dicts of three scalars': [
            {'a': i, 'b': float(i), 'c': 2 * i} for i in range(BATCH)],
    }
    for name, batch in batches.items():
        cases = [Case(title, lambda collate=collate, batch=batch: collate(batch), BATCH)
                 for title, collate in (('torch', data.default_collate),
                                        ('loaderx.torch', lt.default_collate))]
        compare(report, f'default_collate of {BATCH} {name}', cases, rounds)


def main():
    parser = argparse.ArgumentParser(description='loaderx.torch compared with torch.')
    add_arguments(parser)
    arguments = parser.parse_args()
    if arguments.rounds < ROUNDS:
        parser.error(f'fewer than {ROUNDS} rounds are too few')
    os.makedirs(arguments.folder, exist_ok=True)
    torch.set_num_threads(1)
    report = new_report(arguments.rounds, torch=torch.__version__)
    compare_loaders(report, arguments)
    compare_collation(report, arguments.rounds)
    if arguments.json:
        write_report(report, arguments.json)
    return 0


if __name__ == '__main__':
    sys.exit(main())
