# SPDX-License-Identifier: MIT
"""A disk that forgets: files, directories and the ways to lose what was not synced.

A file is what the medium holds (`durable`), what every process sees (`cache`), and the operations
between the two (`pending`): pieces of writes, and truncations. A directory is the same with
entries. A kill loses nothing of it; a power loss keeps any subset of what is pending, in any mix.
"""


class Crash(Exception):
    """The process is killed at this step."""


class SyncFailed(Exception):
    """A sync reported an error; what it should have written may be lost for good."""


def apply_write(image, offset, data):
    """Write `data` at `offset` of a bytearray; where data is None, make it `offset` bytes long."""
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
        Only for traces and for directed runs.
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
        """Write to the cache; now and then a crash or a reader comes between two halves of it."""
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
            self.disk.note('  which fails')
            self._drop()
            raise SyncFailed(self.name)
        self._settle(lambda offset, data: True)

    def flush(self):
        """A sync by a reader: it does not fail, but what a failed one lost it does not write."""
        self._settle(lambda offset, data: True)

    def lose(self, keep=None):
        """Power fails: `keep(name, offset, data)` says which pieces had reached the medium."""
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
        """Split a write into pieces that can be lost apart: sectors of some size and any phase."""
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
            self.disk.note(f'  {self.name}: lost {lost} of {len(self.pending)} pieces')
        self.pending.clear()

    def _drop(self):
        """What a failed sync leaves: half of the pieces on the medium, none of them dirty any more.

        The size is the inode's and not lost. The cache continues showing everything, or, in a world
        that evicts, what the medium has.
        """
        size = self.size
        self._settle(lambda offset, data: data is None or self.disk.rng.random() < .5)
        apply_write(self.durable, size, None)
        if self.disk.evicts():
            self.cache = bytearray(self.durable)
            self.disk.note('  and the cache drops it, too')


class Directory:
    """A directory. Each pending operation is some (name, node or None), kept or lost as one."""

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
        """A new file; one of that name must not be there."""
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
            self.disk.note('  which fails')
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
                self.disk.note(f'  {self.name}: lost the change of', *names)
        self.pending.clear()


def change_entry(entries, name, node):
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


class Disk:
    """The machine under a dataset: one tree of files, one boot, and the locks that readers hold.

    Parameters
    ----------
    rng : random.Random
        Decides what is lost, and in which pieces.
    faults : frozenset of str
        What is planted, by the names in `faults`; asked for by the protocol's own code.
    failing : float
        The chance that a sync fails.
    evicting : float
        The chance that a file whose sync failed is then seen as the medium has it.
    boot_known : bool
        False where there is no /proc: the boot is 0, and frames of boot 0 are never trusted.

    Attributes
    ----------
    filling : float
        The chance that a frame or a new file finds no room.
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
        """The directory in which the dataset's directory is made."""
        return self.root.get('home')

    @property
    def boot(self):
        return self._boots if self.boot_known else 0

    def step(self, *what):
        """Called before each change: a crash may be raised here, and readers may act."""
        self.note(*what)
        self.on_step(what)

    def note(self, *what):
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
        """Everything that was not synced may be lost, and the next boot is another."""
        self.note('POWER LOSS')
        self._lose(keep)
        self._boots += 1

    def detach(self, keep=None):
        """The file system goes and comes back within the boot: a disk pulled out, a shutdown."""
        self.note('DETACHED AND ATTACHED AGAIN')
        self._lose(keep)

    def _lose(self, keep):
        self.locks.clear()
        self.root.lose(keep)
