# SPDX-License-Identifier: MIT
"""A simulated disk: files, directories, and the ways in which unsynced data is lost.

A file has the contents on the medium (`durable`), the contents that processes see (`cache`), and
the operations between the two (`pending`): pieces of writes, and truncations. A directory is the
same with entries. A kill loses nothing; a power loss keeps any subset of the pending operations.
"""


class Crash(Exception):
    """The process is killed at this step."""


class SyncFailed(Exception):
    """A sync reported an error; the data that it should have written may be lost."""


def apply_write(image, offset, data):
    """Write `data` at `offset` of a bytearray; if data is None, truncate it to `offset` bytes."""
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    if data is None:
        del image[offset:]
    else:
        image[offset:offset + len(data)] = data


class File:
    """A regular file.

    Parameters
    ----------
    disk : Disk
    name : str
        Used only by traces and scenarios.
    """

    def __init__(self, disk, name):
        self.disk = disk
        self.name = name
        self.durable = bytearray()
        self.cache = bytearray()
        self.pending = []

    @property
    def size(self):
        return len(self.cache)

    def pread(self, offset=0, count=None):
        return bytes(self.cache[offset:None if count is None else offset + count])

    def pwrite(self, offset, data):
        """Write to the cache; a crash or a reader may come between two halves of the write."""
        half = self.disk.rng.randrange(len(data)) if self.disk.rng.random() < .3 else 0
        self.disk.step('pwrite', self.name, offset, len(data))
        if half:
            self._write(offset, data[:half])
            self.disk.step('the rest of', self.name)
        self._write(offset + half, data[half:])

    def truncate(self, size):
        self.disk.step('truncate', self.name, size)
        self._do(size, None)

    def sync(self):
        self.disk.step('sync', self.name)
        if self.disk.sync_fails():
            self.disk.report('  which fails')
            self._drop()
            raise SyncFailed(self.name)
        self._settle(lambda offset, data: True)

    def sync_by_reader(self):
        """A sync by a reader: it succeeds, but does not write data that a failed sync lost."""
        self._settle(lambda offset, data: True)

    def lose(self, keep=None):
        """Power fails: `keep(name, offset, data)` decides which pieces reached the medium."""
        rng = self.disk.rng
        if keep is None:
            share = rng.choice((0, 1, rng.random(), rng.random()))
            extend = rng.randint(0, 600) if self.pending and rng.random() < .3 else 0
            self._settle(lambda offset, data: rng.random() < share)
            self.durable.extend(bytes(extend))
        else:
            self._settle(lambda offset, data: keep(self.name, offset, data))
        self.cache = bytearray(self.durable)

    def _write(self, offset, data):
        """Split a write into pieces that can be lost separately: sectors of any size and phase."""
        size = self.disk.rng.choice((8, 64, 512))
        end = self.disk.rng.randint(1, size)
        start = 0
        while start < len(data):
            self._do(offset + start, data[start:end])
            start, end = end, end + size

    def _do(self, offset, data):
        apply_write(self.cache, offset, data)
        self.pending.append((offset, data))

    def _settle(self, keep):
        lost = 0
        for offset, data in self.pending:
            if keep(offset, data):
                apply_write(self.durable, offset, data)
            else:
                lost += 1
        if lost:
            self.disk.report(f'  {self.name}: lost {lost} of {len(self.pending)} pieces')
        self.pending.clear()

    def _drop(self):
        """The result of a failed sync: half of the pieces are on the medium, and none is dirty.

        The size belongs to the inode and is not lost. The cache still shows everything, or, in a
        world with eviction, the contents of the medium.
        """
        size = self.size
        self._settle(lambda offset, data: data is None or self.disk.rng.random() < .5)
        apply_write(self.durable, size, None)
        if self.disk.evicts():
            self.cache = bytearray(self.durable)
            self.disk.report('  and the cache drops the data, too')


class Directory:
    """A directory. A pending operation is (name, node or None) pairs, kept or lost as a whole."""

    def __init__(self, disk, name):
        self.disk = disk
        self.name = name
        self.durable = {}
        self.entries = {}
        self.pending = []

    def get(self, name):
        return self.entries.get(name)

    def names(self):
        return sorted(self.entries)

    def make_file(self, name):
        """Make a new file, whose name must not exist."""
        if name in self.entries:
            raise FileExistsError(name)
        self.disk.step('create', name)
        return self._link(name, File(self.disk, name))

    def make_directory(self, name):
        self.disk.step('mkdir', name)
        return self._link(name, Directory(self.disk, name))

    def unlink(self, name):
        self.disk.step('unlink', name)
        self._do(((name, None),))

    def rename(self, old, new):
        self.disk.step('rename', old, new)
        self._do(((new, self.entries[old]), (old, None)))

    def sync(self):
        self.disk.step('sync directory', self.name)
        if self.disk.sync_fails():
            self.disk.report('  which fails')
            raise SyncFailed(self.name)
        self._settle(lambda names: True)

    def lose(self, keep=None):
        rng = self.disk.rng
        if keep is None:
            share = rng.choice((0, 1, .5))
            self._settle(lambda names: rng.random() < share)
        else:
            self._settle(lambda names: keep(self.name, None, names))
        self.entries = dict(self.durable)
        for node in self.entries.values():
            node.lose(keep)

    def _link(self, name, node):
        self._do(((name, node),))
        return node

    def _do(self, operation):
        for name, node in operation:
            change_entry(self.entries, name, node)
        self.pending.append(operation)

    def _settle(self, keep):
        for operation in self.pending:
            names = [name for name, _ in operation]
            if keep(names):
                for name, node in operation:
                    change_entry(self.durable, name, node)
            else:
                self.disk.report(f'  {self.name}: lost the change of', *names)
        self.pending.clear()


def change_entry(entries, name, node):
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


class Disk:
    """The machine that holds a dataset: a tree of files, the boot, and the locks of readers.

    Parameters
    ----------
    rng : random.Random
        Chooses the lost data, and its pieces.
    faults : frozenset of str
        The planted faults, by their names in `faults`; the code of the protocol checks for them.
    failing : float
        The chance that a sync fails.
    evicting : float
        The chance that the cache drops the data of a failed sync.
    boot_known : bool
        False without /proc: the boot is 0, and unsynced frames of boot 0 are never valid.

    Attributes
    ----------
    filling : float
        The chance that a frame or a new file finds the disk full.
    """

    def __init__(self, rng, faults=frozenset(), failing=0., evicting=0., boot_known=True):
        self.rng = rng
        self.faults = faults
        self.failing = failing
        self.evicting = evicting
        self.boot_known = boot_known
        self.filling = 0.
        self.on_step = lambda what: None
        self.on_evict = lambda: None
        self.trace = None
        self._boots = 1
        self.locks = []
        self.root = Directory(self, '/')
        self.root.durable['home'] = self.root.entries['home'] = Directory(self, 'home')

    @property
    def home(self):
        """The parent directory of the dataset."""
        return self.root.get('home')

    @property
    def boot(self):
        return self._boots if self.boot_known else 0

    def step(self, *what):
        """Called before each change: it may raise a crash, and lets readers act."""
        self.report(*what)
        self.on_step(what)

    def report(self, *what):
        if self.trace is not None:
            self.trace.append(' '.join(str(word) for word in what))

    def sync_fails(self):
        return self.failing > 0 and self.rng.random() < self.failing

    def is_full(self):
        return self.filling > 0 and self.rng.random() < self.filling

    def evicts(self):
        if self.evicting > 0 and self.rng.random() < self.evicting:
            self.on_evict()
            return True
        return False

    def power_loss(self, keep=None):
        """Lose any part of the unsynced data, and begin a new boot."""
        self.report('POWER LOSS')
        self._lose(keep)
        self._boots += 1

    def detach(self, keep=None):
        """The file system disappears and returns within the boot."""
        self.report('DETACHED AND ATTACHED AGAIN')
        self._lose(keep)

    def _lose(self, keep):
        self.locks.clear()
        self.root.lose(keep)
