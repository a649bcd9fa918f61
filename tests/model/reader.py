# SPDX-License-Identifier: MIT
"""The reader: opens without writing anything, stays at its state, and refreshes when asked.

Opening and refreshing are generators that yield between two system calls, so that a run can let
the writer go on there.
"""

from . import log as lxlog
from .handle import Handle
from .layout import read_meta
from .records import Damage


class Reader(Handle):
    """A dataset open for reading, pinned to the state of its opening or of its last refresh."""

    def __init__(self, disk):
        super().__init__(disk)
        self.meta_file = None

    def open(self):
        """Lock the generation, and make sure that it still is the one."""
        while True:
            meta, self.meta_file = read_meta(self.directory)
            yield
            self.disk.locks.append(meta['generation'])
            yield
            self.use_meta(meta)
            if 'norecheck' in self.faults:
                break
            again, self.meta_file = read_meta(self.directory)
            if again['generation'] == meta['generation']:
                self.use_meta(again)
                break
            self.close()
            yield
        self.files.clear()
        frames = yield from self.read_log()
        self.state = lxlog.replay(frames, self.faults)
        if self.meta['sealed']:
            self.check_sealed()

    def refresh(self):
        """Go on to the newest commit, through a switch of meta.json if there was one.

        Returns
        -------
        bool
            Whether the state is another.
        """
        if self.directory.get('meta.json') is not self.meta_file:
            self.close()
            yield from self.open()
            return True
        frames = yield from self.read_log(self.state)
        for frame in frames:
            self.state.apply(frame, self.faults)
        return bool(frames)

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
                return lxlog.scan(log, self.seed, self.disk.boot, self.faults, start)
            except Damage:
                if log == before or 'noreread' in self.faults:
                    raise
                before = log
            yield

    def close(self):
        if self.meta['generation'] in self.disk.locks:
            self.disk.locks.remove(self.meta['generation'])
