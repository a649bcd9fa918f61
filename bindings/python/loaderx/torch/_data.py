# SPDX-License-Identifier: MIT
"""The identity of a loader's data in its states."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional

from ..errors import CorruptError
from ._fetchers import Found, find_data

__all__ = ['Data']


class Data:
    """The records that a loader reads, if they are those of a dataset of this library.

    Parameters
    ----------
    dataset : object
        The dataset, whose current snapshot is identified.
    found : tuple, optional
        What `find_source` returned for the dataset.
    """

    def __init__(self, dataset: Any, found: Optional[Found]) -> None:
        self._source = find_data(dataset) if found is None else found[0]
        self._saved: Optional[str] = None

    def state(self) -> Dict[str, Any]:
        """Return the identity for a state; a state without an identity has no ``data``."""
        if self._source is None:
            return {}
        if self._saved is None:
            self._saved = self._source._save()
        return {'data': json.loads(self._saved)}

    def check(self, saved: Any, changed: str) -> None:
        """Raise an error if the records differ from those that a state identifies.

        A dataset that the caller implements has no identity.
        """
        if changed not in ('raise', 'allow'):
            raise ValueError(f"changed must be 'raise' or 'allow', not {changed!r}")
        if saved is not None and not isinstance(saved, Mapping):
            raise CorruptError('the state is damaged: its "data" is invalid')
        if saved is not None and self._source is not None:
            self._source._match(json.dumps(saved), changed)
