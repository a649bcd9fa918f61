# SPDX-License-Identifier: MIT
"""A model of Nanosets in NumPy, from Nanotron's documentation; and folders of files."""

import numpy as np


def samples_of(files, length, datatrove=False):
    """Return the samples of a folder; none spans two files."""
    if datatrove:
        files = [files[i] for i in np.random.default_rng(42).permutation(range(len(files)))]
        return [tokens[first:first + length + 1] for tokens in files
                for first in range(0, len(tokens) - length, length + 1)]
    return [tokens[i * length:(i + 1) * length + 1] for tokens in files
            for i in range((len(tokens) - 1) // length if len(tokens) else 0)]


def build_index(sizes, weights, total, seed=1234, divide=True, shuffle=True):
    """Return the set, and the index in it, of each sample of a Nanoset."""
    if weights is None:
        weights, divide = sizes, True
    weights = np.array(weights, np.float64)
    if divide:
        weights = weights / np.sum(weights)
    n = sum(sizes)
    sets, samples = np.empty(n, np.int64), np.empty(n, np.int64)
    had = np.zeros(len(sizes), np.int64)
    for k in range(n):
        i = np.argmax(weights * max(k, 1.0) - had)
        sets[k], samples[k] = i, had[i] % sizes[i]
        had[i] += 1
    if shuffle:
        np.random.RandomState(seed).shuffle(sets)
        np.random.RandomState(seed).shuffle(samples)
    times = int(total / n) + 1
    return np.tile(sets, times)[:total], np.tile(samples, times)[:total]


def build(folders, length, weights, total, seed=1234, divide=True, datatrove=False):
    """Return the tokens of each sample of a Nanoset."""
    parts = [samples_of(files, length, datatrove) for files in folders]
    index = build_index([len(part) for part in parts], weights, total, seed, divide)
    return [parts[i][j] for i, j in zip(*index)]


def write_folder(path, files, token_size=2):
    """Write a folder of files, whose names sort in the given order."""
    path.mkdir(parents=True)
    for i, tokens in enumerate(files):
        (path / f'{i:05d}_tokens.ds').write_bytes(np.asarray(tokens).astype(f'<u{token_size}'))
    return str(path)
