# SPDX-License-Identifier: MIT
"""The bindings and other packages for Python, each alone in its process.

    PYTHONPATH=... python3 tests/bench/bench-peers.py --out DIR [--original FOLDER]

Writes DIR/performance-peers.json, with every round. The data is made in a new folder in DIR and
removed; a tmpfs is best, where a sync is free, since only some packages sync what they write. A row
of the table is a job, which all peers do that can. Each has a process, which is stopped while
another runs. Rounds are in turn, and results are medians. Before it is timed, a peer must return
the same records as the first. A peer that is not installed is reported, with the reason.

--original names the folder in which pip installed loaderx 2.8, whose module has the same name.
"""

import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from turns import IDX_FOLDER, ROUNDS, Case, compare, new_report, write_report

from peers.loaders import (Ffcv, Grain, GrainArrayRecord, Litdata, Mds, Torch, TorchIndexed,
                           TorchWorkers, Webdataset)
from peers.rows import ROWS
from peers.stores import ArrayRecord, Bagz, Hdf5, HfDatasets, Lmdb, Loaderx, NumPy, Original

PEERS = {'numpy': NumPy, 'loaderx': Loaderx, 'original': Original, 'torch': Torch,
         'torch-workers': TorchWorkers, 'torch-getitems': TorchIndexed, 'lmdb': Lmdb,
         'array-record': ArrayRecord, 'bagz': Bagz, 'hdf5': Hdf5, 'datasets': HfDatasets,
         'grain': Grain, 'grain-array-record': GrainArrayRecord, 'litdata': Litdata, 'mds': Mds,
         'webdataset': Webdataset, 'ffcv': Ffcv}
PATIENCE = 300    # seconds until a process that does not answer is ended


# ---- in the process of a peer

def describe_failure(error):
    """The type and the first line."""
    return f'{type(error).__name__}: {str(error).strip() or "no message"}'.splitlines()[0]


def serve(given):
    """Prepare the job and report it; then, for each number on stdin, do it so often."""
    answers = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)    # what packages print is not an answer
    kind, row, hello = PEERS[given.serve], ROWS[given.rows[0]], {}
    try:
        hello['version'] = kind.version()
        hello['data'], columns = row.make(given.idx)
        peer = kind(os.path.join(given.out, given.serve), row.codec)
        run, hello['records'], hello['digest'] = row.job(peer, columns)
    except Exception as error:    # whatever a package raises
        hello['failed'] = describe_failure(error)
    print(json.dumps(hello), file=answers)
    if 'failed' not in hello:
        del columns
        case = Case(kind.name, run, hello['records'])
        for line in sys.stdin:
            print(case.time(int(line)), file=answers)


# ---- the process that compares

class Process(Case):
    """A case in another process, which is stopped unless it is timed."""

    shortest_round = 0.2

    def __init__(self, key, row, folder, given):
        super().__init__(PEERS[key].name, None, 0)
        path = [given.original if key == 'original' else '', os.environ.get('PYTHONPATH', '')]
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), '--serve', key, '--rows', row, '--out',
             folder, '--idx', given.idx],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, path))},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            self.hello = json.loads(self.answer())
        except (OSError, ValueError) as error:
            self.hello = {'failed': describe_failure(error)}
        self.records = self.hello.get('records')
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        """To the process and its workers."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:    # it ended by itself
            pass

    def answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError(f'no answer in {PATIENCE} seconds')
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f'{self.name} ended with status {self.process.wait()}')
        return line

    def time(self, repeats):
        self.signal(signal.SIGCONT)
        self.process.stdin.write(b'%d\n' % repeats)
        self.process.stdin.flush()
        seconds = float(self.answer())
        self.signal(signal.SIGSTOP)
        return seconds

    def close(self):
        """Let it end by itself, so that it removes its shared memory."""
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def start(report, name, given, folder):
    """Yield the peers that can do the row, ready and stopped; report the others."""
    row, first, expected = ROWS[name], None, None
    for key in given.peers:
        if not row.takes(PEERS[key]):
            continue
        if key == 'original' and not given.original:
            report['missing'].setdefault(PEERS[key].name, 'its folder was not named: --original')
            continue
        one = Process(key, name, folder, given)
        failed, found = one.hello.get('failed'), one.hello.get('digest')
        if not failed and None not in (found, expected) and found != expected:
            failed = f'it returned other records than {first}'
        if failed:
            print(f'{name}: {one.name}: {failed}', flush=True)
            only_here = f', {name}' if 'version' in one.hello else ''
            report['missing'].setdefault(one.name + only_here, failed)
            one.close()
            continue
        report['versions'][PEERS[key].package or one.name] = one.hello['version']
        if expected is None:
            first, expected = one.name, found
        yield one


def compare_row(report, name, given):
    folder = tempfile.mkdtemp(prefix='peers-', dir=given.out)
    cases = []
    try:
        cases.extend(start(report, name, given, folder))
        if cases:
            data = cases[0].hello['data']
            title = ROWS[name].title + (f' ({data})' if data else '')
            compare(report, title, cases, given.rounds)
            report['groups'][-1].update(name=name, unit=ROWS[name].unit)
    finally:
        for one in cases:
            one.close()
        shutil.rmtree(folder)


def parse_arguments():
    def names_of(known):
        def split(text):
            names = text.split(',')
            for name in names:
                if name not in known:
                    raise argparse.ArgumentTypeError(f'{name!r} is none of {", ".join(known)}')
            return names
        return split

    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--out', metavar='DIR', required=True,
                        help='where performance-peers.json is written')
    parser.add_argument('--original', metavar='FOLDER', help='where loaderx 2.8 is installed')
    parser.add_argument('--rows', type=names_of(ROWS), default=list(ROWS), metavar='ROW,...',
                        help='default: ' + ','.join(ROWS))
    parser.add_argument('--peers', type=names_of(PEERS), default=list(PEERS), metavar='PEER,...',
                        help='default: ' + ','.join(PEERS))
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--idx', metavar='FOLDER', default=IDX_FOLDER,
                        help='where the gzipped IDX files are (default: %(default)s)')
    parser.add_argument('--serve', help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    """Measure, and print the results."""
    given = parse_arguments()
    if given.serve:
        return serve(given)
    os.makedirs(given.out, exist_ok=True)
    report = new_report(given.rounds, folder=given.out)
    report['missing'] = {}
    began = time.monotonic()
    for name in given.rows:
        compare_row(report, name, given)
        report['seconds'] = time.monotonic() - began
        write_report(report, os.path.join(given.out, 'performance-peers.json'))


if __name__ == '__main__':
    main()
