# SPDX-License-Identifier: MIT
"""Shared parts of the benchmarks of the bindings: alternating cases, and Fashion-MNIST."""

import gzip
import json
import os
import platform
import statistics
import subprocess
import time

import numpy as np

IDX_FOLDER = '/usr/share/datasets/fashion-mnist'
ROUNDS = 7


# ---- measuring

class Case:
    """One way to do a job: a function that is called for each unit of work."""

    shortest_round = 0.05    # seconds

    def __init__(self, name, run, records):
        self.name = name
        self.run = run
        self.records = records
        self.seconds = []    # seconds per unit, of each round

    def time(self, repeats):
        run = self.run
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        return time.perf_counter() - start

    def repeats(self):
        """Return the number of units that fill a round; also the warm-up."""
        count = 1
        while self.time(count) < self.shortest_round:
            count *= 2
        return count

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def speed(self):
        """Records a second."""
        return self.records / self.median


def compare(report, title, cases, rounds):
    """Run the cases in turns, print a table and keep the numbers."""
    repeats = [case.repeats() for case in cases]
    for _ in range(rounds):
        for case, count in zip(cases, repeats):
            case.time(count // 4)    # prefetched while the others ran
            case.seconds.append(case.time(count) / count)
    print(f'\n{title}: medians of {rounds} rounds in turn')
    print(f'{"":44}{"a batch":>12}{"least":>12}{"batches/s":>12}{"records/s":>12}{"ratio":>8}')
    reference = cases[0].speed
    for case in cases:
        print(f'{case.name:44}{case.median * 1e6:9.1f} us{min(case.seconds) * 1e6:9.1f} us'
              f'{1 / case.median:12,.0f}{case.speed:12,.0f}'
              f'{case.speed / reference:8.2f}', flush=True)
    report['groups'].append({
        'title': title,
        'cases': [{'name': case.name, 'records': case.records, 'median_seconds': case.median,
                   'speed_ratio': case.speed / reference,
                   'round_seconds': [float(f'{one:.5g}') for one in case.seconds]}
                  for case in cases],
    })


def read_processor():
    """What /proc/cpuinfo calls the processor, or '' where it does not say."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        names = [line.partition(':')[2].strip() for line in file if line.startswith('model name')]
    return names[0] if names else ''


def run(*command):
    """What the command prints, or '' if it fails or is not installed."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False, cwd=os.path.dirname(os.path.abspath(__file__))
                              ).stdout.strip()
    except FileNotFoundError:
        return ''


def new_report(rounds, folder='.', **versions):
    """A report without results, with the keys of the reports of tests/bench/bench."""
    import loaderx as lx
    system = os.uname()
    return {
        'commit': run('git', 'describe', '--always', '--dirty'),
        'machine': {'architecture': system.machine, 'processor': read_processor(),
                    'processors': os.cpu_count(),
                    'memory': os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGESIZE'),
                    'system': system.sysname, 'release': system.release,
                    'file_system': run('stat', '-f', '-c', '%T', os.path.abspath(folder)),
                    'load': os.getloadavg()[0]},
        'versions': {'loaderx': lx.__version__, 'numpy': np.__version__,
                     'python': platform.python_version(), **versions},
        'rounds': rounds,
        'groups': [],
    }


def write_report(report, path):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(report, file, indent=1)


def add_arguments(parser):
    """Add the common options of these benchmarks."""
    parser.add_argument('folder', metavar='DIR', help='where data is made and kept')
    parser.add_argument('--idx', metavar='FOLDER', default=IDX_FOLDER,
                        help='where the gzipped IDX files are (default: %(default)s)')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--json', metavar='FILE', help='write every round there')


# ---- Fashion-MNIST

def read_idx(path):
    """The array of a gzipped IDX file of bytes."""
    with gzip.open(path) as file:
        data = file.read()
    shape = np.frombuffer(data, '>u4', data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape).copy()


def import_fashion(folder, idx_folder):
    """The dataset of the training images, imported by the command if it does not exist."""
    path = os.path.join(folder, 'fashion')
    if not os.path.exists(path):
        idx = [f'--idx={name}={os.path.join(idx_folder, file)}'
               for name, file in (('data', 'train-images-idx3-ubyte.gz'),
                                  ('label', 'train-labels-idx1-ubyte.gz'))]
        subprocess.run(['loaderx', 'import', path, *idx], check=True)
    return path
