# SPDX-License-Identifier: MIT
"""Resumable passes through torch's samplers."""

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

# The number of indices to convert to Python ints at a time.
_CHUNK = 4096

Block = Union[range, np.ndarray[Any, np.dtype[Any]]]


class Iteration:
    """One pass through a sampler: its position and the state of its random numbers.

    To draw means to generate random indices; a block is the result of one draw.

    Parameters
    ----------
    returned : int
        If a state was loaded, the number of indices that had been returned when it was saved.
    seed : int, optional
        The seed of the pass, if the sampler has no generator.
    drawn_from : torch.Tensor, optional
        The state of the generator before it drew the block that contains the last index.
    rest : list of int, optional
        The indices that were drawn but not yet returned, if blocks are small.
    epoch : int, optional
        The epoch, for a DistributedSampler.
    skip : int
        The number of indices to skip first.
    """

    def __init__(self, returned: int = 0, seed: Optional[int] = None,
                 drawn_from: Optional[torch.Tensor] = None,
                 rest: Optional[List[int]] = None, epoch: Optional[int] = None,
                 skip: int = 0) -> None:
        self.seed = seed
        self.drawn_from = drawn_from
        self.epoch = epoch
        self.now: Optional[torch.Tensor] = None    # the generator's state, if this is a copy
        self.origin: Any = None                    # a copy made at the beginning of the pass
        self.done = False
        self._skip = skip
        self._small = rest is not None
        self._items: Iterator[int] = iter(rest or [])
        self._end = returned + len(rest or [])

    @property
    def returned(self) -> int:
        """The number of indices that were returned or will be skipped."""
        return self._end + self._skip - operator.length_hint(self._items)

    def copy(self, generator: Optional[torch.Generator]) -> Iteration:
        """Return a copy of this pass, which contains the position and the generator's state."""
        made = copy.copy(self)
        made._items = copy.copy(self._items)    # shares the list
        made.now = generator.get_state() if isinstance(generator, torch.Generator) else None
        return made

    def take(self, block: Block) -> Block:
        """Return the rest of a block that is read in advance; `give` counts its indices later."""
        passed = min(self._skip, len(block))
        self._end += passed
        self._skip -= passed
        return block[passed:]

    def give(self, count: int) -> None:
        """Count `count` more indices as returned, from a block that was read in advance."""
        self._end += count

    def enter(self) -> int:
        """Return the number of indices before the position, for a pass that needs no draws."""
        self._end, self._skip = self._end + self._skip, 0
        return self._end

    @property
    def rest(self) -> Optional[List[int]]:
        """The indices that were drawn but not returned, if blocks are small; otherwise None."""
        return list(copy.copy(self._items)) if self._small else None

    def run(self, blocks: Iterable[Block],
            pick: Optional[Callable[[int], Any]] = None) -> Iterator[Any]:
        """Yield the indices of the blocks, requesting each block when the previous block ends."""
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
        """Draw blocks of `size` indices, up to `count` indices in total.

        The last block contains the remaining indices, and can be empty. The blocks are small, so a
        state contains the indices that were drawn but not returned.
        """
        self._small = True
        for first in range(-(-self._end // size) * size, count + 1, size):
            yield make(generator, min(size, count - first)).numpy()

    def draw_again(self, generator: Optional[torch.Generator], count: int, size: int, blocks: int,
                   make: Callable[[Optional[torch.Generator], int], torch.Tensor],
                   private: bool = False) -> Iterator[Block]:
        """Draw `blocks` blocks of `size` indices; cut the last block at `count` indices in total.

        A pass that was interrupted within a block draws that block again with a separate generator,
        because the original generator has already advanced. If the generator is `private` to the
        pass, the separate generator also draws the following blocks; otherwise, the caller's
        generator draws them.
        """
        done = 0
        if self.drawn_from is not None:
            own = torch.Generator()
            own.set_state(self.drawn_from)
            done = max(self.returned - 1, 0) // size + 1
            first = (done - 1) * size
            yield make(own, min(size, count - first)).numpy()[self.returned - first:]
            generator = own if private else generator
        for first in (place * size for place in range(done, blocks)):
            source = torch.default_generator if generator is None else generator
            # Let torch raise its own error for any other object.
            before = source.get_state() if isinstance(source, torch.Generator) else None
            block = make(generator, min(size, count - first)).numpy()
            self.drawn_from = before
            yield block


class Stateful:
    """A resumable sampler: the position in a pass can be saved and restored."""

    generator: Optional[torch.Generator] = None
    _kind: str                         # the sampler's name in states
    _current: Any = None               # the newest pass
    _pending: Any = None               # a pass at a restored position, for the next iter()
    _known: Any = None                 # a sequence, its length and its checksum

    def _configuration(self) -> Dict[str, Any]:
        """Return the properties that must match when a state is loaded."""
        raise NotImplementedError

    def _recorded(self) -> Dict[str, Any]:
        """Return further properties, which are saved in states but not compared."""
        return {}

    def _explain(self, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
        """Return a better error than that of `differs` for a value of a state, if there is one."""
        return None

    def _drawn(self, iteration: Any) -> Iterable[Block]:
        """Yield the blocks of the rest of a pass; draw each block on demand."""
        raise NotImplementedError

    def _at_once(self) -> bool:
        """Return whether the whole pass is one block that the library can produce."""
        return False

    def _of_library(self, iteration: Any) -> Optional[_core.Order]:
        """Return a library order for the whole pass, if there is one."""
        return None

    def _numbers(self, block: Block) -> np.ndarray[Any, Any]:
        """Return the indices of a block."""
        return np.asarray(block)

    def _begin(self) -> Iteration:
        """Begin the pass that iter() returns."""
        # Copies of the sampler may share the pending pass.
        self._current = Iteration() if self._pending is None else copy.deepcopy(self._pending)
        self._pending = None
        iteration: Iteration = self._current
        iteration.origin = iteration.copy(self.generator)
        return iteration

    def _moved(self, iteration: Any) -> bool:
        """Return whether the next iter() begins a new pass even if `iteration` has not ended."""
        return False

    def _copy_of(self, iteration: Any) -> Any:
        """Return a copy of a pass that `_state_of` can use later."""
        return iteration.copy(self.generator)

    def _origin_of(self, iteration: Any, earlier: Any) -> Any:
        """Return a copy of a pass as it was at its beginning; if there is none, return `earlier`.

        The method is called after the first draw. If states do not include the generator, the
        generator has already advanced; the copy then contains the seed, or the state of the
        generator before the draw.
        """
        if iteration.origin is None:
            return earlier
        if self.generator is None:
            iteration.origin.seed = iteration.seed
            if iteration.seed is None and iteration.origin.drawn_from is None:
                iteration.origin.drawn_from = iteration.drawn_from    # the whole pass is one block
        return iteration.origin

    def _digest(self, values: Any) -> Optional[str]:
        """Return a checksum of a sequence of numbers; the first call is slow for long sequences."""
        if self._known is None or self._known[0] is not values or self._known[1] != len(values):
            self._known = values, len(values), digest(values)
        checksum: Optional[str] = self._known[2]
        return checksum

    def _describe(self, iteration: Optional[Iteration]) -> Dict[str, Any]:
        """Describe the position of a pass, or the beginning of the next pass if it has ended."""
        position = Iteration() if iteration is None or iteration.done else iteration
        state: Dict[str, Any] = {'given': position.returned}
        if position.seed is not None:
            state['seed'] = position.seed
        if position.drawn_from is not None:
            state['drawn_from'] = pack(position.drawn_from)
        if position.rest is not None:
            state['rest'] = position.rest
        if self.generator is not None:
            state['generator'] = pack(self.generator.get_state() if position.now is None
                                      else position.now)
        return state

    def _resume(self, state: Mapping[str, Any]) -> Iteration:
        """Return the pass that a state describes; the state matches this sampler."""
        if (self.generator is None) != ('generator' not in state):
            raise differs('generator', *(('None', 'given') if self.generator is not None
                                         else ('given', 'None')))
        maximum = len(self)    # type: ignore[arg-type]
        returned = number(state, 'given', maximum=maximum)
        if not state.keys() & {'seed', 'drawn_from', 'rest'}:
            iteration = Iteration(skip=returned)
        else:
            iteration = Iteration(returned, number(state, 'seed') if 'seed' in state else None,
                                  unpack(state, 'drawn_from') if 'drawn_from' in state else None,
                                  get_rest(state, maximum) if 'rest' in state else None)
        if self.generator is not None:
            self.generator.set_state(unpack(state, 'generator'))
        return iteration

    def _state_of(self, iteration: Any) -> Dict[str, Any]:
        state = {'state': self._kind, 'version': VERSION, **self._configuration(),
                 **self._recorded(), **self._describe(iteration)}
        state['crc32'] = checksum(state)
        return state

    def state_dict(self) -> Dict[str, Any]:
        """Return the position of the latest pass as a JSON-compatible dict (version 1).

        The state contains the number of indices returned, the properties that must match, and two
        states of the generator, 4 KB each: the current one, and the one before the latest draw. For
        a RandomSampler without a generator, it contains a seed instead. Saving does not advance any
        generator. The position is the number of indices that the sampler has returned; a DataLoader
        with workers requests indices before it returns their batches. loaderx-state(5) describes
        the format.
        """
        return self._state_of(self._pending if self._current is None else self._current)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next ``iter()`` return the rest of a pass; later passes are complete.

        Earlier indices are not generated again, except those in the block that contains the
        position: a permutation, or 32 indices chosen with replacement. The sampler's `generator` is
        set to its saved state. If the saved pass had ended, the next ``iter()`` begins a new pass.

        Raises
        ------
        ValueError
            The sampler or its data differ from those in the state; the message names the
            difference. If records were appended to a dataset, open it with the `length` that the
            message names.
        LoaderxError
            The state was saved in an unsupported format version.
        CorruptError
            The state was changed after it was saved, or is invalid.
        """
        check(state, self._kind, self._configuration(), self._explain)
        self._pending = self._resume(state)
        self._current = None

    def seek(self, samples: int) -> None:
        """Make the next ``iter()`` skip the first indices of its pass; later passes are complete.

        A generator advances as if these indices had been returned: the random numbers for them are
        generated and discarded. Without a generator, and for a SequentialSampler or
        DistributedSampler, no random numbers are generated.

        Parameters
        ----------
        samples : int
            The number of indices to skip, at most the number of indices in a pass (of this rank).
        """
        self._pending = self._seek_to(samples)
        self._current = None

    def _seek_to(self, samples: int) -> Any:
        return Iteration(skip=natural('samples', samples, 0, len(self)))  # type: ignore[arg-type]

    def _skip_entries(self, count: int) -> None:
        """Seek for a SkipBatchSampler, which may skip more indices than a pass contains."""
        self.seek(min(count, len(self)))  # type: ignore[arg-type]

    def __getstate__(self) -> Dict[str, Any]:
        """Return the attributes for a copy, which has not begun a pass."""
        return {name: value for name, value in self.__dict__.items() if name != '_current'}


def _parts(block: Block) -> Iterator[Any]:
    """Yield the indices of a block in parts, as Python ints."""
    if isinstance(block, range):
        yield block
        return
    for first in range(0, len(block), _CHUNK):
        yield block[first:first + _CHUNK].tolist()
