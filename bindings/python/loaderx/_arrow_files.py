# SPDX-License-Identifier: MIT
"""Parquet and Arrow files, which pyarrow reads, one batch at a time."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple

__all__ = ['ArrowFiles']

# The size of the batches in which a Parquet file is decoded, and limits to their numbers of rows.
# Small batches stay in the processor's cache until they are written.
_BATCH_BYTES = 1 << 20
_MIN_ROWS, _MAX_ROWS = 64, 65536

# The first bytes of an Arrow file that is not a stream.
_MAGIC = b'ARROW1'


class ArrowFiles:
    """Files that are read one after the other.

    Parameters
    ----------
    paths : list of str
        The files.
    columns : sequence of str or None
        The columns to read, in this order; None: all.
    ignored : list of str
        Columns that are not read.
    """

    def __init__(self, paths: List[str], columns: Optional[Sequence[str]],
                 ignored: List[str]) -> None:
        if isinstance(columns, (str, bytes)):
            raise TypeError(f'columns must be a list of names, not the single name {columns!r}')
        for path in paths:
            if _suffix(path) not in ('.parquet', '.arrow', '.feather'):
                raise ValueError('source must be a file whose name ends with .parquet, .arrow or '
                                 f'.feather, not {path!r}')
        try:
            import pyarrow    # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError(f'pyarrow is required to read {paths[0]!r}: install it, or pass a '
                              'table of another Arrow library', name='pyarrow') from None
        for path in paths:
            os.stat(path)    # an absent file is an error now, not after hours
        self.paths = paths
        self.columns = list(columns) if columns is not None else None
        self._pyarrow = pyarrow
        self.ignored = ignored

    def schema(self) -> Any:
        """Return the schema of the first file."""
        with self._open(self.paths[0]) as file:
            schema = file.schema
            names = self._names(file, self.paths[0])
        if names is None:
            return schema
        return self._pyarrow.schema([schema.field(name) for name in names], schema.metadata)

    def count(self) -> Optional[int]:
        """Return the number of rows; None if that is unknown."""
        counts: List[int] = []
        for path in self.paths:
            if _suffix(path) != '.parquet':
                return None
            with self._open(path) as file:
                counts.append(file.rows)
        return sum(counts)

    def batches(self, skip: int) -> Iterator[Tuple[str, int, Any]]:
        """Yield the rows except the first `skip` ones.

        They come as tuples: the path, the number of earlier rows in this file, and a valid batch.
        """
        for path in self.paths:
            with self._open(path) as file:
                if file.rows is not None and file.rows <= skip:
                    skip -= file.rows
                    continue
                row, batches = file.read(self._names(file, path), skip)
                for batch in self._checked(batches, path):
                    rest = batch.slice(min(max(skip - row, 0), batch.num_rows))
                    row += batch.num_rows
                    if rest.num_rows:
                        yield path, row - rest.num_rows, rest
                skip = max(skip - row, 0)
        if skip:
            raise ValueError('the inputs have fewer records than the interrupted import read from '
                             'them: they were changed')

    def _open(self, path: str) -> contextlib.AbstractContextManager[Any]:
        with self._named(path):
            return _Parquet(path) if _suffix(path) == '.parquet' else _Arrow(path)

    def _names(self, file: Any, path: str) -> Optional[List[str]]:
        """Return the columns to read; None: all."""
        names: List[str] = file.schema.names
        if self.columns is None and not any(name in self.ignored for name in names):
            return None
        for name in self.columns or ():
            if name not in names:
                raise ValueError(f'columns: {name!r} not found: the columns of {path!r} are '
                                 f'{names}')
        wanted = names if self.columns is None else self.columns
        return [name for name in wanted if name not in self.ignored]

    def _checked(self, batches: Iterable[Any], path: str) -> Iterator[Any]:
        """Yield batches whose buffers have the bytes that their offsets refer to.

        The Arrow C data interface does not tell how long a buffer is, so only pyarrow can check
        this.
        """
        iterator = iter(batches)
        number = 0
        while True:
            with self._named(path, f'batch {number}'):
                batch = next(iterator, None)
                if batch is None:
                    return
                batch.validate()
            yield batch
            number += 1

    @contextlib.contextmanager
    def _named(self, path: str, part: str = '') -> Iterator[None]:
        """Name the file in errors of pyarrow, unless the system reported them."""
        try:
            yield
        except (OSError, self._pyarrow.ArrowException) as error:
            if getattr(error, 'errno', None) is not None or isinstance(error, MemoryError):
                raise
            raise ValueError(f'{path!r}{part and ", " + part}: {error}') from None


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


class _File(contextlib.ExitStack):
    """An open file: its schema, and the number of its rows, which is None if unknown.

    read() returns an iterator of batches with some columns, and the number of rows before the first
    batch, which is at most `skip`.
    """

    schema: Any
    rows: Optional[int] = None


class _Parquet(_File):
    def __init__(self, path: str) -> None:
        super().__init__()
        import pyarrow.parquet as parquet    # type: ignore[import-untyped, unused-ignore]
        # INT96 in nanoseconds, pyarrow's default, would wrap beyond the year 2262.
        self._file = self.enter_context(parquet.ParquetFile(path,
                                                            coerce_int96_timestamp_unit='us'))
        self._about = self._file.metadata
        self.schema = self._file.schema_arrow
        self.rows = self._about.num_rows

    def read(self, names: Optional[List[str]], skip: int) -> Tuple[int, Iterator[Any]]:
        groups = [self._about.row_group(i) for i in range(self._about.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        rows = _BATCH_BYTES * self._about.num_rows // max(size, 1)
        row, first = 0, 0
        while first < len(groups) and row + groups[first].num_rows <= skip:
            row += groups[first].num_rows
            first += 1
        return row, self._file.iter_batches(min(max(rows, _MIN_ROWS), _MAX_ROWS), columns=names,
                                            row_groups=range(first, len(groups)))


class _Arrow(_File):
    def __init__(self, path: str) -> None:
        super().__init__()
        import pyarrow as pa
        memory = self.enter_context(pa.memory_map(path))
        is_file = memory.read(len(_MAGIC)) == _MAGIC
        memory.seek(0)
        self._batches: Iterator[Any]
        if is_file:
            file = self.enter_context(pa.ipc.open_file(memory))
            self._batches = map(file.get_batch, range(file.num_record_batches))
        else:    # a stream, as in the cache of Hugging Face datasets
            file = self.enter_context(pa.ipc.open_stream(memory))
            self._batches = iter(file)
        self.schema = file.schema

    def read(self, names: Optional[List[str]], skip: int) -> Tuple[int, Iterator[Any]]:
        if names is None:
            return 0, self._batches
        return 0, (batch.select(names) for batch in self._batches)
