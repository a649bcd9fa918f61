# SPDX-License-Identifier: MIT
"""Random runs: writers, ended by kills and power losses, with concurrent readers."""

import random

from . import log as lxlog
from .create import create
from .disk import Crash, SyncFailed
from .machine import ENDLESS, Machine
from .generations import checkpoint, rotate
from .history import History, Violation
from .job import Content, operate
from .layout import NoDataset, Sealed, read_meta
from .orphans import remove_obsolete
from .reader import Reader
from .records import Damage
from .rot import rot
from .seal import seal, seal_again, unseal
from .session import finish
from .maintenance import maintain
from .writer import NoSpace, Writer

class Run(Machine):
    """The history of one dataset: writers, and a check after each."""

    def play(self):
        job = self.rng.random()
        self.disk.filling = .02
        self.creation()
        for _ in range(self.rng.randint(1, 6)):
            if self.rng.random() < .6:
                job = self.rng.random()     # otherwise repeat the last job
            self.draw_budget(200)
            self.run_writer(job)
            self.event()
            if self.rng.random() < .3:
                self.read_now()
        self.budget = ENDLESS
        self.disk.failing = 0
        self.final_check()
        if self.rng.random() < .5:
            rot(self.disk, self.rng)
        else:
            self.end_by_replacement()

    def begin_replacement(self):
        """Drop all readers: a locked dataset cannot be replaced."""
        self.sessions.clear()
        self.disk.locks.clear()
        self.disk.report('REPLACE')
        self.exists = False
        self.history.replacing()

    def end_by_replacement(self):
        self.draw_budget(40)
        try:
            self.replace()
        except (Crash, SyncFailed):
            pass
        self.budget = ENDLESS
        self.event()
        self.read_now()
        self.final_check()

    # -- creation and replacement ----------------------------------------------------------------

    def creation(self):
        """Create until a dataset exists; an interrupted attempt leaves none or a complete one.

        The removal of a replaced dataset may be lost.
        """
        while not self.exists:
            self.draw_budget(60)
            try:
                self.create()
            except (Crash, SyncFailed):
                pass
            self.event()
            if self.read_now():
                break
        self.budget = ENDLESS

    def create(self):
        self.disk.report('CREATE')
        create(self.disk)
        self.exists = True
        self.history = History()

    def replace(self):
        """Replace the dataset: until this returns, the old one, none or the new one is visible."""
        self.begin_replacement()
        create(self.disk, replace=True)
        self.exists = True
        self.history = History()

    # -- a writer, from opening to its end ------------------------------------------------------

    def run_writer(self, job):
        """A writer opens, works, and is closed, sealed, poisoned or killed."""
        try:
            self.disk.report('OPEN')
            writer = self.open_writer()
            if writer:
                self.work(writer, random.Random(job))
        except (Crash, SyncFailed, NoSpace):
            pass

    def open_writer(self):
        try:
            before = self.read_sequence() if self.lossy else None
            writer = Writer(self.disk)
        except Sealed:
            self.check_sealed()
            return None
        except NoDataset as none:
            if self.exists:
                raise Violation('a dataset is gone') from none
            self.creation()
            return None
        except Damage:
            if not self.lossy:
                raise
            self.repair()
            return self.open_writer()
        if before not in (None, (writer.meta['generation'], writer.state.sequence)):
            raise Violation(f'a writer drops commits of its boot: expected frame {before}')
        self.exists = True
        self.history.seal_seen(False)
        self.history.opened(writer.content(), writer.state.synced, lossy=self.lossy)
        self.lossy = False
        self.disk.report('opened generation', writer.meta['generation'], 'sequence',
                         writer.state.sequence, 'length', writer.state.length, 'snapshot',
                         self.history.acked)
        return writer

    def read_sequence(self):
        """The generation and sequence number that a reader shows; None if it finds damage."""
        reader = Reader(self.disk)
        try:
            finish(reader.open())
            return reader.meta['generation'], reader.state.sequence
        except (Damage, NoDataset):
            return None
        finally:
            reader.close()

    def repair(self):
        """Truncate the log before its lost pages, which keeps the earlier commits."""
        self.disk.report('REPAIR')
        reader = Reader(self.disk)
        reader.use_meta(read_meta(reader.directory)[0])
        log, skip = reader.log_file(), frozenset(['norot'])
        log.truncate(lxlog.scan(log.pread(), reader.seed, self.disk.boot, skip)[-1].end)
        log.sync()

    def work(self, writer, ops):
        """Perform operations, commits, and installations of new generations."""
        current = Content(writer.content())
        synced_share = ops.choice((1, .3, .05))
        while True:
            for _ in range(ops.randint(0, 6)):
                operate(writer, current, ops)
            end = ops.random()
            if end < .05:
                return self.close(writer, current)
            if end < .1:
                self.kill_soon(.6, 50)
                return self.seal(writer, current)
            if end < .25:
                self.kill_soon(.3, 40)
                current = Content(maintain(self, writer, current, ops))
                continue
            if end < .35:
                remove_obsolete(writer)
            self.kill_soon(.1, 12)
            current = self.commit_some(writer, current, ops, ops.random() < synced_share)

    def commit_some(self, writer, current, ops, synced):
        """Commit, perhaps with later operations that are not part of the commit."""
        mark, expected = writer.mark(), current.freeze()
        if ops.random() < .3:
            for _ in range(ops.randint(1, 4)):
                operate(writer, current, ops)
        self.commit(writer, expected, ops.random() < .4, synced, mark, ops.random() < .5)
        if ops.random() < .1:
            self.install_early(writer, ops.choice((rotate, checkpoint, None)))
        if ops.random() < .3:
            writer.rollback()
            return Content(self.history.states[self.history.acked])
        return current

    def install_early(self, writer, change):
        """Begin a new generation, or write a synced frame, while later operations are pending."""
        self.disk.report('continue with', change.__name__ if change else 'a synced frame')
        try:
            if change:
                change(writer, lambda: self.history.acknowledge(True), (0, 0))
            else:
                writer.commit((0, 0))
                self.history.acknowledge(True)
        except NoSpace:
            self.disk.report('  no space')

    def commit(self, writer, expected, bulk, synced, mark=None, older=False):
        self.history.attempt(expected)
        self.disk.report('commit', 'snapshot', len(self.history.states) - 1,
                         'length', len(expected[1]), 'bulk' if bulk else 'small',
                         'synced' if synced else 'unsynced')
        try:
            writer.commit(mark, bulk, synced, older)
            self.history.acknowledge(synced or not self.disk.boot)
        except NoSpace:
            self.history.withdraw()

    def close(self, writer, current):
        self.disk.report('CLOSE')
        self.history.attempt(current.freeze())
        writer.close()
        self.history.acknowledge(True)

    def seal(self, writer, current):
        self.disk.report('SEAL')
        self.history.attempt(current.freeze())
        self.history.seals.add(True)
        seal(writer, lambda: self.history.acknowledge(True))
        self.history.seals = {True}

    def unseal(self):
        self.disk.report('UNSEAL')
        self.history.seals.add(False)
        unseal(self.disk)
        self.history.seals = {False}

    # -- checks ----------------------------------------------------------------------------------

    def read_whole(self):
        """Read every record with a new reader; None for damage if this boot's cache lost data."""
        reader = Reader(self.disk)
        try:
            finish(reader.open())
            return reader.content(self.lossy)
        except Damage as damage:
            if not self.lossy:
                raise Violation(f'opening for reading: {damage}') from damage
            return None
        finally:
            reader.close()

    def read_now(self):
        """Read before any writer recovers; return False without a dataset."""
        try:
            content = self.read_whole()
        except NoDataset as none:
            if self.exists:
                raise Violation('a dataset is gone') from none
            return False
        if content is not None:
            self.history.find(content, self.history.acked, 'a new reader', self.lossy)
        return True

    def check_sealed(self):
        """Check that a sealed dataset is its last snapshot; perhaps seal it again, or unseal it."""
        self.history.seal_seen(True)
        self.lossy = False
        content = self.read_whole()
        self.history.find(content, self.history.acked, 'a sealed dataset')
        kind = self.rng.random()
        if kind < .3:
            self.disk.report('SEAL AGAIN')
            seal_again(self.disk)
            self.history.opened(content, True, True)
        elif kind < .7:
            self.unseal()

    def final_check(self):
        if not self.open_writer():
            self.read_now()


def failure_of(action):
    """The failure of `action()`, or None; an exception in the model counts as a failure."""
    try:
        action()
    except Violation as wrong:
        return str(wrong)
    except Exception as error:      # without faults, the protocol never raises
        return f'{type(error).__name__}: {error}'
    return None


def run(seed, world, faults=frozenset(), trace=None):
    """The failure of the run of this seed, or None."""
    return failure_of(Run(seed, world, faults, trace).play)
