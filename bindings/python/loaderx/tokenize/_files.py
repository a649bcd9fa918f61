# SPDX-License-Identifier: MIT
"""Creates several files under temporary names, and renames them once all are complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import IO, Any, Dict, Iterator, List, Sequence

__all__ = ['Files', 'naming']

# The error numbers of link() on file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Files:
    """A group of files that appear under their final names together, or not at all.

    The files appear at the end of the with-block. Other programs find the group by its first file,
    which is absent while the files are being renamed, so no program reads a mix of new and old
    files. After the block, the files are durable.

    Parameters
    ----------
    paths : sequence of str
        The final paths; the first is the path that other programs open.
    replace : bool
        Whether to replace existing files.
    """

    def __init__(self, paths: Sequence[str], replace: bool) -> None:
        self._paths = list(paths)
        self._replace = replace
        self._open: Dict[str, IO[bytes]] = {}
        self._temporary: List[str] = []
        for path in self._paths:
            self._check_free(path)

    def _check_free(self, path: str) -> None:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not self._replace and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, 'the file exists, and replace is not '
                                  'set', path)

    def __enter__(self) -> Files:
        try:
            for path in self._paths:
                self._begin(path)
        except BaseException:
            self._end()
            raise
        return self

    def _begin(self, path: str) -> None:
        temporary = f'{path}.{secrets.token_hex(4)}'
        try:
            number = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            error.filename = path
            raise
        self._temporary.append(temporary)
        self._open[path] = os.fdopen(number, 'w+b', buffering=1 << 20)

    def __getitem__(self, path: str) -> IO[bytes]:
        """Return a file object; use it within `naming`, so that errors name the file."""
        return self._open[path]

    def write(self, path: str, data: Any) -> None:
        """Write to a file; errors name the file."""
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
        renamed: List[str] = []
        try:
            for path, temporary in reversed(list(zip(self._paths, self._temporary))):
                self._move(temporary, path)
                renamed.append(path)
            self._sync()
        except BaseException:
            for path in renamed:
                os.unlink(path)
            raise

    def _sync(self) -> None:
        for folder in {os.path.dirname(path) or '.' for path in self._paths}:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(number)
            finally:
                os.close(number)

    def _move(self, temporary: str, path: str) -> None:
        """Rename a file; without `replace`, never overwrite a file created in the meantime."""
        if self._replace:
            os.replace(temporary, path)
            return
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                error.filename, error.filename2 = path, None
                raise
            self._check_free(path)
            os.rename(temporary, path)

    def _end(self) -> None:
        """Remove the remaining temporary files, and close all files."""
        for temporary in self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        for file in self._open.values():
            with contextlib.suppress(OSError):    # the buffered data does not matter
                file.close()


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Add the path to any OSError that the block raises."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = path
        raise
