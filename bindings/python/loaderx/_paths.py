# SPDX-License-Identifier: MIT
"""Paths of datasets."""

from __future__ import annotations

import os
from typing import Any

__all__ = ['absolute']


def absolute(path: Any) -> str:
    """Return a path that names the same file in any working directory, for pickling.

    Unlike ``os.path.abspath()``, the function keeps ``..``: after a symbolic link to a folder, it
    is not the folder of the link.
    """
    text = os.fsdecode(path)
    return text if os.path.isabs(text) else os.path.join(os.getcwd(), text)
