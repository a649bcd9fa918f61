# SPDX-License-Identifier: MIT
"""What ranks have that need no data."""

from __future__ import annotations

from typing import Any

from .. import _core
from .records import Records
from .source import as_source

__all__ = ['NullDataset']


class NullDataset(Records):
    """A dataset without data, that stands for another one: for a rank that needs none.

    A `Loader` over it goes the same way as those that read: the same number of batches and the same
    positions, and states that either loads of the other. Its batches are dicts without fields
    (``{}``, or with ``keys=`` only those), nothing is read, and no memory is taken for values. So
    the ranks of a pipeline run one loop: the first stage over the dataset, or some fields of it,
    one in the middle over the `NullDataset`.

    In a tuple it leaves out the fields of one of several: ``(NullDataset(images), labels)`` reads
    labels alone, with the states of ``(images, labels)``.

    Parameters
    ----------
    source : Dataset, NPDataset, array, path, tuple, list or dict
        What it stands for, as in `Loader`. It is looked at now, and not held: files and arrays may
        be closed, and what a path names is open during this call alone. Kept is what states say of
        it, and of a dataset the commit that it shows now.

    Examples
    --------
    >>> source = lx.open('tokens') if stage in (0, last) else lx.NullDataset('tokens')
    >>> loader = lx.Loader(source, batch_size=8, order=lx.Shuffle(seed=42), rank=dp, world=dp_world)
    """

    def __init__(self, source: Any) -> None:
        self._source = _core.source_null(as_source(source))
        self._nameless = False

    def __reduce__(self) -> Any:
        raise TypeError('a NullDataset cannot be pickled; make it anew of what it stands for')

    def __repr__(self) -> str:
        return f'NullDataset({len(self)} records)'
