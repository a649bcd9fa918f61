# SPDX-License-Identifier: MIT
"""The base class of orders, which determine the index at each position of a training run."""

from __future__ import annotations

import functools
import inspect
import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .. import _core
from .._check import natural
from .._fixed import Fixed

__all__ = ['Order', 'to_json']


class Order(Fixed):
    """A sequence of indices, and a position in the sequence.

    Positions count the samples of one global order, which all ranks share. An order of length n has
    epochs of n positions. The index at a position depends only on the position and the arguments of
    the order, so `seek` takes constant time. doc/orders.md contains the formulas.

    In a loader, an order without a length takes on the length of the loader's source; outside a
    loader, it cannot return indices. The same applies to an order built from orders without a
    length.

    A `Loader` uses only the arguments of the order, and keeps a position of its own.

    Examples
    --------
    >>> order = Shuffle(n=10, seed=1)
    >>> epoch = order.take(10)
    >>> sorted(epoch.tolist()) == list(range(10)), order.tell()
    (True, 10)
    """

    _order: Optional[_core.Order] = None
    _tables: Optional[bytes] = None    # used only by classes that have a table
    _records: Optional[int] = None     # the number of records that the order is for, if known
    _epoch: Optional[int] = None       # the length of an epoch for passes, if not the order's
    _is_run = False    # whether a loader ends for good after one epoch: a whole training run

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if '__init__' in vars(cls):
            setattr(cls, '__init__', _naming_arguments(vars(cls)['__init__']))

    def __init__(self) -> None:
        raise TypeError('Order is a base class: use Sequential, Shuffle or another order')

    def _make(self, n: int) -> _core.Order:
        """Create the order of the extension module for a length of `n`."""
        raise NotImplementedError

    def _first_arguments(self) -> Tuple[Any, ...]:
        """Return the positional arguments of the constructor."""
        return ()

    def _arguments(self) -> Dict[str, Any]:
        """Return the keyword arguments of the constructor."""
        raise NotImplementedError

    def _tables_argument(self) -> Dict[str, Any]:
        """Return the keyword argument `tables`, if it was given."""
        return {} if self._tables is None else {'tables': os.fsdecode(self._tables)}

    def _check_records(self, count: int, what: str) -> None:
        """Raise ValueError if the order was created for a different number of records."""
        if self._records is None or self._records == count:
            return
        text = f'the order is a {type(self).__name__} of {self._records} records, but there are '
        raise ValueError(f'{text}only {count} {what}' if count < self._records else
                         f'{text}{count} {what}: to read only some of them, use a '
                         'SubsetDataset or the order Subset')

    def _for_length(self, length: int, what: str = 'records') -> _core.Order:
        """Return the order for a source of `length` records; errors call its items `what`."""
        if self._order is None:
            return self._make(length)
        if self.world != 1:
            raise ValueError(
                f'order is a shard of an order (rank {self.rank} of {self.world}): pass the '
                'whole order, and pass rank= and world= to the loader'
            )
        self._check_records(length, what)
        return self._order

    def _get_core(self) -> _core.Order:
        if self._order is None:
            raise ValueError(f'{self!r} has no length: pass n to use it without a loader')
        return self._order

    def take(self, k: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the next indices, epoch after epoch, and advance the position.

        Parameters
        ----------
        k : int
            The number of indices.

        Returns
        -------
        numpy.ndarray
            `k` uint64 indices; fewer only if the order is empty or reaches its end.
        """
        return self._get_core().take(k)

    def seek(self, position: int) -> None:
        """Seek to a position in the global order, in constant time."""
        self._get_core().seek(position)

    def tell(self) -> int:
        """Return the position in the global order at which the next `take` begins."""
        return self._get_core().tell()

    def shard(self, rank: int, world: int) -> Order:
        """Return one rank's part of the order, at the same position; this order does not change.

        Each rank gets the positions whose offset in the epoch is congruent to `rank` modulo
        `world`.

        Parameters
        ----------
        rank, world : int
            The rank, and the number of ranks; ``0 <= rank < world``.
        """
        core = self._get_core().shard(rank, world)
        other = self._copy()
        other._order = core
        return other

    def _copy(self) -> Order:
        """Return a copy that shares all attributes."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def _repeated(self) -> Order:
        """Return a copy that has further epochs, even if this order is a whole run."""
        other = self._copy()
        other._is_run = False
        return other

    def state_dict(self) -> Dict[str, Any]:
        """Return the order's position and identity as a JSON-compatible dict (version 1)."""
        state: Dict[str, Any] = json.loads(self._get_core().save())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Seek to the position in a saved state; the rank and the world may differ.

        Raises
        ------
        ValueError
            The state belongs to a different order, which the message describes, or was saved in an
            unsupported format version.
        CorruptError
            The state is invalid, or was changed after it was saved.
        """
        self._get_core().restore(to_json(state))

    def __len__(self) -> int:
        return self._get_core().length

    def __bool__(self) -> bool:
        return self._order is None or self._order.length != 0

    @property
    def rank(self) -> int:
        """The rank whose positions this order returns."""
        return self._order.rank if self._order is not None else 0

    @property
    def world(self) -> int:
        """The number of ranks."""
        return self._order.world if self._order is not None else 1

    def __repr__(self) -> str:
        arguments = [_show(value) for value in self._first_arguments()]
        arguments += [f'{name}={value!r}' for name, value in self._arguments().items()]
        text = f"{type(self).__name__}({', '.join(arguments)})"
        return text if self.world == 1 else f'{text}.shard({self.rank}, {self.world})'

    def __reduce__(self) -> Any:
        state = None if self._order is None else (self._order.save(), self.rank, self.world)
        return _rebuild, (type(self), self._first_arguments(), self._arguments(), state)


def _naming_arguments(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor whose errors explain which arguments must be given by name."""
    parameters = list(inspect.signature(init).parameters.values())[1:]    # without self
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    if not named or any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return init    # Python's own error is clear enough

    @functools.wraps(init)
    def checked(self: Order, *arguments: Any, **options: Any) -> None:
        if len(arguments) > len(places):
            raise TypeError(_explain(type(self), places, named, arguments))
        init(self, *arguments, **options)

    return checked


def _explain(kind: type, places: List[str], named: List[inspect.Parameter],
             arguments: Tuple[Any, ...]) -> str:
    """Return the text of the error about arguments that must be given by name."""
    names = [one.name for one in named]
    chosen = 'seed' if 'seed' in names else names[0]
    value = arguments[-1] if isinstance(arguments[-1], int) else '...'
    example = [*places, *(f'{one.name}=...' for one in named
                          if one.default is one.empty and one.name != chosen),
               f'{chosen}={value}']
    prefix = 'lx.' if kind.__module__.startswith('loaderx.') else ''
    by_place = f"only {', '.join(places)} by position, and its other" if places else 'its'
    text = (f"{kind.__name__} takes {by_place} arguments by name ({', '.join(names)}), as in "
            f"{prefix}{kind.__name__}({', '.join(example)})")
    if 'n' not in names or places:
        return text
    return f"{text}. Without n, the length is that of the loader's source"


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
        core = order._get_core()
        core.restore(text)
        order._order = core.shard(rank, world)
    return order


def to_json(state: Mapping[str, Any]) -> str:
    """Return a state as JSON text for the library, which checks the content."""
    if not isinstance(state, Mapping):
        raise TypeError(f'state must be a dict from state_dict(), not {type(state).__name__}')
    try:
        return json.dumps(dict(state))
    except (TypeError, ValueError) as cause:
        raise ValueError(f'state is not a dict from state_dict(): {cause}') from cause
