# SPDX-License-Identifier: MIT
"""The file PATH.import next to a dataset, from which an interrupted import continues.

This is the file that lib/importer/import-state.h describes: each of the two kinds of imports
refuses to continue one of the other kind. An import of Arrow files needs no lengths after the first
line, because it can tell from the number of records in the dataset how far it got.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from typing import Any, Dict, Literal, Optional

from .errors import CorruptError, LoaderxError

__all__ = ['Begun', 'ImportState']

# What an import does to the dataset: create it, append to it, continue an interrupted import, or
# nothing, because the import was complete.
Begun = Literal['new', 'append', 'again', 'complete']

_VERSION = 1

# The file of an import by the library begins with all fields.
_MAX_BYTES = 64 << 20


class ImportState:
    """The state of imports into the dataset at `path`; `digest` identifies the import.

    Close it after use; it is a context manager.
    """

    def __init__(self, path: str, digest: int) -> None:
        self.first = 0    # the length of the dataset before the import
        self._dataset = path
        self._path = (path.rstrip('/') or path) + '.import'
        self._digest = digest
        self._file: Optional[int] = None    # locked while it is open

    def __enter__(self) -> ImportState:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def begin(self, resume: bool, append: bool) -> Begun:
        """Return what the import is to do, and set `first` if it continues an interrupted one."""
        # A dataset that exists before the file is read, and has no file, is complete: an import
        # creates the file before the dataset, and removes it at its end.
        exists = self._dataset_exists()
        header = self._read()
        if self._file is not None:    # another import may have just failed
            exists = self._dataset_exists()
        if header is not None and exists:
            self._continue(header, resume)
            return 'again'
        if exists and resume and not append:
            return 'complete'
        if exists and not append:
            raise FileExistsError(errno.EEXIST, 'a dataset already exists: pass append=True to '
                                  'append to it, or choose another path', self._dataset)
        if append and resume:
            raise FileNotFoundError(errno.ENOENT, 'no interrupted import into the dataset is '
                                    'known: it is complete, or did not begin', self._path)
        return 'append' if append else 'new'

    def create(self, first: int) -> None:
        """Create the file durably, or overwrite one of an import that changed nothing."""
        header = {'digest': self._digest, 'classes': 0, 'fields': [], 'version': _VERSION,
                  'first': first}
        if self._file is None:
            try:
                self._open(os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                raise self._busy() from None
        assert self._file is not None
        os.truncate(self._file, 0)
        os.pwrite(self._file, json.dumps(header, separators=(',', ':')).encode() + b'\n', 0)
        os.fsync(self._file)
        parent = os.open(os.path.dirname(self._path) or '.', os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)
        self.first = first

    def remove(self) -> None:
        """Remove the file, if it is this import's: it is complete, or changed nothing."""
        if self._file is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)

    def check(self, length: int) -> None:
        """Check the length of the dataset of an interrupted import."""
        if length < self.first:
            raise ValueError(f'{self._path}: the dataset has fewer records than before the '
                             'interrupted import')

    def _dataset_exists(self) -> bool:
        return os.path.isfile(os.path.join(self._dataset, 'meta.json'))

    def _read(self) -> Optional[Dict[str, Any]]:
        """Return the first line of the file; None if there is none, or nothing was changed yet."""
        try:
            self._open(0)
        except FileNotFoundError:
            return None
        assert self._file is not None
        size = min(os.fstat(self._file).st_size, _MAX_BYTES)
        line, end, _ = os.pread(self._file, size, 0).partition(b'\n')
        if not end:
            return None
        try:
            header = json.loads(line)
            version, first, digest = (header[key] for key in ('version', 'first', 'digest'))
            if not all(type(value) is int and value >= 0 for value in (version, first, digest)):
                raise ValueError
        except (KeyError, TypeError, ValueError, RecursionError):
            raise self._error(CorruptError, 'LX_ERR_CORRUPT', 'the record of an interrupted import '
                              'is damaged: remove it and the dataset, and import again') from None
        if version != _VERSION:
            raise self._error(LoaderxError, 'LX_ERR_UNSUPPORTED', 'a newer version of the library '
                              'began this import: continue with it')
        return header    # type: ignore[no-any-return]

    def _continue(self, header: Dict[str, Any], resume: bool) -> None:
        if not resume:
            raise self._error(LoaderxError, 'LX_ERR_STATE', 'an import into the dataset was '
                              'interrupted: pass resume=True to continue it, or remove this file '
                              'to keep the dataset as it is')
        if header['digest'] != self._digest:
            raise ValueError(f'{self._path}: the interrupted import had other inputs, columns or '
                             'fields, or was no import of Arrow files: give the same ones')
        self.first = header['first']

    def _open(self, flags: int) -> None:
        """Open and lock the file, to keep out other imports into the dataset."""
        file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | flags, 0o666)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
            if os.fstat(file).st_nlink == 0:    # the import that held the lock removed it
                raise self._busy()
        except OSError as error:
            os.close(file)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise self._busy() from None
            raise
        self._file = file

    def _busy(self) -> BlockingIOError:
        return BlockingIOError(errno.EAGAIN, 'another import into the dataset is running',
                               self._path)

    def _error(self, kind: Any, status: str, message: str) -> Any:
        error = kind(f'{self._path}: {message}')
        error.status, error.path, error.message = status, self._path, message
        return error
