# SPDX-License-Identifier: MIT
"""RecordIO files that a loader reads at random."""

from __future__ import annotations

import os
from typing import Any

from .. import _core
from .._check import natural
from .._paths import absolute
from .._progress import Progress, reporting
from .records import SourceRecords

__all__ = ['RecordIODataset']


class RecordIODataset(SourceRecords):
    """A memory-mapped RecordIO file, whose records are read in any order.

    Record i is the one in line i of the index. Several files are a `ConcatDataset`.

    The ids of images are int64, because old versions of torch have no uint64, and new ones cannot
    index with it. An id of 2^63 or more keeps its 64 bits, so that it is negative;
    ``ids.view(np.uint64)`` shows it as it was written.

    Parameters
    ----------
    path : path
        The ``.rec`` file.
    index : path or False, optional
        Its index; by default, the file with the suffix ``.idx``, which MXNet's tools and
        ``loaderx recordio index`` make. With False, the whole file is read to find the records,
        which then have their order in the file. This takes as long as reading the file, in each
        process that opens the dataset or unpickles it; nothing is written.
    label_width : int
        The number of labels in the header that MXNet puts before each image. The fields are then
        ``label`` (float32; an array if there are several), ``id`` and ``image``. With 0, records
        have no header, and their only field is ``data``.
    progress : bool or callable, optional
        See `copy`; the progress, while the file is read to find the records, is counted in bytes.

    Raises
    ------
    FileNotFoundError
        The file or its index does not exist.
    CorruptError
        When it is read: a record is damaged, or has another number of labels. Without an index,
        also when it is opened.
    ValueError
        The index has an offset beyond the end of the file; or there is no index, and the file is
        compressed.

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
    >>> len(RecordIODataset('train.rec', index=False))
    3
    """

    path: str

    def __init__(self, path: Any, index: Any = None, *, label_width: int = 1,
                 progress: Progress = True) -> None:
        self.path = os.fsdecode(path)
        self._index = os.path.splitext(self.path)[0] + '.idx' if index is None else index
        self._label_width = natural('label_width', label_width, maximum=2**32 - 1)
        try:
            self._source = self._open(progress)
        except FileNotFoundError as error:
            if index is None and os.path.exists(self.path):
                error.strerror = (f'{error.strerror}; `loaderx recordio index {self.path}` makes '
                                  'an index, and index=False reads the file to do without')
            raise
        # The same files in any working directory, for pickling.
        self._located = absolute(path), self._index and absolute(self._index)
        self._nameless = label_width == 0

    def _open(self, progress: Progress) -> _core.Source:
        if self._index is not False:
            return _core.source_recordio(self.path, self._index, self._label_width, None)
        with reporting(progress, 'index', 'B') as report:
            return _core.source_recordio(self.path, None, self._label_width, report)

    def _recipe(self) -> Any:
        return _open, (*self._located, self._label_width)

    def __repr__(self) -> str:
        return f'RecordIODataset({self.path!r}, label_width={self._label_width})'


def _open(path: str, index: Any, label_width: int) -> RecordIODataset:
    return RecordIODataset(path, index, label_width=label_width, progress=False)
