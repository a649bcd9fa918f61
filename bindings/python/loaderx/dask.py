# SPDX-License-Identifier: MIT
"""Datasets written by Dask: each partition of a collection is a task that writes a part.

Only this module requires Dask.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional

from . import _installation    # raises ImportError if another package has replaced ours
from ._tables import find_class, kind_of
from .field import Field
from .parts import PartJob
from .sources.dataset import Path
from .sources.source import PLACES

try:
    import dask as _dask    # the installed Dask, not this module
except ModuleNotFoundError as error:
    if error.name != 'dask':
        raise
    raise ImportError('loaderx.dask needs Dask: install dask', name='dask') from None

__all__ = ['write']

# The number of records of a bag to append at a time.
_ROWS = 1000


def write(collection: Any, url: Path, fields: Optional[Mapping[str, Field]] = None, *,
          compute: Optional[Mapping[str, Any]] = None, **options: Any) -> int:
    """Write a Dask collection to a dataset, and wait until it is published.

    Each partition becomes a part, in the order of the partitions. A task that the scheduler repeats
    does no harm. If the job fails, nothing is published.

    Parameters
    ----------
    collection : DataFrame, Bag, Array or dict of Array
        A DataFrame of Dask, without its index; a Bag of records, which are dicts and require
        `fields`; an Array, which becomes the field `data`; or Arrays by field, of the same length.
        A record is an index of the first axis of an Array.
    url : path-like
        The URL of the dataset, or its directory on a file system that all workers share.
    fields : dict of str to Field, optional
        All fields, by name; by default, those of the columns; see `PartWriter`.
    compute : dict, optional
        Arguments of ``dask.compute``, such as ``{'retries': 3}`` with a distributed scheduler.
    **options
        Other arguments of `PartWriter`.

    Returns
    -------
    int
        The number of records.

    Raises
    ------
    FileExistsError
        A dataset is at `url`.

    Examples
    --------
    >>> import dask.array
    >>> numbers = dask.array.arange(10, chunks=4)
    >>> write({'x': numbers, 'square': numbers ** 2}, 'squares', compute={'scheduler': 'threads'})
    10
    >>> lx.open('squares')['square'][7:].tolist()
    [49, 64, 81]
    """
    partitions, tables = _divide(collection)
    job = PartJob(url, {'fields': fields, **options})
    job.check()
    tasks = [_dask.delayed(_write)(job, order, tables, partition)
             for order, partition in enumerate(partitions)]
    return job.publish(_dask.compute(*tasks, **(compute or {})))


def _write(job: PartJob, order: int, tables: Callable[[Any], Iterable[Any]], partition: Any) -> Any:
    return job.write(order, tables(partition))


def _divide(collection: Any) -> Any:
    """Return the partitions of a collection, and a function that makes tables of a partition."""
    if _is(collection, 'bag', 'Bag'):
        return collection.to_delayed(), _records
    if _is(collection, 'dataframe', 'DataFrame'):
        return collection.to_delayed(), _single
    if _is(collection, 'array', 'Array'):
        collection = {PLACES[0]: collection}
    if isinstance(collection, Mapping) and collection and all(
            _is(each, 'array', 'Array') for each in collection.values()):
        return _divide_arrays(collection), _single
    raise TypeError('collection must be a DataFrame, a Bag or an Array of Dask, or a dict of '
                    f'Arrays, not {kind_of(collection)}')


def _is(value: Any, module: str, name: str) -> bool:
    kind = find_class(f'dask.{module}', name)
    return kind is not None and isinstance(value, kind)


def _divide_arrays(arrays: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """Return the blocks of the arrays, by name, all with the rows of the blocks of the first."""
    first = next(iter(arrays))
    for name, array in arrays.items():
        if array.ndim == 0:
            raise ValueError(f'the array {name!r} has no axes, so it has no records')
        if math.isnan(array.shape[0]):
            raise ValueError(f'the lengths of the chunks of {name!r} are unknown: call its method '
                             'compute_chunk_sizes()')
        if array.shape[0] != arrays[first].shape[0]:
            raise ValueError(f'{name!r} has {array.shape[0]} records, but {first!r} has '
                             f'{arrays[first].shape[0]}')
    rows = arrays[first].chunks[0]
    blocks = {name: array.rechunk((rows, *array.shape[1:])).to_delayed().ravel()
              for name, array in arrays.items()}
    return [dict(zip(blocks, row)) for row in zip(*blocks.values())]


def _single(table: Any) -> List[Any]:
    return [table]


def _records(partition: Iterable[Any]) -> Iterator[List[Any]]:
    records = iter(partition)
    return iter(lambda: list(itertools.islice(records, _ROWS)), [])
