# SPDX-License-Identifier: MIT
"""What every peer is: a way to write records, read them, and shuffle them."""

import importlib
import importlib.metadata

import numpy as np

BATCH = 256


class Peer:
    """One package, or one way to use it.

    A peer has those of these methods that its package can do; a row of the table compares the peers
    that have its method. Columns are a dict of arrays, or of lists of bytes objects, one value a
    record.

    write(encoded)      writes what encode(columns) returned to the new folder self.folder
    open()              opens it
    read(name, indices) returns these records of a column, in any form that rows.to_bytes() knows
    read_one(name, i)   returns one
    batches()           yields (images, labels) of 256 records in shuffled order, without end
    order(n)            yields arrays with the indices of a shuffle of n
    """

    name = ''
    package = ''    # which pip installs
    modules = ()    # which must import
    codecs = ()     # in which it can store texts, other than as they are
    appends = True    # False: it only reads, from files of another package
    writes_slowly = False
    timed_indices = None    # of an order, if all of it would take too long

    def __init__(self, folder, codec=None):
        self.folder = folder
        self.codec = codec

    @classmethod
    def can_do(cls, method):
        return getattr(cls, method, None) is not None

    @classmethod
    def version(cls):
        """Return the version of the package, or raise ImportError."""
        for module in cls.modules:
            importlib.import_module(module)
        return importlib.metadata.version(cls.package)

    def encode(self, columns):
        """Return the columns in the form that write() takes; this is not timed."""
        return columns


class ByteStore(Peer):
    """A package that stores bytes objects: it has put(records), get(indices) and get_one(index)."""

    def encode(self, columns):
        """Each record as one bytes object: the bytes of its columns, whose types are kept."""
        self.dtype = None if any(isinstance(column, list) for column in columns.values()) else (
            np.dtype([(name, column.dtype, column.shape[1:])
                      for name, column in columns.items()]))
        parts = [column if isinstance(column, list) else [row.tobytes() for row in column]
                 for column in columns.values()]
        return parts[0] if len(parts) == 1 else [b''.join(record) for record in zip(*parts)]

    def write(self, encoded):
        self.put(encoded)

    def read(self, name, indices):
        records = self.get(indices)
        if self.dtype is None or len(self.dtype) == 1:
            return records
        return np.frombuffer(b''.join(records), self.dtype)[name]

    def read_one(self, name, index):
        record = self.get_one(index)
        return record if self.dtype is None else np.frombuffer(record, self.dtype)[name][0]

    def batches(self):
        """Batches in the order of a permutation, decoded at once: the fastest way."""
        for indices in shuffled_batches(self.length()):
            rows = np.frombuffer(b''.join(self.get(indices)), self.dtype)
            yield rows['image'], rows['label']


def shuffled_batches(length):
    """Yield batches of the indices of epochs of new permutations, without end."""
    rng = np.random.default_rng(1)
    while True:
        order = rng.permutation(length)
        for first in range(0, length - BATCH + 1, BATCH):
            yield order[first:first + BATCH]


def endless(loader):
    """Yield the batches of one pass after the other."""
    while True:
        yield from loader
