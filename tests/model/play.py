# SPDX-License-Identifier: MIT
"""Random runs: lives of writers, ended by kills and power losses, with readers in between."""

import random

from .create import create
from .disk import Crash, Disk, SyncFailed
from .history import History, Wrong
from .job import operate
from .layout import NoDataset, Sealed
from .reader import Reader
from .records import Damage
from .rot import rot
from .seal import seal, seal_again
from .session import Session, finish
from .writer import NoSpace, Writer

ENDLESS = 10 ** 9
BULK = {'pwrite', 'truncate', 'the rest of'}     # many; only the log's are critical


class Run:
    """One dataset's history, made from a seed.

    Parameters
    ----------
    seed : int
    world : World
    faults : frozenset of str
    trace : list of str, optional
        Takes a line for each thing that happens.
    """

    def __init__(self, seed, world, faults=frozenset(), trace=None):
        self.rng = random.Random(seed)
        self.world = world
        self.disk = Disk(random.Random(seed + 1), faults, world.failing, world.evicting,
                         boot_known=self.rng.random() < .9)
        self.disk.trace = trace
        self.disk.on_step = self.on_step
        self.disk.on_evict = self.on_evict
        self.history = History()
        self.sessions = []
        self.lossy = False      # this boot's cache lost something, and no writer has opened since
        self.exists = False     # creation returned, or a writer opened: it is there to stay
        self.budget = ENDLESS   # steps until the process is killed
        self.critical = False   # only critical steps count

    def play(self):
        job = self.rng.random()
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

    # -- what happens to it ----------------------------------------------------------------------

    def on_step(self, what):
        """Before each change of the writer: it may be killed, and readers take a few steps."""
        if not self.critical or what[0] not in BULK or what[1].startswith('LOG'):
            self.budget -= 1
        if self.budget < 0:
            self.disk.note('KILLED')
            raise Crash
        if self.exists and len(self.sessions) < 3 and self.rng.random() < .03:
            self.sessions.append(Session(self))
        for session in list(self.sessions):
            if not session.advance():
                self.sessions.remove(session)

    def on_evict(self):
        self.lossy = True
        self.history.lost_cache()
        for session in self.sessions:
            session.void = True

    def draw_budget(self, most):
        """After how many steps the process is killed, if at all: of any kind, or critical ones."""
        self.critical = self.rng.random() < .5
        most = most // 3 if self.critical else most
        self.budget = self.rng.randint(0, most) if self.rng.random() < .75 else ENDLESS

    def kill_soon(self, chance, most):
        """Often the process is killed within the few steps that matter most."""
        if self.rng.random() < chance:
            self.critical = False
            self.budget = min(self.budget, self.rng.randint(0, most))

    def event(self, chance=.5):
        """After a process ended: nothing more, or the cache is lost, with the boot or without."""
        if self.rng.random() > chance:
            return
        self.lossy = self.rng.random() < self.world.detaching
        if self.lossy:
            self.disk.detach()
        else:
            self.disk.power_loss()
        self.sessions.clear()
        self.history.lost_cache()

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
            writer = Writer(self.disk)
        except Sealed:
            self.sealed_life()
            return None
        except NoDataset as none:
            if self.exists:
                raise Wrong('a dataset is gone') from none
            self.creation()
            return None
        self.exists = True
        self.lossy = False
        self.history.seal_seen(False)
        self.history.opened(writer.records(), writer.state.synced)
        self.disk.note('opened at epoch', writer.state.epoch, 'length', writer.state.length,
                       'state', self.history.acked)
        return writer

    def work(self, writer, ops):
        current = writer.records()
        synced_share = ops.choice((1, .3, .05))
        while True:
            for _ in range(ops.randint(0, 6)):
                operate(writer, current, ops)
            end, bulk, synced = ops.random(), ops.random() < .4, ops.random() < synced_share
            if end < .05:
                return self.close(writer, current)
            if end < .12:
                self.kill_soon(.6, 50)
                return self.seal(writer, current)
            self.kill_soon(.1, 12)
            self.commit(writer, current, bulk, synced)

    def commit(self, writer, current, bulk, synced):
        self.history.attempt(current)
        self.disk.note('commit', 'state', len(self.history.states) - 1, 'length', len(current),
                       'bulk' if bulk else 'small', 'synced' if synced else 'unsynced')
        try:
            writer.commit(bulk, synced)
            self.history.acknowledge(synced or not self.disk.boot)
        except NoSpace:
            self.history.withdraw()

    def close(self, writer, current):
        self.disk.note('CLOSE')
        self.history.attempt(current)
        writer.close()
        self.history.acknowledge(True)

    def seal(self, writer, current):
        self.disk.note('SEAL')
        self.history.attempt(current)
        self.history.sealing = True
        seal(writer)
        self.history.acknowledge(True)
        self.history.sealed = True

    # -- checks ----------------------------------------------------------------------------------

    def read_whole(self):
        """Every record through a new reader; None for damage where this boot's cache lost some."""
        reader = Reader(self.disk)
        try:
            finish(reader.open())
            records = reader.records()
            reader.close()
            return records
        except Damage as damage:
            if not self.lossy:
                raise Wrong(f'opening for reading: {damage}') from damage
            return None

    def read_now(self):
        """Read before any writer recovers anything; False if there is no dataset."""
        try:
            records = self.read_whole()
        except NoDataset as none:
            if self.exists:
                raise Wrong('a dataset is gone') from none
            return False
        if records is not None:
            self.history.find(records, self.history.acked, 'a new reader')
        return True

    def sealed_life(self):
        """A sealed dataset reads as its last state, whatever happens, and may be sealed again."""
        self.history.seal_seen(True)
        self.lossy = False
        records = self.read_whole()
        self.history.find(records, self.history.acked, 'a sealed dataset')
        if self.rng.random() < .5:
            self.disk.note('SEAL AGAIN')
            seal_again(self.disk)
            self.history.opened(records, True)
            self.history.sealed = True

    def final_check(self):
        if not self.open_writer():
            self.read_now()


def guarded(action):
    """What went wrong in `action()`, or None; a fault that breaks the model's code is found, too."""
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
