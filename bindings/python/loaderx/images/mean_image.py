# SPDX-License-Identifier: MIT
"""Mean images, in files of ``mxnet.nd.save``."""

from __future__ import annotations

import contextlib
import os
import struct
from typing import Any

import numpy as np

__all__ = ['load_mean_image', 'save_mean_image']

_Array = np.ndarray[Any, np.dtype[np.float32]]

# A file with one array: the magic number of lists, 0, the number of arrays, the magic number of
# arrays, the storage type (dense), the number of axes and their lengths, the device (CPU 0), the
# dtype (float32), the values, and then the number of names and the name.
_HEAD = struct.Struct('<QQQIiIqqqiii')
_LIST, _DENSE, _AXES, _CPU, _FLOAT32 = 0x112, 0, 3, 1, 0
_ARRAY, _NUMPY_ARRAY = 0xf993fac9, 0xf993faca    # of MXNet 1.x, and of its NumPy interface
_NAME = b'mean_img'


def save_mean_image(path: str, image: _Array) -> None:
    """Write a mean image, of shape (channels, height, width); the file appears when complete."""
    head = _HEAD.pack(_LIST, 0, 1, _ARRAY, _DENSE, _AXES, *image.shape, _CPU, 0, _FLOAT32)
    names = struct.pack('<QQ', 1, len(_NAME)) + _NAME
    temporary = f'{path}.{os.getpid()}'
    try:
        with open(temporary, 'wb') as file:
            file.write(head + image.astype('<f4').tobytes() + names)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def load_mean_image(path: str, shape: Any) -> _Array:
    """Read a mean image, which must have this shape.

    Raises
    ------
    ValueError
        The file is not one array of float32 of this shape, as ``mxnet.nd.save`` writes it.
    """
    with open(path, 'rb') as file:
        data = file.read(_HEAD.size + 4 * int(np.prod(shape)))
    if len(data) < _HEAD.size:
        raise ValueError(f'{path} has {len(data)} bytes, and so is not a mean image: delete it, '
                         'and it is made again')
    magic, _, count, kind, storage, axes, *rest = _HEAD.unpack_from(data)
    if (magic, count, storage, axes) != (_LIST, 1, _DENSE, _AXES) or rest[-1] != _FLOAT32 or (
            kind not in (_ARRAY, _NUMPY_ARRAY)):
        raise ValueError(f'{path} is not a mean image: it must have one array of float32 with 3 '
                         'axes, as mxnet.nd.save() writes it')
    if tuple(rest[:3]) != tuple(shape):
        raise ValueError(f'{path} has a mean image of shape {tuple(rest[:3])}, but data_shape is '
                         f'{tuple(shape)}: delete it, and it is made again')
    if len(data) != _HEAD.size + 4 * int(np.prod(shape)):
        raise ValueError(f'{path} ends within the mean image: delete it, and it is made again')
    return np.frombuffer(data, '<f4', offset=_HEAD.size).astype(np.float32).reshape(shape)
