# SPDX-License-Identifier: MIT
"""Batches of values that vary in length, and their padding."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Type, Union

import numpy as np

from . import _core
from ._check import boolean, natural
from ._fixed import Fixed
from ._tables import to_array
from ._tensors import to_tensor
from .errors import LoaderxError

__all__ = ['Pad', 'Ragged']


_SIDES = ('right', 'left')
_KINDS = 'biufcmMV'    # ml_dtypes has types of kind V


class Pad(Fixed):
    """How a loader pads the values of a field to a common length.

    Parameters
    ----------
    value : number, time or str
        The item to pad with. Times are padded with a time, such as 'NaT'.
    side : {'right', 'left'}
        Where to put the padding: after the values, or before them.
    multiple : int
        The common length is the smallest multiple of this number that fits the longest value.
    lengths : list of int, optional
        The common length is the smallest of these that fits the longest value, so that batches have
        few different shapes, as compilers such as torch.compile and XLA prefer. A longer value is
        an error. Must not be given with `multiple`.
    mask : bool
        Whether the batch has a mask: an array of bool, under the name of the field followed by
        ``_mask``, which is True for the items of the values.

    Examples
    --------
    >>> ragged = Ragged.of([[1, 2, 3], [4]], dtype=np.int32)
    >>> Pad(-1, multiple=4)(ragged)
    array([[ 1,  2,  3, -1],
           [ 4, -1, -1, -1]], dtype=int32)
    """

    __slots__ = ('value', 'side', 'multiple', 'lengths', 'mask')

    def __init__(self, value: Any = 0, *, side: str = 'right', multiple: int = 1,
                 lengths: Optional[Iterable[int]] = None, mask: bool = False) -> None:
        if side not in _SIDES:
            raise ValueError(f"side must be 'right' or 'left', not {side!r}")
        self.value = value
        self.side = side
        self.multiple = natural('multiple', multiple, minimum=1)
        if isinstance(lengths, (int, np.integer)):
            raise TypeError('lengths must be a list of ints, not a single int')
        self.lengths = None if lengths is None else sorted(
            natural('a length', length) for length in lengths)
        if self.lengths is not None and not self.lengths:
            raise ValueError('lengths must contain at least one length')
        if self.lengths is not None and multiple != 1:
            raise ValueError('lengths and multiple are mutually exclusive: pass only one of them')
        self.mask = boolean('mask', mask)

    def __repr__(self) -> str:
        parts = [repr(self.value)]
        if self.side != 'right':
            parts.append(f'side={self.side!r}')
        if self.multiple != 1:
            parts.append(f'multiple={self.multiple}')
        if self.lengths is not None:
            parts.append(f'lengths={self.lengths}')
        if self.mask:
            parts.append('mask=True')
        return f'Pad({", ".join(parts)})'

    def length_for(self, longest: int) -> int:
        """Return the common length of values of which the longest has this length."""
        if self.lengths is None:
            return -(-longest // self.multiple) * self.multiple
        for length in self.lengths:
            if length >= longest:
                return length
        raise ValueError(f'a value has the length {longest}, which exceeds the greatest of '
                         f'lengths, {self.lengths[-1]}: add a greater one, or truncate the values')

    def __call__(self, ragged: Ragged) -> np.ndarray[Any, Any]:
        """Return the padded values, an array of shape (records, length, ...)."""
        return self.with_mask(ragged)[0]

    def with_mask(self, ragged: Ragged) -> Tuple[np.ndarray[Any, Any],
                                                 Optional[np.ndarray[Any, Any]]]:
        """Return the padded values, and the mask if `mask` is set."""
        values, offsets = ragged._as_arrays()
        if values.dtype.hasobject or values.dtype.kind not in _KINDS:
            raise TypeError(f'values of {values.dtype} cannot be padded')
        longest = int(np.diff(offsets).max()) if len(offsets) > 1 else 0
        shape = (len(offsets) - 1, self.length_for(longest))
        padded = np.empty(shape + values.shape[1:], values.dtype)
        mask = np.empty(shape, np.bool_) if self.mask else None
        item = np.empty(values.shape[1:], values.dtype)
        item[...] = _checked(self.value, values.dtype)
        _core.pad(values, offsets, item, self.side == 'left', padded, mask)
        if item.size == 0 and mask is not None:    # there is nothing to copy
            marks = np.arange(shape[1]) < np.diff(offsets)[:, None]
            mask[...] = marks[:, ::-1] if self.side == 'left' else marks
        return padded, mask


def _checked(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the value as the dtype, rounded if necessary; raise if it does not fit."""
    if dtype.kind in 'mM':
        return _checked_time(value, dtype)
    wrong = ValueError(f'value {value!r} cannot be stored as {dtype}')
    array = np.asarray(value)
    if array.ndim != 0 or array.dtype.kind not in 'biufcmMO' or value is None:
        raise wrong
    if array.dtype.kind == 'c' and dtype.kind != 'c' and array.imag != 0:
        raise wrong
    try:
        with np.errstate(all='ignore'):
            item = (array.real if array.dtype.kind == 'c' and dtype.kind != 'c' else array).astype(
                dtype)
        if dtype.kind in 'biu':
            fits = bool(item == array)
        else:    # rounding is fine, but not overflow
            fits = bool(np.isfinite(complex(item)) == np.isfinite(complex(value)))
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if not fits:
        raise wrong
    return item


def _checked_time(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a time or a text as the dtype; raise if that would lose information."""
    wrong = ValueError(f"value {value!r} cannot be stored as {dtype}: pad with a time of its unit, "
                       "such as 'NaT'")
    try:
        array = np.asarray(value)
        if array.dtype.kind in 'OU':    # datetime objects, or texts
            array = np.asarray(value, dtype.kind + '8')
        if array.ndim != 0 or array.dtype.kind != dtype.kind or value is None:
            raise wrong
        item = array.astype(dtype)
        fits = bool(np.isnat(array) or item == array)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if not fits:
        raise wrong
    return item


def _arrays(items: List[Any], dtype: Any) -> List[np.ndarray[Any, Any]]:
    """Convert values to arrays of one dtype; an empty list decides neither it nor the shape."""
    arrays = [np.asarray(item, dtype) for item in items]
    for i, array in enumerate(arrays):
        if array.ndim == 0:
            raise TypeError(f'value {i} must be an array, a list or bytes, like all values, not '
                            f'{type(items[i]).__name__}')
    axes = next((array.shape[1:] for array in arrays if array.shape != (0,)), ())
    arrays = [array.reshape(0, *axes) if array.shape == (0,) else array for array in arrays]
    if dtype is None:
        known = [array.dtype for array in arrays if array.size]
        if known:
            common = np.result_type(*known)
            arrays = [array.astype(common) if array.size == 0 else array for array in arrays]
    return arrays


def _take_offsets(offsets: Any, items: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return offsets as an array of int64; raise an error unless they ascend from 0 to at most the
    number of items."""
    array = np.asarray(offsets)
    if array.ndim != 1 or (array.dtype.kind not in 'iu' and array.size):
        raise TypeError('offsets must be an array of ints with one axis, not of '
                        f'{array.dtype} with the shape {array.shape}')
    array = np.ascontiguousarray(array, np.int64)
    _core.check_offsets(array, items)
    return array


class Ragged:
    """Values that vary in length, one after another in a single array.

    Value i consists of ``values[offsets[i]:offsets[i + 1]]``. Indexing with an int returns a value:
    an array that shares the memory of `values`, a bytes object or, for a str or JSON field, a str.
    Indexing with a slice, or with an array of indices or bools, returns a Ragged.

    Parameters
    ----------
    values : array
        The items of all values, along the first axis.
    offsets : array of int64
        Where each value begins, and where the last one ends; the first offset need not be 0. They
        become a NumPy array, as in a batch of a loader, whatever its `out`.
    item : type, optional
        `bytes` or `str` if values are such objects, of which `values` holds the bytes or the UTF-8;
        None: they are arrays. A writer stores either in a JSON field as the JSON texts that they
        are in a batch; strs in a list are values, which it encodes.

    Raises
    ------
    TypeError
        `offsets` is not an array of ints with one axis.
    ValueError
        The offsets do not ascend from 0 to at most the number of items. If they are changed later,
        the methods and writers that use them raise this error.

    Examples
    --------
    >>> ragged = Ragged(np.arange(6), np.array([0, 4, 4, 6]))
    >>> len(ragged), ragged[0], ragged.lengths
    (3, array([0, 1, 2, 3]), array([4, 0, 2]))
    >>> ragged[1:].tolist()
    [[], [4, 5]]
    >>> ragged.pad(-1)
    array([[ 0,  1,  2,  3],
           [-1, -1, -1, -1],
           [ 4,  5, -1, -1]])
    """

    __slots__ = ('values', 'offsets', 'item')

    def __init__(self, values: Any, offsets: Any,
                 item: Union[None, Type[bytes], Type[str]] = None) -> None:
        self.values = values
        self.offsets = _take_offsets(offsets, len(values))
        self.item = item

    def _as_arrays(self) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.int64]]]:
        """Return the values as a NumPy array, and the offsets, which may have been changed."""
        values = np.ascontiguousarray(to_array(self.values, 'values'))
        return values, _take_offsets(self.offsets, len(values))

    @classmethod
    def of(cls, values: Iterable[Any], dtype: Any = None) -> Ragged:
        """Create a Ragged from arrays, lists, bytes objects or strs, which it copies."""
        items = list(values)
        item = next((kind for kind in (bytes, str)
                     if items and all(isinstance(one, kind) for one in items)), None)
        if item is str:
            items = [one.encode() for one in items]
        if item is not None:
            joined: Any = np.frombuffer(bytearray(b''.join(items)), np.uint8)
        else:
            arrays = _arrays(items, dtype)
            joined = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        offsets = np.zeros(len(items) + 1, np.int64)
        np.cumsum([len(one) for one in items], out=offsets[1:])
        return cls(joined, offsets, item)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        what = self.values.dtype if self.item is None else self.item.__name__
        return f'<loaderx.Ragged of {len(self)} values of {what}, {len(self.values)} items>'

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step == 1:
                return Ragged(self.values, self.offsets[first:max(first, last) + 1], self.item)
            index = np.arange(first, last, step)
        if np.ndim(index) == 0:
            return self._value(self._position(index))
        chosen = np.asarray(index)
        if chosen.ndim != 1:
            raise IndexError(f'an array of indices must have one axis, not {chosen.ndim}')
        if chosen.size == 0 and chosen.dtype.kind == 'f':    # an empty list
            chosen = chosen.astype(np.int64)
        return self._select(np.arange(len(self))[chosen])

    def _position(self, index: Any) -> int:
        if isinstance(index, (bool, np.bool_)):
            raise TypeError('an index must be an int, not bool')
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f'index {number} is out of range for {len(self)} values')
        return number % len(self)

    def _value(self, i: int) -> Any:
        value = self.values[int(self.offsets[i]):int(self.offsets[i + 1])]
        if self.item is None:
            return value
        data = np.asarray(value).tobytes()
        return data if self.item is bytes else data.decode()

    def _select(self, chosen: np.ndarray[Any, Any]) -> Ragged:
        offsets = np.asarray(self.offsets)
        lengths = np.diff(offsets)[chosen]
        made = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=made[1:])
        places = np.arange(made[-1]) + np.repeat(offsets[chosen] - made[:-1], lengths)
        return Ragged(self.values[places], made, self.item)    # also of a tensor or a JAX array

    def __iter__(self) -> Iterator[Any]:
        if self.item is not None:
            return iter(self.tolist())
        return (self._value(i) for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError('values that vary in length do not form one array: use pad(), or values '
                         'and offsets')

    @property
    def lengths(self) -> np.ndarray[Any, Any]:
        """The length of each value."""
        return np.diff(np.asarray(self.offsets))

    def tolist(self) -> List[Any]:
        """Return a list of bytes objects, of strs, or of lists."""
        if self.item is None:
            return [value.tolist() for value in self]
        return self._split(self.item is str)

    def _encoded(self) -> List[bytes]:
        """Return the values of strs in UTF-8, which may be invalid."""
        return self._split(False)

    def _split(self, text: bool) -> List[Any]:
        return _core.split_bytes(*self._as_arrays(), text)

    def pad(self, value: Any = 0, **options: Any) -> np.ndarray[Any, Any]:
        """Return the values padded to a common length; see `Pad` for the arguments."""
        return Pad(value, **options)(self)

    def to_torch(self) -> Any:
        """Return a nested tensor of layout torch.jagged that shares the memory of the values."""
        import torch
        make = getattr(torch.nested, 'nested_tensor_from_jagged', None)
        if make is None:
            raise ImportError(f'torch {torch.__version__} has no jagged nested tensors: use torch '
                              '2.4 or newer', name='torch')
        is_array = isinstance(self.values, np.ndarray)
        values = to_tensor(self.values) if is_array else torch.as_tensor(self.values)
        numbers = _take_offsets(self.offsets, len(values))
        first, last = int(numbers[0]), int(numbers[-1])
        offsets = torch.as_tensor(numbers)
        bounds = {'min_seqlen': int(self.lengths.min()),
                  'max_seqlen': int(self.lengths.max())} if len(self) else {}
        return make(values[first:last], offsets - first if first else offsets, **bounds)

    def to_arrow(self) -> Any:
        """Return a pyarrow array of large_binary, large_string or large_list, without a copy.

        Arrow has no type for complex numbers, bfloat16 and float8, so values of these types raise
        `LoaderxError`.
        """
        import pyarrow as pa    # type: ignore[import-untyped, unused-ignore]
        values, numbers = self._as_arrays()
        offsets = pa.py_buffer(numbers)
        if values.dtype.kind == 'c' or values.dtype.isbuiltin == 2:    # 2: a type of ml_dtypes
            error = LoaderxError(f'Arrow has no type for {values.dtype}: convert the values first')
            error.status = 'LX_ERR_UNSUPPORTED'
            raise error
        if self.item is not None:
            kind = pa.large_binary() if self.item is bytes else pa.large_string()
            return pa.Array.from_buffers(kind, len(self), [None, offsets, pa.py_buffer(values)])
        if values.ndim == 1:
            items = pa.array(values)
        else:
            items = pa.FixedShapeTensorArray.from_numpy_ndarray(values)
        return pa.LargeListArray.from_arrays(pa.array(numbers), items)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Return the values for a library that reads Arrow arrays; requires pyarrow."""
        return self.to_arrow().__arrow_c_array__(requested_schema)
