# SPDX-License-Identifier: MIT
"""Dataset maintenance: copy, remove, repair and unseal."""

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
from .errors import CorruptError, LoaderxError
from .executor import Executor
from .field import Field
from .opening import Durability, creation, fill_new
from .writer import Writer

# The number of records to copy between two calls to the progress function.
_BLOCK = 4096

# The maximum number of findings in a report; more could exhaust memory.
_MAX_FINDINGS = 100_000

Source = Union[Path, Dataset]


# ---- copies


def copy(source: Union[Source, Sequence[Source]], destination: Path, *, indices: Any = None,
         fields: Optional[Sequence[str]] = None, durability: Optional[Durability] = None,
         level: Optional[int] = None, chunk_records: Optional[int] = None,
         chunk_bytes: Optional[int] = None, executor: Optional[Executor] = None,
         progress: Progress = True) -> None:
    """Create a dataset from records of other datasets: a copy, a subset or a concatenation.

    Compressed values are copied without recompression, except for those of fields with a
    dictionary: the new dataset trains a dictionary of its own on the values of the source. Each
    value is verified before it is copied. The card of the new dataset has the entries that the
    cards of all sources have in common.
    The new dataset is complete when the function returns. If the function fails, it removes the new
    dataset, unless another process has opened it in the meantime.

    Parameters
    ----------
    source : Dataset, path, or list of these
        The datasets to copy: the current snapshot of a Dataset, or the last commit of the dataset
        at a path. The records of several sources are concatenated. Fields are matched by name; if a
        source lacks a field, its records have no value for that field.
    destination : path-like
        The directory to create. It may already exist if it is empty.
    indices : sequence of int, slice or mask, optional
        The records to copy, in this order; default: all. Allowed only with a single source.
    fields : sequence of str, optional
        The fields to copy, in this order; default: all.
    durability, level, chunk_records, chunk_bytes, executor
        See `create`.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called periodically with the number of records processed so far and the total;
        if it raises an exception, the operation ends.

    Raises
    ------
    FileExistsError
        `destination` exists and is not an empty directory.
    CorruptError
        A record is damaged: `repair` the dataset first, or exclude the record with `indices`.
    """
    several = isinstance(source, (list, tuple))
    sources: List[Any] = list(source) if several else [source]    # type: ignore[arg-type]
    if not sources:
        raise ValueError('source is empty: there is nothing to copy')
    if indices is not None and len(sources) != 1:
        raise ValueError('indices must not be given with several sources')
    for i, one in enumerate(sources):
        if not isinstance(one, Dataset):
            _check_path(f'source[{i}]' if several else 'source', one, 'a Dataset, ')
    _check_path('destination', destination)
    opened: List[Dataset] = []
    try:
        for one in sources:
            opened.append(one.pin() if isinstance(one, Dataset) else Dataset(one))
        create = creation(_choose_fields(opened, fields), durability=durability, level=level,
                          chunk_records=chunk_records, chunk_bytes=chunk_bytes, executor=executor,
                          card=_common_card(opened))
        with reporting(progress, 'copy') as report_progress:
            fill_new(create, destination,
                     lambda writer: _copy_all(writer, opened, indices, report_progress))
    finally:
        for dataset in opened:
            dataset.close()


def _check_path(name: str, value: Any, others: str = '') -> None:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f'{name} must be {others}a str, bytes or os.PathLike object, not '
                        f'{type(value).__name__}')


def _common_card(sources: List[Dataset]) -> Dict[str, str]:
    cards = [dataset.card for dataset in sources]
    return {key: text for key, text in cards[0].items()
            if all(card.get(key) == text for card in cards)}


def _choose_fields(sources: List[Dataset], names: Optional[Sequence[str]]) -> Dict[str, Field]:
    """Return the fields to store; the first source that has a field determines its definition."""
    found: Dict[str, Field] = {}
    for dataset in sources:
        for name, field in dataset.fields.items():
            known = found.setdefault(name, field)
            if (known.dtype, known.shape) != (field.dtype, field.shape):
                raise ValueError(f'field {name!r} is {known!r} in one source, but {field!r} in '
                                 f'{dataset.path!r}')
    if names is None:
        return found
    if isinstance(names, (str, bytes)):
        raise TypeError(f'fields must be a list of names, not the single name {names!r}')
    if not isinstance(names, Iterable):
        raise TypeError(f'fields must be a list of names, not {type(names).__name__}')
    chosen: Dict[str, Field] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'fields must be names (str), not {type(name).__name__}')
        if name not in found:
            raise ValueError(f'fields: {name!r} not found: the fields are {list(found)}')
        if name in chosen:
            raise ValueError(f'fields: {name!r} is listed twice')
        chosen[name] = found[name]
    return chosen


def _train_dictionaries(writer: Writer, sources: List[Dataset]) -> None:
    """Train the dictionaries of the new fields before their first values are written."""
    for name, field in writer.fields.items():
        source = next((one for one in sources if name in one.fields and len(one)), None)
        if field.dictionary is None or source is None:
            continue
        try:
            writer.train_dictionary(name, source)
        except LoaderxError as error:
            if error.status != 'LX_ERR_STATE':    # the values are not suitable
                raise


def _copy_all(writer: Any, sources: List[Dataset], indices: Any,
              report_progress: Optional[Callable[[int, int], object]]) -> None:
    _train_dictionaries(writer, sources)
    parts = [Pieces(dataset, indices) for dataset in sources]
    total, done, kept = sum(map(len, parts)), 0, set(writer.fields)
    for dataset, pieces in zip(sources, parts):
        fields = [name for name in dataset.fields if name in kept]
        for piece, count in pieces.of(_BLOCK):
            writer.copy(dataset, piece, fields=fields)
            done += count
            if report_progress is not None:
                report_progress(done, total)


# ---- functions that take a path


def unseal(path: Path) -> None:
    """Make a sealed dataset writable again.

    Nothing else changes. If the dataset is not sealed, the call has no effect.

    Parameters
    ----------
    path : path-like
        The dataset directory.

    Raises
    ------
    BlockingIOError
        A writer has the dataset open.
    """
    _core.Dataset._unseal(path)


def remove(path: Path) -> None:
    """Remove a dataset and its directory.

    If the call is interrupted, the dataset is damaged, and a second call removes the rest.

    Parameters
    ----------
    path : path-like
        The dataset directory.

    Raises
    ------
    FileNotFoundError
        `path` does not contain a dataset.
    BlockingIOError
        A reader or a writer, in this process or another one, has the dataset open.
    FileExistsError
        The directory contains something that is not part of the dataset. Nothing was removed.
    CorruptError
        The file meta.json is damaged, so it is unknown which files belong to the dataset. Nothing
        was removed.

    Examples
    --------
    >>> create('old', {'x': Field('int64')}).close()
    >>> remove('old')
    """
    _core.Dataset._remove(path)


def repair(path: Path, apply: bool = False, *, delete: bool = False, into: Optional[Path] = None,
           lose_unreadable: bool = False,
           found: Optional[Callable[[Dict[str, Any]], object]] = None,
           progress: Progress = True) -> Dict[str, Any]:
    """Repair a damaged dataset in place, recover it into a new directory, or report the damage.

    A repair in place marks damaged values as missing, removes references to bytes that a chunk
    lacks, and truncates a damaged log at the first invalid frame. The part that is cut off is first
    saved to a file next to the dataset. Other damage, such as a truncated table, requires `into`.
    Readers keep their snapshots; no writer may have the dataset open. If the repair changes the
    dataset in place, it removes the seal.

    With `into`, the damaged dataset does not change. The new dataset has the same uuid, and both
    datasets share the chunk files through hard links: remove the damaged dataset, or never write to
    it again.

    Parameters
    ----------
    path : path-like
        The dataset directory.
    apply : bool, optional
        Whether to change the dataset. If False, and `into` is not given, damage is only reported.
    delete : bool, optional
        Whether to delete each record that has a damaged value, instead of marking the value as
        missing. The last records move to the indices of the deleted records.
    into : path-like, optional
        The directory to create for the recovered dataset.
    lose_unreadable : bool, optional
        With `apply`, whether to treat values that the disk fails to return, also when they are read
        again, as damaged. By default, such a value raises OSError before any value changes, because
        the disk may return it later.
    found : callable, optional
        Called with a dict for each finding.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called periodically with the number of records processed so far and the total;
        if it raises an exception, the operation ends before any value changes.

    Returns
    -------
    dict
        Most of the output of ``loaderx repair --json``. ``findings`` is a list with a dict for each
        of the first 100,000 findings. Each dict contains field, record, path, offset and message,
        each None if unknown, and action: 'missing', 'delete', 'drop', 'cut', 'restamp' or 'none'.
        ``records`` and ``values`` are the numbers of records and values checked, ``damages`` the
        number of findings, ``missing`` the number of values that became or would become missing,
        and ``deleted`` the number of records that were or would be deleted. ``cut_bytes`` is the
        number of bytes cut off the log, and ``copied_bytes`` the number of bytes in chunks that the
        file system could not link. ``changed`` is True if the dataset was changed or the new
        dataset was created.

    Raises
    ------
    CorruptError
        Some damage cannot be repaired by this call. The ``report`` attribute of the error is the
        dict above.
    BlockingIOError
        A writer has the dataset open.
    FileExistsError
        `into` exists.
    OSError
        With `apply`, the disk failed to return a value.
    """
    findings: List[Dict[str, Any]] = []
    apply, delete = boolean('apply', apply), boolean('delete', delete)
    lose_unreadable = boolean('lose_unreadable', lose_unreadable)
    if apply and into is not None:
        raise ValueError('apply and into are mutually exclusive: pass only one of them')
    if lose_unreadable and not apply:
        raise ValueError('lose_unreadable requires apply')
    if found is not None and not callable(found):
        raise TypeError(f'found must be callable or None, not {type(found).__name__}')

    def collect(finding: Dict[str, Any]) -> None:
        if len(findings) < _MAX_FINDINGS:
            findings.append(finding)
        if found is not None:
            found(finding)

    with reporting(progress, 'repair') as report_progress:
        report, error = _core.Dataset._repair(path, into, delete, apply, lose_unreadable,
                                                collect, report_progress)
    report['findings'] = findings
    if error is not None and (apply or into is not None or report['damages'] == 0):
        assert isinstance(error, CorruptError)
        error.report = report
        raise error
    return report
