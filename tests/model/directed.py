# SPDX-License-Identifier: MIT
"""Scripted scenarios: what the disk loses is chosen, not drawn.

Each is the shortest story in which one rule of the protocol is all that stands between a store
and a wrong state. `nocut` and `nochain` have theirs here: see doc/commit-model.md for why nothing
less will do.
"""

import random

from .create import create
from .disk import Crash, Disk
from .history import Wrong
from .job import append, modify
from .layout import NoDataset, dataset_directory
from .play import guarded
from .reader import Reader
from .records import Damage
from .seal import seal
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
        self.current = self.writer.records()

    def append(self, name, bulk=False, synced=False):
        """Append and commit; the bytes of the log that the frame took."""
        append(self.writer, self.current, (name.encode() * 8, name.encode()))
        return self.commit(bulk, synced)

    def commit(self, bulk=False, synced=False):
        begin = self.writer.state.at
        self.writer.commit(bulk, synced)
        return begin, self.writer.state.at

    def reader(self):
        reader = Reader(self.disk)
        finish(reader.open())
        return reader

    def expect(self, *states, reader=None):
        """A reader must show one of these states; where None is among them, damage will do."""
        try:
            shown = ''.join(label.decode() for _, label in (reader or self.reader()).records())
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


def the_same_job_again(faults):
    """The log loses an unsynced commit, not the one behind it; the job that made both starts again.

    It makes its first commit again, in the same boot and so byte for byte: chain and epoch fit
    the frame that stood behind it. Only the cut has taken that away.
    """
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    stage.disk.detach(lose_log(*first))
    stage.open_writer()
    stage.append('a')
    stage.expect('xya')


def the_cut_lost(faults):
    """As before, and the next detachment loses the cut: it must be durable before a frame is."""
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    stage.disk.detach(lose_log(*first))
    stage.open_writer()
    stage.append('a')
    stage.disk.detach(lambda name, offset, what: not (name == 'LOG' and what is None))
    stage.expect('xya')


def a_payload_lost(faults):
    """Frames are whole, a payload is not: the log ends before them, yet they chain to the rest."""
    stage = Stage(faults)
    append(stage.writer, stage.current, (b'a' * 50, b'a'))
    stage.commit()
    stage.append('b')
    stage.disk.detach(lambda name, offset, what: not (name.endswith('.zr') and what is not None))
    stage.open_writer()
    stage.expect('xy')
    stage.append('c', synced=True)
    stage.expect('xyc')


def a_reader_over_a_cut(faults):
    """A failed sync loses commits that a reader saw; the writer makes others of the same sizes.

    The reader's position is then the end of a frame of another history, and the epoch fits. Only
    the chain tells; the reader may say that it is lost, but not put the new commit on top of the
    old ones.
    """
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    reader = stage.reader()
    stage.expect('xyab', reader=reader)
    reader.log_file().lose(lose_log(*first))
    stage.open_writer()
    for name, synced in (('c', False), ('d', False), ('e', True)):
        stage.append(name, synced=synced)
    try:
        finish(reader.refresh())
    except Damage:
        return
    stage.expect('xycde', reader=reader)


def a_write_the_medium_lost(faults):
    """An old frame comes back: the medium acknowledged the write over it, and never did it.

    The frame is whole, of the right epoch and at the right place, and a synced one stands behind
    it. Only the chain tells that the two are of different histories.
    """
    stage = Stage(faults)
    begin, end = stage.append('a')
    stage.disk.power_loss(lambda name, offset, what: True)
    log = dataset_directory(stage.disk).get('LOG')
    old = log.pread(begin, end - begin)
    stage.open_writer()
    stage.append('c', synced=True)
    stage.append('d', synced=True)
    log.cache[begin:end] = log.durable[begin:end] = old
    stage.expect(None)


def rows_lost(faults):
    """Rows of zeros read as missing values, so no frame may take rows that are not durable."""
    stage = Stage(faults)
    stage.append('a', bulk=True)
    stage.disk.detach(lambda name, offset, what: 'image.' not in name or what is None)
    stage.open_writer()
    records = [(name * 8, name) for name in (b'x', b'y', b'a')]
    if stage.current not in (records, records[:2]):
        raise Wrong(f'{stage.current}')


def an_unsynced_frame_lost(faults):
    """A synced frame behind one that never reached the medium would look like rot."""
    stage = Stage(faults)
    first = stage.append('a')
    kill_at(stage.disk, 'sync', 'LOG', skip=0 if 'nologbarrier' in faults else 1)
    try:
        stage.append('b', synced=True)
    except Crash:
        pass
    stage.disk.power_loss(lose_log(*first))
    stage.expect('xy', 'xya', 'xyab')


def a_log_written_while_it_is_read(faults):
    """A reader has read a torn end when the writer cuts it and commits: that is not rot."""
    stage = Stage(faults)
    begin, end = stage.append('a')
    stage.disk.power_loss(lose_log(begin, begin + 16))
    reader = Reader(stage.disk)
    steps = reader.open()
    for _ in range(3):
        next(steps)
    stage.open_writer()
    stage.append('c', synced=True)
    stage.append('d', synced=True)
    finish(steps)
    stage.expect('xycd', 'xy', reader=reader)


def fold(stage):
    """Seal what has a set below the rows: it takes a new generation."""
    stage.append('z', bulk=True, synced=True)
    modify(stage.writer, stage.current, 0, 1, b'w')
    seal(stage.writer)


def a_switch_under_an_opening_reader(faults):
    """The generation goes between a reader's look at meta.json and its lock."""
    stage = Stage(faults)
    reader = Reader(stage.disk)
    steps = reader.open()
    next(steps)
    fold(stage)
    finish(steps)
    stage.expect('wyz', reader=reader)


def a_switch_under_a_pinned_reader(faults):
    """A reader in the old generation has not yet opened its tables."""
    stage = Stage(faults)
    stage.append('a', bulk=True, synced=True)
    reader = stage.reader()
    fold(stage)
    stage.expect('xya', reader=reader)


def a_switch_that_is_lost(faults):
    """meta.json is switched in the cache; the power fails before that, and after old files went."""
    stage = Stage(faults)
    kill_at(stage.disk, 'unlink', 'image.check')
    try:
        fold(stage)
    except Crash:
        pass
    stage.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' not in what)
    stage.expect('xyz', 'wyz')


def a_switch_to_what_is_not_there(faults):
    """The switch of meta.json is on the medium, the new generation's entries are not."""
    stage = Stage(faults)
    kill_at(stage.disk, 'sync directory', 'dataset', skip=0 if 'nosealsync' in faults else 1)
    try:
        fold(stage)
    except Crash:
        pass
    stage.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' in what)
    stage.expect('wyz')


def a_half_made_directory(faults):
    """Creation dies when meta.json is in its place; its entry stays, those of the rest do not."""
    disk = Disk(Steady(1), faults)
    kill_at(disk, 'sync directory', 'dataset', skip=0 if 'nocreatesync' in faults else 1)
    try:
        create(disk)
    except Crash:
        pass
    disk.power_loss(lambda name, offset, what: (
        offset is not None or name != 'dataset' or 'meta.json' in what))
    if finish_opening(disk).records() != []:
        raise Wrong('not empty')


def finish_opening(disk):
    reader = Reader(disk)
    finish(reader.open())
    return reader


def kill_at(disk, kind, name, skip=0):
    """Kill the process before its next step of this kind on this file, but for the first `skip`."""
    left = [skip]

    def on_step(what):
        if what[:2] == (kind, name):
            left[0] -= 1
            if left[0] < 0:
                disk.on_step = lambda what: None
                raise Crash

    disk.on_step = on_step


SCENARIOS = (
    the_same_job_again, the_cut_lost, a_payload_lost, a_reader_over_a_cut,
    a_write_the_medium_lost, rows_lost,
    an_unsynced_frame_lost, a_log_written_while_it_is_read, a_switch_under_an_opening_reader,
    a_switch_under_a_pinned_reader, a_switch_that_is_lost, a_switch_to_what_is_not_there,
    a_half_made_directory)


def direct(faults=frozenset()):
    """What went wrong in the first scenario that did, or None."""
    for scenario in SCENARIOS:
        wrong = guarded(lambda scenario=scenario: scenario(faults))
        if wrong:
            return f'{scenario.__name__}: {wrong}'
    return None
