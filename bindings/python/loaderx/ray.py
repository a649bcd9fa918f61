# SPDX-License-Identifier: MIT
"""Datasets written by Ray Data: each write task of a job writes a part.

Only this module requires Ray.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from . import _installation    # raises ImportError if another package has replaced ours
from ._check import natural
from .field import Field
from .parts import Part, PartJob
from .sources.dataset import Path

try:
    import ray.data as _data    # the installed Ray, not this module
    from ray.data.block import BlockAccessor as _BlockAccessor
except ModuleNotFoundError as error:
    raise ImportError(f"loaderx.ray needs Ray Data ({error}): install 'ray[data]'",
                      name=error.name) from None

__all__ = ['Datasink']


class Datasink(_data.Datasink):
    """Where ``ray.data.Dataset.write_datasink`` writes a loaderx dataset.

    Each write task writes a part. Parts are in the order in which Ray starts the tasks, which is
    that of the dataset if ``DataContext.execution_options.preserve_order`` is set. A task that Ray
    repeats does no harm. If the job fails, nothing is published.

    Parameters
    ----------
    url : path-like
        The URL of the dataset, or its directory on a file system that all nodes share.
    fields : dict of str to Field, optional
        All fields, by name; by default, those of the columns, with the types of `import_arrow`.
    min_rows : int, optional
        How many rows a task writes at least, if there are so many. By default, it writes a block of
        Ray, which has at most 128 MiB: for large datasets, choose about 1 GiB of rows.
    **options
        Other arguments of `PartWriter`.

    Examples
    --------
    >>> ds = ray.data.range(1000)                                         # doctest: +SKIP
    >>> ds.write_datasink(loaderx.ray.Datasink('s3://bucket/numbers'))    # doctest: +SKIP
    """

    def __init__(self, url: Path, fields: Optional[Mapping[str, Field]] = None, *,
                 min_rows: Optional[int] = None, **options: Any) -> None:
        self._job = PartJob(url, {'fields': fields, **options})
        self._min_rows = None if min_rows is None else natural('min_rows', min_rows, minimum=1)

    @property
    def min_rows_per_write(self) -> Optional[int]:
        """How many rows a task writes at least."""
        return self._min_rows

    def on_write_start(self, *schema: Any) -> None:
        """Check that no dataset is at the URL; Ray calls this before the first task."""
        self._job.check()

    def write(self, blocks: Iterable[Any], ctx: Any) -> Part:
        """Write the blocks of a task; Ray calls this in the task."""
        tables = map(_to_table, blocks)
        return self._job.write(ctx.task_idx, (table for table in tables if table.num_rows > 0))

    def on_write_complete(self, write_result: Any) -> None:
        """Publish the dataset; Ray calls this after the last task."""
        self._job.publish(write_result.write_returns)


def _to_table(block: Any) -> Any:
    """Return a block as an Arrow table without types of Ray's own."""
    table = _BlockAccessor.for_block(block).to_arrow()
    for i, column in enumerate(table.schema):
        name = getattr(column.type, 'extension_name', '')
        if name.startswith('ray.data.arrow_tensor'):
            table = table.set_column(i, column.name, _to_tensors(table[i]))
        elif name.startswith('ray.'):
            raise TypeError(f'the column {column.name!r} has the type {column.type} of Ray, which '
                            'no field has: convert it, for example to bytes')
    return table


def _to_tensors(column: Any) -> Any:
    """Return a column of Ray's tensors of a fixed shape as one of Arrow's."""
    import pyarrow    # type: ignore[import-untyped, unused-ignore]    # Ray Data requires it

    shape, element = column.type.shape, column.type.storage_type.value_type
    kind = pyarrow.fixed_shape_tensor(element, shape)
    return pyarrow.chunked_array(
        [kind.wrap_array(chunk.storage.cast(kind.storage_type)) for chunk in column.chunks], kind)
