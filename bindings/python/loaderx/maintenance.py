# SPDX-License-Identifier: MIT
"""Maintenance of whole datasets: copy, repair, and unseal."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from . import _core
from ._check import boolean
from .sources.pieces import Pieces
from ._progress import Progress, reporting
from .sources import Dataset
from .sources.dataset import Path
from .errors import CorruptError
from .executor import Executor
from .field import Field
from .opening import Durability, creation
from .writer import Writer

# Records that are copied between two reports of progress.
_STRETCH = 4096

# Findings that a report lists; there may be more than memory holds.
_MOST_FINDINGS = 100_000

Source = Union[Path, Dataset]


# ---- copies


def copy(source: Union[Source, Sequence[Source]], destination: Path, *, indices: Any = None,
         fields: Optional[Sequence[str]] = None, durability: Optional[Durability] = None,
         level: Optional[int] = None, chunk_records: Optional[int] = None,
         chunk_bytes: Optional[int] = None, executor: Optional[Executor] = None,
         progress: Progress = True) -> None:
    """Make a dataset of records of others: a copy, a subset, or several after one another.

    What is stored compressed is copied as it is. Each value is verified before. The new dataset is
    whole when this returns; if it fails, there is none, unless somebody has opened it meanwhile.

    Parameters
    ----------
    source : Dataset, path, or list of these
        What is copied: the state that a Dataset shows, or what was committed last at a path. The
        records of several follow one another. Their fields belong together by name; one that a
        source does not have is missing in its records.
    destination : path-like
        The directory to make. It may be there if it is empty.
    indices : sequence of int, slice or mask, optional
        Which records of the one source, in this order; all of them by default.
    fields : sequence of str, optional
        Which fields, in this order; all by default.
    durability, level, chunk_records, chunk_bytes, executor
        As for `create`.
    progress : bool or callable, optional
        True shows a bar where stderr is a terminal and tqdm is installed. A function is called with
        the records done, and all, now and then; what it raises ends the job.

    Raises
    ------
    FileExistsError
        There is a dataset, or something else, at `destination`.
    CorruptError
        A record is damaged; `repair` its dataset before, or leave it out.
    """
    several = isinstance(source, (list, tuple))
    given: List[Any] = list(source) if several else [source]    # type: ignore[arg-type]
    if not given:
        raise ValueError('source is empty: there is nothing to copy')
    if indices is not None and len(given) != 1:
        raise ValueError('indices are for one source, not for several')
    for place, one in enumerate(given):
        if not isinstance(one, Dataset):
            _check_path(f'source[{place}]' if several else 'source', one, 'a Dataset, ')
    _check_path('destination', destination)
    opened: List[Dataset] = []
    try:
        for one in given:
            opened.append(one.pin() if isinstance(one, Dataset) else Dataset(one))
        create = creation(_choose_fields(opened, fields), durability=durability, level=level,
                          chunk_records=chunk_records, chunk_bytes=chunk_bytes, executor=executor)
        with reporting(progress, 'copy') as report_progress:
            _make(create, destination,
                  lambda writer: _copy_all(writer, opened, indices, report_progress))
    finally:
        for dataset in opened:
            dataset.close()


def _check_path(name: str, value: Any, others: str = '') -> None:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f'{name} must be {others}a str, bytes or os.PathLike object, not '
                        f'{type(value).__name__}')


def _make(create: Callable[[Path], Writer], path: Path, fill: Callable[[Writer], None]) -> None:
    """Create a dataset and fill it. If that fails, what was created is removed."""
    made: List[Writer] = []
    try:
        # Not an assignment: a signal that arrives meanwhile is raised before that. What is in the
        # list was made here, and only that may be removed.
        made.extend(map(create, [path]))
        with made[0]:
            fill(made[0])
    except BaseException:
        for writer in made:
            with contextlib.suppress(Exception):    # the cause is what is to be seen
                if not writer.closed:
                    writer._finish(False)
            with contextlib.suppress(Exception):
                _core.Dataset._remove(path)
        raise


def _choose_fields(sources: List[Dataset], names: Optional[Sequence[str]]) -> Dict[str, Field]:
    """What the copy stores: of each name what the first source has that knows it."""
    found: Dict[str, Field] = {}
    for dataset in sources:
        for name, field in dataset.fields.items():
            known = found.setdefault(name, field)
            if (known.dtype, known.shape) != (field.dtype, field.shape):
                raise ValueError(f'field {name!r} is {known!r} in one source and {field!r} in '
                                 f'{dataset.path!r}')
    if names is None:
        return found
    if isinstance(names, (str, bytes)):
        raise TypeError(f'fields must be a list of names, not the one {names!r}')
    if not isinstance(names, Iterable):
        raise TypeError(f'fields must be a list of names, not {type(names).__name__}')
    chosen: Dict[str, Field] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'fields must be names (str), not {type(name).__name__}')
        if name not in found:
            raise ValueError(f'fields: there are {list(found)}, but no {name!r}')
        if name in chosen:
            raise ValueError(f'fields: {name!r} is asked for twice')
        chosen[name] = found[name]
    return chosen


def _copy_all(writer: Any, sources: List[Dataset], indices: Any,
              report_progress: Optional[Callable[[int, int], object]]) -> None:
    parts = [Pieces(dataset, indices) for dataset in sources]
    total, done = sum(map(len, parts)), 0
    for dataset, pieces in zip(sources, parts):
        for piece, count in pieces.of(_STRETCH):
            writer.copy(dataset, piece)
            done += count
            if report_progress is not None:
                report_progress(done, total)


# ---- what takes a path


def unseal(path: Path) -> None:
    """Take the seal off a dataset, so that it can be written again.

    Nothing else changes. One that is not sealed stays as it is.

    Parameters
    ----------
    path : path-like
        The dataset's directory.

    Raises
    ------
    BlockingIOError
        A writer has it open.
    """
    _core.Dataset._unseal(path)


def repair(path: Path, apply: bool = False, *, delete: bool = False, into: Optional[Path] = None,
           found: Optional[Callable[[Dict[str, Any]], object]] = None,
           progress: Progress = True) -> Dict[str, Any]:
    """Repair a damaged dataset in place, recover it into a new directory, or report its damage.

    In place, a damaged value becomes missing, bytes that a chunk lacks are no longer referred to,
    and a damaged log is cut at its first invalid frame; the rest goes to a file next to the
    dataset. Other damage, such as a short table, needs `into`. Readers continue with what they
    have; there must be no writer. If anything is changed in place, a seal is removed.

    With `into` the damaged dataset stays as it is. The new one has the same uuid, and both share the
    chunk files, as hard links: remove the damaged one, or never write to it again.

    Parameters
    ----------
    path : path-like
        The dataset's directory.
    apply : bool, optional
        Whether to change the dataset. Otherwise, and without `into`, damage is only reported.
    delete : bool, optional
        Whether to delete records with a damaged value, the last records taking their places, instead
        of making the values missing.
    into : path-like, optional
        A directory to create, with what can be recovered.
    found : callable, optional
        Called with a dict for each finding.
    progress : bool or callable, optional
        True shows a bar where stderr is a terminal and tqdm is installed. A function is called with
        the records done, and all, now and then; what it raises ends the job before values change.

    Returns
    -------
    dict
        Much of what ``loaderx repair --json`` prints: ``findings``, a dict for each (the first
        100,000) with field, record, path, offset and message, None where one is not known, and
        action, which is 'missing', 'delete', 'drop', 'cut', 'restamp' or 'none'; how many
        ``records`` and ``values`` were checked, ``damages`` were found, values became ``missing``,
        or would, and records were ``deleted``; ``cut_bytes`` of the log; ``copied_bytes`` of chunks
        that the file system cannot link; and whether anything was ``changed``.

    Raises
    ------
    CorruptError
        Something is damaged and cannot be repaired so. Its attribute ``report`` is what would have
        been returned.
    BlockingIOError
        A writer has the dataset open.
    FileExistsError
        Something is at `into`.
    """
    findings: List[Dict[str, Any]] = []
    apply, delete = boolean('apply', apply), boolean('delete', delete)
    if apply and into is not None:
        raise ValueError('apply changes the dataset and into leaves it unchanged: use one of them')
    if found is not None and not callable(found):
        raise TypeError(f'found must be callable or None, not {type(found).__name__}')

    def collect(finding: Dict[str, Any]) -> None:
        if len(findings) < _MOST_FINDINGS:
            findings.append(finding)
        if found is not None:
            found(finding)

    with reporting(progress, 'repair') as report_progress:
        report, error = _core.Dataset._repair(path, into, delete, apply, collect, report_progress)
    report['findings'] = findings
    if error is not None and (apply or into is not None or report['damages'] == 0):
        assert isinstance(error, CorruptError)
        error.report = report
        raise error
    return report
