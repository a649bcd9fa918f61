# SPDX-License-Identifier: MIT
"""Datasets at URLs: publishing them there, and removing what nobody needs any more."""

from __future__ import annotations

import os
import re
from typing import Any, List, NamedTuple, Optional, Union

from ._check import boolean, number
from ._elsewhere import Credentials, make_target, prune_target
from ._progress import Progress, reporting
from .sources import Dataset
from .sources.dataset import Path

__all__ = ['PrunedFile', 'prune', 'push']

_SECONDS = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}


def push(source: Union[Path, Dataset], url: Path, *, replace: bool = False,
         endpoint: Optional[str] = None, region: Optional[str] = None,
         credentials: Optional[Credentials] = None, anonymous: bool = False,
         connections: Optional[int] = None, patience: Optional[float] = None,
         progress: Progress = True) -> int:
    """Publish a sealed dataset at a URL, in as many calls as it takes.

    If a call fails or is interrupted, the same call continues: files that were sent completely are
    not sent again. Readers see the dataset, or its new generation, when everything is there. Files
    that the published generation uses are not replaced, so those who have it open are not affected;
    `prune` removes them later.

    If the dataset was unsealed and changed since it was published, its files may have grown. Then
    push it to another URL, or `Writer.rebalance` it first, which writes new files.

    Parameters
    ----------
    source : Dataset or path-like
        The dataset, which must be sealed, or its path or URL.
    url : str
        Where to publish it: ``s3://bucket/prefix``, ``file:///path`` or a path. Directories are
        made as needed.
    replace : bool, default False
        Replace files that the published generation uses, and publish a generation that is older
        than it. Those who have the published generation open then get errors.
    endpoint, region, credentials, anonymous, connections, patience
        See `open`. They are options for `url`; to pass options for `source`, pass a Dataset.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called about 20 times a second with the number of bytes that are there and the
        total; if it raises an exception, the push ends.

    Returns
    -------
    int
        The number of bytes that were sent: 0 if everything was there.

    Raises
    ------
    FileExistsError
        Another dataset is at the URL, or is being pushed there, or a later generation is, or files
        would have to be replaced, or what is there is not sealed.
    CorruptError
        A file is missing or too short, or a table is damaged. Nothing was published.
    LoaderxError
        The dataset is not sealed.
    OSError
        The server or the network was not available for longer than `patience`, or access was
        denied. The same call continues.

    Examples
    --------
    >>> with create('train', {'x': Field('int64', (10,))}) as writer:
    ...     first = writer.extend(x=np.arange(1000).reshape(100, 10))
    ...     writer.seal()
    >>> sent = push('train', 'published/train')
    >>> len(open('published/train'))
    100
    >>> push('train', 'published/train')
    0
    """
    where = os.fsencode(url)
    target = make_target(where, connections, patience, endpoint, region, anonymous, credentials)
    replace = boolean('replace', replace)
    dataset = source if isinstance(source, Dataset) else Dataset(source)
    try:
        with reporting(progress, 'push', 'B') as report_progress:
            return dataset._push(where, target, replace, report_progress)
    finally:
        if dataset is not source:
            dataset.close()


class PrunedFile(NamedTuple):
    """A file that `prune` removes."""

    name: str
    """The name, relative to the URL."""
    bytes: int
    """The length of the file."""
    modified: int
    """When it was written, in seconds since 1970."""


def prune(url: Path, *, older: Union[str, float] = '7d', dry_run: bool = False,
          endpoint: Optional[str] = None, region: Optional[str] = None,
          credentials: Optional[Credentials] = None, anonymous: bool = False,
          connections: Optional[int] = None, patience: Optional[float] = None
          ) -> List[PrunedFile]:
    """Remove files at a URL that the dataset there no longer needs.

    These are the files of former generations, of parts that were not joined, and of pushes that did
    not end. A file is removed only if it and the last publication are older than `older`, because a
    job that opened the dataset before the publication may still read the former generation. Files
    of a push that has sent something since then stay, as do all whose names are not those of a
    dataset.

    Parameters
    ----------
    url : str
        See `push`.
    older : str or number, default '7d'
        The least age of a file to remove: a number of seconds, or a text such as ``'90s'``,
        ``'30m'``, ``'12h'`` or ``'7d'``. 0 is safe only if nobody reads or writes anything there.
    dry_run : bool, default False
        Remove nothing: only return the list.
    endpoint, region, credentials, anonymous, connections, patience
        See `open`.

    Returns
    -------
    list of PrunedFile
        The files: each has `name`, `bytes` and `modified`. Empty while the last publication is
        younger than `older`.

    Raises
    ------
    FileNotFoundError
        There is neither a dataset at the URL nor a push that did not end.
    FileExistsError
        Another process has published a generation during the call. Nothing was removed.

    Examples
    --------
    >>> with create('data', {'x': Field('int64', (10,))}) as writer:
    ...     first = writer.extend(x=np.arange(1000).reshape(100, 10))
    ...     writer.seal()
    >>> sent = push('data', 'published/data')
    >>> prune('published/data')
    []
    """
    where = os.fsencode(url)
    target = make_target(where, connections, patience, endpoint, region, anonymous, credentials)
    return [PrunedFile(*file) for file in
            prune_target(where, target, _age('older', older), boolean('dry_run', dry_run))]


def _age(name: str, age: Any) -> int:
    """Return a number of seconds."""
    if not isinstance(age, str):
        return int(number(name, age))
    found = re.fullmatch(r'(\d{1,9})([smhd])', age)
    if found is None:
        raise ValueError(f"{name} must be a number of seconds or a text such as '90s', '30m', '12h' "
                         f"or '7d', not {age!r}")
    return int(found[1]) * _SECONDS[found[2]]
