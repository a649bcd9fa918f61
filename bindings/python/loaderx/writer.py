# SPDX-License-Identifier: MIT
"""Datasets, opened for writing."""

from __future__ import annotations

import warnings
from types import MappingProxyType, TracebackType
from typing import Any, Dict, Mapping, Optional, Type

from . import _core
from ._progress import Progress, reporting
from .errors import LoaderxError
from .field import Field


Ticket = _core.Ticket


class Writer(_core.Writer):
    """A writer appends records to a dataset and changes them. `create` and `open` return it.

    ``w[7] = {'label': 3}`` sets some fields of a record, ``w[indices] = {...}`` those of several
    records, by columns; ``del w[9]`` deletes a record and moves the last record to its index. In
    mode 'a' of `open`, only appending is possible.

    A dataset has at most one writer at a time. Readers see the effects of calls, in their order,
    after the next commit. A with-block is one transaction: leaving it commits and closes; an
    exception undoes all calls of the block, and closes.

    All methods are thread-safe. Threads that commit at the same time share a commit, so that many
    small ones cost little. The calls of all threads form one sequence, and a rollback undoes those
    of all. A deletion by one thread can change the records at the indices of another.

    Examples
    --------
    >>> with create('labels', {'label': Field('int64')}) as writer:
    ...     first = writer.append({'label': 7})
    ...     writer[0] = {'label': 8}
    >>> open('labels')['label'][:].tolist()
    [8]
    """

    __slots__ = ()

    def add_field(self, name: str, field: Field) -> None:
        """Add a field after the last one. It is missing in existing records.

        It is committed at once, with all calls before it, and cannot be undone. The same holds for
        `drop_field`, `rename_field`, `checkpoint`, `rebalance` and `seal`. Readers see the field
        after they open the dataset again.

        Parameters
        ----------
        name : str
            The name of the field.
        field : Field
            The type of its values.
        """
        if not isinstance(name, str):
            raise TypeError(f'name must be a str, not {type(name).__name__}')
        if not isinstance(field, Field):
            raise TypeError(f'field must be a loaderx.Field, not {field!r}')
        self._add_field(field._describe(name))

    def rebalance(self, progress: Progress = True) -> Dict[str, Any]:
        """Write the values of all records to new chunks, without dead bytes (compaction).

        Readers continue with their snapshots. The disk needs room for both copies meanwhile. An
        interruption at any moment loses nothing. It is committed at once, with all calls before it.

        Parameters
        ----------
        progress : bool or callable, optional
            True shows a bar if stderr is a terminal and tqdm is installed. A function is called
            from time to time with the records done and their total; an exception ends the job.

        Returns
        -------
        dict
            ``utilisation_before`` and ``_after`` (the fraction of live payloads in the chunks),
            ``live_ratio_before`` and ``_after`` (of live bytes), ``bytes_before`` and ``_after``,
            ``chunks_before`` and ``_after``; and the records, payloads and bytes that were moved.
        """
        with reporting(progress, 'rebalance') as report_progress:
            return self._rebalance(report_progress)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the dataset's order."""
        return MappingProxyType({name: Field(dtype, shape, compress)
                                 for name, dtype, shape, compress in self._describe()})

    def __enter__(self) -> Writer:
        self._begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self._finish(kind is None)

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Writer of {self.path!r}, closed>'
        return f'<loaderx.Writer of {self.path!r}, {len(self)} records>'

    def __reduce__(self) -> str:
        raise TypeError('a loaderx.Writer cannot be pickled: only one process at a time can write')

    def __del__(self) -> None:
        if self.closed:
            return
        warnings.warn(f'{self!r} was not closed', ResourceWarning, source=self)
        try:
            self.close()
        except LoaderxError as error:
            if error.status != 'LX_ERR_FORKED':    # then the parent closes it
                raise
