# SPDX-License-Identifier: MIT
"""Random batches of texts, raw and compressed, compared with LMDB and loaderx 2.8.

    PYTHONPATH=... python3 tests/bench/bench-texts.py DIR [--original FOLDER] [--json FILE]

DIR is created if necessary, and keeps the data for the next run; a tmpfs is best. The texts are
pieces of 300 to 2,300 bytes of the modules of the Python that runs this; a batch has 256 of them.
LMDB needs the package lmdb. --original names the folder in which pip installed loaderx 2.8; as its
module has the same name, it runs in a process of its own, which waits while another case runs. The
cases of a comparison alternate; the results are medians, and mainly their ratio to LMDB.
"""

import argparse
import glob
import os
import random
import subprocess
import sys
import sysconfig

import numpy as np

from turns import ROUNDS, Case, compare, new_report, write_report

COUNT = 40000
BATCH = 256
CODECS = {'raw': {}, 'flate': {'compress': 'flate'}, 'zstd': {'compress': 'zstd'},
          'dictionary': {'compress': 'zstd', 'dictionary': 'train'}}
ORIGINAL_CODECS = 'raw', 'zstd', 'zstd_dict'


def make_texts():
    draw, texts = random.Random(7), []
    for name in sorted(glob.glob(os.path.join(sysconfig.get_path('stdlib'), '**', '*.py'),
                                 recursive=True)):
        with open(name, 'rb') as file:
            data = file.read()
        begin = 0
        while begin < len(data) and len(texts) < COUNT:
            size = draw.randint(300, 2300)
            texts.append(data[begin:begin + size])
            begin += size
    return texts


def random_indices(count):
    draw = np.random.default_rng(1)
    while True:
        yield draw.integers(count, size=BATCH)


# ---- loaderx 2.8, in a process of its own

def make_original(path, texts, codec):
    from loaderx import Allocator
    from loaderx.zrecord import RaggedBatch, RaggedStore, RaggedWriter, train_dict

    def write(path, codec, trained=None):
        with RaggedWriter(path, np.uint8, 1, codec=codec, dict_bytes=trained) as writer:
            writer.append(RaggedBatch.from_records(
                [np.frombuffer(text, np.uint8) for text in texts]))

    if codec != 'zstd_dict':
        write(path, codec)
    else:
        write(path + '-samples', 'raw')
        with RaggedStore(path + '-samples') as store, Allocator('cpu') as allocator:
            write(path, codec, train_dict(store.bind(allocator)))


def serve_original(path, codec):
    """For each number of batches on stdin, read so many and print the seconds."""
    from loaderx import Allocator
    from loaderx.zrecord import RaggedStore
    if not os.path.exists(path):
        make_original(path, make_texts(), codec)
    with RaggedStore(path) as store, Allocator('cpu') as allocator:
        view = store.bind(allocator)
        indices = random_indices(len(view))
        case = Case(codec, lambda: view[next(indices).tolist()], BATCH)
        for line in sys.stdin:
            print(case.time(int(line)), flush=True)


class OriginalCase(Case):
    def __init__(self, folder, package, codec):
        super().__init__(f'loaderx 2.8, {codec}: packed', None, BATCH)
        self.process = subprocess.Popen(
            [sys.executable, __file__, os.path.join(folder, f'original-{codec}'), '--serve', codec],
            env={**os.environ, 'PYTHONPATH': package}, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def time(self, repeats):
        print(repeats, file=self.process.stdin)
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- LMDB and ours

def lmdb_case(folder, texts):
    import lmdb
    path = os.path.join(folder, 'lmdb')
    made = os.path.exists(path)
    environment = lmdb.open(path, map_size=1 << 30, readahead=True, lock=False)
    if not made:
        with environment.begin(write=True) as change:
            for i, text in enumerate(texts):
                change.put(b'%08d' % i, text)
    transaction, indices = environment.begin(), random_indices(len(texts))
    return Case('LMDB: list', lambda: [transaction.get(b'%08d' % i) for i in next(indices)], BATCH)


def our_cases(folder, texts, codec):
    import loaderx as lx
    path = os.path.join(folder, codec)
    if not os.path.exists(path):
        with lx.create(path, {'text': lx.Field('bytes', **CODECS[codec])}) as writer:
            writer.extend({'text': texts})
    dataset = lx.open(path)
    field, indices = dataset['text'], random_indices(len(texts))
    assert field[::1000] == texts[::1000]
    yield Case(f'loaderx, {codec}: list', lambda: field[next(indices)], BATCH)
    # A short prefetch: a round must not count batches that were made while other cases ran.
    for threads in (0, 2):
        batches = iter(lx.Loader(dataset, order=lx.Shuffle(), batch_size=BATCH, epochs=None,
                                 threads=threads, prefetch_bytes=4 << 20))
        yield Case(f'loaderx, {codec}: packed, {threads} threads', batches.__next__, BATCH)


def main():
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', metavar='DIR')
    parser.add_argument('--original', metavar='FOLDER')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--json', metavar='FILE', help='write every round there')
    parser.add_argument('--serve', metavar='CODEC', help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve_original(given.folder, given.serve)
    os.makedirs(given.folder, exist_ok=True)
    texts = make_texts()
    cases = [lmdb_case(given.folder, texts)]
    for codec in CODECS:
        cases += our_cases(given.folder, texts, codec)
    theirs = [OriginalCase(given.folder, given.original, codec)
              for codec in ORIGINAL_CODECS if given.original]
    report = new_report(given.rounds)
    size = sum(map(len, texts)) / len(texts)
    compare(report, f'{len(texts):,} texts of {size:,.0f} bytes', cases + theirs, given.rounds)
    for case in theirs:
        case.close()
    if given.json:
        write_report(report, given.json)


if __name__ == '__main__':
    main()
