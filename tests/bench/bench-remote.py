# SPDX-License-Identifier: MIT
"""A dataset on a server far away, read by two ranks of one host, and other packages that do it.

    PYTHONPATH=... top_builddir=BUILD python3 tests/bench/bench-remote.py DIR [--json FILE]

DIR is created if necessary, and keeps the data for the next run: one synthetic set of records of
110 KB, as each package stores it. It also holds the caches, which are removed. nginx serves DIR
over the links of tests/remote/network.py, of 1 Gbit/s with a round trip of 20 ms. First, curl shows
what this link carries, and that it behaves as one: n ranges in flight get n ranges a round trip,
until the link is full. All ratios are to what it carries, or between cases that take turns.

With --url file, the ranks read DIR by file:// URLs, without a server: then only the figures of
requests, bytes and caches are of interest.

NAME_PYTHON in the environment, such as MOSAIC_PYTHON, names an interpreter that has a package, and
NAME_PATH its PYTHONPATH. A package that is not there is left out, with the reason.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from turns import new_report, write_report

from peers.remote import BATCH, BLOCK, LANES, READERS, RECORD, read_numbers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'remote'))
from network import Network    # noqa: E402
from nginx import Nginx, summarize    # noqa: E402

PATIENCE = 120    # seconds until a rank that does not answer has failed
RANKS = 2
AROUND = 8    # calls of next() on each side of the end of an epoch
SLOWER = 1.25    # steps of a training that is slower than the link by this factor
BOUND = 0.25    # of the data, in a cache; memory does not hold the rest
CELLS = ((64 << 10, (4, 16, 32, 64)), (1 << 20, (4, 8, 16)))    # ranges of curl, and in flight


# ---- in the process of a rank

def read_epoch(reader, opening, pause):
    """Read an epoch, after opening the dataset if it is the first, and pause after each batch, as a
    training does; return times and a check."""
    answer = {'begin': time.monotonic(), 'nexts': [], 'records': 0, 'sum': 0}
    before = {}
    if opening:
        reader.open(*opening)
    else:
        before = reader.stats()
    batches = reader.epoch()
    while True:
        start = time.monotonic()
        batch = next(batches, None)
        now = time.monotonic()
        answer['nexts'].append(now - start)
        if batch is None:
            break
        answer.setdefault('first', now - answer['begin'])
        numbers = read_numbers(batch)
        answer['records'] += len(numbers)
        answer['sum'] += sum(numbers)
        time.sleep(pause)
    stats = reader.stats()
    answer.update(end=time.monotonic(),
                  stats={name: stats[name] - before.get(name, 0) for name in stats})
    return answer


def serve(given):
    """For each line on stdin, which is the pause after a batch, write the data or read an epoch;
    answers are lines of JSON."""
    answers = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)    # what packages print is not an answer
    kind = READERS[given.serve]
    try:
        reader, opening = kind(given.rank, given.world), (given.place, given.cache, given.limit)
        print(json.dumps({'version': kind.version()}), file=answers)
        for pause in sys.stdin:
            if given.write:
                reader.write(given.place, given.records)
                print('{}', file=answers)
            else:
                print(json.dumps(read_epoch(reader, opening, float(pause))), file=answers)
                opening = None
    except Exception as error:    # whatever a package raises
        print(json.dumps({'failed': f'{type(error).__name__}: {error}'}), file=answers)
        os._exit(1)    # whatever threads it has


# ---- the process that compares

class Failed(Exception):
    """Says why a package cannot take part."""


def use_cpu(sessions):
    """The seconds of processors that the processes of these sessions have used."""
    ticks = 0
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_bytes().rpartition(b')')[2].split()    # the name can be any bytes
        except OSError:    # it has ended
            continue
        if int(fields[3]) in sessions:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf('SC_CLK_TCK')


class Rank:
    """A process that reads its share with one package, or writes all."""

    def __init__(self, launch, key, options, rank=0, world=1):
        self.key = key
        python = os.environ.get(f'{key.upper()}_PYTHON', sys.executable)
        environment = {
            **os.environ, 'RANK': str(rank), 'LOCAL_RANK': str(rank), 'GLOBAL_RANK': str(rank),
            'WORLD_SIZE': str(world), 'LOCAL_WORLD_SIZE': str(world), 'MASTER_ADDR': '127.0.0.1',
            'MASTER_PORT': '29500', 'AWS_ACCESS_KEY_ID': 'none', 'AWS_SECRET_ACCESS_KEY': 'none',
            'AWS_DEFAULT_REGION': 'us-east-1',
            'PYTHONPATH': os.environ.get(f'{key.upper()}_PATH', os.environ.get('PYTHONPATH', ''))}
        self.process = launch(
            [python, os.path.abspath(__file__), '.', '--serve', key, '--rank', str(rank), '--world',
             str(world), *options], env=environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True)
        self.version = self.answer()['version']

    def ask(self, pause=0):
        self.process.stdin.write(f'{pause}\n')
        self.process.stdin.flush()

    def answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            raise Failed(f'{self.key} did not answer for {PATIENCE} s')
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {'failed': f'{self.key} has ended'}
        if 'failed' in answer:
            raise Failed(answer['failed'])
        return answer

    def use_cpu(self):
        """The seconds of processors that its session has used: also processes that it started."""
        return use_cpu({self.process.pid})

    def close(self):
        """Let it end; what remains of its session after a while is killed."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Epoch:
    """What all ranks did in an epoch, and what was asked of the server."""

    def __init__(self, answers, traffic, cpu):
        self.seconds = max(one['end'] for one in answers) - min(one['begin'] for one in answers)
        self.first = max(one['first'] for one in answers)
        self.nexts = [one['nexts'] for one in answers]
        self.records = sum(one['records'] for one in answers)
        self.sum = sum(one['sum'] for one in answers)
        self.cached = sum(one['stats'].get('cached_bytes', 0) for one in answers)
        self.requests, self.bytes = traffic
        self.cpu = cpu


class Bench:
    """The data, the sizes and, unless they are read as files, a server and a host.

    rate is what the link carries, in bytes a second; 0: there is none.
    """

    def __init__(self, given, host=None, server=None):
        self.given, self.host, self.server = given, host, server
        self.folder = pathlib.Path(given.folder).resolve()
        self.bytes = given.records * RECORD
        self.rate = 0.0
        self.versions = {}

    def place(self, key):
        return f'{self.server.url if self.server else f"file://{self.folder}"}/{key}'

    def make_data(self, key):
        """Write the records, if they are not there."""
        path, new = self.folder / key, self.folder / f'{key}.new'
        if not path.exists():
            shutil.rmtree(new, ignore_errors=True)
            writer = Rank(subprocess.Popen, key, ['--write', '--place', str(new), '--records',
                                                  str(self.given.records)])
            try:
                writer.ask()
                writer.answer()
            finally:
                writer.close()
            new.rename(path)

    def new_cache(self):
        cache = self.folder / 'cache'
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(mode=0o700)
        return cache

    def start_ranks(self, key, cache, limit=None, world=RANKS, place=None):
        options = ['--place', place or self.place(key)]
        options += ['--cache', str(cache)] if cache else []
        options += ['--limit', str(limit)] if limit else []
        launch = self.host.start if self.host else subprocess.Popen
        return [Rank(launch, key, options, rank, world) for rank in range(world)]

    def read_epoch(self, ranks, pause=0):
        """Let all ranks read an epoch at the same time, with pauses after batches."""
        if self.server:
            self.server.forget()
        cpu = -sum(rank.use_cpu() for rank in ranks)
        for rank in ranks:
            rank.ask(pause)
        answers = [rank.answer() for rank in ranks]
        cpu += sum(rank.use_cpu() for rank in ranks)
        if self.server:
            traffic = summarize(self.server.requests())[:2]
        else:
            traffic = [sum(one['stats'].get(name, 0) for one in answers)
                       for name in ('requests', 'bytes')]
        epoch, wanted = Epoch(answers, traffic, cpu), self.given.records
        if (epoch.records, epoch.sum) != (wanted, wanted * (wanted - 1) // 2):
            print(f'{ranks[0].key}: {epoch.records} records, not each of {wanted} once')
        return epoch

    def run_epochs(self, key, count, limit=None):
        """Let ranks read so many epochs, beginning with an empty cache."""
        ranks = self.start_ranks(key, self.new_cache(), limit)
        try:
            self.versions[READERS[key].package] = ranks[0].version
            return [self.read_epoch(ranks) for _ in range(count)]
        finally:
            for rank in ranks:
                rank.close()


def measure_cell(bench, path, size, flying):
    """Let so many curls fetch one range after another; return the bytes a second, and the seconds of
    processors for a GB."""
    host, folder = bench.host, bench.new_cache()
    blocks, curls = path.stat().st_size // size, []
    url = f'{bench.server.url}/{path.relative_to(bench.folder)}'
    for number in range(flying):
        firsts = [random.randrange(blocks) * size for _ in range((512 << 20) // size // flying)]
        config = folder / str(number)
        config.write_text('next\n'.join(
            f'url={url}\nrange={first}-{first + size - 1}\noutput=/dev/null\nsilent\n'
            for first in firsts))
        curls.append(host.start(['curl', '-K', str(config)], start_new_session=True))
    time.sleep(1)    # until connections carry what they can
    sessions = {curl.pid for curl in curls}
    start, before, cpu = time.monotonic(), host.link.count(), -use_cpu(sessions)
    time.sleep(2)
    seconds, after = time.monotonic() - start, host.link.count()
    cpu += use_cpu(sessions)
    for curl in curls:
        curl.kill()
        curl.wait()
    received = after.received - before.received
    return received / seconds, cpu / received * 1e9


def measure_link(bench, key):
    """Print what curl gets, and return the group of the report; the best is the link's rate."""
    files = (path for path in (bench.folder / key).rglob('*') if path.is_file())
    path = max(files, key=lambda path: path.stat().st_size)
    given, cases = bench.given, []
    title = f'curl, {given.rate} Mbit/s, a round trip of {2 * given.delay} ms'
    print(f'\n{title}{"MiB/s":>20}{"CPU/GB":>12}')
    for size, numbers in CELLS:
        for flying in numbers:
            rate, cpu = measure_cell(bench, path, size, flying)
            bench.rate = max(rate, bench.rate)
            cases.append({'name': f'ranges of {size >> 10} KiB, {flying} in flight',
                          'bytes_a_second': rate, 'cpu_seconds_a_gb': cpu})
            print(f'{cases[-1]["name"]:44}{rate / (1 << 20):12.1f}{cpu:10.2f} s', flush=True)
    return {'title': title, 'cases': cases}


def median_of(epochs, what):
    return statistics.median(map(what, epochs))


def describe(bench, key, colds, warms):
    """The numbers of a package: medians of the epochs with an empty and with a full cache."""
    case = {'name': READERS[key].name, 'cold_seconds': [one.seconds for one in colds],
            'warm_seconds': [one.seconds for one in warms],
            'requests': median_of(colds, lambda one: one.requests),
            'bytes_of_dataset': median_of(colds, lambda one: one.bytes) / bench.bytes,
            'warm_bytes_of_dataset':
                median_of(warms, lambda one: one.bytes) / bench.bytes,
            'first_seconds': median_of(colds, lambda one: one.first),
            'cpu_seconds_a_gb': median_of(colds, lambda one: one.cpu) / bench.bytes * 1e9}
    if bench.rate:
        case['cold_of_link'] = (bench.bytes / bench.rate
                                / median_of(colds, lambda one: one.seconds))
    return case


def leave_out(report, key, reason):
    print(f'{READERS[key].name} is left out: {reason}', flush=True)
    report['missing'][READERS[key].name] = str(reason).partition('\n')[0]


def compare_packages(bench, report, keys):
    """Packages in turn: an epoch with an empty cache, and one with what it left.

    The columns are of the former, except "warm", and "again": the bytes of the latter, relative to
    those of the records, as in "bytes".
    """
    done = {key: ([], []) for key in keys}
    for _ in range(bench.given.rounds):
        for key in list(done):
            try:
                cold, warm = bench.run_epochs(key, 2)
                done[key][0].append(cold)
                done[key][1].append(warm)
            except Failed as reason:
                leave_out(report, key, reason)
                del done[key]
    cases = [describe(bench, key, *epochs) for key, epochs in done.items()]
    print(f'\n{bench.given.records} records of {RECORD} bytes, {RANKS} ranks of one host: medians '
          f'of {bench.given.rounds} rounds in turn')
    print(f'{"":20}{"cold":>9}{"of link":>9}{"warm":>9}{"requests":>10}{"bytes":>8}'
          f'{"again":>8}{"first":>9}{"CPU/GB":>8}')
    for case in cases:
        print(f'{case["name"]:20}{statistics.median(case["cold_seconds"]):7.2f} s'
              f'{case.get("cold_of_link", float("nan")):9.2f}'
              f'{statistics.median(case["warm_seconds"]):7.2f} s{case["requests"]:10.0f}'
              f'{case["bytes_of_dataset"]:8.3f}{case["warm_bytes_of_dataset"]:8.3f}'
              f'{case["first_seconds"] * 1e3:6.0f} ms{case["cpu_seconds_a_gb"]:6.2f} s', flush=True)
    return {'title': f'{RANKS} ranks of one host', 'cases': cases}


def compare_with_local(bench):
    """Return how fast a full cache is, relative to the same dataset on the local disk."""
    cases = [bench.start_ranks('loaderx', bench.new_cache(), world=1),
             bench.start_ranks('loaderx', None, world=1, place=str(bench.folder / 'loaderx'))]
    seconds = [[], []]
    for _ in range(bench.given.rounds + 1):
        for ranks, times in zip(cases, seconds):
            times.append(bench.read_epoch(ranks).seconds)
    for rank, in cases:
        rank.close()
    cached, local = (statistics.median(times[1:]) for times in seconds)    # the first was cold
    return local / cached


def measure_bounded(bench):
    """A cache that is smaller than the data: (requests / blocks it lacks, hits an epoch / bound, and
    the slowest step of a training at an end of an epoch / its median step).

    Without pauses, ranks take the batches of a stripe at once, then wait for the next stripe: the
    median of next() would be nearly 0.
    """
    ranks = bench.start_ranks('loaderx', bench.new_cache(), int(BOUND * bench.bytes))
    try:
        bench.read_epoch(ranks)
        epochs = [bench.read_epoch(ranks)]
        pause = SLOWER * epochs[0].seconds / len(epochs[0].nexts[0])
        epochs += [bench.read_epoch(ranks, pause) for _ in range(3)]
    finally:
        for rank in ranks:
            rank.close()
    hits = median_of(epochs, lambda one: one.cached) / bench.bytes
    requests = median_of(epochs, lambda one: one.requests) / (bench.given.records // BLOCK)
    worst = []
    for former, later in zip(epochs[1:], epochs[2:]):
        for ends, begins in zip(former.nexts, later.nexts):
            slowest = max(ends[-AROUND:] + begins[:AROUND])
            worst.append((slowest + pause) / (statistics.median(begins) + pause))
    return requests / (1 - hits), hits / BOUND, max(worst)


def measure_goals(bench, case):
    """Print what loaderx does beside what it should, and return the group of the report."""
    blocks = bench.given.records // BLOCK
    requests, hits, worst = measure_bounded(bench)
    rows = [('requests / blocks', case['requests'] / blocks, '<= 1.02'),
            ('bytes fetched / dataset', case['bytes_of_dataset'], '<= 1.01'),
            ('warm epoch, speed / local dataset', compare_with_local(bench), '>= 0.95'),
            ('hits an epoch / bound', hits, '0.99 to 1.01'),
            ('requests / blocks that the cache lacks', requests, '<= 1.02'),
            ('processor seconds a GB, cold', case['cpu_seconds_a_gb'], '<= 0.4')]
    if bench.rate:
        trip, batches = 2 * bench.given.delay / 1e3, RANKS * BATCH * RECORD / bench.rate
        rows += [('slowest step at the end of an epoch / median', worst, '<= 3'),
                 ('cold rate / link', case['cold_of_link'], '>= 0.95'),
                 ('first batch without its records, round trips',
                  (case['first_seconds'] - batches) / trip, '<= 4'),
                 ('first batch without its blocks, round trips',
                  (case['first_seconds'] - batches * BLOCK) / trip, '<= 4')]
    print('\nloaderx: goals')
    for name, value, goal in rows:
        print(f'{name:52}{value:10.3f}   {goal}')
    return {'title': 'goals', 'cases': [{'name': name, 'value': value, 'goal': goal}
                                        for name, value, goal in rows]}


def measure(bench):
    """Run all of it, and return the report."""
    report, keys = new_report(bench.given.rounds, bench.given.folder), []
    report['missing'], begun = {}, time.monotonic()
    for key in bench.given.packages if bench.server else ['loaderx']:
        try:
            bench.make_data(key)
            keys.append(key)
        except Failed as reason:
            leave_out(report, key, reason)
    if bench.server:
        report['groups'].append(measure_link(bench, keys[0]))
    report['groups'].append(compare_packages(bench, report, keys))
    for case in report['groups'][-1]['cases']:
        if case['name'] == READERS['loaderx'].name:
            report['groups'].append(measure_goals(bench, case))
    report['versions'].update(bench.versions)
    report['seconds'] = time.monotonic() - begun
    shutil.rmtree(bench.new_cache())
    return report


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('folder', metavar='DIR', help='where data is made and kept')
    parser.add_argument('--json', metavar='FILE', help='write every round there')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--url', choices=['http', 'file'], default='http')
    parser.add_argument('--rate', type=int, default=1000, help='of the link, in Mbit/s')
    parser.add_argument('--delay', type=int, default=10, help='in one direction, in ms')
    parser.add_argument('--records', type=int, default=8 * LANES * BLOCK,
                        help='their number, a multiple of %(default)s / 8')
    parser.add_argument('--packages', type=lambda text: text.split(','), default=list(READERS))
    inner = parser.add_argument_group()    # for the process of a rank
    inner.add_argument('--serve', choices=READERS, help=argparse.SUPPRESS)
    inner.add_argument('--write', action='store_true', help=argparse.SUPPRESS)
    for name, kind in (('place', str), ('cache', str), ('limit', int), ('rank', int),
                       ('world', int)):
        inner.add_argument(f'--{name}', type=kind, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    given = parse_arguments()
    if given.serve:
        return serve(given)
    folder = pathlib.Path(given.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if given.url == 'file':
        report = measure(Bench(given))
    else:
        with Network(1, delay=given.delay, rate=given.rate) as network, \
                tempfile.TemporaryDirectory() as work:
            server = Nginx(network.server, pathlib.Path(work), root=folder)
            report = measure(Bench(given, network.hosts[0], server))
    if given.json:
        write_report(report, given.json)


if __name__ == '__main__':
    main()
