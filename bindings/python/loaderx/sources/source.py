# SPDX-License-Identifier: MIT
"""Functions that create library sources from the caller's data."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from .. import _core
from .._paths import absolute, is_dataset, is_url, shown
from .._tables import find_columns, is_tensor, kind_of, to_array
from .._types import array_type
from .arrays import NPDataset
from .arrow import ArrowRecords
from .column import Column
from .dataset import Dataset
from .records import BatchReadable, Records, Seed, refuse_own_method

__all__ = ['as_source', 'check_seeds', 'core_of', 'core_of_base', 'describe', 'located', 'seeds_of',
           'zip_sources']

# The column names of a pair of arrays, as in DataLoader.
PLACES = ('data', 'label')


def _of_array(array: np.ndarray[Any, Any], name: str) -> _core.Source:
    """Return a source that reads the array in place."""
    if array.ndim == 0:
        raise ValueError(f'{name} is a scalar: pass an array with one record per index '
                         'of its first axis')
    name_of_type = array_type(array.dtype)
    if array.dtype == object:
        _check_present(array, name)
    if name_of_type is None:
        raise TypeError(f'{name} has the dtype {array.dtype}, which cannot be loaded')
    if not array.dtype.isnative:
        raise ValueError(
            f'{name} has the dtype {array.dtype}, which is not in native byte order: use '
            "array.astype(array.dtype.newbyteorder('='))"
        )
    if len(array) and not array[0].flags.c_contiguous:
        raise ValueError(
            f'{name} has records that are not contiguous: use numpy.ascontiguousarray()'
        )
    return _core.source_array(array, name_of_type)


def _check_present(values: Iterable[Any], name: str) -> None:
    """Raise an error if a value is None, or the NA or NaT of pandas."""
    for i, value in enumerate(values):
        if value is None or type(value).__name__ in ('NAType', 'NaTType'):
            raise ValueError(f'{name} has no value in record {i}: leave out such records, replace '
                             'their values, or create a dataset, whose values may be missing')


def _to_array(column: Any, name: str) -> np.ndarray[Any, Any]:
    """Return a column of a table as an array."""
    if isinstance(column, (list, tuple)):
        _check_present(column, name)
    return np.asarray(to_array(column, name))


def _core_of_one(source: Any, name: str) -> Tuple[_core.Source, bool]:
    """Return a source for one dataset, array or path, and whether its column has no name."""
    refuse_own_method(source, name)
    return core_of_base(source, name)


def core_of_base(source: Any, name: str) -> Tuple[_core.Source, bool]:
    """Return the same, for a dataset of a user's class without the methods of this class."""
    if isinstance(source, (str, bytes, os.PathLike)):
        if is_url(source):
            return _core.source_dataset(Dataset(source)), False
        return _core.source_open(source), not os.path.isdir(source)
    if isinstance(source, Records):
        return source._source, source._nameless
    if isinstance(source, NPDataset):
        source = source.array
    if is_tensor(source):
        source = to_array(source, name)
    if isinstance(source, np.ndarray):
        return _of_array(source, name), True
    if isinstance(source, Column):
        raise TypeError(f'{name} is the column {source.name!r} of a dataset: pass the dataset, and '
                        'select the column with fields=')
    if isinstance(source, ArrowRecords):
        raise TypeError(f'{name} was made by to_arrow(), for libraries of Arrow: pass the dataset, '
                        'or SubsetDataset(dataset, indices), and select with fields=')
    dataset = getattr(source, '_dataset', source)
    if isinstance(dataset, Dataset):
        return _core.source_dataset(dataset), False
    raise TypeError(
        f'{name} must be a loaderx dataset, an array, a tensor, a path, a table, or '
        f'a tuple or dict of these, not {kind_of(source)}; loaderx.torch.DataLoader '
        'reads any dataset of torch'
    )


def describe(source: Any) -> str:
    """Return a short description of a loader's source, without the values of arrays."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return repr(shown(source))
    if isinstance(source, Mapping):
        parts = ', '.join(f'{name!r}: {describe(one)}' for name, one in source.items())
        return f'{{{parts}}}'
    if isinstance(source, (tuple, list)):
        if source and isinstance(source[0], Mapping):
            return f'{len(source)} dicts'
        return f"({', '.join(map(describe, source))})"
    shape, dtype = getattr(source, 'shape', None), getattr(source, 'dtype', None)
    if isinstance(source, np.ndarray) or is_tensor(source):
        return f'{type(source).__name__} {dtype}{list(shape or ())}'
    return repr(source) if isinstance(source, BatchReadable) else f'a {type(source).__name__}'


def located(source: Any) -> Any:
    """Return a source with absolute paths, which is the same one in any working directory."""
    if isinstance(source, Mapping):
        return {name: _with_absolute_path(one) for name, one in source.items()}
    if isinstance(source, (tuple, list)):
        made = map(_with_absolute_path, source)
        return list(made) if isinstance(source, list) else tuple(made)
    return _with_absolute_path(source)


def _with_absolute_path(source: Any) -> Any:
    return absolute(source) if isinstance(source, (str, bytes, os.PathLike)) else source


def zip_sources(
    sources: Sequence[Any], names: Sequence[Optional[str]], arguments: Sequence[str]
) -> _core.Source:
    """Combine sources of equal length that have one column each, under new names."""
    made = [_core_of_one(one, argument)[0] for one, argument in zip(sources, arguments)]
    for core, argument in zip(made, arguments):
        if len(core.columns) != 1:
            names = ', '.join(column[0] for column in core.columns)
            raise ValueError(f'{argument} has {f"the fields {names}" if names else "no fields"}, '
                             'but must have exactly one: use a Loader')
    return _zip(made, names, ' and '.join(arguments), arguments)


def _zip(made: Sequence[_core.Source], names: Sequence[Optional[str]], what: str,
         shown: Sequence[str]) -> _core.Source:
    """Combine columns; in errors, `what` names the sources together, and `shown` names each one."""
    for core, name in zip(made, shown):
        if core.length != made[0].length:
            raise ValueError(f'{shown[0]} has {made[0].length:,} records, but {name} has '
                             f'{core.length:,}')
    try:
        return _core.source_zip(tuple(made), tuple(names))
    except ValueError as error:
        hint = "; {'a': source, ..} names its columns a.x, a.y, ..." if None in names else ''
        raise ValueError(f'{what}: {error}{hint}') from None


def seeds_of(source: Any) -> Set[Seed]:
    """Return the seeds on which random choices in the records of a source depend."""
    if isinstance(source, Records):
        return source._seeds()
    parts = list(source.values()) if isinstance(source, Mapping) else source
    if not isinstance(parts, (tuple, list)) or (parts and isinstance(parts[0], Mapping)):
        return set()
    return set().union(*map(seeds_of, parts))


def check_seeds(seeds: Iterable[Set[Seed]], shown: Iterable[str]) -> None:
    """Raise ValueError if two sources of a record have the same seed, and one only by default."""
    seen: Dict[int, Tuple[str, bool]] = {}
    for some, name in zip(seeds, shown):
        for seed, given in some:
            other, was_given = seen.setdefault(seed, (name, given))
            if other != name and not (given and was_given):
                raise ValueError(
                    f'{other} and {name} would make the same random choices, because both have the '
                    f'seed {seed}: pass another seed= to one of the ImageDatasets or, if the '
                    f'choices are meant to be the same, seed={seed} to each of them')


def _columns(source: Any, what: str) -> Optional[Dict[str, Any]]:
    """Return the sources in a dict, or the columns of a table as arrays; otherwise, None."""
    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, (str, bytes, os.PathLike)):
        path = os.fsdecode(source)
        if not path.endswith('.npz') or is_dataset(path):
            return None
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    columns = find_columns(source, what)
    if columns is None:
        return None
    return {name: _to_array(column, f'{what}[{name!r}]') for name, column in columns.items()}


def core_of(source: Any, what: str) -> Tuple[_core.Source, bool]:
    """Return the source that an argument describes, and whether its only column has no name."""
    columns = _columns(source, what)
    if columns is not None:
        source = columns
        if not source:
            raise ValueError(f'{what} is empty: pass at least one source')
        for name in source:
            if not isinstance(name, str):
                raise TypeError(f'{what} must have names of type str, not {type(name).__name__}')
        shown = [f'{what}[{name!r}]' for name in source]
        check_seeds(map(seeds_of, source.values()), shown)
        made = [_core_of_one(one, name)[0] for one, name in zip(source.values(), shown)]
        return _zip(made, list(source), what, shown), False
    if not isinstance(source, (tuple, list)):
        return _core_of_one(source, what)
    if not source:
        raise ValueError(f'{what} is empty: pass at least one source')
    shown = [f'{what}[{place}]' for place in range(len(source))]
    check_seeds(map(seeds_of, source), shown)
    cores: List[_core.Source] = []
    names: List[Optional[str]] = []
    for place, one in enumerate(source):
        core, nameless = _core_of_one(one, f'{what}[{place}]')
        if nameless and place >= len(PLACES):
            raise ValueError(
                f'{what}[{place}]: only the first two arrays of a tuple get names: use a dict, '
                "{'name': array, ..}"
            )
        cores.append(core)
        names.append(PLACES[place] if nameless else None)
    return _zip(cores, names, what, shown), False


def as_source(source: Any, what: str = 'source') -> _core.Source:
    """Return the source that the caller's argument describes."""
    return core_of(source, what)[0]
