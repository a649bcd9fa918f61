# SPDX-License-Identifier: MIT
"""Files that are made beside their places, and take them together when they are whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import IO, Any, Dict, Iterator, List, Sequence

__all__ = ['Files', 'naming']

# What file systems say that have no hard links.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Files:
    """Files that belong together, for a with-block, after which all are in their places or none is.

    While they are put there, the first of them is absent: others know the files by it. So nobody
    meets one of these files with another one of former ones. A power loss after the block takes
    none of them away.

    Parameters
    ----------
    paths : sequence of str
        Where they go, the one first that others look for.
    replace : bool
        Whether files that are there are replaced.
    """

    def __init__(self, paths: Sequence[str], replace: bool) -> None:
        self._paths = list(paths)
        self._replace = replace
        self._open: Dict[str, IO[bytes]] = {}
        self._made: List[str] = []
        for path in self._paths:
            self._check_free(path)

    def _check_free(self, path: str) -> None:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not self._replace and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, 'there is one already, and it was not asked to '
                                  'replace it', path)

    def __enter__(self) -> Files:
        try:
            for path in self._paths:
                self._begin(path)
        except BaseException:
            self._end()
            raise
        return self

    def _begin(self, path: str) -> None:
        beside = f'{path}.{secrets.token_hex(4)}'
        try:
            number = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            error.filename = path
            raise
        self._made.append(beside)
        self._open[path] = os.fdopen(number, 'w+b', buffering=1 << 20)

    def __getitem__(self, path: str) -> IO[bytes]:
        """One of them as a file; errors are to be within `naming`."""
        return self._open[path]

    def write(self, path: str, data: Any) -> None:
        """Write to one of them; an error names it."""
        with naming(path):
            self._open[path].write(data)

    def __exit__(self, kind: Any, *details: object) -> None:
        try:
            if kind is None:
                for path, file in self._open.items():
                    with naming(path):
                        file.flush()
                        os.fsync(file.fileno())
                self._place()
        finally:
            self._end()

    def _place(self) -> None:
        if self._replace:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._paths[0])
        placed: List[str] = []
        try:
            for path, beside in reversed(list(zip(self._paths, self._made))):
                self._move(beside, path)
                placed.append(path)
            self._sync()
        except BaseException:
            for path in placed:
                os.unlink(path)
            raise

    def _sync(self) -> None:
        for folder in {os.path.dirname(path) or '.' for path in self._paths}:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(number)
            finally:
                os.close(number)

    def _move(self, beside: str, path: str) -> None:
        """Put it in its place; where nothing is to be replaced, nobody's of the same moment."""
        if self._replace:
            os.replace(beside, path)
            return
        try:
            os.link(beside, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                error.filename, error.filename2 = path, None
                raise
            self._check_free(path)
            os.rename(beside, path)

    def _end(self) -> None:
        """Remove what did not come to its place, and what a place has a link to."""
        for beside in self._made:
            with contextlib.suppress(OSError):
                os.unlink(beside)
        for file in self._open.values():
            with contextlib.suppress(OSError):    # what is left to be written has no place
                file.close()


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """An error of the system tells which file it is about."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
