# SPDX-License-Identifier: MIT
"""Writing of datasets."""

from __future__ import annotations

import warnings
from types import MappingProxyType, TracebackType
from typing import Any, Dict, Mapping, Optional, Type

from . import _core
from ._progress import Progress, telling
from .errors import LoaderxError
from .field import Field


Ticket = _core.Ticket


class Writer(_core.Writer):
    """Appends records to a dataset, and changes them. Made by `create` and by `open`.

    ``w[7] = {'label': 3}`` gives some fields of a record new values, ``w[indices] = {...}`` those
    of several, by columns; ``del w[9]`` deletes, and the last record takes the place. With mode 'a'
    of `open` records can be appended, and nothing that is there can be changed.

    One writer at a time can have a dataset open. What is asked of it is seen by readers, and
    survives, from the next commit on, in the order of the calls. A with-block is one transaction:
    leaving it commits and closes, an exception undoes all that was asked for in it, and closes.

    Any thread may call. Threads that commit at the same time share a commit, so that many small
    ones cost little. What they ask for forms one sequence, and a rollback undoes that of all.
    Where one deletes, the others' indices may mean other records.
    """

    __slots__ = ()

    def add_field(self, name: str, field: Field) -> None:
        """Add a field, the last of all. It is missing in the records that there are.

        It is committed at once and cannot be undone; in a with-block, with all that was asked for
        before. The same holds for `drop_field`, `rename_field`, `checkpoint`, `rebalance` and
        `seal`. Readers see it when they open the dataset again.

        Parameters
        ----------
        name : str
            What it is called.
        field : Field
            What it stores.
        """
        if not isinstance(name, str):
            raise TypeError(f'name must be a str, not {type(name).__name__}')
        if not isinstance(field, Field):
            raise TypeError(f'field must be a loaderx.Field, not {field!r}')
        self._add_field(field._describe(name))

    def rebalance(self, progress: Progress = True) -> Dict[str, Any]:
        """Write the values of all records to new chunks, and leave behind what is dead.

        Readers go on with what they have. Meanwhile there must be room for both. Interrupted at any
        moment, nothing is lost. It is committed at once; in a with-block, with all before it.

        Parameters
        ----------
        progress : bool or callable, optional
            True shows a bar where stderr is a terminal and tqdm is installed. A function is called
            with the records done, and all, now and then; what it raises ends the job.

        Returns
        -------
        dict
            ``utilisation_before`` and ``_after`` (of the payloads that the chunks take),
            ``live_ratio_before`` and ``_after`` (of their bytes), ``bytes_before`` and ``_after``,
            ``chunks_before`` and ``_after``; records, payloads and bytes that were moved.
        """
        with telling(progress, 'rebalance') as told:
            return self._rebalance(told)

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
        raise TypeError('a loaderx.Writer cannot be pickled: one process at a time can write')

    def __del__(self) -> None:
        if self.closed:
            return
        warnings.warn(f'{self!r} was not closed', ResourceWarning, source=self)
        try:
            self.close()
        except LoaderxError as error:
            if error.status != 'LX_ERR_FORKED':    # then it is the parent's to close
                raise
