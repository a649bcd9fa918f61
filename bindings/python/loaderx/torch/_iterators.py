# SPDX-License-Identifier: MIT
"""The position of a DataLoader, for its state."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, Mapping, Optional

import torch
from torch.utils import data
from torch.utils.data import _utils

from .._states import VERSION, check, checksum, differs, number
from ..errors import CorruptError
from ._iterations import Stateful
from ._states import pack, unpack
from ._streams import check_streams

__all__ = ['KIND', 'Iterator', 'Progress', 'check_state', 'make_state']

KIND = 'torch.DataLoader'


class Progress:
    """The progress of one pass of a loader. It outlives the iterator, and has no threads."""

    def __init__(self, sampler: Any, seed: int, batches: int) -> None:
        self.sampler = sampler
        self.seed = seed
        self.batches = batches      # batches that were returned, or failed
        self._before = batches      # those before the state was loaded
        self.finished = False
        self.ordered = True         # the returned batches are the first ones of the pass
        self.place: Any = None      # the position of the sampler after the last of them
        self.begun = sampler._current if isinstance(sampler, Stateful) else None
        if self.begun is not None and getattr(self.begun, 'origin', None) is not None:
            # It began before the seed was drawn, perhaps from the same generator.
            self.begun.origin = sampler._copy_of(self.begun)
        self.streams: Any = None    # the position of each worker in an iterable dataset
        self.next_worker = 0        # the worker of the next batch
        self.whole: Any = None      # instead of the position, if a pass is taken as a whole

    @property
    def batches_here(self) -> int:
        """The batches of this iterator."""
        return self.batches - self._before

    def look(self) -> Any:
        """Copy the current position of the sampler."""
        if self.begun is not None:
            return self.sampler._copy_of(self.begun)
        save = getattr(self.sampler, 'state_dict', None)
        return None if save is None else save()

    def begin(self) -> None:
        """Batches requested in advance are still to be returned."""
        if self.begun is not None:
            self.place = self.sampler._origin_of(self.begun, self.place)

    def state_of_sampler(self) -> Optional[Dict[str, Any]]:
        """The sampler's state at the position, or its current state without a position."""
        if self.whole is not None and not self.finished:
            of_whole: Dict[str, Any] = self.sampler._state_of(self.whole.at(self.batches_here))
            return of_whole
        if self.begun is not None:
            here = self.begun if self.place is None or self.finished else self.place
            state: Dict[str, Any] = self.sampler._state_of(here)
            return state
        saved: Optional[Dict[str, Any]] = self.place
        return self.look() if saved is None or self.finished else saved


def make_state(loader: Any, sampler: Any, here: Optional[Progress]) -> Dict[str, Any]:
    """Return the state of a loader; None: before its first batch."""
    if here is not None and not here.ordered and not here.finished:
        raise ValueError('batches were handed out as they came, with in_order=False, and what is '
                         'left of them is no part of the order: the loader has no state now')
    state: Dict[str, Any] = {'state': KIND, 'version': VERSION,
                             'batch_size': loader.batch_size, 'drop_last': loader.drop_last,
                             'num_workers': loader.num_workers, 'batches': 0,
                             'next_worker': 0}
    if loader._is_iterable():
        state['sampler'] = None    # an endless sampler of torch has no state
    elif here is None:
        save = getattr(sampler, 'state_dict', None)
        state['sampler'] = None if save is None else save()
    else:
        state['sampler'] = here.state_of_sampler()
    if here is not None and not here.finished:
        state.update(batches=here.batches, base_seed=here.seed, next_worker=here.next_worker)
        if here.streams is not None:
            state['streams'] = here.streams() if callable(here.streams) else list(here.streams)
    if loader.generator is not None and not _draws(sampler, loader.generator):
        state['generator'] = pack(loader.generator.get_state())
    state['crc32'] = checksum(state)
    return state


def _draws(sampler: Any, generator: torch.Generator) -> bool:
    """Whether the sampler's state includes that of the generator."""
    while isinstance(sampler, Stateful):
        if sampler.generator is generator:
            return True
        sampler = getattr(sampler, 'sampler', None)
    return False


def check_state(loader: Any, sampler: Any, state: Mapping[str, Any]) -> None:
    """Raise an error if the state does not match; otherwise seek the sampler and the generator."""
    check(state, KIND, {})
    number(state, 'batches')
    number(state, 'next_worker')
    if 'base_seed' in state:
        number(state, 'base_seed')
    if loader._is_iterable():
        if 'streams' in state and state.get('num_workers') != loader.num_workers:
            raise differs('num_workers', state.get('num_workers'), loader.num_workers)
        check_streams(state.get('streams'), max(loader.num_workers, 1))
        sampler = None
    elif 'streams' in state:
        raise differs('dataset', 'iterable', 'of records')
    load, below = getattr(sampler, 'load_state_dict', None), state.get('sampler')
    if (load is None) != (below is None):
        kinds = 'one without a state', 'one with a state'
        raise differs('sampler', kinds[below is not None], kinds[load is not None])
    if 'generator' in state and loader.generator is None:
        raise differs('generator', 'given', 'None')
    given = unpack(state, 'generator') if 'generator' in state else None
    if isinstance(sampler, Stateful) and not isinstance(below, Mapping):
        raise CorruptError('the state is damaged: its "sampler" is invalid')
    if load is not None:
        load(below)
    if given is not None:
        loader.generator.set_state(given)


# Whether torch's profiler is active.
_profiled: Callable[[], bool] = getattr(torch.autograd, '_profiler_enabled', lambda: True)


class Iterator(data.dataloader._BaseDataLoaderIter):
    """The iterator of torch, which can start at a saved position and reports its position."""

    def __init__(self, loader: Any) -> None:
        resumed = loader._take_resumed()
        source = torch.default_generator if loader.generator is None else loader.generator
        again = 'base_seed' in resumed    # the seed was drawn when the pass began
        before = source.get_state() if again else None
        super().__init__(loader)
        if again:
            source.set_state(before)
            self._base_seed = resumed['base_seed']
        skipped = resumed.get('batches', 0)
        self._resumed_streams = resumed.get('streams')
        if resumed.get('sampler') is None and not loader._is_iterable():
            for _ in itertools.islice(self._sampler_iter, skipped):
                pass
        self._progress = loader._progress = Progress(self._index_sampler, self._base_seed, skipped)
        self._progress.next_worker = resumed.get('next_worker', 0) % max(self._num_workers, 1)

    def __next__(self) -> Any:
        """As torch's, without an unused range of its profiler, which takes 8 us."""
        if self._sampler_iter is None or self._progress.streams is not None or _profiled():
            return super().__next__()
        made = self._next_data()
        self._num_yielded += 1
        return made

    def _pinned(self, batch: Any) -> Any:
        """Return the batch, in pinned memory if requested."""
        if self._pin_memory:
            return _utils.pin_memory.pin_memory(batch, self._pin_memory_device)
        return batch
