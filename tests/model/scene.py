# SPDX-License-Identifier: MIT
"""What scenarios are made of: a disk without chance, a short dataset, and chosen losses."""

import random

from .create import create
from .disk import Crash, Disk
from .history import Wrong
from .job import Content, append
from .layout import NoDataset
from .reader import Reader
from .records import LOST, Damage
from .session import finish
from .writer import Writer


class Steady(random.Random):
    """No chance: pieces are of 8 bytes, nothing fails, a reader's first read gets all."""

    def random(self):
        return .99

    def randint(self, a, b):
        return b

    def choice(self, seq):
        return seq[0]

    def shuffle(self, x):
        pass


class Stage:
    """A dataset with two durable records, and short ways to change it.

    Records are named by a letter and lie inline, so that only the log and the tables matter.
    """

    def __init__(self, faults):
        self.disk = Disk(Steady(1), faults)
        create(self.disk)
        self.open_writer()
        for name in 'xy':
            self.append(name, synced=True)

    def open_writer(self):
        self.writer = Writer(self.disk)
        self.current = Content(self.writer.content())

    def append(self, name, bulk=False, synced=False):
        """Append and commit; the bytes of the log that the frame took."""
        append(self.writer, self.current, (name.encode() * 8, name.encode()))
        return self.commit(bulk, synced)

    def put(self, name):
        """Append a record whose image lies in a chunk, and do not commit."""
        append(self.writer, self.current, (name.encode() * 300, name.encode()))

    def commit(self, bulk=False, synced=False):
        begin = self.writer.state.at
        self.writer.commit(bulk=bulk, synced=synced)
        return begin, self.writer.state.at

    def renew(self, change):
        """Restart, fold, rebalance or seal."""
        change(self.writer, lambda: None)

    def new_reader(self, durable=False):
        return Reader(self.disk, durable)

    def reader(self, durable=False):
        reader = self.new_reader(durable)
        finish(reader.open())
        return reader

    def expect(self, *states, reader=None):
        """A reader must show one of these states; where None is among them, damage will do.

        The name of a record that has lost its image is a capital letter.
        """
        try:
            names, records = (reader or self.reader()).content()
            label = names.index('label')
            shown = ''.join(record[label].decode().upper() if LOST in record
                            else record[label].decode() for record in records)
        except (Damage, NoDataset) as damage:
            if None in states:
                return
            raise Wrong(f'{type(damage).__name__} {damage}') from damage
        if shown not in states:
            raise Wrong(f'{shown!r} instead of {states}')


def lose_log(begin, end):
    """Everything reaches the medium but these bytes of the log."""
    def keep(name, offset, what):
        return not (name == 'LOG' and what is not None and begin <= offset < end)
    return keep


def kill_at(disk, kind, name, skip=0):
    """Kill the process before its next step of this kind on this file, but for the first `skip`."""
    def kill():
        raise Crash

    at_step(disk, kind, name, kill, skip)


def at_step(disk, kind, name, action, skip=0):
    """Do something before the next step of this kind on this file, but for the first `skip`."""
    left = [skip]

    def on_step(what):
        if what[:2] == (kind, name):
            left[0] -= 1
            if left[0] < 0:
                disk.on_step = lambda what: None
                action()

    disk.on_step = on_step
