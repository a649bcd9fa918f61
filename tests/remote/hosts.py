# SPDX-License-Identifier: MIT
"""Hosts that train on one remote dataset, are killed, and continue as other numbers of hosts.

    PYTHONPATH=... top_builddir=BUILD python3 tests/remote/hosts.py [--hosts 8,4,16] ...

Each host is a namespace of network.py, with a link of its own to nginx, a cache directory and some
ranks. The ranks make their steps together, as if each step ended with a collective operation, and
save their states now and then. In the middle of a step, all of them are killed with SIGKILL. The
next team of hosts begins where all states of the former one agree, until the last team reaches the
end of the last epoch. The program compares, and fails if one of these differs:

- what the ranks got, step by step, with the order as one process has it;
- what each rank requested, as the server logged it, with the blocks of its lanes that its host does
  not have in its cache.

Each rank reads by a URL of its own, /TEAM/RANK/train, so that the log tells them apart. The table
has, for each team, and for each epoch of the last one, sums over all ranks: see Row.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np

import loaderx as lx
from lane_pages import PAGE, LanePages
from network import Network
from nginx import Nginx

PATIENCE = 120    # seconds until a rank that does not answer has failed
SAVE = 4    # steps between states
BEYOND = 2    # whole steps that a team makes after its last state, and that are lost


class Plan(NamedTuple):
    """A run. A batch is that of all ranks. The number of ranks of each team divides the lanes, the
    batch and the records. Links are slow enough that teams are killed while they fetch."""

    hosts: tuple[int, ...] = (8, 4, 16)    # of each team
    ranks: int = 2    # of each host
    epochs: int = 3
    records: int = 4 * 128 * 9 + 128
    record: int = 110_000    # bytes
    lanes: int = 128
    block: int = 9    # records
    batch: int = 128    # records
    delay: float = 10    # ms, in one direction
    rate: float = 100    # Mbit/s, of each link
    loss: float = 0.01
    seed: int = 1

    def make_order(self) -> lx.Lanes:
        return lx.Lanes(n=self.records, lanes=self.lanes, block=self.block, seed=self.seed)


# ---- in the process of a rank

def read_numbers(batch: Any) -> list[int]:
    """The numbers of a batch's records, all bytes of which must be right."""
    rows = batch['record'][batch.real]
    numbers = rows[:, :8].copy().view('<u8')[:, 0]
    assert (rows[:, 8:] == (numbers & 255).astype(np.uint8)[:, None]).all()
    return [int(number) for number in numbers]


def serve(plan: Plan, url: str, cache: str, rank: int, world: int, state: str) -> None:
    """For each line on stdin, return the next batch, or save a state where the line says."""
    dataset = lx.open(url, cache=cache, patience=60)
    loader = lx.Loader(dataset, batch_size=plan.batch // world, order=plan.make_order(), rank=rank,
                       world=world, epochs=plan.epochs)
    if state:
        loader.load_state_dict(json.loads(pathlib.Path(state).read_text()))
    answer: dict[str, Any] = {'position': loader.tell()}
    print(json.dumps(answer), flush=True)
    for line in sys.stdin:
        path = line.strip()
        if path:
            pathlib.Path(path + '.new').write_text(json.dumps(loader.state_dict()))
            os.rename(path + '.new', path)
            answer = {}
        else:
            answer = {'numbers': read_numbers(next(loader)), 'position': loader.tell(),
                      'stats': dataset.remote_stats()}
        print(json.dumps(answer), flush=True)


# ---- the process that compares

def write_records(folder: pathlib.Path, plan: Plan) -> None:
    """Write a sealed dataset, in which each record begins with its number."""
    with lx.create(folder, {'record': lx.Field('uint8', (plan.record,))}) as writer:
        for first in range(0, plan.records, plan.block):
            numbers = np.arange(first, min(first + plan.block, plan.records), dtype='<u8')
            rows = np.empty((len(numbers), plan.record), np.uint8)
            rows[:] = (numbers & 255).astype(np.uint8)[:, None]
            rows[:, :8] = numbers.view(np.uint8).reshape(-1, 8)
            writer.extend(record=rows)
        writer.seal()


class Rank:
    """A process that trains."""

    def __init__(self, launch: Any, plan: Plan, *arguments: Any) -> None:
        self.process = launch(
            [sys.executable, os.path.abspath(__file__), '--serve',
             json.dumps([plan._asdict(), *map(str, arguments)])],
            text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line: str = '') -> None:
        self.process.stdin.write(line + '\n')

    def answer(self) -> dict[str, Any]:
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError(f'a rank did not answer for {PATIENCE} s')
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


class Team:
    """The ranks of some hosts, which make steps from a position on."""

    def __init__(self, run: Run, number: int, states: list[pathlib.Path]) -> None:
        self.run, self.number, self.hosts = run, number, run.plan.hosts[number]
        self.world = self.hosts * run.plan.ranks
        self.stats: list[dict[str, int]] = [{}] * self.world
        self.ranks = []
        for rank in range(self.world):
            host = rank // run.plan.ranks
            cache = run.cache_of(host)
            cache.mkdir(mode=0o700, exist_ok=True)
            self.ranks.append(Rank(
                run.network.hosts[host].start, run.plan, run.link_data(number, rank), cache, rank,
                self.world, states[rank % len(states)] if states else ''))
        self.position, = {rank.answer()['position'] for rank in self.ranks}

    def step(self) -> None:
        """Let all ranks get their part of the next batch, and compare it with the order."""
        run, n = self.run, self.run.plan.records
        for rank in self.ranks:
            rank.ask()
        answers = [rank.answer() for rank in self.ranks]
        self.stats = [answer['stats'] for answer in answers]
        end, = {answer['position'] for answer in answers}
        got = np.empty(end - self.position, np.uint64)
        for rank, answer in enumerate(answers):
            got[(rank - self.position % n) % self.world::self.world] = answer['numbers']
        assert got.tolist() == run.pages.order[self.position:end].tolist(), self.position
        self.position = end

    def save(self) -> list[pathlib.Path]:
        """Let all ranks save their states, which are equal: return the files."""
        paths = [self.run.folder / f'state.{self.number}.{self.position}.{rank}'
                 for rank in range(self.world)]
        for rank, path in zip(self.ranks, paths):
            rank.ask(str(path))
        for rank in self.ranks:
            rank.answer()
        assert len({path.read_text() for path in paths}) == 1
        return paths

    def kill(self) -> None:
        """Kill all ranks while some of them make one step more than others."""
        for rank in self.ranks:
            rank.ask()
        for rank in self.ranks[::3]:
            rank.answer()
        self.close()

    def close(self) -> None:
        for rank in self.ranks:
            rank.process.kill()
        for rank in self.ranks:
            rank.process.communicate()


class Row(NamedTuple):
    """What one team did, the last one in each epoch. Pages are of 4 KiB; sums over all ranks."""

    team: str
    epoch: int
    samples: int    # that count, not those after the last states
    lost: int    # samples after them
    requests: int    # for chunks
    blocks: int    # of which a part was requested
    repeated: int    # requests for a range that the same rank had requested, because of stragglers
    bytes: int
    unfinished: int    # pages that the same host had requested before it was killed
    moved: int    # pages that other hosts had stored
    due: int    # how many had to be moved because of the lanes, if the team reads to the end
    seconds: float


class Account:
    """What one team requested, and what it needed."""

    def __init__(self, run: Run, team: Team) -> None:
        self.run, self.team, self.taken = run, team, 0
        pages, world, ranks = run.pages, team.world, run.plan.ranks
        self.start = team.position
        self.stored = run.find_stored()    # when it began
        self.requested = np.zeros((team.hosts, pages.count), bool)
        owners = np.arange(run.plan.lanes) % world
        self.of_ranks = [pages.of_lanes(owners == rank) for rank in range(world)]
        end = run.plan.epochs * run.plan.records
        self.needed = np.array([pages.of_positions(owners // ranks == host, self.start, end)
                                for host in range(team.hosts)]) & ~self.stored[:team.hosts]
        self.elsewhere = np.array([np.delete(self.stored, host, axis=0).any(axis=0)
                                   for host in range(team.hosts)])

    def read_log(self) -> list[tuple[int, int, int, int]]:
        """Return (rank, first page, end, bytes) of each new answer to a request for a chunk."""
        found = []
        for one in self.run.server.requests():
            name = re.fullmatch(rf'/{self.team.number}/(\d+)/train/chunk/(\d+)\.zr', one.path)
            if name and one.status == 206:
                first, last = map(int, one.range.split('-'))
                base = self.run.pages.bases[int(name[2])]
                found.append((int(name[1]), base + first // PAGE, base + last // PAGE + 1,
                              one.bytes))
        new, self.taken = found[self.taken:], len(found)
        return new

    def add_row(self, epoch: int, samples: int, lost: int, seconds: float) -> None:
        """Count and check what was requested since the last row."""
        run, pages, ranks = self.run, self.run.pages, self.run.plan.ranks
        requests = self.read_log()
        hosts = np.zeros((self.team.hosts, pages.count), bool)
        readers = np.zeros(pages.count, int)    # ranks that requested a page
        for rank in range(self.team.world):
            wanted = np.zeros(pages.count, bool)
            for one, first, end, _ in requests:
                if one == rank:
                    wanted[first:end] = True
            assert not (wanted & ~self.of_ranks[rank]).any(), 'a rank has read the lanes of another'
            hosts[rank // ranks] |= wanted
            readers += wanted
        inner = pages.block_of >= 0    # not what two blocks share
        assert readers[inner].max() <= 1, 'two ranks have read a block'
        assert not (hosts & self.stored[:self.team.hosts]).any(), 'a host has read a page again'
        self.requested |= hosts
        ranges = [one[:3] for one in requests]
        run.rows.append(Row(
            f'{self.team.hosts} x {ranks}', epoch, samples, lost, len(ranges),
            len(set(pages.block_of[inner & (readers > 0)])), len(ranges) - len(set(ranges)),
            sum(one[3] for one in requests),
            np.count_nonzero(hosts & run.requested[:self.team.hosts]),
            np.count_nonzero(hosts & self.elsewhere),
            np.count_nonzero(self.needed & self.elsewhere), seconds))

    def close(self, complete: bool) -> None:
        """Check that a team that has read to the end has requested exactly what it needed."""
        if complete:
            assert (self.requested == self.needed).all()
        self.run.requested[:self.team.hosts] |= self.requested


class Run:
    """All teams."""

    def __init__(self, plan: Plan, folder: pathlib.Path, network: Network, server: Nginx) -> None:
        self.plan, self.folder, self.network, self.server = plan, folder, network, server
        self.data = folder / 'train'
        self.pages = LanePages(self.data, plan.make_order(), plan.epochs, plan.lanes, plan.block)
        self.requested = np.zeros((max(plan.hosts), self.pages.count), bool)    # by former teams
        self.rows: list[Row] = []

    def cache_of(self, host: int) -> pathlib.Path:
        return self.folder / f'cache.{host}'

    def link_data(self, team: int, rank: int) -> str:
        """Return a URL for this rank alone."""
        place = self.folder / 'root' / str(team) / str(rank)
        place.mkdir(parents=True)
        (place / 'train').symlink_to(self.data)
        return f'{self.server.url}/{team}/{rank}/train'

    def find_stored(self) -> np.ndarray:
        """For each host, the pages that its cache has."""
        return np.array([self.pages.find_stored(self.cache_of(host))
                         for host in range(max(self.plan.hosts))])

    def train_until_killed(self, number: int, states: list[pathlib.Path],
                           until: int) -> list[pathlib.Path]:
        """Let a team train up to a position and then be killed. Return its last states."""
        with contextlib.closing(Team(self, number, states)) as team:
            account, began = Account(self, team), time.monotonic()
            while team.position < until:
                for _ in range(SAVE):
                    team.step()
                states, saved = team.save(), team.position
            for _ in range(BEYOND):
                team.step()
            team.kill()
            epoch = account.start // self.plan.records
            account.add_row(epoch, saved - account.start, team.position - saved,
                            time.monotonic() - began)
            account.close(complete=False)
        return states

    def train_to_the_end(self, number: int, states: list[pathlib.Path]) -> None:
        n = self.plan.records
        with contextlib.closing(Team(self, number, states)) as team:
            account = Account(self, team)
            while team.position < n * self.plan.epochs:
                start, epoch, began = team.position, team.position // n, time.monotonic()
                while team.position < (epoch + 1) * n:
                    team.step()
                account.add_row(epoch, team.position - start, 0, time.monotonic() - began)
            account.close(complete=True)

    def train(self) -> None:
        """Let all teams train, one after the other, all but the last within the first epoch."""
        states: list[pathlib.Path] = []
        teams = len(self.plan.hosts)
        for number in range(teams - 1):
            until = self.plan.records * (number + 1) // (teams + 1)
            states = self.train_until_killed(number, states, until)
        self.train_to_the_end(teams - 1, states)
        assert sum(row.samples for row in self.rows) == self.plan.records * self.plan.epochs


def run(plan: Plan, folder: pathlib.Path) -> list[Row]:
    """Run a plan in an empty folder."""
    write_records(folder / 'train', plan)
    (folder / 'root').mkdir()
    (folder / 'server').mkdir()
    with Network(max(plan.hosts), delay=plan.delay, rate=plan.rate, loss=plan.loss) as network:
        server = Nginx(network.server, folder / 'server', root=folder / 'root')
        made = Run(plan, folder, network, server)
        made.train()
        return made.rows


def print_rows(plan: Plan, rows: list[Row]) -> None:
    print(f'{plan.records} records of {plan.record} bytes, {plan.lanes} lanes of blocks of '
          f'{plan.block}; links of {plan.rate:g} Mbit/s, {2 * plan.delay:g} ms, a loss of '
          f'{plan.loss:g}')
    print(f'{"hosts":8}' + ''.join(f'{name:>11}' for name in Row._fields[1:]))
    for row in rows:
        print(f'{row.team:8}' + ''.join(f'{value:11.1f}' if isinstance(value, float) else
                                        f'{value:11}' for value in row[1:]))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or '').partition('\n')[0])
    parser.add_argument('--folder', metavar='DIR', help='where to put the data and the caches')
    parser.add_argument('--serve', help=argparse.SUPPRESS)    # for the process of a rank
    for name, value in Plan()._asdict().items():
        if name == 'hosts':
            parser.add_argument('--hosts', default=value, metavar='NUMBER,..',
                                type=lambda text: tuple(map(int, text.split(','))))
        else:
            parser.add_argument(f'--{name}', type=type(value), default=value)
    return parser.parse_args()


def main() -> None:
    given = parse_arguments()
    if given.serve:
        plan, url, cache, rank, world, state = json.loads(given.serve)
        serve(Plan(**plan), url, cache, int(rank), int(world), state)
        return
    plan = Plan(**{name: getattr(given, name) for name in Plan._fields})
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        print_rows(plan, run(plan, pathlib.Path(folder)))


if __name__ == '__main__':
    main()
