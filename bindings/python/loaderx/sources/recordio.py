# SPDX-License-Identifier: MIT
"""RecordIO files that a loader reads at random."""

from __future__ import annotations

import os
from typing import Any

from .. import _core
from .._check import natural
from .._paths import absolute
from .records import SourceRecords

__all__ = ['RecordIODataset']


class RecordIODataset(SourceRecords):
    """A memory-mapped RecordIO file, whose records are read in any order.

    Record i is the one in line i of the index. Several files are a `ConcatDataset`.

    Parameters
    ----------
    path : path
        The ``.rec`` file.
    index : path, optional
        Its index; by default, the file with the suffix ``.idx``, which MXNet's tools and
        ``loaderx recordio index`` make.
    label_width : int
        The number of labels in the header that MXNet puts before each image. The fields are then
        ``label`` (float32; an array if there are several), ``id`` and ``image``. With 0, records
        have no header, and their only field is ``data``.

    Raises
    ------
    FileNotFoundError
        The file or its index does not exist.
    CorruptError
        When it is read: a record is damaged, or has another number of labels.

    Examples
    --------
    >>> from loaderx import recordio
    >>> with recordio.MXIndexedRecordIO('train.idx', 'train.rec', 'w') as file:
    ...     for i in range(3):
    ...         header = recordio.IRHeader(0, float(i % 2), i, 0)
    ...         file.write_idx(i, recordio.pack(header, b'image %d' % i))
    >>> train = RecordIODataset('train.rec')
    >>> train[1]['image'], float(train[1]['label'])
    (b'image 1', 1.0)
    """

    path: str

    def __init__(self, path: Any, index: Any = None, *, label_width: int = 1) -> None:
        self.path = os.fsdecode(path)
        index = os.path.splitext(self.path)[0] + '.idx' if index is None else index
        width = natural('label_width', label_width, maximum=2**32 - 1)
        self._source = _core.source_recordio(path, index, width)
        self._arguments = absolute(path), absolute(index), width
        self._nameless = label_width == 0

    def _recipe(self) -> Any:
        return _open, self._arguments

    def __repr__(self) -> str:
        return f'RecordIODataset({self.path!r}, label_width={self._arguments[2]})'


def _open(path: str, index: str, label_width: int) -> RecordIODataset:
    return RecordIODataset(path, index, label_width=label_width)
