# SPDX-License-Identifier: MIT
"""Files of arrays, made byte by byte, valid and invalid."""

import gzip
import struct

import numpy as np

IDX_TYPES = {
    'uint8': 0x08,
    'int8': 0x09,
    'int16': 0x0B,
    'int32': 0x0C,
    'float32': 0x0D,
    'float64': 0x0E,
}


def idx_header(code, shape):
    """The header of an IDX file."""
    return struct.pack(f'>BBBB{len(shape)}I', 0, 0, code, len(shape), *shape)


def idx_bytes(array):
    """A whole IDX file of an array."""
    swapped = array.astype(array.dtype.newbyteorder('>'))
    return idx_header(IDX_TYPES[array.dtype.name], array.shape) + swapped.tobytes()


def write_idx(path, array, compress=False):
    """Writes an IDX file, optionally gzipped; returns its path as text."""
    data = idx_bytes(array)
    path.write_bytes(gzip.compress(data) if compress else data)
    return str(path)


def npy_bytes(array, version=(1, 0), header=None):
    """A whole .npy file of an array; `header` replaces the dict in it."""
    if header is None:
        header = repr({'descr': array.dtype.str, 'fortran_order': False, 'shape': array.shape})
    text = header.encode() + b'\n'
    form = '<H' if version[0] == 1 else '<I'
    return (b'\x93NUMPY' + bytes(version) + struct.pack(form, len(text)) + text
            + array.tobytes())


def values(dtype, shape, seed=1):
    """Numbers of any dtype over its whole range, the same for each seed."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == 'b':
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in 'iu':
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    real = random.standard_normal(shape) * 100
    if dtype.kind == 'c':
        return (real + 1j * random.standard_normal(shape)).astype(dtype)
    return real.astype(dtype)
