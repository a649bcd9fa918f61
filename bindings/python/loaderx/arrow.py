# SPDX-License-Identifier: MIT
"""Import of Arrow tables, and of the Parquet and Arrow files that pyarrow reads."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrow_files import ArrowFiles
from ._check import boolean
from ._class_names import metadata_of, with_class_names
from ._import_state import MARK, Begun, ImportState
from ._progress import Progress, reporting
from ._tables import export_arrow, is_frame, kind_of
from ._types import array_type
from .field import Field, field_of
from .opening import creation, fill_new
from .sources import Dataset
from .sources.dataset import Path
from .writer import Writer

__all__ = ['import_arrow']

# An import of files commits after this many bytes, as the other imports do.
_COMMIT_BYTES = 256 << 20

_Open = Callable[[Path], Writer]
_Report = Optional[Callable[[int, Any], object]]


def import_arrow(source: Any, path: Path, *, columns: Optional[Sequence[str]] = None,
                 fields: Optional[Mapping[str, Union[str, Field]]] = None, resume: bool = False,
                 append: bool = False, progress: Progress = True, **options: Any) -> int:
    """Import an Arrow table, Parquet files or Arrow files.

    Each column becomes a field of the same name, in which characters that no field name may have
    become underscores: bool, integers and floats with their dtype; dates and timestamps as
    datetime64, and times of the day and durations as int64, in the unit of the column; text as str,
    and binary values as bytes; fixed-size lists of numbers and times as arrays, and lists that vary
    in length as ragged fields; tensors as arrays of their shape; dictionaries (categories) as their
    values. Nulls become missing values. A column of another type, such as a decimal, raises an
    error: cast it or leave it out. A column of nulls alone needs a type in `fields`. Timestamps of
    Parquet's old type INT96 are read in microseconds, as Spark writes them.

    A column of JSON texts becomes a str field, unless it has the Arrow type json; to read parsed
    values, pass ``fields={'name': 'json'}``.

    The names of the classes of Hugging Face's ClassLabel, which tables and files of its datasets
    have, too, become the entry ``classes`` of a new dataset's card, a JSON array in the order of
    the numbers, unless `card` has this entry or they do not fit, of which a warning tells. If
    several fields have classes, their entries are ``classes.NAME``.

    Images of Hugging Face, which are structs of ``bytes`` and ``path``, become image fields, and
    sounds and videos bytes. No path is followed: an image that has only a path raises an error. Of
    a DatasetDict, pass one split, as in ``import_arrow(dataset['train'], path)``.

    An import of a table or of a stream is one transaction: if it fails, nothing is imported. An
    import of files commits after every 256 MiB. If it is interrupted after the first commit, by an
    exception or a kill, the same call with ``resume=True`` continues after the last one. Until the
    import is complete, the dataset's card has the entry ``loaderx.import``; see `import_lines`. A
    row that does not fit its fields always ends the import: Arrow files have no bad rows to skip.

    Parameters
    ----------
    source : path-like, sequence of path-like, or Arrow table
        Files whose names end with ``.parquet``, ``.arrow`` or ``.feather``, in the order of their
        records, which requires pyarrow; or an object with ``__arrow_c_stream__`` or
        ``__arrow_c_array__``, such as a table or a batch reader of pyarrow, a DataFrame of polars
        or pandas, a relation of DuckDB, or a Dataset or an IterableDataset of Hugging Face.
    path : path-like
        The directory of the dataset.
    columns : sequence of str, optional
        For files: the columns to read, in this order; by default, all columns.
    fields : dict of str to Field or str, optional
        The fields for some of the columns, to compress their values, for example; by default,
        uncompressed fields. A str is a type; see `import_lines`. 'ignore' leaves out a column of
        files. With `append`, only 'ignore' is allowed.
    resume : bool, optional
        Whether to continue an import of files that was interrupted. The source, `columns` and
        `fields` must be the same. The result is the same as without the interruption. If none was
        interrupted, the import begins; if it was complete, nothing happens. A table or a stream
        cannot be continued.
    append : bool, optional
        Whether to append to an existing dataset, which must have exactly the fields of the columns.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called periodically with the number of records processed so far and the total,
        which is None if unknown; if it raises an exception, the operation ends.
    **options
        Other arguments of `create`, except `replace`. With `append`, only `durability`, `level` and
        `executor` are allowed.

    Returns
    -------
    int
        The number of records of the source, including those that were imported before the
        interruption. If a complete import is resumed, the number of records in the dataset.

    Raises
    ------
    FileExistsError
        `path` exists and is not an empty directory, and neither `resume` nor `append` is set.
    ImportError
        `source` is a file, and pyarrow is not installed.
    LoaderxError
        A column has no field type; the message names the column. Or an import was interrupted, and
        `resume` is not set.
    ValueError
        A value does not fit its field, or the Arrow data is invalid; the message names the file,
        the column and the row in the file.

    Examples
    --------
    >>> with create('squares', {'x': Field('int64')}) as writer:
    ...     first = writer.extend({'x': np.arange(5) ** 2})
    >>> import_arrow(open('squares').to_arrow(), 'compressed',
    ...              fields={'x': Field('int64', compress='flate')})
    5
    """
    if fields is not None and not isinstance(fields, Mapping):
        raise TypeError(f'fields must be a dict, not {type(fields).__name__}')
    given = {name: field if isinstance(field, str) and field == 'ignore' else field_of(name, field)
             for name, field in (fields or {}).items()}
    kept = {name: field for name, field in given.items() if isinstance(field, Field)}
    if boolean('append', append) and kept and not resume:
        raise ValueError(f'fields[{next(iter(kept))!r}]: the dataset has its fields already: with '
                         "append, only 'ignore' is allowed")
    with reporting(progress, 'import') as report:
        paths = _find_paths(source)
        if paths is None:
            _refuse_for_tables(columns, given, boolean('resume', resume))
            return _import_table(source, path, kept, append, report, options)
        files = ArrowFiles(paths, columns, [name for name in given if name not in kept])
        return _import_files(files, path, kept, boolean('resume', resume), append, report, options)


def _find_paths(source: Any) -> Optional[List[str]]:
    """Return the paths of the files; None: the source is something else."""
    kinds = (str, bytes, os.PathLike)
    if isinstance(source, kinds):
        return [os.fsdecode(source)]
    if isinstance(source, (list, tuple)) and source and all(isinstance(each, kinds)
                                                            for each in source):
        return list(map(os.fsdecode, source))
    return None


def derive_fields(table: Any, exported: Any) -> Dict[str, Field]:
    """Return the fields for the columns of a table, of which arrow_of() returned `exported`."""
    if exported is not None:
        return _choose_fields(_schema_of(exported), {})
    if is_frame(table):
        try:
            import pyarrow    # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError('fields must be given: only pyarrow, which is not installed, tells '
                              'the types of a DataFrame', name='pyarrow') from None
        schema = pyarrow.Schema.from_pandas(table, preserve_index=False)
        return _choose_fields(schema.__arrow_c_schema__(), {})
    if not isinstance(table, Mapping):
        raise TypeError(f'fields must be given: a {kind_of(table)} does not tell the types of its '
                        'columns')
    for name, column in table.items():
        if not isinstance(column, np.ndarray) or not column.ndim or not array_type(column.dtype):
            kind = f'an array of {column.dtype}' if isinstance(column, np.ndarray) else \
                f'a {kind_of(column)}'
            raise TypeError(f'fields must be given: the column {name!r} is {kind}')
    return {name: Field(column.dtype, column.shape[1:]) for name, column in table.items()}


def _schema_of(exported: Any) -> Any:
    """Return the capsule of the schema of what export_arrow() returned."""
    return exported[0] if isinstance(exported, tuple) else _core.arrow_schema(exported)


def _choose_fields(schema: Any, fields: Mapping[str, Field]) -> Dict[str, Field]:
    """Return the fields for the columns of a schema, which is a capsule."""
    return _match_fields(schema, fields)[0]


def _match_fields(schema: Any, fields: Mapping[str, Field]) \
        -> Tuple[Dict[str, Field], Dict[str, str]]:
    """Return the fields for the columns of a schema, and the name of each column's field."""
    columns, described = _core.arrow_fields(schema, fields)
    chosen = Field._from_descriptions(described)
    names = dict(zip(columns, chosen))
    for column, field in fields.items():
        if column not in names:
            raise ValueError(f'fields: {column!r} not found: the columns are {list(columns)}')
        chosen[names[column]] = field
    return chosen, names


def _creating(schema: Any, metadata: Any, fields: Mapping[str, Field],
              card: Optional[Mapping[str, str]] = None, **options: Any) -> _Open:
    """Return a function that creates a dataset with the fields and class names of a schema."""
    chosen, names = _match_fields(schema, fields)
    if card is None or isinstance(card, Mapping):
        card = with_class_names(card or {}, metadata, names)
    return creation(chosen, card=card, **options)


def _opening(append: bool, durability: Any = None, level: Any = None, executor: Any = None,
             **others: Any) -> _Open:
    """Return a function that opens an existing dataset with the options of `create`."""
    for name, value in others.items():
        if append and value is not None:
            raise ValueError(f'{name} applies to new datasets only: do not set it to append')
    return partial(Writer, durability=durability, level=level, executor=executor)


# ---- tables


def _refuse_for_tables(columns: Any, fields: Mapping[str, Any], resume: bool) -> None:
    if columns is not None:
        raise ValueError('columns requires the path of a file: select the columns of the source')
    for name, field in fields.items():
        if field == 'ignore':
            raise ValueError(f'fields[{name!r}]: ignoring a column requires the path of a file: '
                             'leave the column out of the source')
    if resume:
        raise ValueError('resume requires paths of files: a table or a stream may not be the same '
                         'when it is read again')


def _import_table(source: Any, path: Path, fields: Mapping[str, Field], append: bool,
                  report: _Report, options: Dict[str, Any]) -> int:
    exported = export_arrow(source)
    if exported is None:
        raise TypeError(f'source must be paths of files or an Arrow table, an object with '
                        f'__arrow_c_stream__ or __arrow_c_array__, not {type(source).__name__}')
    total = getattr(source, 'num_rows', None)    # len() could run a query
    counts: List[int] = []

    def fill(writer: Writer) -> None:
        first = len(writer)
        writer._extend_arrow(exported, report and (lambda rows: report(rows, total)))
        counts.append(len(writer) - first)

    if ImportState(os.fsdecode(path), 0).begin(False, append) == 'append':
        with _opening(True, **options)(path) as writer:
            fill(writer)
    else:
        opened = _creating(_schema_of(exported), metadata_of(source), fields, **options)
        fill_new(opened, path, fill)
    return counts[0]


# ---- files


def _import_files(files: ArrowFiles, path: Path, fields: Mapping[str, Field], resume: bool,
                  append: bool, report: _Report, options: Dict[str, Any]) -> int:
    described = {name: field._describe(name) for name, field in fields.items()}
    identity = json.dumps(['arrow', files.paths, files.columns, files.ignored, described])
    state = ImportState(os.fsdecode(path), zlib.crc32(identity.encode()))
    begun = state.begin(resume, append)
    if begun == 'complete':
        with Dataset(path) as dataset:
            return len(dataset)
    if begun == 'new' and isinstance(options.get('card') or {}, Mapping):
        options['card'] = {**(options.get('card') or {}), **state.entry(0)}
    if begun == 'new':
        schema = files.schema()
        opened = _creating(schema.__arrow_c_schema__(), schema.metadata, fields, **options)
    else:
        opened = _opening(begun == 'append', **options)
    with _filling(opened, path, state, begun) as writer:
        _append_files(files, writer, state, report)
        return len(writer) - state.first


@contextlib.contextmanager
def _filling(opened: _Open, path: Path, state: ImportState, begun: Begun) -> Iterator[Writer]:
    """Yield a writer, and commit at the end. If the block fails, what it committed remains."""
    made: List[Writer] = []    # see fill_new()
    try:
        made.extend(map(opened, [path]))
        state.open(made[0], begun)
        made[0]._begin()
        yield made[0]
        state.commit(made[0])
        made[0].set_card({MARK: None})
        made[0]._finish(True)
    except BaseException:
        with contextlib.suppress(Exception):    # so that the original error is raised
            _abandon(made, path, state, begun)
        raise


def _abandon(made: List[Writer], path: Path, state: ImportState, begun: Begun) -> None:
    """Undo what was not committed. If nothing was, leave no trace of an import that began now."""
    for writer in made:
        if not writer.closed:
            writer._finish(False)
        with Dataset(path) as dataset:
            changed = len(dataset) != state.first
        if begun == 'new' and not changed:
            _core.Dataset._remove(path)
        elif begun == 'append' and not changed:
            with Writer(path) as again:
                again.set_card({MARK: None})


def _append_files(files: ArrowFiles, writer: Writer, state: ImportState, report: _Report) -> None:
    """Append the rows of all files, except those that the interrupted import has appended."""
    done = len(writer) - state.first
    total = files.count() if report is not None else None
    uncommitted = 0
    for path, row, batch in files.batches(done):
        try:
            writer._extend_arrow(batch.__arrow_c_array__(), None, row)
        except ValueError as error:
            raise ValueError(f'{path!r}: {error}') from None
        done += batch.num_rows
        uncommitted += batch.nbytes
        if uncommitted >= _COMMIT_BYTES:
            state.commit(writer)
            uncommitted = 0
        if report is not None:
            report(done, total)
