# SPDX-License-Identifier: MIT
"""Import of Arrow tables, and of the Parquet and Arrow files that pyarrow reads."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from . import _core
from ._progress import Progress, reporting
from ._tables import export_arrow
from .field import Field
from .opening import creation, fill_new
from .sources.dataset import Path
from .writer import Writer

__all__ = ['import_arrow']

# The size of the batches in which a Parquet file is decoded, and limits to their numbers of rows.
# Small batches stay in the processor's cache until they are written.
_BATCH_BYTES = 1 << 20
_MIN_ROWS, _MAX_ROWS = 64, 65536

# The first bytes of an Arrow file that is not a stream.
_MAGIC = b'ARROW1'


def import_arrow(source: Any, path: Path, *, columns: Optional[Sequence[str]] = None,
                 fields: Optional[Mapping[str, Field]] = None, progress: Progress = True,
                 **options: Any) -> int:
    """Create a dataset from an Arrow table, a Parquet file or an Arrow file.

    Each column becomes a field of the same name: bool, integers and floats with their dtype; dates
    and timestamps as datetime64, and times of the day and durations as int64, in the unit of the
    column; text as str, and binary values as bytes; fixed-size lists of numbers and times as
    arrays, and lists that vary in length as ragged fields; dictionaries (categories) as their
    values. Nulls become missing values. A column of another type, such as a struct or a decimal,
    raises an error: cast it or leave it out.

    A column of JSON texts becomes a str field; to read parsed values, pass
    ``fields={'name': Field('json')}``.

    The dataset is complete when the function returns. If the function fails, it removes the
    dataset.

    Parameters
    ----------
    source : path-like or Arrow table
        A file whose name ends with ``.parquet``, ``.arrow`` or ``.feather``, which requires
        pyarrow; or an object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a table
        or a batch reader of pyarrow, a DataFrame of polars or pandas, a relation of DuckDB, or a
        dataset of Hugging Face.
    path : path-like
        The directory to create. It may already exist if it is empty.
    columns : sequence of str, optional
        For a file: the columns to read, in this order; by default, all columns.
    fields : dict of str to Field, optional
        The fields for some of the columns, to compress their values, for example; by default,
        uncompressed fields.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called periodically with the number of records processed so far and the total,
        which is None if unknown; if it raises an exception, the operation ends.
    **options
        Other arguments of `create`, except `replace`.

    Returns
    -------
    int
        The number of records.

    Raises
    ------
    FileExistsError
        `path` exists and is not an empty directory.
    ImportError
        `source` is a file, and pyarrow is not installed.
    LoaderxError
        A column has no field type; the message names the column.
    ValueError
        A value does not fit its field, or the Arrow data is invalid; the message names the column
        and the row.

    Examples
    --------
    >>> with create('squares', {'x': Field('int64')}) as writer:
    ...     first = writer.extend({'x': np.arange(5) ** 2})
    >>> import_arrow(open('squares').to_arrow(), 'compressed',
    ...              fields={'x': Field('int64', compress='flate')})
    5
    """
    with _opened(source, columns) as (exported, total):
        schema = exported[0] if isinstance(exported, tuple) else _core.arrow_schema(exported)
        create = creation(_choose_fields(schema, fields), **options)
        counts: List[int] = []
        with reporting(progress, 'import') as report:
            def fill(writer: Writer) -> None:
                writer._extend_arrow(exported, report and (lambda rows: report(rows, total)))
                counts.append(len(writer))

            fill_new(create, path, fill)
    return counts[0]


def _choose_fields(schema: Any, fields: Optional[Mapping[str, Field]]) -> Dict[str, Field]:
    chosen = Field._from_descriptions(_core.arrow_fields(schema))
    for name, field in (fields or {}).items():
        if name not in chosen:
            raise ValueError(f'fields: {name!r} not found: the columns are {list(chosen)}')
        chosen[name] = field
    return chosen


@contextlib.contextmanager
def _opened(source: Any, columns: Optional[Sequence[str]]) -> Iterator[Tuple[Any, Any]]:
    """Yield what a source exports, and its number of rows, which is None if unknown."""
    if isinstance(source, (str, bytes, os.PathLike)):
        with _opened_file(os.fsdecode(source), columns) as (reader, total):
            yield reader.__arrow_c_stream__(), total
        return
    if columns is not None:
        raise ValueError('columns requires the path of a file: select the columns of the source')
    exported = export_arrow(source)
    if exported is None:
        raise TypeError(f'source must be a path or an Arrow table, an object with '
                        f'__arrow_c_stream__ or __arrow_c_array__, not {type(source).__name__}')
    yield exported, getattr(source, 'num_rows', None)    # len() could run a query


@contextlib.contextmanager
def _opened_file(path: str, columns: Optional[Sequence[str]]
                 ) -> Iterator[Tuple[Any, Any]]:
    """Yield a reader of the batches of a file, and its number of rows, which is None if unknown."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in ('.parquet', '.arrow', '.feather'):
        raise ValueError('source must be a file whose name ends with .parquet, .arrow or .feather, '
                         f'not {path!r}')
    try:
        import pyarrow as pa    # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError(f'pyarrow is required to read {path!r}: install it, or pass a table of '
                          'another Arrow library', name='pyarrow') from None
    if isinstance(columns, (str, bytes)):
        raise TypeError(f'columns must be a list of names, not the single name {columns!r}')
    with contextlib.ExitStack() as stack:
        schema, batches, total = (_open_parquet if suffix == '.parquet' else _open_arrow)(
            path, columns, stack)
        if columns is not None:
            for name in columns:
                if name not in schema.names:
                    raise ValueError(f'columns: {name!r} not found: the columns are {schema.names}')
            names = list(columns)
            schema = pa.schema([schema.field(name) for name in names])
            batches = (batch.select(names) for batch in batches)
        yield pa.RecordBatchReader.from_batches(schema, batches), total


def _open_parquet(path: str, columns: Optional[Sequence[str]],
                  stack: contextlib.ExitStack) -> Tuple[Any, Iterator[Any], Optional[int]]:
    import pyarrow.parquet as parquet    # type: ignore[import-untyped, unused-ignore]
    file = stack.enter_context(parquet.ParquetFile(path))
    about = file.metadata
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    rows = _BATCH_BYTES * about.num_rows // max(size, 1)
    batches = file.iter_batches(min(max(rows, _MIN_ROWS), _MAX_ROWS), columns=columns)
    return file.schema_arrow, batches, about.num_rows


def _open_arrow(path: str, columns: Optional[Sequence[str]],
                stack: contextlib.ExitStack) -> Tuple[Any, Iterator[Any], Optional[int]]:
    import pyarrow as pa
    memory = stack.enter_context(pa.memory_map(path))
    is_file = memory.read(len(_MAGIC)) == _MAGIC
    memory.seek(0)
    if not is_file:    # a stream, as in the cache of Hugging Face datasets
        reader = stack.enter_context(pa.ipc.open_stream(memory))
        return reader.schema, iter(reader), None
    file = stack.enter_context(pa.ipc.open_file(memory))
    return file.schema, map(file.get_batch, range(file.num_record_batches)), None
