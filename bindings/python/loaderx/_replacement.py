# SPDX-License-Identifier: MIT
"""Replacement of a dataset by a new one that is created next to it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from typing import Iterator

from . import _core
from .errors import CorruptError

__all__ = ['replacing']


@contextlib.contextmanager
def replacing(target: str, shown: str) -> Iterator[str]:
    """Yield an empty directory next to `target`, for a dataset that replaces the one at `target`.

    After the block, the dataset at `target`, which must not be a link, is removed, and the
    directory takes its name. If the block raises an exception, nothing is replaced. Errors name the
    path `shown`.
    """
    parent, name = os.path.split(target)
    made = tempfile.mkdtemp(prefix=f'.{name}.', dir=parent)
    try:
        os.chmod(made, os.stat(target).st_mode & 0o7777)
        yield made
        _remove(target, shown)
        os.rename(made, target)
    except BaseException:
        shutil.rmtree(made)
        raise


def _remove(target: str, shown: str) -> None:
    try:
        _core.Dataset._remove(target)
    except (FileNotFoundError, CorruptError) as error:
        raise FileExistsError(
            errno.EEXIST, f'nothing was removed: this is not a dataset: {error}', shown
        ) from None
