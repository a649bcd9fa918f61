# SPDX-License-Identifier: MIT
"""The part of Dataset that torch's DataLoader uses: reading several records, and pickling."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple, Type

from ..errors import LoaderxError
from .records import Concatenable, positions_of, records_of, with_none

__all__ = ['Stored']


class Stored(Concatenable):
    """The part of `Dataset` that torch's DataLoader uses."""

    __slots__ = ()

    _opened: Tuple[str, Dict[str, Any]]    # the absolute path and the options

    def _read_together(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Read several records from one snapshot."""
        state: Any = self.pin() if self.live else self    # type: ignore[attr-defined]
        positions = positions_of(indices)
        columns: Dict[str, Any] = state.gather(positions, missing='zeros')
        for name, field in state.fields.items():
            if field.varies:
                continue    # the list already contains None for missing values
            present = state._present(name, positions)
            if not present.all():
                columns[name] = with_none(columns[name], present)
        return records_of(columns, len(positions))

    def __reduce__(self) -> Any:
        """Return how to open the dataset again. A pickle has the whole URL, with its query."""
        self_: Any = self
        path, options = self._opened
        expected = self_.uuid, tuple(self_.fields), len(self_)
        attributes = getattr(self, '__dict__', None)    # attributes of a subclass
        return _reopen, (type(self), path, options, *expected), attributes or None


def _reopen(kind: Type[Any], path: str, options: Dict[str, Any], uuid: str,
            fields: Tuple[str, ...], length: int) -> Any:
    """Open the newest snapshot of an unpickled dataset; older snapshots may no longer exist."""
    made = kind(path, **options)
    if made.uuid != uuid:
        raise LoaderxError(f'{made.path}: cannot unpickle the dataset: a different dataset is at '
                           'this path now')
    if tuple(made.fields) != fields:
        raise LoaderxError(f'{made.path}: cannot unpickle the dataset: its fields were '
                           f'{list(fields)}, but are now {list(made.fields)}')
    if len(made) < length:
        raise LoaderxError(f'{made.path}: cannot unpickle the dataset: it had {length} records, '
                           f'but now has only {len(made)}')
    return made
