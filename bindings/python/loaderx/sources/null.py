# SPDX-License-Identifier: MIT
"""Sources for ranks that need no data."""

from __future__ import annotations

from typing import Any

from .. import _core
from .records import Records
from .source import as_source

__all__ = ['NullDataset']


class NullDataset(Records):
    """A placeholder for a dataset, for a rank that needs no data.

    A `Loader` over the placeholder has the same number of batches and the same positions as a
    loader over the dataset, and each of the two loaders can load the states of the other. The
    batches are dicts without fields (``{}``, or with ``keys=`` only the keys); the loader reads
    nothing and allocates no memory for values. All ranks of a pipeline can therefore run the same
    loop: the first stage over the dataset or some of its fields, a middle stage over the
    `NullDataset`.

    In a tuple, a `NullDataset` omits the fields of one source: a loader over
    ``(NullDataset(images), labels)`` reads only the labels, and its states are compatible with
    those of a loader over ``(images, labels)``.

    Parameters
    ----------
    source : Dataset, NPDataset, array, path, tuple, list or dict
        The source to replace; see `Loader`. The constructor inspects the source but keeps no
        reference to it: files and arrays can be closed afterwards, and a path is open only during
        the call. For states, the placeholder keeps the description of the source; if the source is
        a dataset, it is described in its current snapshot.

    Examples
    --------
    >>> source = NullDataset(np.zeros((100, 3)))
    >>> loader = Loader(source, batch_size=50, order=Shuffle(seed=42))
    >>> list(loader)
    [{}, {}]
    """

    def __init__(self, source: Any) -> None:
        self._source = _core.source_null(as_source(source))
        self._nameless = False

    def __reduce__(self) -> Any:
        raise TypeError('a NullDataset cannot be pickled: create another one from its source')

    def __repr__(self) -> str:
        return f'NullDataset({len(self)} records)'
