# SPDX-License-Identifier: MIT
"""The rows of the table: the data, the method of a peer that is timed, and the records compared."""

import glob
import os
import random
import shutil
import sysconfig
import zlib

import numpy as np

from turns import read_idx

from .peer import BATCH

TEXTS = 40000
APPENDED = 64 << 20    # bytes; an eighth of it by packages that are slow
GATHERED = 256 << 20    # bytes; several times a usual last-level cache
ORDER = 100_000_000
CHECKED = 1000    # records that are compared


# ---- data

def fashion(idx_folder):
    """Images and labels of Fashion-MNIST, in whole batches; random ones if it is not installed."""
    try:
        images, labels = (read_idx(os.path.join(idx_folder, f'train-{kind}.gz'))
                          for kind in ('images-idx3-ubyte', 'labels-idx1-ubyte'))
        name = 'images of Fashion-MNIST'
    except FileNotFoundError:
        rng = np.random.default_rng(1)
        images = rng.integers(0, 256, (60000, 28, 28), np.uint8)
        labels, name = rng.integers(0, 10, 60000), 'synthetic images'
    whole = len(images) // BATCH * BATCH
    return name, {'image': images[:whole], 'label': labels[:whole].astype(np.int64)}


def records(size, total):
    rng = np.random.default_rng(1)
    return f'{total >> 20} MiB', {
        'data': np.frombuffer(rng.bytes(total), np.uint8).reshape(-1, size)}


def texts():
    """Pieces of 300 to 2,300 bytes of the modules of the Python that runs this."""
    draw, pieces = random.Random(7), []
    for name in sorted(glob.glob(os.path.join(sysconfig.get_path('stdlib'), '**', '*.py'),
                                 recursive=True)):
        with open(name, 'rb') as file:
            data = file.read()
        begin = 0
        while begin < len(data) and len(pieces) < TEXTS:
            pieces.append(data[begin:begin + draw.randint(300, 2300)])
            begin += len(pieces[-1])
    return f'{len(pieces):,} pieces of Python modules', {'text': pieces}


# ---- comparing

def to_array(value):
    foreign = hasattr(value, '__dlpack__') and not isinstance(value, np.ndarray)
    return np.from_dlpack(value) if foreign else value


def to_bytes(records, column):
    """The bytes of each record of a batch in any of the forms that peers return, cast to the type
    of the column."""
    if hasattr(records, 'cu_seqlens'):    # of loaderx 2.8
        values, ends = to_array(records.values), to_array(records.cu_seqlens)
        return [values[begin:end].tobytes() for begin, end in zip(ends, ends[1:])]
    dtype = getattr(column, 'dtype', np.uint8)
    return [one if isinstance(one, bytes) else np.asarray(to_array(one), dtype).tobytes()
            for one in to_array(records)]


def digest(parts):
    """A sum that does not depend on the order of the records."""
    return sum(map(zlib.crc32, parts))


# ---- rows

class Row:
    """One line of the table."""

    method = ''
    unit = 'record'

    def __init__(self, title, make, codec=None):
        self.title, self.make, self.codec = title, make, codec

    def takes(self, peer):
        return peer.can_do(self.method) and (self.codec is None or self.codec in peer.codecs)

    def prepare(self, peer, columns):
        peer.write(peer.encode(columns))
        peer.open()


class Gather(Row):
    """Batches of random records."""

    method = 'read'

    def job(self, peer, columns):
        """Return a function, the records that a call handles, and a digest of some records."""
        self.prepare(peer, columns)
        (name, column), = columns.items()
        rng = np.random.default_rng(2)
        batches = [rng.integers(len(column), size=BATCH) for _ in range(512)]
        place = 0
        for first in range(0, len(column), BATCH):    # maps pages, verifies
            peer.read(name, np.arange(first, min(first + BATCH, len(column))))

        def run():
            nonlocal place
            place = (place + 1) % len(batches)
            return peer.read(name, batches[place])

        return run, BATCH, digest(to_bytes(peer.read(name, batches[0]), column))


class Single(Row):
    """Random records of a column, one at a time."""

    method = 'read_one'

    def __init__(self, title, make, column, codec=None):
        super().__init__(title, make, codec)
        self.column = column

    def job(self, peer, columns):
        self.prepare(peer, columns)
        read, name = peer.read_one, self.column
        column = columns[name]
        indices = np.random.default_rng(2).integers(len(column), size=CHECKED).tolist()

        def run():
            for i in indices:
                read(name, i)

        found = [read(name, i) for i in indices]
        if hasattr(found[0], 'cu_seqlens'):    # a batch of one
            found = [to_array(batch.values) for batch in found]
        return run, len(indices), digest(to_bytes(found, column))


class Shuffled(Row):
    """Batches of images and labels in shuffled order."""

    method = 'batches'

    def job(self, peer, columns):
        self.prepare(peer, columns)
        batches, found = iter(peer.batches()), []
        for _ in range(len(columns['label']) // BATCH):    # an epoch
            parts = [to_bytes(values, columns[name])
                     for name, values in zip(('image', 'label'), next(batches))]
            found += [image + label for image, label in zip(*parts)]
        return lambda: next(batches), BATCH, digest(found)


class Append(Row):
    """Writing a new dataset: creation, appending, closing, removal."""

    method = 'write'

    def takes(self, peer):
        return peer.appends and super().takes(peer)

    def job(self, peer, columns):
        (name, column), = columns.items()
        least = len(column) // 8
        if peer.writes_slowly:
            column = column[:least]
        encoded = peer.encode({name: column})

        def run():
            peer.write(encoded)
            shutil.rmtree(peer.folder)

        if not peer.can_do('read'):
            return run, len(column), None    # nothing reads it but its own loader
        peer.write(encoded)
        peer.open()
        indices = np.random.default_rng(2).integers(least, size=CHECKED)
        found = digest(to_bytes(peer.read(name, indices), column))
        shutil.rmtree(peer.folder)
        return run, len(column), found


class Order(Row):
    """The order of an epoch, all of it."""

    method = 'order'
    unit = 'index'

    def job(self, peer, columns):
        def take(n, count):
            done = 0
            for part in peer.order(n):
                yield part
                done += len(part)
                if done >= count:
                    return

        def run():
            for _ in take(ORDER, timed):
                pass

        timed = peer.timed_indices or ORDER
        found = np.sort(np.concatenate([np.array(part) for part in take(CHECKED, CHECKED)]))
        return run, timed, digest([found.astype(np.int64).tobytes()])


ROWS = {
    'images': Shuffled('shuffled 28x28 images and labels, 256 a batch', fashion),
    'gather-4k': Gather('random records of 4 KiB, 256 a batch',
                        lambda _: records(4096, GATHERED)),
    'gather-64k': Gather('random records of 64 KiB, 256 a batch',
                         lambda _: records(65536, GATHERED)),
    'texts': Gather('random texts of 1.3 KB, 256 a batch', lambda _: texts()),
    'texts-zstd': Gather('random texts of 1.3 KB, compressed with zstd, 256 a batch',
                         lambda _: texts(), 'zstd'),
    'one-text': Single('one text of 1.3 KB at a time', lambda _: texts(), 'text'),
    'one-array': Single('one array of 28x28 at a time', fashion, 'image'),
    'one-scalar': Single('one scalar at a time', fashion, 'label'),
    'append-256': Append('append of records of 256 bytes: create, write, close, remove',
                         lambda _: records(256, APPENDED)),
    'append-4k': Append('append of records of 4 KiB: create, write, close, remove',
                        lambda _: records(4096, APPENDED)),
    'order': Order('the order of an epoch of 100,000,000 records', lambda _: ('', {})),
}
