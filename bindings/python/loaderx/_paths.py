# SPDX-License-Identifier: MIT
"""Paths of datasets."""

from __future__ import annotations

import os
from typing import Any

from . import _core

__all__ = ['absolute', 'check_target', 'is_dataset', 'is_url', 'shown']


def shown(path: Any) -> str:
    """Return a path for a message: of a URL, without user, password, query and fragment."""
    try:
        return _core.show_path(path)
    except ValueError:    # NUL, or no text of the system: what opens it will say so
        text = os.fsdecode(path).replace('\0', '\\0')
        return _core.show_path(text.encode('utf-8', 'backslashreplace'))


def is_url(path: Any) -> bool:
    """Return whether a path is a URL: it contains ``://``."""
    return '://' in os.fsdecode(path)


def is_dataset(path: Any) -> bool:
    """Return whether a path is that of a dataset, and not of a file: a directory or a URL."""
    return is_url(path) or os.path.isdir(path)


def absolute(path: Any) -> str:
    """Return a path that names the same file in any working directory, for pickling.

    Unlike ``os.path.abspath()``, the function keeps ``..``: after a symbolic link to a folder, it
    is not the folder of the link. A URL is returned as it is.
    """
    text = os.fsdecode(path)
    return text if os.path.isabs(text) or is_url(text) else os.path.join(os.getcwd(), text)


def check_target(path: Any) -> None:
    """Refuse a URL to which nothing can be written, before anything is read."""
    text = os.fsdecode(path)
    if text.startswith(('https://', 'http://')):
        raise ValueError(f'{shown(text)}: cannot write over HTTP: pass a URL of s3:// or file://, '
                         'or a path')
