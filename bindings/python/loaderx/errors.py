# SPDX-License-Identifier: MIT
"""Exceptions for failures that no built-in exception describes.

Invalid arguments raise `TypeError`, `ValueError`, `IndexError` or `KeyError`. System errors raise
`OSError` or a subclass of it (`FileNotFoundError`, `BlockingIOError`, ...), with `errno` set. This
module defines the exceptions for all other errors.
"""

from __future__ import annotations

from typing import Any, Dict, Optional


class LoaderxError(Exception):
    """The object is closed or belongs to another process, or the operation is unsupported.

    Attributes
    ----------
    status : str or None
        The name of the library status, for example ``'LX_ERR_STATE'``.
    field : str or None
        The field in which the error occurred.
    record : int or None
        The index of the record in which the error occurred.
    path : str or None
        The file or directory in which the error occurred.
    offset : int or None
        The byte offset of the error in the file at `path`.
    errno : int or None
        The system error number, if a system call failed.
    message : str or None
        The description of the error, without its location.
    """

    status: Optional[str] = None
    field: Optional[str] = None
    record: Optional[int] = None
    path: Optional[str] = None
    offset: Optional[int] = None
    errno: Optional[int] = None
    message: Optional[str] = None


class CorruptError(LoaderxError):
    """Stored data is damaged.

    The attributes give the location of the damage. Other data remains usable.

    Attributes
    ----------
    report : dict or None
        The report with all the findings, if `Dataset.verify` or `repair` raised the error.
    """

    report: Optional[Dict[str, Any]] = None

    def _as_dict(self) -> Dict[str, Any]:
        """Return the attributes as a dict, for use in a report."""
        return {'field': self.field, 'record': self.record, 'path': self.path,
                'offset': self.offset, 'message': self.message}
