# SPDX-License-Identifier: MIT
"""Traces of loaders."""

from __future__ import annotations

import errno
import os
from typing import Any, Callable, Union

from . import _core

__all__ = ['Trace']


class Trace:
    """A trace that a loader records, as `Loader.trace` returns it.

    It ends, and its file is written, at the end of its ``with`` block, with ``close()``, or when
    the loader is closed. A child of fork() does not write the file at the end of a ``with`` block;
    it is the parent's.
    """

    def __init__(self, path: Union[str, bytes, os.PathLike[Any]],
                 end: Callable[[Trace], None]) -> None:
        self._path = os.path.abspath(path)
        folder = os.path.dirname(self._path)
        if not os.path.isdir(folder):    # better now than at the end of a run
            raise FileNotFoundError(errno.ENOENT, 'the directory of a trace does not exist', folder)
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            raise FileExistsError(errno.EEXIST, 'a trace cannot replace what is not a regular file',
                                  self._path)
        self._process = os.getpid()
        self._core = _core.Trace()
        self._end = end
        self._is_written = False

    def close(self) -> None:
        """End the trace and write its file; if that fails, the call can be repeated."""
        if self._is_written:
            return
        self._end(self)
        self._core.write(self._path)
        self._is_written = True

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *details: object) -> None:
        if self._process == os.getpid():    # a child of fork() leaves the file to its parent
            self.close()

    def __repr__(self) -> str:
        return f'<loaderx trace, {"" if self._is_written else "to be "}written to {self._path!r}>'
