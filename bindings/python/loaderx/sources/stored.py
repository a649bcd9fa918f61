# SPDX-License-Identifier: MIT
"""The part of Dataset that torch needs: several records at a time, and pickling."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple, Type

from ..errors import LoaderxError
from .records import Joined, places_of, records_of

__all__ = ['Stored']


class Stored(Joined):
    """The part of `Dataset` that PyTorch uses."""

    __slots__ = ()

    _opened: Tuple[str, Dict[str, Any]]    # the path, absolute, and the options

    def _read_together(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Read several records, all of one state."""
        state: Any = self.pin() if self.live else self    # type: ignore[attr-defined]
        places = places_of(indices)
        columns: Dict[str, Any] = state.gather(places)
        for name, field in state.fields.items():
            if field.dtype is bytes:
                continue    # its column has None for missing values
            present = state._present(name, places)
            if not present.all():
                columns[name] = [value if there else None
                                 for value, there in zip(columns[name], present)]
        return records_of(columns, len(places))

    def __reduce__(self) -> Any:
        self_: Any = self
        path, options = self._opened
        known = self_.uuid, tuple(self_.fields), len(self_)
        more = getattr(self, '__dict__', None)    # attributes of a derived class
        return _reopen, (type(self), path, options, *known), more or None


def _reopen(kind: Type[Any], path: str, options: Dict[str, Any], uuid: str,
            fields: Tuple[str, ...], length: int) -> Any:
    """Open the dataset in another process in its newest state, as older ones may be gone."""
    made = kind(path, **options)
    if made.uuid != uuid:
        raise LoaderxError(f'{path}: cannot unpickle the dataset: another one is at this path')
    if tuple(made.fields) != fields:
        raise LoaderxError(f'{path}: cannot unpickle the dataset: its fields were {list(fields)} '
                           f'and are {list(made.fields)} now')
    if len(made) < length:
        raise LoaderxError(f'{path}: cannot unpickle the dataset: it had {length} records and has '
                           f'{len(made)} now')
    return made
