# SPDX-License-Identifier: MIT
"""The reader: opens without writing anything, stays at its state, and refreshes when asked.

Opening and refreshing are generators that yield between two system calls, so that a run can let
the writer continue there.
"""

import copy

from . import log as lxlog
from .handle import Handle
from .layout import NoDataset, read_meta
from .records import Damage


class Reader(Handle):
    """A dataset open for reading, pinned to the state of its opening or of its last refresh.

    It holds the lock of its generation until it is closed; the process that continues in another
    generation takes another reader for it, and the old one keeps what it shows.

    Parameters
    ----------
    durable : bool
        It shows what a loss of power leaves: the frames up to the last synced one.
    """

    def __init__(self, disk, durable=False):
        super().__init__(disk)
        self.durable = durable
        self.meta_file = None
        self.locked = False

    def open(self):
        """Lock the generation, make sure that it still is the one, and replay its log.

        meta.json is looked at again after the log: a frame that was read may be of another schema
        than the one in hand.
        """
        try:
            while not (yield from self.try_to_open()):
                self.close()
                yield
        except (Damage, NoDataset):
            self.close()
            raise

    def try_to_open(self):
        meta, self.meta_file = read_meta(self.directory)
        yield
        self.use_meta(meta)
        self.lock()
        yield
        if 'norecheck' not in self.faults:
            again, self.meta_file = read_meta(self.directory)
            if again['generation'] != meta['generation']:
                return False
            self.use_meta(meta if 'oldschema' in self.faults else again)
            yield
        self.files.clear()
        try:
            frames = yield from self.read_log()
            yield
            if self.replaced() and 'metabefore' not in self.faults:
                return False
            self.state = lxlog.replay(frames, self.faults)
            if self.meta['sealed']:
                yield
                self.check_sealed()
        except Damage:
            if self.replaced() and not {'norecheck', 'nosealrecheck'} & self.faults:
                return False
            raise
        return True

    def refresh(self):
        """Go on to the newest commit, through a switch of meta.json if there was one.

        Returns
        -------
        Reader
            Itself, or another one that was opened next to it.
        """
        early = 'metabefore' in self.faults
        try:
            if not early or not self.replaced():
                frames = yield from self.read_log(self.state)
                yield
                if early or not self.replaced():
                    for frame in frames:
                        self.state.apply(frame, self.faults)
                    return self
        except Damage:
            if not self.replaced():
                raise
        other = Reader(self.disk, self.durable)
        yield from other.open()
        return other

    def replaced(self):
        """Whether meta.json is another file than the one that was read."""
        return self.directory.get('meta.json') is not self.meta_file

    def read_log(self, start=None):
        """The trusted frames from `start` on.

        The log is read in two parts, between which a writer may cut and write it; so what looks
        like rot is rot only if it is still there, unchanged, on reading again.
        """
        before = None
        while True:
            file = self.log_file()
            middle = self.disk.rng.randint(0, file.size)
            log = file.pread(0, middle)
            yield
            log += file.pread(middle)
            try:
                frames = lxlog.scan(log, self.seed, self.disk.boot, self.faults, start)
            except Damage:
                if log == before or 'noreread' in self.faults:
                    raise
                before = log
            else:
                return (yield from self.make_durable(frames)) if self.durable else frames
            yield

    def make_durable(self, frames):
        """The frames up to the last synced one: it is there before the sync of it is over."""
        yield
        if 'durablelog' not in self.faults:
            self.log_file().flush()
        yield
        return frames[:lxlog.last_synced(frames) + 1]

    def pin(self):
        """Another reader that stays at this state."""
        pinned = copy.copy(self)
        pinned.state = self.state.copy()
        pinned.files = dict(self.files)
        pinned.locked = False
        if 'viewnolock' not in self.faults:
            pinned.lock()
        return pinned

    def lock(self):
        self.disk.locks.append(self.meta['generation'])
        self.locked = True

    def close(self):
        """Let go of the lock, unless a loss of the file system has done so already."""
        if self.locked and self.meta['generation'] in self.disk.locks:
            self.disk.locks.remove(self.meta['generation'])
        self.locked = False
