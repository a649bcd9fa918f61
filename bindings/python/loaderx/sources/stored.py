# SPDX-License-Identifier: MIT
"""What a Dataset needs to be one of torch's: several records at a time, and other processes."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple, Type

from ..errors import LoaderxError
from .records import Joined, places_of, records_of

__all__ = ['Stored']


class Stored(Joined):
    """The part of `Dataset` that PyTorch asks for."""

    __slots__ = ()

    _opened: Tuple[str, Dict[str, Any]]    # the path, absolute, and the options

    def _read_together(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Several records at a time, all of one state."""
        state: Any = self.pin() if self.live else self    # type: ignore[attr-defined]
        places = places_of(indices)
        columns: Dict[str, Any] = state.gather(places)
        for name, field in state.fields.items():
            if field.dtype is bytes:
                continue    # which says itself what is missing
            present = state._present(name, places)
            if not present.all():
                columns[name] = [value if there else None
                                 for value, there in zip(columns[name], present)]
        return records_of(columns, len(places))

    def __reduce__(self) -> Any:
        self_: Any = self
        path, options = self._opened
        known = self_.uuid, tuple(self_.fields), len(self_)
        more = getattr(self, '__dict__', None)    # of a class that was derived
        return _reopen, (type(self), path, options, *known), more or None


def _reopen(kind: Type[Any], path: str, options: Dict[str, Any], uuid: str,
            fields: Tuple[str, ...], length: int) -> Any:
    """The dataset in another process, in its newest state: states that were left may be gone."""
    made = kind(path, **options)
    if made.uuid != uuid:
        raise LoaderxError(f'{path}: another dataset is there than the one that was pickled')
    if tuple(made.fields) != fields:
        raise LoaderxError(f'{path}: the dataset that was pickled had the fields {list(fields)}, '
                           f'and there are {list(made.fields)} now')
    if len(made) < length:
        raise LoaderxError(f'{path}: the dataset that was pickled had {length} records, and there '
                           f'are {len(made)} now')
    return made
