# SPDX-License-Identifier: MIT
"""Iterations over samplers of torch."""

from __future__ import annotations

import copy
import operator
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Union

import numpy as np
import torch

from .. import _core
from .._check import natural
from .._states import VERSION, check, checksum, differs, number
from ._states import digest, get_rest, pack, unpack

# Indices that are made ints of Python at a time.
_CHUNK = 4096

Block = Union[range, np.ndarray[Any, np.dtype[Any]]]


class Iteration:
    """One time through a sampler: how much of it was given, and what was drawn for that.

    Parameters
    ----------
    given : int
        Indices that were given before, where a state was loaded.
    seed : int, optional
        What the pass is drawn from, where the sampler has no generator.
    drawn_from : torch.Tensor, optional
        The state that the generator had before the block was drawn that the last index is of.
    rest : list of int, optional
        In place of that, where blocks are small: what was drawn and not given.
    epoch : int, optional
        Of a DistributedSampler.
    skip : int
        How many of what is still to come are passed over first.
    """

    def __init__(self, given: int = 0, seed: Optional[int] = None,
                 drawn_from: Optional[torch.Tensor] = None,
                 rest: Optional[List[int]] = None, epoch: Optional[int] = None,
                 skip: int = 0) -> None:
        self.seed = seed
        self.drawn_from = drawn_from
        self.epoch = epoch
        self.now: Optional[torch.Tensor] = None    # the generator's state, of a copy
        self.origin: Any = None                    # a copy as it began
        self.done = False
        self._skip = skip
        self._small = rest is not None
        self._items: Iterator[int] = iter(rest or [])
        self._end = given + len(rest or [])

    @property
    def given(self) -> int:
        """How many indices were given, or are to be passed over."""
        return self._end + self._skip - operator.length_hint(self._items)

    def copy(self, generator: Optional[torch.Generator]) -> Iteration:
        """Where this pass and its generator are, whatever becomes of them."""
        made = copy.copy(self)
        made._items = copy.copy(self._items)    # of the same list
        made.now = generator.get_state() if isinstance(generator, torch.Generator) else None
        return made

    def take(self, block: Block) -> Block:
        """What is left of a block that is taken as a whole; `give` tells what of it is given."""
        passed = min(self._skip, len(block))
        self._end += passed
        self._skip -= passed
        return block[passed:]

    def give(self, count: int) -> None:
        """So many more of what was taken as a whole were given."""
        self._end += count

    def enter(self) -> int:
        """How many indices lie before, where nothing has to be drawn for them."""
        self._end, self._skip = self._end + self._skip, 0
        return self._end

    @property
    def rest(self) -> Optional[List[int]]:
        """What was drawn and not given, of small blocks; else None."""
        return list(copy.copy(self._items)) if self._small else None

    def run(self, blocks: Iterable[Block],
            pick: Optional[Callable[[int], Any]] = None) -> Iterator[Any]:
        """Give what is in the blocks, each asked for when all before it is given."""
        yield from self._items
        for block in blocks:
            passed = min(self._skip, len(block))
            self._end += passed
            self._skip -= passed
            for part in _parts(block[passed:]):
                self._items = iter(part)
                self._end += len(part)
                yield from self._items if pick is None else map(pick, self._items)
        self.done = True

    def draw(self, generator: Optional[torch.Generator], count: int, size: int,
             make: Callable[[Optional[torch.Generator], int], torch.Tensor]) -> Iterator[Block]:
        """Draw blocks of `size`, and one of what `count` has beyond that, even if it is nothing.

        They are small: states have what was drawn and not given.
        """
        self._small = True
        for first in range(-(-self._end // size) * size, count + 1, size):
            yield make(generator, min(size, count - first)).numpy()

    def draw_again(self, generator: Optional[torch.Generator], count: int, size: int, blocks: int,
                   make: Callable[[Optional[torch.Generator], int], torch.Tensor],
                   private: bool = False) -> Iterator[Block]:
        """Draw `blocks` blocks of `size`, which end at `count`.

        A pass that was left in the midst of one draws it again, of a generator of its own: the
        other one is where it was behind it, or belongs to others, unless it is `private`.
        """
        done = 0
        if self.drawn_from is not None:
            own = torch.Generator()
            own.set_state(self.drawn_from)
            done = max(self.given - 1, 0) // size + 1
            first = (done - 1) * size
            yield make(own, min(size, count - first)).numpy()[self.given - first:]
            generator = own if private else generator
        for first in (place * size for place in range(done, blocks)):
            source = torch.default_generator if generator is None else generator
            # Of anything else torch says that it is none, in its own words.
            before = source.get_state() if isinstance(source, torch.Generator) else None
            block = make(generator, min(size, count - first)).numpy()
            self.drawn_from = before
            yield block


class Stateful:
    """A sampler whose passes can be saved, and gone on with."""

    generator: Optional[torch.Generator] = None
    _kind: str                         # in states
    _current: Any = None               # the newest pass
    _pending: Any = None               # one that was sent to its place, for the next iter()
    _known: Any = None                 # numbers, and their digest

    def _configuration(self) -> Dict[str, Any]:
        """What must be the same for a state to make sense."""
        raise NotImplementedError

    def _recorded(self) -> Dict[str, Any]:
        """What is told beside it, and not compared."""
        return {}

    def _drawn(self, begun: Any) -> Iterable[Block]:
        """What is left of a pass, each block drawn when it is asked for."""
        raise NotImplementedError

    def _at_once(self) -> bool:
        """Whether all of a pass is drawn in one block, of which it is known how to give it."""
        return False

    def _of_library(self, begun: Any) -> Optional[_core.Order]:
        """What gives the whole pass without a table, where the library has that."""
        return None

    def _numbers(self, block: Block) -> np.ndarray[Any, Any]:
        """What is given for a block."""
        return np.asarray(block)

    def _begin(self) -> Iteration:
        """The pass that iter() is asked for."""
        # Copies of the sampler may share what is pending.
        self._current = Iteration() if self._pending is None else copy.deepcopy(self._pending)
        self._pending = None
        begun: Iteration = self._current
        begun.origin = begun.copy(self.generator)
        return begun

    def _copy_of(self, begun: Any) -> Any:
        """A pass as it is now, for `_state_of` later."""
        return begun.copy(self.generator)

    def _origin_of(self, begun: Any, known: Any) -> Any:
        """Where a pass began, of which something was asked for; `known` is a copy of before.

        A generator that states do not have is behind what was drawn since, which they tell instead.
        """
        if begun.origin is None:
            return known
        if self.generator is None:
            begun.origin.seed = begun.seed
            if begun.seed is None and begun.origin.drawn_from is None:
                begun.origin.drawn_from = begun.drawn_from    # there is one block of it
        return begun.origin

    def _digest(self, values: Any) -> Optional[str]:
        """A checksum of what it samples, which takes a while where that is long."""
        if self._known is None or self._known[0] is not values or self._known[1] != len(values):
            self._known = values, len(values), digest(values)
        known: Optional[str] = self._known[2]
        return known

    def _describe(self, begun: Optional[Iteration]) -> Dict[str, Any]:
        """Where a pass is; the beginning of the next one, if it is over."""
        here = Iteration() if begun is None or begun.done else begun
        state: Dict[str, Any] = {'given': here.given}
        if here.seed is not None:
            state['seed'] = here.seed
        if here.drawn_from is not None:
            state['drawn_from'] = pack(here.drawn_from)
        if here.rest is not None:
            state['rest'] = here.rest
        if self.generator is not None:
            state['generator'] = pack(self.generator.get_state() if here.now is None else here.now)
        return state

    def _resume(self, state: Mapping[str, Any]) -> Iteration:
        """The pass that a state was taken of, which was found to fit."""
        if (self.generator is None) != ('generator' not in state):
            raise differs('generator', *(('None', 'given') if self.generator is not None
                                         else ('given', 'None')))
        most = len(self)    # type: ignore[arg-type]
        given = number(state, 'given', most=most)
        if not state.keys() & {'seed', 'drawn_from', 'rest'}:
            begun = Iteration(skip=given)
        else:
            begun = Iteration(given, number(state, 'seed') if 'seed' in state else None,
                         unpack(state, 'drawn_from') if 'drawn_from' in state else None,
                         get_rest(state, most) if 'rest' in state else None)
        if self.generator is not None:
            self.generator.set_state(unpack(state, 'generator'))
        return begun

    def _state_of(self, begun: Any) -> Dict[str, Any]:
        state = {'state': self._kind, 'version': VERSION, **self._configuration(),
                 **self._recorded(), **self._describe(begun)}
        state['crc32'] = checksum(state)
        return state

    def state_dict(self) -> Dict[str, Any]:
        """Return where the newest pass is, as a dict that JSON can hold (version 1).

        It tells how many indices were given, what must be the same for that to make sense, and
        the states of the generator now and before the newest draw, of 4 KB each; a RandomSampler
        without a generator tells a seed instead. Nothing is drawn for it. What was given counts,
        and a DataLoader with workers was given more than it has handed out. loaderx-state(5)
        describes it.
        """
        return self._state_of(self._pending if self._current is None else self._current)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Have the next ``iter()`` give what was left of a pass; those that follow are whole.

        What lies before is not drawn again, but for the block that the pass was in: a permutation,
        or 32 draws with replacement. A generator that was given is put where it was when the state
        was taken. Where a pass was over, the next one begins.

        Raises
        ------
        ValueError
            The sampler, or what it is over, is another; the message names the difference.
        LoaderxError
            The state is of another version.
        CorruptError
            The state was changed, or is none.
        """
        check(state, self._kind, self._configuration())
        self._pending = self._resume(state)
        self._current = None

    def seek(self, samples: int) -> None:
        """Have the next ``iter()`` begin behind the first indices of its pass; others are whole.

        A generator is advanced as by who was given all of them: what torch would have drawn for
        them is drawn, and passed over. Without a generator, in sequence, and of a
        DistributedSampler, nothing is.

        Parameters
        ----------
        samples : int
            How many indices, up to those of a pass; of a rank, its own.
        """
        self._pending = self._sought(samples)
        self._current = None

    def _sought(self, samples: int) -> Any:
        return Iteration(skip=natural('samples', samples, most=len(self)))  # type: ignore[arg-type]

    def _skip_entries(self, count: int) -> None:
        """Seek by what it gives, for a SkipBatchSampler, which may skip more than there is."""
        self.seek(min(count, len(self)))  # type: ignore[arg-type]

    def __getstate__(self) -> Dict[str, Any]:
        """What a copy gets, which has no pass begun."""
        return {name: value for name, value in self.__dict__.items() if name != '_current'}


def _parts(block: Block) -> Iterator[Any]:
    """Ints of Python, not all at once."""
    if isinstance(block, range):
        yield block
        return
    for first in range(0, len(block), _CHUNK):
        yield block[first:first + _CHUNK].tolist()
