# SPDX-License-Identifier: MIT
"""Joining datasets without copying their records."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import resource
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _core
from ._elsewhere import Credentials
from ._paths import check_target, is_url, shown
from ._progress import Progress, reporting
from .publishing import push
from .sources import Dataset
from .sources.dataset import Path

__all__ = ['join']

# Remote parts that are open at a time: each has threads, connections, and its tables in memory. The
# UUID of what is joined in several groups depends on them, so this is the same number as in
# `loaderx join`: then the one continues what the other has begun to send.
_GROUP = 128

_THREADS = 16


def join(path: Path, parts: Sequence[Path], *, scratch: Optional[Path] = None,
         endpoint: Optional[str] = None, region: Optional[str] = None,
         credentials: Optional[Credentials] = None, anonymous: bool = False,
         connections: Optional[int] = None, patience: Optional[float] = None,
         progress: Progress = True) -> None:
    """Join sealed datasets to one, without reading or copying their records.

    The parts must be in folders inside `path`, such as ``part/0``, and stay there: only the tables
    are written again. The new dataset has the records of the parts, one part after the other, and
    consists of the whole directory from then on. It is sealed, and cannot be unsealed. The parts
    must not change or move after that.

    All parts must have the same fields, in any order: dtypes, shapes and compressions. Fields with
    a zstd dictionary need the same one in all parts that have one: pass no ``dictionary`` to
    `Field`, or use `copy`. The card of the new dataset has the entries that all parts have in
    common. Its uuid follows from the parts: joining them again makes the same dataset, so after a
    failure, the same call continues to send what is missing at a URL.

    Parameters
    ----------
    path : path-like or URL
        The directory that contains the parts, or the URL below which they are.
    parts : list of path-like or URL
        The parts, in the order of their records.
    scratch : path-like, optional
        For a URL: the folder for the tables, about 24 bytes for each value, or 48 if there are more
        than 128 parts, until they are sent; by default, that of `tempfile`. Remote parts are open
        in groups of 128, whose tables are in memory.
    endpoint, region, credentials, anonymous, connections, patience
        For a URL: see `Dataset`.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called periodically with the number of values passed over so far and the
        total, in each group of remote parts anew, and then of bytes sent; if it raises an
        exception, the operation ends.

    Raises
    ------
    FileExistsError
        There is already a dataset at `path`, or something other than parts. For a URL, another
        dataset is there.
    LoaderxError
        The fields of the parts differ, or a part is not sealed.
    CorruptError
        A table of a part is damaged: `repair` the part first.

    Examples
    --------
    >>> for task in range(3):
    ...     with create(f'part-{task}', {'x': Field('int64')}) as writer:
    ...         first = writer.extend({'x': np.arange(4) + 10 * task})
    ...     open(f'part-{task}', 'a').seal()
    ...     os.renames(f'part-{task}', f'joined/part/{task}')
    >>> join('joined', [f'joined/part/{task}' for task in range(3)])
    >>> open('joined')['x'][:].tolist()
    [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]
    """
    if isinstance(parts, (str, bytes, os.PathLike)):
        raise TypeError('parts must be a list of paths, not a single path')
    options: Dict[str, Any] = dict(endpoint=endpoint, region=region, credentials=credentials,
                                   anonymous=anonymous, connections=connections, patience=patience)
    check_target(path)
    remote = is_url(path)
    if not remote and scratch is not None:
        raise ValueError('scratch requires a URL: in a directory, the tables are written there')
    parts = list(parts)
    found = [_inside(path, part) for part in parts]
    if not remote:
        _join(path, parts, found, progress)
        return
    with tempfile.TemporaryDirectory(prefix='loaderx-join-', dir=scratch) as folder:
        joined = _join_groups(os.fsdecode(folder), parts, found, progress, options)
        push(joined, path, progress=progress, **options)


def _join_groups(folder: str, parts: Sequence[Path], inside: Sequence[str], progress: Progress,
                 options: Mapping[str, Any]) -> str:
    """Join remote parts in groups, of which one is open at a time, then the groups."""
    groups = []
    for first in range(0, max(len(parts), 1), _GROUP):
        groups.append(os.path.join(folder, str(first)))
        group = slice(first, first + _GROUP)
        _join(groups[-1], parts[group], inside[group], progress, **options)
    if len(groups) == 1:
        return groups[0]
    joined = os.path.join(folder, 'joined')
    _join(joined, groups, [''] * len(groups), progress)
    return joined


def _join(path: Path, parts: Sequence[Path], inside: Sequence[str], progress: Progress,
          **options: Any) -> None:
    with _more_files(len(parts)), contextlib.ExitStack() as stack:
        opened = [stack.enter_context(part) for part in _open_all(parts, options)]
        with reporting(progress, 'join', ' values') as report_progress:
            _core.Dataset._join(path, list(zip(opened, inside)), report_progress)


def _open_all(parts: Sequence[Path], options: Mapping[str, Any]) -> List[Dataset]:
    """Open datasets, some at a time: a remote one takes several answers of its server."""
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as pool:
        opening = [pool.submit(Dataset, part, **options) for part in parts]
        try:
            return [future.result() for future in opening]
        finally:
            for future in opening:    # after a failure, those that have not begun
                future.cancel()


def _inside(path: Path, part: Path) -> str:
    """Return the path of a part relative to the joined dataset."""
    folder, inner = _normal(path), _normal(part)
    if not inner.startswith(folder + '/'):
        raise ValueError(f'{shown(part)!r} is not inside {shown(path)!r}: parts stay '
                         'where they are, so move them there first')
    return inner[len(folder) + 1:]


def _normal(path: Path) -> str:
    text = os.fsdecode(path)
    return (text if is_url(text) else os.path.realpath(text)).rstrip('/')


@contextlib.contextmanager
def _more_files(count: int) -> Iterator[None]:
    """Allow enough open files for the parts, each of which needs a few, until all are closed."""
    former, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 8 * count + former
    wanted = needed if most == resource.RLIM_INFINITY else min(needed, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (former, most))
