# SPDX-License-Identifier: MIT
"""Tracks the position of a DataLoader, and saves and restores it."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, Mapping, Optional

import torch
from torch.utils import data
from torch.utils.data import _utils

from .._pinning import pins
from .._states import VERSION, check, checksum, differs, is_same, number
from ..errors import CorruptError
from ._batches import BatchSampler
from ._fetchers import Place
from ._iterations import Stateful
from ._remote import same
from ._states import pack, unpack
from ._streams import check_streams, is_stateful, own_state

__all__ = ['KIND', 'Iterator', 'Progress', 'Rest', 'check_state', 'make_state', 'pinning']

KIND = 'torch.DataLoader'


class Progress:
    """The progress of one pass of a loader; it outlives the iterator and references no threads."""

    def __init__(self, sampler: Any, seed: int, batches: int, passes: int) -> None:
        self.sampler = sampler
        self.seed = seed
        self.passes = passes        # number of earlier passes with this seed: of persistent workers
        self.batches = batches      # number of batches that were returned or failed
        self._before = batches      # number of batches before the loaded state
        self.finished = False
        self.ordered = True         # the batches returned so far are the first batches of the pass
        self.place: Any = None      # the sampler's position after the last batch returned
        self.iteration = sampler._current if isinstance(sampler, Stateful) else None
        if self.iteration is not None and getattr(self.iteration, 'origin', None) is not None:
            # Copied before the seed is drawn, because drawing it may advance the same generator.
            self.iteration.origin = sampler._copy_of(self.iteration)
        # The number of indices before the loaded state, whose batches may have had another size.
        self._first = sampler._current.returned if isinstance(sampler, BatchSampler) else None
        self.streams: Any = None    # each worker's position in an iterable dataset
        self.datasets: Any = None   # each worker's state of a map-style dataset that has states
        self.stays = False          # persistent workers begin the next pass
        self.next_worker = 0        # the worker that prepares the next batch
        self.whole: Any = None      # replaces `place` if the whole pass is read in advance

    @property
    def batches_here(self) -> int:
        """The number of batches that this iterator returned."""
        return self.batches - self._before

    @property
    def epoch(self) -> int:
        """The number of the pass, on which random choices of the library depend.

        torch draws a seed for each pass, from which its workers' random numbers come. Ranks often
        draw the same one, and all load the state of one rank: the rank makes their choices differ.
        """
        rank = getattr(getattr(self.sampler, 'sampler', self.sampler), 'rank', 0)
        rank = rank if isinstance(rank, int) else 0    # another sampler's attribute
        return (self.seed + self.passes + rank * 0x9e3779b97f4a7c15) % 2**64

    def place_of(self, number: int) -> Place:
        """Return the place of the batch that this iterator requests after `number` others."""
        size = getattr(self.sampler, 'batch_size', None)
        size = size if isinstance(size, int) else 2**32    # batches differ in size
        first = self._before * size if self._first is None else self._first
        return self.epoch, (first + number * size) % 2**64

    def look(self) -> Any:
        """Copy the current position of the sampler."""
        if self.iteration is not None:
            return self.sampler._copy_of(self.iteration)
        save = getattr(self.sampler, 'state_dict', None)
        return None if save is None else save()

    def replaced(self) -> bool:
        """Return whether the next pass replaces this one, because set_epoch() was called."""
        return isinstance(self.sampler, Stateful) and self.sampler._moved(self.iteration)

    def begin(self) -> None:
        """Set the position to the beginning, after batches have been requested in advance."""
        if self.iteration is not None:
            self.place = self.sampler._origin_of(self.iteration, self.place)

    def state_of_sampler(self) -> Optional[Dict[str, Any]]:
        """Return the sampler's state at the position or, if there is none, its current state."""
        if self.whole is not None and not self.finished:
            of_whole: Dict[str, Any] = self.sampler._state_of(self.whole.at(self.batches_here))
            return of_whole
        if self.iteration is not None:
            position = self.iteration if self.place is None or self.finished else self.place
            state: Dict[str, Any] = self.sampler._state_of(position)
            return state
        saved: Optional[Dict[str, Any]] = self.place
        return self.look() if saved is None or self.finished else saved


def make_state(loader: Any, sampler: Any, progress: Optional[Progress]) -> Dict[str, Any]:
    """Return the state of a loader; `progress` is None if the loader has no iterator yet."""
    if progress is not None and not progress.ordered and not progress.finished:
        raise ValueError('the position cannot be saved: with in_order=False, batches were returned '
                         'out of order, so the remaining batches are not a contiguous part of the '
                         'order')
    state: Dict[str, Any] = {'state': KIND, 'version': VERSION,
                             'batch_size': loader.batch_size, 'drop_last': loader.drop_last,
                             'num_workers': int(loader.num_workers), 'batches': 0,
                             'next_worker': 0, **loader._data.state()}
    if loader._is_iterable():
        state['sampler'] = None    # torch's endless sampler has no position
    elif progress is None:
        save = getattr(sampler, 'state_dict', None)
        state['sampler'] = None if save is None else save()
    else:
        state['sampler'] = progress.state_of_sampler()
    if progress is not None:
        begun = not progress.finished and not progress.replaced()
        if begun:
            state.update(batches=progress.batches, next_worker=progress.next_worker)
        if begun or (progress.finished and progress.stays):
            state['base_seed'] = progress.seed    # persistent workers keep this seed
            passes = progress.passes + progress.finished
            if passes:
                state['passes'] = passes
    state.update(_states_of_datasets(loader, progress))
    if loader.generator is not None and not _draws(sampler, loader.generator):
        state['generator'] = pack(loader.generator.get_state())
    try:
        state['crc32'] = checksum(state)
    except (TypeError, ValueError) as cause:
        raise ValueError('the state cannot be saved, because a state_dict() of the dataset, of its '
                         f'iterator or of the sampler is not JSON-compatible: {cause}') from cause
    return state


def _states_of_datasets(loader: Any, progress: Optional[Progress]) -> Dict[str, Any]:
    """Return the positions in an iterable dataset, or the states of a map-style dataset."""
    name = 'streams' if loader._is_iterable() else 'datasets'
    if progress is None:
        if loader.num_workers or not is_stateful(loader.dataset):
            return {}    # workers begin with copies of the dataset
        own = own_state(loader.dataset)
        return {name: [{'taken': 0, 'ended': False, 'dataset': own} if name == 'streams' else own]}
    states = getattr(progress, name)
    states = states() if callable(states) else states
    return {} if states is None else {name: list(states)}


def _draws(sampler: Any, generator: torch.Generator) -> bool:
    """Return whether the sampler's state includes the state of the generator."""
    while isinstance(sampler, Stateful):
        if sampler.generator is generator:
            return True
        sampler = getattr(sampler, 'sampler', None)
    return False


def check_state(loader: Any, sampler: Any, state: Mapping[str, Any], changed: str) -> None:
    """Check that the state matches; then restore the sampler and the generator."""
    check(state, KIND, {})
    loader._data.check(state.get('data'), changed)
    number(state, 'batches')
    number(state, 'next_worker')
    for name in 'base_seed', 'passes':
        if name in state:
            number(state, name)
    if loader._is_iterable():
        if 'streams' in state and not is_same(state.get('num_workers'), int(loader.num_workers)):
            raise differs('num_workers', state.get('num_workers'), loader.num_workers)
        check_streams(state.get('streams'), max(loader.num_workers, 1))
        sampler = None
    elif 'streams' in state:
        raise differs('dataset', 'iterable-style', 'map-style')
    if 'datasets' in state:
        _check_datasets(loader, state)
    load, inner = getattr(sampler, 'load_state_dict', None), state.get('sampler')
    if (load is None) != (inner is None):
        kinds = 'not resumable', 'resumable'
        raise differs('sampler', kinds[inner is not None], kinds[load is not None])
    if 'generator' in state and loader.generator is None:
        raise differs('generator', 'given', 'None')
    saved = unpack(state, 'generator') if 'generator' in state else None
    if isinstance(sampler, Stateful) and not isinstance(inner, Mapping):
        raise CorruptError('the state is damaged: its "sampler" is invalid')
    if load is not None:
        load(inner)
    if saved is not None:
        loader.generator.set_state(saved)


def _check_datasets(loader: Any, state: Mapping[str, Any]) -> None:
    """Check the states of a map-style dataset, one for each worker."""
    if loader._is_iterable():
        raise differs('dataset', 'map-style', 'iterable-style')
    if not is_stateful(loader.dataset):
        raise differs('dataset', 'resumable', 'not resumable')
    if not is_same(state.get('num_workers'), int(loader.num_workers)):
        raise differs('num_workers', state.get('num_workers'), loader.num_workers)
    states = state['datasets']
    if not isinstance(states, list) or len(states) != max(loader.num_workers, 1):
        raise CorruptError('the state is damaged: its "datasets" are invalid')


# Whether torch's profiler is active.
_profiled: Callable[[], bool] = getattr(torch.autograd, '_profiler_enabled', lambda: True)


class Iterator:
    """An iterator over a loader's batches, which starts at a saved position and reports its own.

    It draws random numbers where torch's iterators draw them.
    """

    def __init__(self, loader: Any) -> None:
        resumed = loader._take_resumed()
        self._num_workers = int(loader.num_workers)
        skipped = resumed.get('batches', 0)
        self._base_seed = self._begin_sampler(loader, resumed, skipped)
        if resumed.get('sampler') is None and not loader._is_iterable():
            for _ in itertools.islice(self._indices, skipped):
                pass
        self._resumed_streams = resumed.get('streams')
        self._resumed_datasets = resumed.get('datasets')
        self._track(loader, skipped, resumed.get('passes', 0))
        self._progress.next_worker = resumed.get('next_worker', 0) % max(self._num_workers, 1)

    def _begin_sampler(self, loader: Any, resumed: Mapping[str, Any], skipped: int) -> int:
        """Begin a pass of the sampler, and return the base of the workers' seeds."""
        source = torch.default_generator if loader.generator is None else loader.generator
        before = source.get_state() if 'base_seed' in resumed else None
        self._request(loader)
        restarts = not (skipped or isinstance(self._sampler, Stateful)
                        or hasattr(self._sampler, 'state_dict'))
        if before is not None:
            # The seed was generated when the pass began or when the workers were started. A sampler
            # that restarts draws the same numbers again.
            if not restarts:
                source.set_state(before)
            return int(resumed['base_seed'])
        seed = int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item())
        if self._num_workers and restarts:
            self._request(loader)    # torch calls iter() twice, too
        return seed

    def _request(self, loader: Any) -> None:
        """Begin to iterate over the sampler; an iterable dataset has none."""
        self._batch_sampler = loader.batch_sampler
        self._options = _options_of(loader.batch_sampler)
        if not loader._is_iterable():
            self._sampler = loader._wrap_sampler()
            self._indices: Any = iter(self._sampler)
            return
        self._sampler = None
        self._indices = itertools.repeat([None] * loader.batch_sampler.batch_size
                                         if loader._is_batched() else None)

    def _reset(self, loader: Any) -> None:
        """Begin the next pass with the same workers."""
        self._request(loader)
        self._track(loader, 0, self._progress.passes + 1)

    def _track(self, loader: Any, skipped: int, passes: int) -> None:
        self._progress = progress = Progress(self._sampler, self._base_seed, skipped, passes)
        progress.stays = bool(self._num_workers and loader.persistent_workers)
        loader._progress = progress

    def __iter__(self) -> Iterator:
        return self

    def __len__(self) -> int:
        return len(self._sampler)

    def __next__(self) -> Any:
        """Return the next batch; without a profiler, skip the profiler range, which takes 8 us."""
        self._check_options()
        if not _profiled():
            return self._next_data()
        with torch.autograd.profiler.record_function('enumerate(DataLoader)'):
            return self._next_data()

    def _check_options(self) -> None:
        """Raise an error if the batches of this pass, some of which may have been read, changed."""
        if _options_of(self._batch_sampler) != self._options:
            raise RuntimeError('the batch_size, drop_last or sampler of the batch sampler changed '
                               'during a pass: change it between passes; to continue a pass with '
                               'another batch size, load its state in another loader')

    def _next_data(self) -> Any:
        raise NotImplementedError


class Rest:
    """An iterator over the rest of a pass; if no batch is left, over the next pass.

    Whether a state was saved at the last batch shows only when another batch is requested.
    """

    def __init__(self, loader: Any, iterator: Iterator) -> None:
        self._loader, self._iterator, self._progress = loader, iterator, iterator._progress

    def __iter__(self) -> Rest:
        return self

    def __len__(self) -> int:
        return len(self._iterator)

    def __next__(self) -> Any:
        try:
            return next(self._iterator)
        except StopIteration:
            # If another iterator of the loader has begun, the next pass belongs to that one.
            if self._progress.batches_here or self._loader._progress is not self._progress:
                raise
        self._iterator = iter(self._loader)
        return next(self._iterator)


def _options_of(sampler: Any) -> Any:
    """Return what determines the batches of torch's or this module's BatchSampler.

    A subclass may have no options, or change them itself.
    """
    if type(sampler) not in (data.BatchSampler, BatchSampler):
        return None
    return sampler.batch_size, sampler.drop_last, id(sampler.sampler)


def pinning(loader: Any) -> Callable[[Any], Any]:
    """Return a function that moves a batch to pinned memory if torch's loader would do so."""
    asked = loader.pin_memory or loader.pin_memory_device
    if not asked or not pins(loader.pin_memory, loader.pin_memory_device):
        return same
    device = loader.pin_memory_device or None
    return lambda batch: _utils.pin_memory.pin_memory(batch, device)
