# SPDX-License-Identifier: MIT
"""The target of the fuzzer of the Python extension.

The input selects indices, buffers and values of Python and NumPy, valid and invalid. Accepted ones
must give the right result; others must raise a documented exception.
"""

import array
import ctypes
import importlib.machinery
import sys

import numpy as np

sys.dont_write_bytecode = True


class Builtin:
    """Finds the extension in the program, where the fuzzer has linked it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != 'loaderx._core':
            return None
        return importlib.machinery.ModuleSpec(name, importlib.machinery.BuiltinImporter)


sys.meta_path.insert(0, Builtin)
import loaderx as lx    # noqa: E402

EXPECTED = (BufferError, IndexError, KeyError, MemoryError, OverflowError, RuntimeError, TypeError,
            ValueError, lx.LoaderxError, Warning)
COUNT = 40
DTYPES = ('?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', '>i2', '>u4', '>i8', 'f2', 'f4',
          'f8', 'c8', 'O', 'S3', 'M8[s]', 'V5')
FORMATS = ('b', 'B', 'h', 'H', 'i', 'I', 'l', 'L', 'q', 'Q', 'f', 'd')

WORLD = {}


class Input:
    """The bytes of an input in order, followed by zeros."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def number(self):
        """Return an integer, most often one that may be an index."""
        kind = self.byte()
        if kind < 200:
            return kind % (2 * COUNT + 4) - COUNT - 2
        low = int.from_bytes(self.take(8), 'little', signed=kind % 2 == 0)
        return low << 70 if kind > 250 else low

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at].ljust(size, b'\0')


class Index:
    """An object that is an integer, or claims to be one."""

    def __init__(self, given, number, target):
        self.given = given
        self.number = number
        self.target = target

    def __index__(self):
        if self.given % 4 == 1:
            raise ZeroDivisionError('an index that fails')
        if self.given % 4 == 2 and self.target:
            self.target.clear()
        return self.number if self.given % 4 != 3 else 'no number'


def begin(directory):
    """Make a dataset for reading, and one for writing."""
    images = np.arange(COUNT * 12, dtype='u1').reshape(COUNT, 3, 4)
    labels = np.arange(COUNT, dtype='i8') * 7 - 50
    points = (np.arange(COUNT * 2, dtype='f4') / 3).reshape(COUNT, 2)
    texts = [None if k % 9 == 4 else b'again ' * k for k in range(COUNT)]
    fields = {'image': lx.Field('uint8', (3, 4)), 'label': lx.Field('int64'),
              'point': lx.Field('float32', (2,)), 'text': lx.Field(bytes, compress='flate')}
    with lx.create(directory + '/read', fields, durability='none') as writer:
        writer.extend(image=images, label=labels, point=points, text=texts)
    WORLD.update(dataset=lx.open(directory + '/read'), fields=fields,
                 values={'image': images, 'label': labels, 'point': points, 'text': texts},
                 writer=lx.create(directory + '/written', fields, durability='none'))


# ---- arguments

def make_array(source, axes=None):
    """Return an array made from the input, of any type, with up to three axes and any strides."""
    dtype = np.dtype(DTYPES[source.byte() % len(DTYPES)])
    axes = source.byte() % 4 if axes is None else axes
    shape = tuple(source.byte() % 7 for _ in range(axes))
    size = int(np.prod(shape, dtype=int))
    if dtype.hasobject:
        made = np.empty(shape, dtype)
        made[...] = source.number()
    else:
        made = np.frombuffer(source.take(size * dtype.itemsize), dtype).reshape(shape).copy()
        if dtype.kind in 'iu' and source.byte() % 2:
            made[...] = made % COUNT
    way = source.byte()
    if axes and way % 5 == 1:
        made = made[::-1]
    elif axes and way % 5 == 2:
        made = made[::2]
    elif axes and way % 5 == 3:
        made = np.broadcast_to(made[:1], (source.byte() % 9, *made.shape[1:]))
    elif way % 5 == 4:
        made = made.T
    if way & 64:
        made.flags.writeable = False
    return made


def make_list(source):
    made = []
    for _ in range(source.byte() % 24):
        kind = source.byte()
        made.append(source.number() if kind < 220 else kind % 2 == 0 if kind < 228 else
                    Index(source.byte(), source.number(), made) if kind < 240 else
                    (None, 1.5, 'one', b'1', [1], np.int8(3), np.uint64(2 ** 63),
                     np.bool_(1))[kind % 8])
    return tuple(made) if source.byte() % 4 == 0 else made


def make_indices(source):
    """Return an index, valid or not."""
    kind = source.byte() % 12
    if kind == 0:
        return source.number()
    if kind == 1:
        return slice(*(None if source.byte() % 4 == 0 else source.number() for _ in range(3)))
    if kind in (2, 3, 4):
        return make_array(source, 1 if kind != 4 else None)
    if kind == 5:
        return np.frombuffer(source.take(COUNT), 'u1') % 2 == 1
    if kind == 6:
        return [byte % 2 == 1 for byte in source.take(COUNT + source.byte() % 3 - 1)]
    if kind == 7:
        code = FORMATS[source.byte() % len(FORMATS)]
        made = array.array(code)
        made.frombytes(source.take(made.itemsize * (source.byte() % 9)))
        return made
    if kind == 8:
        view = memoryview(bytearray(source.take(48)))
        return view.cast(FORMATS[source.byte() % len(FORMATS)])[::source.byte() % 3 + 1]
    if kind == 9:
        return (range(source.number() % 100), b'bytes', bytearray(3), 'text', None, iter([1]),
                {1: 2}, {3}, 2.5, np.float32(1), np.int16(3), (ctypes.c_int * 3)(1, 2, 3),
                Index(source.byte(), source.number(), None))[source.byte() % 13]
    return make_list(source)


def make_value(source, name):
    """Return a value to store in a field, valid or not."""
    kind = source.byte() % 10
    right = WORLD['values'][name][source.byte() % COUNT]
    if kind < 4:
        return right
    if kind == 4:
        return None
    if kind == 5:
        return source.number()
    if kind == 6:
        return make_array(source)
    if kind == 7:
        return make_list(source)
    if kind == 8:
        return (b'bytes', bytearray(b'more bytes'), memoryview(b'seen bytes')[::2], 'text', 1.5,
                2 + 1j, True, {}, np.float16(3), np.str_('x'), object)[source.byte() % 11]
    return memoryview(bytearray(source.take(24))).cast(FORMATS[source.byte() % len(FORMATS)])


def make_values(source, name, count):
    """Return values for many records."""
    kind = source.byte() % 6
    right = WORLD['values'][name][:count]
    if kind < 3:
        return right
    if kind == 3:
        return [make_value(source, name) for _ in range(count)]
    if kind == 4:
        return np.ma.masked_array(make_array(source), source.byte() % 2 == 1)
    return make_value(source, name)


def make_out(source, name, count):
    """Return a buffer to gather into."""
    kind = source.byte() % 6
    right = WORLD['values'][name]
    if name == 'text' or kind == 0:
        return make_array(source)
    shape = (count, *right.shape[1:])
    if kind == 1:
        return np.empty((2 * count, *shape[1:]), right.dtype)[::2]
    if kind == 2:
        return np.empty(shape[::-1], right.dtype).T
    if kind == 3:
        return bytearray(count * right.dtype.itemsize)
    made = np.empty(shape, right.dtype)
    made.flags.writeable = kind != 4
    return made


# ---- calls

def chosen(indices):
    """Return the records of an index, computed in plain Python."""
    if isinstance(indices, slice):
        return list(range(COUNT))[indices]
    items = list(indices)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return [k for k, item in enumerate(items) if item]
    return [range(COUNT)[int(item)] for item in items]


def check(name, records, got):
    """The records must be those that were written."""
    values = WORLD['values'][name]
    if name == 'text':
        assert list(got) == [values[k] for k in records], (records, got)
    else:
        assert got.dtype == values.dtype and np.array_equal(got, values[records]), (records, got)


def get(source):
    name = ('image', 'label', 'point', 'text')[source.byte() % 4]
    indices = make_indices(source)
    made = isinstance(indices, (list, tuple)) and any(isinstance(item, Index) for item in indices)
    got = WORLD['dataset'][name][indices]
    if hasattr(indices, '__index__') and np.ndim(indices) == 0:
        values = WORLD['values'][name]
        assert np.array_equal(got, values[indices]) or got == values[indices]
    elif isinstance(indices, slice):
        check(name, chosen(indices), got)
    elif not hasattr(indices, '__next__') and not made:    # these were changed
        check(name, chosen(indices), got)


def gather(source):
    indices = make_indices(source)
    names = [('image', 'label', 'point', 'text', 'none', 5)[source.byte() % 6]
             for _ in range(source.byte() % 4)]
    out = {name: make_out(source, name, source.byte() % 12) for name in names
           if name in ('image', 'label', 'point', 'text') and source.byte() % 2}
    WORLD['dataset'].gather(indices, fields=names or None, out=out or None)


def view(source):
    with WORLD['dataset'].views(make_indices(source), ('image', 'label')) as views:
        kept = views['image'][:2]
    for item in kept:
        assert item is None or item.sum() >= 0


def append(source):
    writer = WORLD['writer']
    try:
        writer.append({name: make_value(source, name) for name in WORLD['fields']})
    finally:
        writer.rollback()


def extend(source):
    writer = WORLD['writer']
    count = source.byte() % 5
    try:
        writer.extend(**{name: make_values(source, name, count) for name in WORLD['fields']})
    finally:
        writer.rollback()


STEPS = (get, get, get, gather, gather, view, append, append, extend, extend)


def take(data):
    """Run one input."""
    source = Input(data)
    for _ in range(4):
        step = STEPS[source.byte() % len(STEPS)]
        try:
            step(source)
        except ZeroDivisionError as error:
            assert 'an index that fails' in str(error)
        except EXPECTED:
            pass
        if source.at >= len(data):
            break
