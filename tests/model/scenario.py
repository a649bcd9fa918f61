# SPDX-License-Identifier: MIT
"""Parts of scenarios: a disk without chance, a short dataset, and chosen losses."""

import random

from .create import create
from .disk import Crash, Disk
from .history import Violation
from .job import Content, append
from .layout import NoDataset
from .reader import Reader
from .records import LOST, Damage
from .session import finish
from .writer import Writer


class FixedRandom(random.Random):
    """No chance: pieces have 8 bytes, nothing fails, a first read gets everything."""

    def random(self):
        return .99

    def randint(self, a, b):
        return b

    def choice(self, seq):
        return seq[0]

    def shuffle(self, x):
        pass


class Dataset:
    """A dataset with two durable records, and short functions that change it.

    A letter names each record; values are inline, so that only the log and the tables matter.
    """

    def __init__(self, faults):
        self.disk = Disk(FixedRandom(1), faults)
        create(self.disk)
        self.open_writer()
        for name in 'xy':
            self.append(name, synced=True)

    def open_writer(self):
        self.writer = Writer(self.disk)
        self.current = Content(self.writer.content())

    def append(self, name, bulk=False, synced=False):
        """Append and commit; return the range of the frame in the log."""
        append(self.writer, self.current, (name.encode() * 8, name.encode()))
        return self.commit(bulk, synced)

    def put(self, name):
        """Append a record whose image is stored in a chunk, without a commit."""
        append(self.writer, self.current, (name.encode() * 300, name.encode()))

    def commit(self, bulk=False, synced=False):
        begin = self.writer.state.at
        self.writer.commit(bulk=bulk, synced=synced)
        return begin, self.writer.state.at

    def renew(self, change):
        """Rotate, checkpoint, rebalance or seal."""
        change(self.writer, lambda: None)

    def new_reader(self, durable=False):
        return Reader(self.disk, durable)

    def reader(self, durable=False):
        reader = self.new_reader(durable)
        finish(reader.open())
        return reader

    def expect(self, *states, reader=None):
        """Check that a reader shows one of these snapshots, or, if None is one of them, damage.

        A capital letter is a record that has lost its image.
        """
        try:
            names, records = (reader or self.reader()).content()
            label = names.index('label')
            shown = ''.join(record[label].decode().upper() if LOST in record
                            else record[label].decode() for record in records)
        except (Damage, NoDataset) as damage:
            if None in states:
                return
            raise Violation(f'{type(damage).__name__} {damage}') from damage
        if shown not in states:
            raise Violation(f'{shown!r} instead of {states}')


def lose_log(begin, end):
    """Everything reaches the medium except these bytes of the log."""
    def keep(name, offset, what):
        return not (name == 'LOG' and what is not None and begin <= offset < end)
    return keep


def kill_at(disk, kind, name, skip=0):
    """Kill the process before its next step of this kind on this file, after `skip` of them."""
    def kill():
        raise Crash

    at_step(disk, kind, name, kill, skip)


def at_step(disk, kind, name, action, skip=0):
    """Call `action` before the next step of this kind on this file, after `skip` of them."""
    left = [skip]

    def on_step(what):
        if what[:2] == (kind, name):
            left[0] -= 1
            if left[0] < 0:
                disk.on_step = lambda what: None
                action()

    disk.on_step = on_step
