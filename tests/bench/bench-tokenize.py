# SPDX-License-Identifier: MIT
"""loaderx.tokenize compared with a loop over encode_batch of the library tokenizers.

    PYTHONPATH=... python3 tests/bench/bench-tokenize.py DIR [--tokenizer FILE] [--json FILE]

DIR is created if necessary, and keeps the texts and the tokenizer for the next run: sources and
modules of the Python that runs this, as lines of JSON, and a byte-level BPE of 16,000 tokens. All
write the same tokens to a file. They alternate, and the results are medians; CPU time is reported,
too, since other load on the machine affects it less.
"""

import argparse
import glob
import json
import os
import resource
import statistics
import sysconfig
import time

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from loaderx.tokenize import write_tokens

ROUNDS = 5
BATCH = 1000    # documents, as in the scripts of Megatron and others
MOST = 4 << 20    # characters of text


def make_texts(path):
    """Make lines of JSON from files of every Python installation."""
    if os.path.exists(path):
        return
    texts, size = [], 0
    for name in sorted(glob.glob(os.path.join(sysconfig.get_path('stdlib'), '**', '*.py'),
                                 recursive=True)):
        try:
            with open(name, encoding='utf-8') as file:
                texts.append(file.read())
        except (OSError, UnicodeDecodeError):
            continue
        size += len(texts[-1])
        if size > MOST:
            break
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps({'text': text}) + '\n' for text in texts)


def make_tokenizer(path, texts):
    if os.path.exists(path):
        return
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(read(texts)[::4], trainers.BpeTrainer(
        vocab_size=16000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    made.save(path)


def read(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line)['text'] for line in file]


def by_loop(tokenizer, texts, output):
    """The usual script: the threads of the library tokenize, and one thread does everything
    else."""
    lines = read(texts)
    with open(output, 'wb') as file:
        for first in range(0, len(lines), BATCH):
            for made in tokenizer.encode_batch(lines[first:first + BATCH],
                                               add_special_tokens=False):
                file.write(np.array(made.ids, np.uint16).tobytes())


def used():
    """Return CPU seconds, including those of processes that have ended."""
    both = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in both)


def measure(cases):
    """Return the seconds and CPU seconds of each case in each round."""
    found = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, function in cases.items():
            cpu, begin = used(), time.perf_counter()
            function()
            found[name].append((time.perf_counter() - begin, used() - cpu))
    return found


def main():
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', metavar='DIR')
    parser.add_argument('--tokenizer', metavar='FILE')
    parser.add_argument('--processes', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--json', metavar='FILE', help='write every round there')
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    texts, theirs, ours = (os.path.join(given.folder, name)
                           for name in ('texts.jsonl', 'theirs', 'ours'))
    make_texts(texts)
    path = given.tokenizer or os.path.join(given.folder, 'tokenizer.json')
    make_tokenizer(path, texts)
    tokenizer = Tokenizer.from_file(path)

    def write(processes):
        return lambda: write_tokens(texts, ours, path, format='flat', dtype='uint16', replace=True,
                                    processes=processes, progress=False)

    found = measure({'encode_batch': lambda: by_loop(tokenizer, texts, theirs),
                     'processes=0': write(0), 'processes=1': write(1),
                     f'processes={given.processes}': write(given.processes)})
    tokens = np.fromfile(theirs, np.uint16)
    assert np.array_equal(tokens, np.fromfile(ours, np.uint16))
    medians = {name: [statistics.median(times) for times in zip(*rounds)]
               for name, rounds in found.items()}
    first = medians['encode_batch'][0]
    print(f'{len(tokens)} tokens, the same in all')
    for name, (seconds, cpu) in medians.items():
        print(f'{name:14} {seconds:7.2f} s {len(tokens) / seconds / 1e6:7.2f} M tokens/s '
              f'{first / seconds:6.2f} x {cpu / len(tokens) * 1e9:8.0f} ns of CPU a token')
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as file:
            json.dump({'tokens': len(tokens), 'rounds': found}, file)


if __name__ == '__main__':
    main()
