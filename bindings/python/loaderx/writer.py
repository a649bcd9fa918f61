# SPDX-License-Identifier: MIT
"""Writing of datasets."""

from __future__ import annotations

import warnings
from types import MappingProxyType, TracebackType
from typing import Mapping, Optional, Type

from . import _core
from .errors import LoaderxError
from .field import Field


class Writer(_core.Writer):
    """Appends records to a dataset. Made by `create` and by `open` with mode 'a'.

    One writer at a time can have a dataset open. What it appends is seen by readers, and survives,
    from the next commit on. A with-block is one transaction: leaving it commits and closes, an
    exception undoes all that was appended in it, and closes.

    Any thread may call; one waits for the other.
    """

    __slots__ = ()

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
