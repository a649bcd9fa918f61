# SPDX-License-Identifier: MIT
"""torch's DataLoader, with threads and a state."""

from __future__ import annotations

import copy
import functools
from typing import Any, Callable, Dict, Mapping, Optional

from torch.utils import data

from ._collate import default_collate, is_torchs
from ._fetchers import Found, Gathered, collation, find_source, together
from ._inline import Inline
from ._direct import Direct, is_direct
from ._streams import Streamed, copy_for_worker
from ._threads import Threaded
from ._wrappers import wrap
from ._iterators import Progress, check_state, make_state

__all__ = ['DataLoader']

_PIPES = tuple(getattr(data, name) for name in ('IterDataPipe', 'MapDataPipe')
               if hasattr(data, name))


def _gather(found: Found, batched: bool, dataset: Any, stream: Any = None) -> Any:
    """A reader of a dataset of ours."""
    return Gathered(dataset, found, batched)


def _fetch(kind: int, batched: bool, collate: Any, drop_last: bool, dataset: Any,
           stream: Optional[Mapping[str, Any]] = None) -> Any:
    """A reader of items of any other, or of a worker's copy, from where that was."""
    if kind == data._DatasetKind.Iterable:
        return Streamed(dataset, batched, collate, drop_last, stream)
    return data._DatasetKind.create_fetcher(kind, dataset, batched, collate, drop_last)


class DataLoader(data.DataLoader):
    """torch's DataLoader, with threads in place of processes, and a state.

    Arguments, checks and errors are those of the torch that is installed, from which this is
    derived. So are the batches, their order, and what is drawn of generators, and when.

    **Workers** are threads of this process, for which nothing is copied or pickled; the dataset's
    own code runs in them, several at a time, on one object. With `multiprocessing_context`
    (``'fork'``, ``'spawn'``) they are torch's processes, and all is torch's own; so it is for data
    pipes. In a thread ``torch.utils.data.get_worker_info()`` tells the worker's number, seed and
    dataset, as in a process. The global generators of torch, NumPy and `random` are not seeded for
    a worker, since all threads share them: what draws in ``__getitem__`` should draw of one that it
    makes of ``get_worker_info().seed``. `worker_init_fn` is called in each thread, once. What a
    worker raises comes out as of torch's workers, with the exception itself as ``__cause__``. An
    iterator that is dropped ends its threads, and waits for none.

    **Datasets of this library** (`Dataset`, `NPDataset`, `ConcatDataset`, ... and tuples of them
    side by side) are read by the library, a batch at a time; with torch's samplers its own threads
    prepare batches ahead. Batches are dicts of tensors by field, as torch's DataLoader would make
    of the records; those of an `NPDataset`, which has no fields, are tensors.

    **State.** ``state_dict()`` tells where the newest iterator is, and ``load_state_dict()`` has
    the next ``iter()`` go on from there. With torch's samplers and those of this module nothing is
    gone through again; one of the caller's has a state if it has these two methods, and is gone
    through again up to the place else.

    Parameters
    ----------
    *args, **kwargs
        Those of torch.utils.data.DataLoader.

    Examples
    --------
    >>> loader = DataLoader(lx.open('fashion'), batch_size=256, shuffle=True, num_workers=2)
    >>> for batch in loader:
    ...     step(batch['data'], batch['label'])
    ...     state = loader.state_dict()
    """

    _progress: Optional[Progress] = None              # of the newest iterator
    _resumed: Optional[Mapping[str, Any]] = None      # a state, for the next iterator

    @functools.wraps(data.DataLoader.__init__)  # type: ignore[misc]
    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(together(dataset), *args, **kwargs)
        self._attach()

    def _attach(self) -> None:
        self._wrapped = wrap(super()._index_sampler)
        self._source = find_source(self.dataset)
        collate = data._utils.collate
        own = ((collate.default_collate, default_collate) if self._auto_collation
               else (collate.default_convert,))
        self._collates = any(self.collate_fn is one for one in own) and is_torchs()

    @property
    def _index_sampler(self) -> Any:
        """What gives indices: torch's samplers have those of this module in their place."""
        return super()._index_sampler if self._is_foreign() else self._wrapped

    def __getstate__(self) -> Dict[str, Any]:
        """What a copy gets, which has no pass begun."""
        own = '_wrapped', '_source', '_progress', '_iterator'
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, _iterator=None)
        self._attach()
        if self._resumed is not None:
            self.load_state_dict(self._resumed)

    def _is_foreign(self) -> bool:
        """Whether torch's own loader runs."""
        return self.multiprocessing_context is not None or isinstance(self.dataset, _PIPES)

    def check_worker_number_rationality(self) -> None:
        """Warn of more processes than CPUs, as torch does; threads may wait for what they read."""
        if self._is_foreign():
            super().check_worker_number_rationality()

    def _get_iterator(self) -> Any:
        if self._is_foreign() or (self.num_workers and self.prefetch_factor <= 0):
            return super()._get_iterator()    # where torch of 2.0 and later refuses that
        self._source = find_source(self.dataset)    # which may show another state since
        if is_direct(self):
            return Direct(self)
        return Inline(self) if self.num_workers == 0 else Threaded(self)

    def _is_iterable(self) -> bool:
        return bool(self._dataset_kind == data._DatasetKind.Iterable)

    def _fetcher_maker(self) -> Callable[..., Any]:
        """What makes a reader of batches, without a reference to this."""
        if self._source is not None and self._collates:
            return functools.partial(_gather, self._source, self._auto_collation)
        return functools.partial(_fetch, self._dataset_kind, self._auto_collation,
                                 collation(self.collate_fn), self.drop_last)

    def _dataset_for_worker(self, dataset: Any) -> Any:
        return copy_for_worker(dataset) if self._is_iterable() else dataset

    def _take_resumed(self) -> Mapping[str, Any]:
        resumed, self._resumed = self._resumed, None
        return {} if resumed is None else resumed

    def _refuse_foreign(self) -> None:
        if self._is_foreign():
            raise ValueError("torch's own loader has no state: leave out multiprocessing_context, "
                             'and give a dataset that is no data pipe')

    def state_dict(self) -> Dict[str, Any]:
        """Return where the newest iterator is, as a dict that JSON can hold (version 1).

        What was handed out counts, and not what threads have made ahead.

        Raises
        ------
        ValueError
            torch's own loader runs, which has no state; or batches came out of order.
        """
        self._refuse_foreign()
        if self._resumed is not None:
            return copy.deepcopy(dict(self._resumed))
        return make_state(self, self._wrapped, self._progress)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Have the next ``iter()`` give what was left of a pass; those that follow are whole.

        The sampler and the generator are sent where they were when the state was taken; torch's
        default generator, of which a loader without `generator` draws, is the caller's to restore.
        The number of workers may be another; so may the batch size, where the sampler has a state.

        Raises
        ------
        ValueError
            The sampler, or what it is over, is another; the message names the difference.
        LoaderxError
            The state is of another version.
        CorruptError
            The state was changed, or is none.
        """
        self._refuse_foreign()
        check_state(self, self._wrapped, state)
        self._resumed = copy.deepcopy(dict(state))
        self._progress = None
        self._iterator = None
