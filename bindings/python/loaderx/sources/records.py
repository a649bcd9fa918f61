# SPDX-License-Identifier: MIT
"""Base classes of datasets: reading records by index, and concatenation with ``+``."""

from __future__ import annotations

import math
import operator
import sys
from typing import (Any, Callable, ClassVar, Dict, Iterable, KeysView, List, Mapping,
                    Optional, Sequence, Set, Tuple, Type, cast)

import numpy as np

from .. import _core
from .._fixed import Fixed, is_ours
from .._missing import read_filled
from .._tables import to_array
from .._types import varies
from ..field import Field
from .column import Column, selects_several
from .places import place_of_next, reading_a_batch
from .preview import preview
from .where import Condition, find_records

__all__ = ['BatchReadable', 'Concatenable', 'Records', 'Seed', 'SourceRecords', 'has_field',
           'own_method', 'positions_of', 'records_of', 'refuse_own_method', 'resolved', 'with_none']

_Places = np.ndarray[Any, np.dtype[np.int64]]    # indices of records

class BatchReadable(Fixed):
    """A dataset from which torch's DataLoader can read several records at once.

    If a subclass overrides ``__getitem__``, each record is read by that method, also by
    ``__getitems__``, unless the subclass overrides it, too. What reads batches by the library
    refuses such a subclass. As with torch's datasets, ``+`` makes a torch ConcatDataset.
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        # torch's ConcatDataset calls __getitem__ of each dataset.
        torch_data = sys.modules.get('torch.utils.data')
        if torch_data is not None and isinstance(other, (BatchReadable, torch_data.Dataset)):
            return torch_data.ConcatDataset([self, other])
        return NotImplemented

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        one, several = (next((place for place, base in enumerate(cls.__mro__)
                              if name in vars(base)), None)
                        for name in ('__getitem__', '__getitems__'))
        if one is not None and (several is None or one < several):
            setattr(cls, '__getitems__', _read_one_by_one)    # __getitem__ defines the records

    def __contains__(self, key: object) -> bool:
        # Without this method, Python would read all records and compare them with the key.
        raise TypeError(f'a {type(self).__name__} cannot be searched: read its records, and '
                        'compare their values')


class Concatenable(BatchReadable):
    """A dataset whose ``+`` makes, if possible, a `ConcatDataset`, which a `Loader` can read."""

    __slots__ = ()

    # Concatenates datasets. The module of ConcatDataset, which derives from this class, sets this
    # attribute to ConcatDataset.
    _concatenate: ClassVar[Callable[[Sequence[Any]], Any]]
    # Likewise for SubsetDataset.
    _select: ClassVar[Callable[[Any, Any], Any]]

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Concatenable) and not (own_method(self) or own_method(other)):
            return Concatenable._concatenate([self, other])
        return super().__add__(other)


# The methods that define the records of a dataset, and what replaces those of a user's class where
# the library reads batches, which calls none of them.
_BY_TRANSFORM = 'change batches with transform= of the loader'
_INSTEAD = {'__getitem__': _BY_TRANSFORM, '__getitems__': _BY_TRANSFORM,
            '__len__': 'select records with a SubsetDataset'}


def own_method(dataset: object, names: Iterable[str] = tuple(_INSTEAD)) -> Optional[str]:
    """Return the name of a method that a user's class overrides, or None if there is none.

    By default, these are the methods that define the records.
    """
    for name in names:
        kind = next((base for base in type(dataset).__mro__ if name in vars(base)), None)
        if kind is not None and not is_ours(kind):
            return name
    return None


def refuse_own_method(dataset: object, what: str) -> None:
    """Raise TypeError if the class of a dataset has its own records, which would be ignored."""
    name = own_method(dataset) if isinstance(dataset, BatchReadable) else None
    if name is not None:
        raise TypeError(
            f'{what} is of the class {type(dataset).__name__}, whose own {name}() would be ignored '
            f'here, because the library reads whole batches: {_INSTEAD[name]}, or pass the dataset '
            f'alone to loaderx.torch.DataLoader, which calls {name}()')


def _read_one_by_one(self: Any, indices: Sequence[int]) -> List[Any]:
    """Return several records, each read by `__getitem__`."""
    with reading_a_batch():
        return [self[index] for index in indices]


# A seed of random choices, and whether the caller gave it.
Seed = Tuple[int, bool]

# Attributes that are not pickled, because unpickling creates them again.
_RECREATED = ('_source', '_parts', '_part')


class _Unset:
    """The value of an attribute that the constructor has not set."""

    def __get__(self, dataset: Any, kind: Type[Any]) -> Any:
        if dataset is None:
            return self
        raise AttributeError(f'this {kind.__name__} has no records yet: its __init__ must call '
                             'super().__init__()')


class Records(Concatenable):
    """A dataset that reads its records from a library source."""

    _source: _core.Source = cast(Any, _Unset())
    _nameless: bool    # whether a record is the value of the only column, not a dict

    def __len__(self) -> int:
        return self._source.length

    def __contains__(self, key: object) -> bool:
        return has_field(self, self.keys(), key)

    @property
    def fields(self) -> Dict[str, Field]:
        """The fields by name: those of the records or, if these are arrays, the field ``data``.

        Their compression is not known: it may differ between datasets that are concatenated.
        """
        return {name: Field(kind, shape) for name, kind, shape in self._source.columns}

    def keys(self) -> KeysView[str]:
        """Return the names of the fields, so that ``dict()`` makes a dict of their columns."""
        return self.fields.keys()

    def _ipython_key_completions_(self) -> List[str]:
        return list(self.fields)

    def _repr_html_(self) -> str:
        return preview(self, self.fields, type(self).__name__)

    def gather(self, indices: Any, fields: Optional[Sequence[str]] = None, *,
               missing: Any = 'raise') -> Dict[str, Any]:
        """Read records in the order of the indices.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            The indices. Negative indices count from the end; an index may occur more than once.
        fields : sequence of str, optional
            The fields to read; by default, all fields.
        missing : {'raise', 'zeros', 'mask'}, number, array or dict
            What stands for missing values in arrays; see `Dataset.gather`.

        Returns
        -------
        dict
            For each field, an array of shape ``(len(indices), *shape)``; a list if its values vary
            in length, with None for missing values.

        Raises
        ------
        IndexError
            An index is out of range.
        KeyError
            A field does not exist.
        ValueError
            A value is missing, and `missing` is 'raise'.
        """
        names = None if fields is None else self._chosen(fields)
        return read_filled(lambda lacking: self._gather(indices, names, lacking), missing, self,
                           names)

    def _gather(self, indices: Any, names: Optional[Tuple[str, ...]], lacking: Any
                ) -> Dict[str, Any]:
        """Read columns; `lacking` is that of ``_core.Source.gather``."""
        varying = {name for name, kind, shape in self._source.columns if varies(kind, shape)}
        if not varying:
            return self._source.gather(indices, names, lacking, self._place(indices))
        names = tuple(self.fields) if names is None else names
        dense = tuple(name for name in names if name not in varying)
        place = self._place(indices)    # the same for all fields
        columns = self._source.gather(indices, dense, lacking, place)
        places = self._places(indices)
        return {name: self._get_varying(name, places, place) if name in varying else columns[name]
                for name in names}

    def _place(self, key: Any) -> Any:
        """Return the place of the records that a key selects, and that are read next."""
        return place_of_next(lambda: self._count(key))

    def _count(self, key: Any) -> int:
        """Return the number of records that a key selects."""
        if isinstance(key, slice):
            return len(range(*key.indices(len(self))))
        selected = np.asarray(to_array(key, 'index'))
        return int(selected.sum()) if selected.dtype == bool else len(selected)

    def where(self, condition: Condition) -> Any:
        """Return the records that meet a condition as a `SubsetDataset`; see `Dataset.where`.

        If the records are arrays, which have no fields, the function looks up ``'data'``.
        """
        return Concatenable._select(self, find_records(self, condition))

    def _chosen(self, fields: Sequence[str]) -> Any:
        if isinstance(fields, (str, bytes)):
            raise TypeError('fields must be a sequence of names, not a single name')
        known = list(self.fields)
        for name in fields:
            if name not in known:
                raise KeyError(f'field {name!r} not found: the fields are {known}')
        return tuple(fields)

    def __getitem__(self, index: Any) -> Any:
        """Return a record: a dict by field name, or an array if the column has no name.

        For a slice, a list of ints or a mask, return several records: a dict of arrays or, if the
        column has no name, an array. For the name of a field, return its `Column`.
        """
        if isinstance(index, str):
            name, = self._chosen([index])
            return Column(self, name, self.fields[name])
        if selects_several(index):
            columns = self.gather(index)
            return next(iter(columns.values())) if self._nameless else columns
        try:
            place = operator.index(index)
        except TypeError:
            raise TypeError('index must be an int, a slice, a list of ints, a mask or the name of '
                            f'a field, not {type(index).__name__}') from None
        return self._read_together([place])[0]

    def __getitems__(self, indices: Sequence[int]) -> List[Any]:
        """Return several records at once, for torch's DataLoader."""
        with reading_a_batch():
            return self._read_together(indices)

    def _read_together(self, indices: Sequence[int]) -> List[Any]:
        positions = positions_of(indices)
        lacking: Dict[str, Any] = {name: None for name, _, _ in self._source.columns}
        columns = self._gather(positions, None, lacking)
        for name, present in lacking.items():
            if present is not None:
                columns[name] = with_none(columns[name], present)
        return records_of(columns, len(positions), self._nameless)

    def _recipe(self) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        """Return the function that unpickling calls to create a copy, and its arguments."""
        raise NotImplementedError

    def __reduce__(self) -> Any:
        if '_recipe' in vars(type(self)):
            return self._recipe()
        if '_source' not in self.__dict__:    # a subclass without records, which called no __init__
            return object.__new__, (type(self),), self.__dict__
        attributes = {name: value for name, value in self.__dict__.items()
                      if name not in _RECREATED}
        return _remake, (type(self), self._recipe(), attributes)

    def _seeds(self) -> Set[Seed]:
        """Return the seeds on which random choices in the records depend."""
        return set()

    def _parts_of(self, places: _Places) -> Iterable[Tuple[Any, _Places, _Places]]:
        """Return the underlying datasets that have these records: for each dataset, which of
        `places` are in it, and the indices of these records in the dataset."""
        raise TypeError(f'{type(self).__name__} has fields whose values vary in length: read them '
                        'from its Dataset')

    # ---- for Column and for the preview

    def _get(self, name: str, key: Any) -> Any:
        """Return the value of a field at an index, or the values at several indices."""
        field = self.fields[name]
        if not selects_several(key):
            place = resolved([key], len(self))
            if field.varies:
                return self._get_varying(name, place)[0]
            lacking: Dict[str, Any] = {name: None}
            values = self._source.gather(place, (name,), lacking, self._place(place))[name]
            return values[0] if lacking[name] is None else None
        if not field.varies:
            return self._source.gather(key, (name,), {}, self._place(key))[name]
        return self._get_varying(name, self._places(key))

    def _get_varying(self, name: str, places: _Places, place: Any = None) -> List[Any]:
        """Return values that vary in length; ragged arrays may depend on their place in an
        order."""
        field = self.fields[name]
        if field.shape:    # of ragged arrays, not byte strings
            place = self._place(places) if place is None else place
            arrays = [np.frombuffer(value, cast(Any, field.dtype)).reshape(-1, *field.shape[1:])
                      for value in self._source.gather_bytes(places, name, place)]
            return with_none([array.copy() for array in arrays], self._present(name, places))
        values: List[Any] = [None] * len(places)
        for part, chosen, inner in self._parts_of(places):
            for place, value in zip(chosen.tolist(), part._get(name, inner)):
                values[place] = value
        return values

    def _present(self, name: str, key: Any) -> np.ndarray[Any, Any]:
        """Return which records have a value of a field."""
        return self._sizes(name, key) >= 0

    def _places(self, key: Any) -> _Places:
        """Return the indices of the records that a key selects."""
        places: _Places = np.arange(len(self))[to_array(key, 'index')]
        return places

    def _sizes(self, name: str, key: Any) -> _Places:
        """Return the sizes of values in bytes, without reading them; -1 for a missing value."""
        field = self.fields[name]
        shape = cast(Tuple[int, ...], field.shape)    # unless it varies
        size = 0 if field.varies else np.dtype(field.dtype).itemsize * math.prod(shape)
        return np.full(len(self._places(key)), size, np.int64)


class SourceRecords(Records):
    """A dataset whose library source reads values that vary in length, too."""

    def _get_varying(self, name: str, places: Any, place: Any = None) -> List[Any]:
        return self._source.gather_bytes(places, name)

    def _sizes(self, name: str, key: Any) -> Any:
        if not self.fields[name].varies:
            return super()._sizes(name, key)
        return np.diff(self._source.get_offsets(self._places(key), name).astype(np.int64))


def _remake(kind: Type[Records], recipe: Any, attributes: Mapping[str, Any]) -> Records:
    """Create an object of a subclass without calling its constructor.

    The constructor may take any arguments.
    """
    make, arguments = recipe
    made = object.__new__(kind)
    made.__dict__.update({**make(*arguments).__dict__, **attributes})
    return made


def has_field(dataset: object, names: Iterable[str], key: object) -> bool:
    """Return whether `key` is the name of a field; raise an error if it is not a name."""
    if not isinstance(key, str):
        raise TypeError(f'`in` tests the names of the fields of a {type(dataset).__name__}, which '
                        f'are str, not {type(key).__name__}: records are not searched')
    return key in names


def positions_of(indices: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return indices as an int64 array; a mask is invalid."""
    return np.array([operator.index(index) for index in indices], np.int64)


def resolved(indices: Sequence[int], length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Check indices, and convert negative indices, which count from the end."""
    positions = positions_of(indices)
    wrong = np.flatnonzero((positions >= length) | (positions < -length))
    if len(wrong):
        raise IndexError(f'index {positions[wrong[0]]} is out of range: the length is {length}')
    return np.where(positions < 0, positions + length, positions)


def with_none(values: Any, present: Any) -> List[Any]:
    """Return a list of the values, with None for those that are missing."""
    return [value if is_present else None for value, is_present in zip(values, present)]


def records_of(columns: Mapping[str, Any], count: int, nameless: bool = False) -> List[Any]:
    """Return `count` records that share the memory of the columns."""
    if nameless:
        return list(next(iter(columns.values())))
    if not columns:
        return [{} for _ in range(count)]
    names = tuple(columns)
    return [dict(zip(names, row)) for row in zip(*columns.values())]
