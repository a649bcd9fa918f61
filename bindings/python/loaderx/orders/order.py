# SPDX-License-Identifier: MIT
"""Orders: what index stands at each position of training."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from .. import _core
from .._check import natural

__all__ = ['Order', 'to_json']


class Order:
    """What index stands at each position, and a place in it from which to take.

    Positions count the samples of one global order, all ranks together. An order of length n has
    epochs of n positions. What stands at a position depends on the order's arguments and the
    position alone, so that `seek` costs the same everywhere. doc/orders.md has the formulas.

    An order without a length takes the length of the source of each loader it is given to; until
    then it has no indices to take. One that is made of such orders waits with them.

    A `Loader` uses the order's arguments and stands at a position of its own.
    """

    _order: Optional[_core.Order] = None
    _tables: Optional[bytes] = None    # the folder that keeps its table, of a kind that has one

    def __init__(self) -> None:
        raise TypeError('Order is a base class: use Sequential, Shuffle or another')

    def _make(self, n: int) -> _core.Order:
        """The order, of n indices."""
        raise NotImplementedError

    def _first_arguments(self) -> Tuple[Any, ...]:
        """What the user gave by position: the length, where there is one."""
        return () if self._order is None else (self._order.length,)

    def _arguments(self) -> Dict[str, Any]:
        """What the user gave by name."""
        raise NotImplementedError

    def _kept(self) -> Dict[str, Any]:
        """The folder among the arguments, where it was given."""
        return {} if self._tables is None else {'tables': os.fsdecode(self._tables)}

    def _set_length(self, n: Optional[int]) -> None:
        if n is not None:
            self._order = self._make(natural('n', n))

    def _for_length(self, length: int) -> _core.Order:
        """What a loader over `length` records uses."""
        if self._order is None:
            return self._make(length)
        if self.world != 1:
            raise ValueError(
                f'order is rank {self.rank} of {self.world} of an order; give the whole '
                'order to the loader, and rank= and world= with it'
            )
        return self._order

    def _walk(self) -> _core.Order:
        if self._order is None:
            raise ValueError(f'n was not given: {self!r} has no length to be used by itself')
        return self._order

    def take(self, k: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Take the next indices, epoch after epoch, and move on behind them.

        Parameters
        ----------
        k : int
            How many are wanted.

        Returns
        -------
        numpy.ndarray
            uint64, of length `k`; shorter only where there is nothing (left) to take.
        """
        return self._walk().take(k)

    def seek(self, position: int) -> None:
        """Go to a position of the global order; the same cost for any."""
        self._walk().seek(position)

    def tell(self) -> int:
        """Return the position of the global order at which the next `take` begins."""
        return self._walk().tell()

    def shard(self, rank: int, world: int) -> Order:
        """Return the share of one rank, at the same position; this order stays as it is.

        A rank owns the positions whose offset in the epoch is `rank` modulo `world`.

        Parameters
        ----------
        rank, world : int
            Which share, of how many; ``0 <= rank < world``.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._order = self._walk().shard(rank, world)
        return other

    def state_dict(self) -> Dict[str, Any]:
        """Return where it stands, and in what order, as a dict that JSON can hold (version 1)."""
        state: Dict[str, Any] = json.loads(self._walk().save())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where the order stood that `state` is of; rank and world may be others.

        Raises
        ------
        ValueError
            The state is of another order, which the message names, or of another version.
        CorruptError
            The state was changed, or is none.
        """
        self._walk().restore(to_json(state))

    def __len__(self) -> int:
        return self._walk().length

    def __bool__(self) -> bool:
        return self._order is None or self._order.length != 0

    @property
    def rank(self) -> int:
        """Which share of the positions is taken."""
        return self._order.rank if self._order is not None else 0

    @property
    def world(self) -> int:
        """How many shares there are."""
        return self._order.world if self._order is not None else 1

    def __repr__(self) -> str:
        arguments = [_show(value) for value in self._first_arguments()]
        arguments += [f'{name}={value!r}' for name, value in self._arguments().items()]
        text = f"{type(self).__name__}({', '.join(arguments)})"
        return text if self.world == 1 else f'{text}.shard({self.rank}, {self.world})'

    def __reduce__(self) -> Any:
        state = None if self._order is None else (self._order.save(), self.rank, self.world)
        return _rebuild, (type(self), self._first_arguments(), self._arguments(), state)


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=', ', threshold=16, max_line_width=1000,
                               formatter={'int_kind': str, 'float_kind': _show_real})
    return repr(value)


def _show_real(value: Any) -> str:
    return repr(float(value))


def _rebuild(kind: Any, first: Tuple[Any, ...], arguments: Dict[str, Any], state: Any) -> Order:
    order: Order = kind(*first, **arguments)
    if state is not None:
        text, rank, world = state
        core = order._walk()
        core.restore(text)
        order._order = core.shard(rank, world)
    return order


def to_json(state: Mapping[str, Any]) -> str:
    """The text of a state, for the library, which looks at what is in it."""
    if not isinstance(state, Mapping):
        raise TypeError(f'state must be a dict that state_dict() gave, not {type(state).__name__}')
    try:
        return json.dumps(dict(state))
    except (TypeError, ValueError) as cause:
        raise ValueError(f'state is not what state_dict() gave: {cause}') from cause
