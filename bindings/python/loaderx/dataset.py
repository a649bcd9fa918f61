# SPDX-License-Identifier: MIT
"""Reading of datasets, and the two functions that open them."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import (Any, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Tuple, Union,
                    overload)

import numpy as np

from . import _core
from .executor import Executor
from .field import Field
from .writer import Writer

Path = Union[str, bytes, 'os.PathLike[Any]']
Durability = Literal['full', 'periodic', 'none']
Verify = Literal['first', 'always', 'never']


class Views(Dict[str, List[Any]]):
    """Records where they lie in the dataset's memory: a dict of lists, one item a record.

    An item is a read-only array of the field's dtype and shape, a read-only memoryview for bytes,
    or None where the record is missing. Leaving the with-block empties the dict. What is still
    held keeps its memory, and with it the files of the dataset mapped.
    """

    __slots__ = ()

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *details: object) -> None:
        self.clear()


class Column:
    """One field of a dataset, indexed like an array of all its records.

    An int gives a record: an array, a scalar of NumPy, bytes, or None where it is missing. A slice,
    a sequence of ints, or a mask gives several, in the order asked for: an array, with zeros where
    a record is missing, or a list for bytes, with None.
    """

    __slots__ = ('_dataset', '_name', '_field')

    def __init__(self, dataset: Dataset, name: str, field: Field) -> None:
        self._dataset = dataset
        self._name = name
        self._field = field

    @property
    def name(self) -> str:
        """The name of the field."""
        return self._name

    @property
    def field(self) -> Field:
        """What the field stores."""
        return self._field

    @property
    def dtype(self) -> Any:
        """The type of the elements; that of objects for bytes, as in an array of them."""
        return np.dtype(object) if self._field.dtype is bytes else self._field.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of an array of all records."""
        return (len(self._dataset), *self._field.shape)

    @property
    def ndim(self) -> int:
        """The number of axes of an array of all records."""
        return 1 + len(self._field.shape)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, key: Any) -> Any:
        return self._dataset._get(self._name, key)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self._dataset)):
            yield self._dataset._get(self._name, index)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError('copy must not be False: an array of all records is a copy')
        records = self._dataset._get(self._name, slice(None))
        if isinstance(records, list):
            values = np.empty(len(records), object)
            values[:] = records
            records = values
        return np.asarray(records, dtype)

    def present(self, indices: Any = slice(None)) -> np.ndarray[Any, Any]:
        """Tell which records have a value.

        Parameters
        ----------
        indices : sequence of int, slice or mask, optional
            Which records; all of them by default.

        Returns
        -------
        array of bool
            False where the record is missing.
        """
        return self._dataset._present(self._name, indices)

    def __repr__(self) -> str:
        return f'<loaderx.Column {self._name!r} of {self._dataset.path!r}: {self._field!r}>'


class Dataset(_core.Dataset):
    """A dataset that is read, in the state that was committed when it was opened or refreshed.

    ``ds[5]`` is a record, a dict by field; ``ds['data']`` is a `Column`. All methods may be called
    from any threads at once.

    Parameters
    ----------
    path : path-like
        The dataset's directory.
    verify : {'first', 'always', 'never'}, optional
        When the checksums of raw records are checked: at their first reading by default. Those of
        compressed ones are always.
    durable : bool, optional
        Whether only commits that survive a power loss are seen.
    executor : Executor, optional
        Whose cleaners unmap and close the files, once nothing needs them; by default it is done by
        the thread that lets go of the last array that did.
    """

    __slots__ = ('_fields',)

    _fields: Mapping[str, Field]

    def __init__(self, path: Path, *, verify: Verify = 'first', durable: bool = False,
                 executor: Optional[Executor] = None) -> None:
        self._fields = MappingProxyType({name: Field(dtype, shape, compress)
                                         for name, dtype, shape, compress in self._describe()})

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the dataset's order."""
        return self._fields

    @property
    def uuid(self) -> str:
        """What tells this dataset from all others, whatever its state."""
        return str(self.identity['uuid'])

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: int) -> Dict[str, Any]: ...

    def __getitem__(self, key: Union[str, int]) -> Union[Column, Dict[str, Any]]:
        if not isinstance(key, str):
            return self._record(key)
        field = self._fields.get(key)
        if field is None:
            raise KeyError(f'there is no field {key!r}; there are {list(self._fields)}')
        return Column(self, key, field)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for index in range(len(self)):
            yield self._record(index)

    def views(self, indices: Any, fields: Optional[Iterable[str]] = None) -> Views:
        """Show records where they lie, without a copy, for use in a with-block.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            Which records.
        fields : sequence of str, optional
            Which fields; all of them by default. Records that are stored compressed cannot be
            shown.

        Returns
        -------
        Views
            A dict of lists.
        """
        return Views(self._views(indices, fields))

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Dataset {self.path!r}, closed>'
        return f'<loaderx.Dataset {self.path!r}: {len(self)} records of {dict(self._fields)}>'

    def __reduce__(self) -> str:
        raise TypeError(f'a loaderx.Dataset cannot be pickled: give its path ({self.path!r}) to '
                        f'the other process, and open it there')


def create(path: Path, fields: Mapping[str, Field], *, durability: Durability = 'periodic',
           level: Optional[int] = None, chunk_records: Optional[int] = None,
           chunk_bytes: Optional[int] = None, executor: Optional[Executor] = None) -> Writer:
    """Create a dataset and open it for writing.

    Parameters
    ----------
    path : path-like
        The directory to make. It may be there if it is empty.
    fields : dict of str to Field
        What it stores, at least one field.
    durability : {'full', 'periodic', 'none'}, optional
        What a commit survives. 'full': a power loss, from the moment that it returns. 'periodic':
        kill -9 at once, a power loss within about a second. 'none': kill -9; a power loss only
        after `Writer.sync` or `Writer.close`.
    level : int, optional
        The effort of flate, 1 (fast) to 9 (small); 6 by default.
    chunk_records, chunk_bytes : int, optional
        When a file of payloads is full: 1,048,576 records or 1 GiB by default.
    executor : Executor, optional
        Whose threads write; one of the writer's own by default.

    Returns
    -------
    Writer
        Close it, or use it in a with-block, which is one transaction.

    Raises
    ------
    FileExistsError
        There is a dataset, or something else, at `path`.
    """
    if not isinstance(fields, Mapping):
        raise TypeError(f'fields must be a dict of loaderx.Field, not {type(fields).__name__}')
    for name, field in fields.items():
        if not isinstance(name, str):
            raise TypeError(f'fields must have names that are str, not {name!r}')
        if not isinstance(field, Field):
            raise TypeError(f'fields[{name!r}] must be a loaderx.Field, not {field!r}')
    if not fields:
        raise ValueError('fields must have at least one field')
    return Writer(path, [field._describe(name) for name, field in fields.items()],
                  durability=durability, level=level, chunk_records=chunk_records,
                  chunk_bytes=chunk_bytes, executor=executor)


@overload
def open(path: Path, mode: Literal['r'] = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, executor: Optional[Executor] = None) -> Dataset: ...


@overload
def open(path: Path, mode: Literal['a'], *, durability: Optional[Durability] = None,
         level: Optional[int] = None, executor: Optional[Executor] = None) -> Writer: ...


def open(path: Path, mode: str = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, durability: Optional[Durability] = None,
         level: Optional[int] = None,
         executor: Optional[Executor] = None) -> Union[Dataset, Writer]:
    """Open a dataset.

    Parameters
    ----------
    path : path-like
        The dataset's directory.
    mode : {'r', 'a'}, optional
        'r' reads, 'a' appends.
    verify : {'first', 'always', 'never'}, optional
        For reading: when checksums are checked, see `Dataset`.
    durable : bool, optional
        For reading: whether only commits that survive a power loss are seen.
    durability : {'full', 'periodic', 'none'}, optional
        For appending: what a commit survives, see `create`.
    level : int, optional
        For appending: the effort of flate.
    executor : Executor, optional
        Whose threads write; for reading, whose cleaners unmap and close, see `Dataset`.

    Returns
    -------
    Dataset or Writer
        By the mode.

    Raises
    ------
    FileNotFoundError
        There is no dataset at `path`.
    BlockingIOError
        Another writer has it open.
    CorruptError
        It is damaged.
    """
    reading = {'verify': verify, 'durable': durable}
    writing = {'durability': durability, 'level': level}
    if mode == 'r':
        _refuse(writing, 'a')
        return Dataset(path, verify='first' if verify is None else verify,
                       durable=False if durable is None else durable, executor=executor)
    if mode == 'a':
        _refuse(reading, 'r')
        return Writer(path, durability=durability, level=level, executor=executor)
    if not isinstance(mode, str):
        raise TypeError(f"mode must be 'r' or 'a', not {mode!r}")
    raise ValueError(f"mode must be 'r' or 'a', not {mode!r}")


def _refuse(options: Dict[str, Any], mode: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(f'{name} is for mode {mode!r} alone')
