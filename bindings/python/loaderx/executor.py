# SPDX-License-Identifier: MIT
"""Threads that work for loaders and writers."""

from __future__ import annotations

from . import _core


class Executor(_core.Executor):
    """Threads for any number of loaders and writers.

    No thread is started before there is work for it. Use it as a context manager, or close it; it
    also ends when nobody refers to it any more.

    Parameters
    ----------
    readers : int, optional
        Threads that fill batches, 0 to 64. With 0, who waits for a batch fills it. The default
        follows from the CPUs that the process may use.
    writers : int, optional
        Threads that write, 1 to 4; the default is 1.
    cleaners : int, optional
        Threads that give memory back, 1 to 4; the default is 1.
    """

    __slots__ = ()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return '<loaderx.Executor, closed>'
        return (f'loaderx.Executor(readers={self.readers}, writers={self.writers}, '
                f'cleaners={self.cleaners})')

    def __reduce__(self) -> str:
        raise TypeError('a loaderx.Executor cannot be pickled: it has threads')
