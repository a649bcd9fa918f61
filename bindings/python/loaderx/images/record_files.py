# SPDX-License-Identifier: MIT
"""The files that ImageRecordIter reads."""

from __future__ import annotations

import os
from typing import Any, List, Union

import numpy as np

from .. import _core
from .._check import natural
from .._record_files import list_files
from ..sources.concat import ConcatDataset, SubsetDataset
from ..sources.recordio import RecordIODataset

__all__ = ['LabelList', 'open_part', 'open_records']

_HEADER_BYTES = 24    # of MXNet's header, before the labels


def open_records(path_imgrec: Any, path_imgidx: Any, label_width: int) -> Any:
    """Return a dataset of the records, in the order of the files.

    Where no indexes are given, a file that has none beside it is read to find its records. With a
    `label_width` of 0, the labels of a record do not matter, but all records must have as many as
    the first one.
    """
    paths = list_files(path_imgrec)
    indexes: List[Any] = (list_files(path_imgidx, '.idx') if path_imgidx
                          else [_index_of(path) for path in paths])
    if not paths or len(indexes) != len(paths):
        raise ValueError(f'path_imgrec has {len(paths)} files, and path_imgidx has {len(indexes)}')
    parts = [_open_file(path, index, label_width) for path, index in zip(paths, indexes)]
    return parts[0] if len(parts) == 1 else ConcatDataset(parts)


def _index_of(path: Any) -> Union[str, bool]:
    """Return the index beside a file; False if there is none."""
    index = os.path.splitext(os.fsdecode(path))[0] + '.idx'
    return index if os.path.exists(index) else False


def _open_file(path: Any, index: Any, label_width: int) -> Any:
    records = RecordIODataset(path, index, label_width=label_width or _count_labels(path))
    if index is not False:
        offsets = np.array([offset for _, offset in _core.recordio_index(index)], np.int64)
        if (np.diff(offsets) < 0).any():
            return SubsetDataset(records, np.argsort(offsets, kind='stable'))
    return records


def _count_labels(path: Any) -> int:
    """Return the number of labels of the first record."""
    record = _core.RecordioReader(path, False).read()
    if record is None:
        return 1
    labels = int.from_bytes(record[:4], 'little')
    if _HEADER_BYTES + 4 * labels > len(record):
        raise ValueError(f"{path}: MXNet's header of record 0 says that {labels} labels follow, but "
                         f'the record has only {len(record)} bytes')
    return labels or 1


def open_part(records: Any, part_index: int, num_parts: int) -> Any:
    """Return the records of a part: those of `InputSplit` with an index."""
    natural('part_index', part_index, maximum=natural('num_parts', num_parts, 1) - 1)
    step = -(-len(records) // num_parts)
    if step * part_index >= len(records):
        raise ValueError(f'part {part_index} of {num_parts} is empty: there are only '
                         f'{len(records)} records')
    if num_parts == 1:
        return records
    return SubsetDataset(records, slice(step * part_index, step * (part_index + 1)))


class LabelList:
    """The labels in an image list: lines with an id, labels and a path."""

    def __init__(self, path: Any, label_width: int) -> None:
        self._path = os.fsdecode(path)
        ids: List[int] = []
        labels: List[List[float]] = []
        with open(path, 'rb') as lines:
            for i, line in enumerate(lines, 1):
                words = line.split(None, label_width + 1)
                if not words:
                    continue
                ids.append(self._parse(words, label_width, i, labels))
        order = np.argsort(np.array(ids, np.uint64), kind='stable')
        self._ids = np.array(ids, np.uint64)[order]
        table = np.array(labels, np.float32).reshape(-1, label_width)[order]
        self._labels = table if label_width > 1 else table[:, 0]

    def _parse(self, words: List[bytes], label_width: int, line: int,
               labels: List[List[float]]) -> int:
        try:
            number = natural('id', int(words[0]))
            labels.append([float(word) for word in words[1:label_width + 1]])
            if len(labels[-1]) == label_width:
                return number
        except ValueError:
            pass
        raise ValueError(f'{self._path}, line {line}: expected an id and {label_width} labels, '
                         f'found {b" ".join(words).decode(errors="replace").rstrip()[:80]!r}')

    def find(self, ids: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, Any]:
        """Return the labels of images, by their ids; of a repeated id, the last line counts."""
        places = np.searchsorted(self._ids, ids, side='right').astype(np.int64) - 1
        missing = np.flatnonzero((places < 0) | (self._ids[places] != ids)
                                 if len(self._ids) else np.ones(len(ids), bool))
        if len(missing):
            raise ValueError(f'{self._path} has no line for the image with the id '
                             f'{ids[missing[0]]}')
        return np.take(self._labels, places, axis=0)
