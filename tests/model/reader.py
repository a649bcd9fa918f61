# SPDX-License-Identifier: MIT
"""The reader: opens without writing, stays at its snapshot, and refreshes on request.

Opening and refreshing are generators that yield between system calls, so that the writer can
continue there.
"""

import copy

from . import log as lxlog
from .handle import Handle
from .layout import NoDataset, read_meta
from .records import Damage


class Reader(Handle):
    """A dataset open for reading, pinned to the snapshot of its opening or last refresh.

    It holds the lock of its generation until it is closed. To continue in another generation, a
    process opens another reader, and the old one keeps its snapshot.

    Parameters
    ----------
    durable : bool
        It shows only data that survives a power loss: the frames up to the last synced one.
    """

    def __init__(self, disk, durable=False):
        super().__init__(disk)
        self.durable = durable
        self.meta_file = None
        self.locked = False

    def open(self):
        """Lock the generation, check that it is still current, and replay its log.

        meta.json is compared again after the log is read: a frame may be of another schema.
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
        """Continue to the newest commit, in a new generation if meta.json was replaced.

        Returns
        -------
        Reader
            Itself, or a new one for another meta.json.
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
        """Whether meta.json was replaced since it was read."""
        return self.directory.get('meta.json') is not self.meta_file

    def read_log(self, start=None):
        """The valid frames from `start` on.

        The log is read in two parts, between which a writer may truncate and write it. So the
        reader reports damage only if the next reading is the same.
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
        """Sync the log, and return the frames up to the last synced one.

        A synced frame is readable before its sync is complete.
        """
        yield
        if 'durablelog' not in self.faults:
            self.log_file().sync_by_reader()
        yield
        return frames[:lxlog.last_synced(frames) + 1]

    def pin(self):
        """Another reader, which stays at this snapshot."""
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
        """Release the lock, unless a detached file system has released it already."""
        if self.locked and self.meta['generation'] in self.disk.locks:
            self.disk.locks.remove(self.meta['generation'])
        self.locked = False
