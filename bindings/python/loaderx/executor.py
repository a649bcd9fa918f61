# SPDX-License-Identifier: MIT
"""Threads for loaders and writers."""

from __future__ import annotations

from . import _core


class Executor(_core.Executor):
    """Threads that any number of loaders and writers can share.

    Threads start when there is work for them. Use the executor as a context manager, or close it
    explicitly. It is also closed when the last reference to it goes away.

    Parameters
    ----------
    readers : int, optional
        The number of threads that fill batches, from 0 to 64. With 0, the thread that waits for a
        batch fills it. The default is the number of CPUs that the process may use.
    writers : int, optional
        The number of threads that compress and write, from 1 to 4. The default is 1.
    """

    __slots__ = ()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return '<loaderx.Executor, closed>'
        return f'loaderx.Executor(readers={self.readers}, writers={self.writers})'

    def __reduce__(self) -> str:
        raise TypeError('a loaderx.Executor cannot be pickled: it has threads')
