# SPDX-License-Identifier: MIT
"""The events of a run: kills, losses of power and of caches, and readers between steps."""

import random

from .disk import Crash, Disk
from .history import History
from .session import Session

ENDLESS = 10 ** 9
BULK = {'pwrite', 'truncate', 'the rest of'}     # frequent; only those of the log are critical


class Machine:
    """One machine with one dataset, from a seed.

    Parameters
    ----------
    seed : int
    world : World
    faults : frozenset of str
    trace : list of str, optional
        Receives a line for each event.
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
        self.lossy = False      # this boot's cache lost data, and no writer has opened since
        self.exists = False     # creation returned, or a writer opened: the dataset is durable
        self.budget = ENDLESS   # steps until the process is killed
        self.critical = False   # only critical steps count

    def on_step(self, what):
        """Before each change of the writer: perhaps kill it, and let readers take a few steps."""
        if not self.critical or what[0] not in BULK or what[1].startswith('LOG'):
            self.budget -= 1
        if self.budget < 0:
            self.disk.report('KILLED')
            raise Crash
        if self.exists and len(self.sessions) < 3 and self.rng.random() < .03:
            self.sessions.append(Session(self))
        for session in list(self.sessions):
            if not session.advance():
                session.end()
                self.sessions.remove(session)

    def on_evict(self):
        self.lossy = True
        self.history.lost_cache()
        for session in self.sessions:
            session.void = True

    def draw_budget(self, most):
        """Choose the number of steps, of any kind or critical, before the process is killed."""
        self.critical = self.rng.random() < .5
        most = most // 3 if self.critical else most
        self.budget = self.rng.randint(0, most) if self.rng.random() < .75 else ENDLESS

    def kill_soon(self, chance, most):
        """Perhaps kill the process within the few steps that matter most."""
        if self.rng.random() < chance:
            self.critical = False
            self.budget = min(self.budget, self.rng.randint(0, most))

    def event(self, chance=.5):
        """After a process ended: perhaps lose the cache, with or without a new boot."""
        if self.rng.random() > chance:
            return
        self.lossy = self.rng.random() < self.world.detaching
        if self.lossy:
            self.disk.detach()
        else:
            self.disk.power_loss()
        self.sessions.clear()
        self.history.lost_cache()
