# SPDX-License-Identifier: MIT
"""Sources for ranks that need no data."""

from __future__ import annotations

from typing import Any

from .. import _core
from .records import Records
from .source import as_source

__all__ = ['NullDataset']


class NullDataset(Records):
    """A placeholder for a dataset, on a rank that needs no data.

    A `Loader` over the placeholder has the same number of batches and the same positions as a
    loader over the dataset, and either loader can load the states of the other loader. The batches
    are dicts without fields (``{}``, or with ``keys=`` only the keys); the loader reads nothing and
    allocates no memory for values. All ranks of a pipeline can therefore run the same loop: the
    first stage reads the dataset or some of its fields, and a middle stage reads the `NullDataset`.

    In a tuple, a `NullDataset` omits the fields of one source: a loader over
    ``(NullDataset(images), labels)`` reads only the labels, and its states are compatible with
    those of a loader over ``(images, labels)``.

    Parameters
    ----------
    source : Dataset, NPDataset, array, path, tuple, list or dict
        The source to replace; see `Loader`. The constructor inspects the source but keeps no
        reference to it: the source can be closed afterwards, and the file or dataset at a path is
        open only during the call. The placeholder keeps a description of the source for saved
        states; for a dataset, it describes the current snapshot.

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

    @classmethod
    def _of(cls, source: _core.Source) -> NullDataset:
        """Return a placeholder for a source of the extension module."""
        made = object.__new__(cls)
        made._source, made._nameless = _core.source_null(source), False
        return made

    def __reduce__(self) -> Any:
        raise TypeError('a NullDataset cannot be pickled: create another one from its source')

    def __repr__(self) -> str:
        return f'NullDataset({len(self)} records)'
