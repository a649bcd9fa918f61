# SPDX-License-Identifier: MIT
"""Creates several files under temporary names, and renames all of them when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import IO, Any, Dict, Iterator, List, Sequence

__all__ = ['Files', 'naming']

# Errors of file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Files:
    """A group of files for a with-block, after which all have their final names or none has.

    While they are renamed, the first one, by which other programs find the files, is absent. So no
    program reads a mix of new and old files. After the block the files are durable.

    Parameters
    ----------
    paths : sequence of str
        The final paths, first the one that other programs open.
    replace : bool
        Whether to replace existing files.
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
        """Return one of them as a file object; wrap errors in `naming`."""
        return self._open[path]

    def write(self, path: str, data: Any) -> None:
        """Write to a file; an error names it."""
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
        """Rename the file; without `replace`, never over a file created at the same time."""
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
        """Remove the remaining temporary files."""
        for beside in self._made:
            with contextlib.suppress(OSError):
                os.unlink(beside)
        for file in self._open.values():
            with contextlib.suppress(OSError):    # the remaining data is dropped
                file.close()


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Add the path to an OSError."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
