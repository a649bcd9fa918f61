# SPDX-License-Identifier: MIT
"""What fails for reasons that Python has no exception for.

Wrong arguments are `TypeError`, `ValueError`, `IndexError` or `KeyError`; what the system refuses
is `OSError` with its errno (`FileNotFoundError`, `BlockingIOError`, ...). The rest is here.
"""

from __future__ import annotations

from typing import Any, Dict, Optional


class LoaderxError(Exception):
    """A call that the library refuses: closed, of another process, or not possible.

    Attributes
    ----------
    status : str or None
        The name of the library's status, ``'LX_ERR_STATE'`` for instance.
    field : str or None
        The field concerned.
    record : int or None
        The index of the record concerned.
    path : str or None
        The file or directory concerned.
    offset : int or None
        The byte concerned in the file at `path`.
    errno : int or None
        The system's error number, where that is the cause.
    message : str or None
        What is wrong, without where.
    """

    status: Optional[str] = None
    field: Optional[str] = None
    record: Optional[int] = None
    path: Optional[str] = None
    offset: Optional[int] = None
    errno: Optional[int] = None
    message: Optional[str] = None


class CorruptError(LoaderxError):
    """Stored data is damaged; the attributes say where. The rest of the dataset stays usable.

    Attributes
    ----------
    report : dict or None
        All that was found, where `Dataset.verify` or `repair` raised this.
    """

    report: Optional[Dict[str, Any]] = None

    def _locate(self) -> Dict[str, Any]:
        """What is known, as a report lists it."""
        return {'field': self.field, 'record': self.record, 'path': self.path,
                'offset': self.offset, 'message': self.message}
