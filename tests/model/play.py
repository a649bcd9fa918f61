# SPDX-License-Identifier: MIT
"""Random runs: lives of writers, ended by kills and power losses, with readers in between."""

import random

from . import log as lxlog
from .create import create
from .disk import Crash, SyncFailed
from .fate import ENDLESS, Fate
from .generations import fold, restart
from .history import History, Wrong
from .job import Content, operate
from .layout import NoDataset, Sealed, read_meta
from .leftovers import remove_old
from .reader import Reader
from .records import Damage
from .rot import rot
from .seal import seal, seal_again, unseal
from .session import finish
from .upkeep import keep_up
from .writer import NoSpace, Writer

class Run(Fate):
    """One dataset's history: lives of writers, and what must be seen after each."""

    def play(self):
        job = self.rng.random()
        self.disk.filling = .02
        self.creation()
        for _ in range(self.rng.randint(1, 6)):
            if self.rng.random() < .6:
                job = self.rng.random()     # else the last life's job is done again
            self.draw_budget(200)
            self.life(job)
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
        """Readers are gone: a dataset that is locked is not replaced."""
        self.sessions.clear()
        self.disk.locks.clear()
        self.disk.note('REPLACE')
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
        """Create until there is a dataset; what a try leaves is none, or a whole empty one.

        Where one was being replaced, its removal may turn out not to have happened.
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
        self.disk.note('CREATE')
        create(self.disk)
        self.exists = True
        self.history = History()

    def replace(self):
        """Create over the dataset: until that returns it is the old one, none, or the new one."""
        self.begin_replacement()
        create(self.disk, replace=True)
        self.exists = True
        self.history = History()

    # -- a writer's life -------------------------------------------------------------------------

    def life(self, job):
        """A writer opens, works, and ends: closed, sealed, poisoned or killed."""
        try:
            self.disk.note('OPEN')
            writer = self.open_writer()
            if writer:
                self.work(writer, random.Random(job))
        except (Crash, SyncFailed, NoSpace):
            pass

    def open_writer(self):
        try:
            before = self.read_epoch() if self.lossy else None
            writer = Writer(self.disk)
        except Sealed:
            self.sealed_life()
            return None
        except NoDataset as none:
            if self.exists:
                raise Wrong('a dataset is gone') from none
            self.creation()
            return None
        except Damage:
            if not self.lossy:
                raise
            self.repair()
            return self.open_writer()
        if before not in (None, (writer.meta['generation'], writer.state.epoch)):
            raise Wrong(f'a writer gives up commits of its boot: it is not at {before}')
        self.exists = True
        self.history.seal_seen(False)
        self.history.opened(writer.content(), writer.state.synced, lossy=self.lossy)
        self.lossy = False
        self.disk.note('opened generation', writer.meta['generation'], 'epoch', writer.state.epoch,
                       'length', writer.state.length, 'state', self.history.acked)
        return writer

    def read_epoch(self):
        """Generation and epoch that a reader shows; None where it meets damage."""
        reader = Reader(self.disk)
        try:
            finish(reader.open())
            return reader.meta['generation'], reader.state.epoch
        except (Damage, NoDataset):
            return None
        finally:
            reader.close()

    def repair(self):
        """Pages of the log were lost: the commits before them stay."""
        self.disk.note('REPAIR')
        reader = Reader(self.disk)
        reader.use_meta(read_meta(reader.directory)[0])
        log, skip = reader.log_file(), frozenset(['norot'])
        log.truncate(lxlog.scan(log.pread(), reader.seed, self.disk.boot, skip)[-1].end)
        log.sync()

    def work(self, writer, ops):
        """Commits of the operations so far, while others may be under way already, and switches."""
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
                current = Content(keep_up(self, writer, current, ops))
                continue
            if end < .35:
                remove_old(writer)
            self.kill_soon(.1, 12)
            current = self.commit_some(writer, current, ops, ops.random() < synced_share)

    def commit_some(self, writer, current, ops, synced):
        """Commit, with operations after it that are not to be part of it; some are reaped."""
        mark, expected = writer.mark(), current.freeze()
        if ops.random() < .3:
            for _ in range(ops.randint(1, 4)):
                operate(writer, current, ops)
        self.commit(writer, expected, ops.random() < .4, synced, mark, ops.random() < .5)
        if ops.random() < .1:
            self.go_on(writer, ops.choice((restart, fold, None)))
        if ops.random() < .3:
            writer.rollback()
            return Content(self.history.states[self.history.acked])
        return current

    def go_on(self, writer, change):
        """A new generation, or only a synced frame, while later operations are under way."""
        self.disk.note('go on with', change.__name__ if change else 'a synced frame')
        try:
            if change:
                change(writer, lambda: self.history.acknowledge(True), (0, 0))
            else:
                writer.commit((0, 0))
                self.history.acknowledge(True)
        except NoSpace:
            self.disk.note('  no space')

    def commit(self, writer, expected, bulk, synced, mark=None, older=False):
        self.history.attempt(expected)
        self.disk.note('commit', 'state', len(self.history.states) - 1, 'length', len(expected[1]),
                       'bulk' if bulk else 'small', 'synced' if synced else 'unsynced')
        try:
            writer.commit(mark, bulk, synced, older)
            self.history.acknowledge(synced or not self.disk.boot)
        except NoSpace:
            self.history.withdraw()

    def close(self, writer, current):
        self.disk.note('CLOSE')
        self.history.attempt(current.freeze())
        writer.close()
        self.history.acknowledge(True)

    def seal(self, writer, current):
        self.disk.note('SEAL')
        self.history.attempt(current.freeze())
        self.history.seals.add(True)
        seal(writer, lambda: self.history.acknowledge(True))
        self.history.seals = {True}

    def unseal(self):
        self.disk.note('UNSEAL')
        self.history.seals.add(False)
        unseal(self.disk)
        self.history.seals = {False}

    # -- checks ----------------------------------------------------------------------------------

    def read_whole(self):
        """Every record through a new reader; None for damage where this boot's cache lost some."""
        reader = Reader(self.disk)
        try:
            finish(reader.open())
            return reader.content(self.lossy)
        except Damage as damage:
            if not self.lossy:
                raise Wrong(f'opening for reading: {damage}') from damage
            return None
        finally:
            reader.close()

    def read_now(self):
        """Read before any writer recovers anything; False if there is no dataset."""
        try:
            content = self.read_whole()
        except NoDataset as none:
            if self.exists:
                raise Wrong('a dataset is gone') from none
            return False
        if content is not None:
            self.history.find(content, self.history.acked, 'a new reader', self.lossy)
        return True

    def sealed_life(self):
        """A sealed dataset reads as its last state, and may be sealed again, or unsealed."""
        self.history.seal_seen(True)
        self.lossy = False
        content = self.read_whole()
        self.history.find(content, self.history.acked, 'a sealed dataset')
        kind = self.rng.random()
        if kind < .3:
            self.disk.note('SEAL AGAIN')
            seal_again(self.disk)
            self.history.opened(content, True, True)
        elif kind < .7:
            self.unseal()

    def final_check(self):
        if not self.open_writer():
            self.read_now()


def guarded(action):
    """What went wrong in `action()`, or None; one that breaks the model is found, too."""
    try:
        action()
    except Wrong as wrong:
        return str(wrong)
    except Exception as error:      # whatever it is, the protocol as it is never comes here
        return f'{type(error).__name__}: {error}'
    return None


def run(seed, world, faults=frozenset(), trace=None):
    """What went wrong in the run of this seed, or None."""
    return guarded(Run(seed, world, faults, trace).play)
