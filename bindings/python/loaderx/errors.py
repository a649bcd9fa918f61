# SPDX-License-Identifier: MIT
"""Exceptions for failures that Python has no exception for.

Invalid arguments raise `TypeError`, `ValueError`, `IndexError` or `KeyError`; system errors raise
`OSError` with its errno (`FileNotFoundError`, `BlockingIOError`, ...). This module has the rest.
"""

from __future__ import annotations

from typing import Any, Dict, Optional


class LoaderxError(Exception):
    """The object is closed or belongs to another process, or the operation is unsupported.

    Attributes
    ----------
    status : str or None
        The name of the library's status, for example ``'LX_ERR_STATE'``.
    field : str or None
        The field of the error.
    record : int or None
        The index of the record.
    path : str or None
        The file or directory.
    offset : int or None
        The offset of the error in the file at `path`, in bytes.
    errno : int or None
        The error number of the system, if the system reported the error.
    message : str or None
        The description without the location.
    """

    status: Optional[str] = None
    field: Optional[str] = None
    record: Optional[int] = None
    path: Optional[str] = None
    offset: Optional[int] = None
    errno: Optional[int] = None
    message: Optional[str] = None


class CorruptError(LoaderxError):
    """Stored data is damaged; the attributes give the location. The rest of the dataset is usable.

    Attributes
    ----------
    report : dict or None
        All findings, if `Dataset.verify` or `repair` raised the error.
    """

    report: Optional[Dict[str, Any]] = None

    def _as_dict(self) -> Dict[str, Any]:
        """Return the attributes as an item of a report."""
        return {'field': self.field, 'record': self.record, 'path': self.path,
                'offset': self.offset, 'message': self.message}
