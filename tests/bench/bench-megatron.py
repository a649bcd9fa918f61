# SPDX-License-Identifier: MIT
"""The tables of Megatron's GPT dataset compared with those that NumPy makes, as in Megatron.

    PYTHONPATH=... python3 tests/bench/bench-megatron.py DIR [--samples N] [--json FILE]

DIR is created if necessary and keeps the index of the documents for the next run; the tokens
themselves do not exist. Both sides read the lengths, order the documents, cut the samples and order
these. They alternate, and the results are medians. Megatron's C++ part is used if its module
helpers_cpp can be imported; otherwise NumPy searches for the beginnings of the samples, which takes
about as long.
"""

import argparse
import json
import os
import shutil
import statistics
import time

import numpy as np

import loaderx as lx
from loaderx.megatron import GPTDataset

try:
    from megatron.core.datasets import helpers_cpp
except ImportError:
    try:
        import helpers_cpp
    except ImportError:
        helpers_cpp = None

LENGTH = 512
SEED = 1234
ROUNDS = 5


def open_documents(folder, count):
    """Many short documents, few long ones."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f'documents-{count}.ds')
    if not os.path.exists(path + '.index'):
        lengths = 200000 // (np.random.default_rng(1).integers(0, 1000, count) + 60)
        with open(path, 'wb') as file:
            file.truncate(4 * int(lengths.sum()))
        lengths.cumsum().astype('<u8').tofile(path + '.index')
    return lx.Tokens(path, 'uint32'), path + '.index'


def cut(lengths, documents, epochs, tokens):
    """Return the beginnings of the samples."""
    if helpers_cpp is not None:
        return helpers_cpp.build_sample_idx_int32(lengths, documents, LENGTH, epochs, tokens,
                                                  True, 1)
    ends = np.cumsum(lengths[documents], dtype=np.int64)
    begins = np.arange((epochs * tokens - 1) // LENGTH + 1) * LENGTH
    places = np.searchsorted(ends, begins, 'right')
    return np.stack([places, begins - (ends - lengths[documents])[places]], 1).astype(np.int32)


def by_numpy(index, samples):
    """Return the three tables, as Megatron makes them; the documents of one epoch are in order."""
    lengths = np.diff(np.fromfile(index, '<u8'), prepend=np.uint64(0)).astype(np.int32)
    tokens = int(lengths.sum())
    epochs = max(-(-(samples * LENGTH + 1) // tokens), 1)
    before = ((epochs - 1) * tokens - 1) // LENGTH
    apart = epochs > 1 and samples - before < int(.8 * ((tokens - 1) // LENGTH))
    random = np.random.RandomState(SEED)
    parts = []
    for times in ([epochs - 1, 1] if apart else [epochs]):
        part = np.tile(np.arange(len(lengths), dtype=np.int32), times)
        random.shuffle(part)
        parts.append(part)
    documents = np.concatenate(parts)
    index = cut(lengths, documents, epochs, tokens)
    order = np.arange(len(index) - 1, dtype=np.uint32)
    for part in ([order[:before], order[before:]] if apart else [order]):
        random.shuffle(part)
    return documents, index, order


def measure(cases):
    """Return the median seconds of each case; the cases alternate."""
    seconds = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, function in cases.items():
            begin = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times) for name, times in seconds.items()}


def main():
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', metavar='DIR')
    parser.add_argument('--documents', type=int, default=1_000_000)
    parser.add_argument('--samples', type=int, default=10_000_000)
    parser.add_argument('--json')
    given = parser.parse_args()
    tokens, index = open_documents(given.folder, given.documents)
    tables = os.path.join(given.folder, 'tables')
    shutil.rmtree(tables, ignore_errors=True)
    kept = GPTDataset(tokens, LENGTH, given.samples, tables=tables)
    theirs = by_numpy(index, given.samples)
    ours = kept.document_index, kept.sample_index, kept.shuffle_index
    for one, other in zip(ours, theirs):
        assert np.array_equal(one, other)
    del ours, theirs
    count = given.samples
    medians = measure({
        'NumPy' + (' and helpers_cpp' if helpers_cpp else ''): lambda: by_numpy(index, count),
        'GPTDataset': lambda: GPTDataset(tokens, LENGTH, count),
        'GPTDataset, tables found': lambda: GPTDataset(tokens, LENGTH, count, tables=tables),
    })
    first = next(iter(medians.values()))
    print(f'{given.documents} documents, {len(kept)} samples of {LENGTH}: the tables are alike')
    for name, seconds in medians.items():
        print(f'{name:28} {seconds:8.3f} s   {first / seconds:6.1f} x')
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as file:
            json.dump({'documents': given.documents, 'samples': count, 'seconds': medians}, file)
    shutil.rmtree(tables)


if __name__ == '__main__':
    main()
