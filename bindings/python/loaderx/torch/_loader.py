# SPDX-License-Identifier: MIT
"""A resumable version of torch's DataLoader, with threads or processes as workers."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
from typing import Any, Callable, Dict, Literal, Mapping, Optional, TypeVar

import torch
from torch.utils import data

from ..orders import Order
from ..sources.source import describe
from ._batches import BatchSampler
from ._collate import default_collate, is_unmodified
from ._data import Data
from ._by_torch import ByTorch
from ._fetchers import Found, Gathered, Listed, collation, find_source, is_ours, together
from ._direct import Direct, is_direct
from ._iterations import Stateful
from ._streams import Streamed, copy_for_worker
from ._threads import Threaded
from ._wrappers import wrap
from ._iterators import Progress, Rest, check_state, make_state

__all__ = ['DataLoader']

_PIPES = tuple(getattr(data, name) for name in ('IterDataPipe', 'MapDataPipe')
               if hasattr(data, name))


# The type of the records, for annotations, as in torch.
T = TypeVar('T', covariant=True)


def _gather(found: Found, batched: bool, dataset: Any, stream: Any = None) -> Any:
    """Return a fetcher for a loaderx dataset."""
    return Gathered(dataset, found, batched)


def _gather_in_process(batched: bool, dataset: Any, stream: Any = None) -> Any:
    """Return a fetcher for a loaderx dataset in a process, which may have opened it again."""
    found = find_source(dataset)
    assert found is not None
    return Gathered(dataset, found, batched)


def _fetch(iterable: bool, batched: bool, collate: Any, drop_last: bool, dataset: Any,
           stream: Optional[Mapping[str, Any]] = None) -> Any:
    """Return a fetcher for any other dataset, or for a worker's copy, starting at its position."""
    if iterable:
        return Streamed(dataset, batched, collate, drop_last, stream)
    return Listed(dataset, batched, collate)


class DataLoader(data.DataLoader[T]):
    """A resumable version of torch's DataLoader, which reads loaderx datasets in threads.

    This class is a subclass of the installed torch's DataLoader. It has the same arguments, checks
    and errors, returns the same batches in the same order, and advances generators in the same way
    and at the same points.

    **Datasets of this library** (`Dataset`, `NPDataset`, `ConcatDataset`, ... and tuples of them)
    are read by the library, a batch at a time; with torch's samplers, the library's threads
    prefetch batches. Batches are dicts of tensors by field name, as when torch's DataLoader
    collates records; batches of an `NPDataset`, which has no fields, are tensors.

    **Workers** run your code in separate processes, as in torch: your own dataset, your
    `collate_fn` and your `worker_init_fn`. Each process has a copy of the dataset, its own seeds,
    and its ``torch.utils.data.get_worker_info()``. By default, workers are threads of this process
    only if the dataset belongs to this library and neither of the two functions is given. Python
    3.14 starts processes by ``forkserver``: your code must be picklable, or
    ``multiprocessing_context='fork'`` given, and the script needs ``if __name__ == '__main__'``.

    **Threads** also run your code if you pass ``workers='threads'``. This is safe only if your code
    is written for it: all threads call the methods of the same map-style dataset object
    concurrently, so a dataset that seeks in one open file, or uses one database connection, returns
    wrong samples. An iterable dataset is deep-copied for each thread; its parts that cannot be
    copied are shared. The generators of torch, NumPy and `random` are not seeded for each worker,
    since all threads share them with the training loop: a ``__getitem__`` that uses random numbers
    should create its own generator from ``get_worker_info().seed``. For the same reason,
    `worker_init_fn` is rejected. The ``__cause__`` of an exception from a thread is the original
    exception. Dropping the last reference to an iterator ends its threads, without waiting for
    them. ``os.fork()`` waits, for up to 10 seconds, until no thread is running your code.

    **Changes** to ``loader.batch_sampler`` (`batch_size`, `drop_last` or `sampler`) take effect in
    the next pass; a pass that is under way raises RuntimeError, because batches may have been read
    ahead. A class derived from BatchSampler may change its own attributes at any time.

    **State.** ``state_dict()`` returns the position of the latest iterator, and
    ``load_state_dict()`` makes the next ``iter()`` continue there, with any number of workers.
    Samplers of torch and of this module are moved to the position directly. So is a custom sampler
    that has these two methods; any other sampler is iterated again up to the position, so it must
    yield the same indices again. A class derived from one of our samplers with its own ``__iter__``
    is iterated again, too, unless it also defines these two methods. If the dataset, or the
    iterator of an iterable dataset, has these methods, the state of each worker is kept, too; the
    number of workers must then be the same, as with any iterable dataset.

    **Traces** and statistics are those of `loaderx.Loader`, which reads the same dataset with
    ``trace()`` and ``stats()``; for the workers' own code, use ``torch.profiler``.

    Parameters
    ----------
    *args, **kwargs
        The arguments of torch.utils.data.DataLoader.
    workers : str, optional
        What the workers are: ``'processes'`` or ``'threads'``. None: threads for a dataset of this
        library with the default collation and without `worker_init_fn`; otherwise, processes.

    Raises
    ------
    TypeError
        The sampler is an order of loaderx. Orders are for `loaderx.Loader`.
    ValueError
        `workers` is ``'threads'``, but `worker_init_fn` or `multiprocessing_context` is given, or
        the dataset is a data pipe.

    Examples
    --------
    >>> loader = DataLoader(lx.open('fashion'), batch_size=256, shuffle=True, num_workers=2)
    >>> for batch in loader:
    ...     step(batch['data'], batch['label'])
    ...     state = loader.state_dict()
    """

    _progress: Optional[Progress] = None              # progress of the latest iterator
    _resumed: Optional[Mapping[str, Any]] = None      # a loaded state, for the next iterator

    workers: Optional[str] = None
    _was_measured = False    # whether len() was called
    _iterator: Any = None    # the iterator that persistent workers belong to

    def __init__(self, dataset: Any, *args: Any, workers: Optional[str] = None,
                 **kwargs: Any) -> None:
        if workers not in (None, 'threads', 'processes'):
            raise ValueError(f"workers must be 'threads', 'processes' or None, not {workers!r}")
        self.workers = workers
        super().__init__(together(dataset), *args, **kwargs)
        self._check_workers()
        self._check_sampler()
        self._attach()

    def _check_sampler(self) -> None:
        given = self.batch_sampler if self._is_batched() else self.sampler
        for one in given, getattr(given, 'sampler', None):
            if isinstance(one, Order):
                raise TypeError(f'{one!r} is an order of loaderx, which is not iterable: pass it '
                                'to loaderx.Loader(dataset, order=...), or pass a sampler to this '
                                'DataLoader')

    def _check_workers(self) -> None:
        if self.workers != 'threads':
            return
        given = ('worker_init_fn' if self.worker_init_fn is not None else
                 'multiprocessing_context' if self.multiprocessing_context is not None else
                 'a data pipe' if self._is_foreign() else None)
        if given is not None:
            raise ValueError(f"workers='threads' cannot be combined with {given}: threads "
                             "share the random generators and all other state of this process; use "
                             "workers='processes'")

    def _attach(self) -> None:
        self._given: Any = None    # the caller's sampler, and its options when it was wrapped
        self._wrap_sampler()
        self._source = find_source(self.dataset)
        self._data = Data(self.dataset, self._source)
        self._collates = self._is_default_collation()

    def _is_default_collation(self) -> bool:
        own = ((data.default_collate, default_collate) if self._is_batched()
               else (data.default_convert,))
        return any(self.collate_fn is one for one in own) and is_unmodified()

    def _wrap_sampler(self) -> Any:
        """Return the resumable sampler, with the options that the caller's sampler has now."""
        given = self.batch_sampler if self._is_batched() else self.sampler
        options = ((given.sampler, given.batch_size, given.drop_last)
                   if type(given) is data.BatchSampler else None)
        if self._given is None or self._given[0] is not given:
            self._wrapped = wrap(given)
        elif options is not None:
            self._wrapped = self._wrap_changed(given)
        self._given = given, options
        return self._wrapped

    def _wrap_changed(self, given: Any) -> Any:
        """Wrap a batch sampler again if it has changed; a pass that has begun stays the same."""
        sampler, *before = self._given[1]
        if given.sampler is not sampler:
            return wrap(given)
        if [given.batch_size, given.drop_last] == before:
            return self._wrapped
        made = BatchSampler(self._wrapped.sampler, given.batch_size, given.drop_last)
        made._pending = self._wrapped._pending
        return made

    def _is_batched(self) -> bool:
        return self.batch_sampler is not None

    def __getstate__(self) -> Dict[str, Any]:
        """Return the attributes for a copy, which has not begun a pass."""
        own = '_wrapped', '_given', '_source', '_data', '_progress', '_iterator'
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, _iterator=None)
        self._attach()
        if self._resumed is not None:
            self.load_state_dict(self._resumed, changed='allow')    # its state was checked before

    def _is_foreign(self) -> bool:
        """Return whether torch's own loader runs instead of this loader."""
        return isinstance(self.dataset, _PIPES)

    def _uses_processes(self) -> bool:
        """Return whether workers are processes, as they are for code that is unsafe in threads."""
        if self.workers is not None:
            return self.workers == 'processes'
        return (self.multiprocessing_context is not None or self.worker_init_fn is not None
                or not self._is_default_collation() or not is_ours(self.dataset))

    def check_worker_number_rationality(self) -> None:
        """Warn about too many processes, as torch does, but not about too many threads.

        More threads than CPUs make sense, because threads can wait for reads.
        """
        if self._is_foreign() or self._uses_processes():
            super().check_worker_number_rationality()

    def __len__(self) -> int:
        length: int = super().__len__()
        self._was_measured = True    # torch warns if an iterable dataset has more items
        return length

    def __repr__(self) -> str:
        source = (f'a {type(self.dataset).__name__} of {len(self.dataset)}'
                  if isinstance(self.dataset, (list, tuple)) else describe(self.dataset))
        size = getattr(self.batch_sampler, 'batch_size', None)
        sizes = '' if size is None else f', batch_size={size}'
        batches = self._progress.batches if self._progress and not self._progress.finished else 0
        if self._is_iterable():
            return f'<loaderx.torch.DataLoader of {source}{sizes}: at batch {batches}>'
        given = self._wrap_sampler()
        sampler = getattr(given, 'sampler', given)    # some batch samplers have none
        ranks = getattr(sampler, 'num_replicas', 1)
        rank = '' if ranks == 1 else f', rank {sampler.rank} of {ranks}'
        length = operator.length_hint(given, -1)
        total = '' if length < 0 else f' of {length}'
        return (f'<loaderx.torch.DataLoader of {source}, {type(sampler).__name__}{sizes}{rank}: '
                f'at batch {batches}{total}>')

    def __iter__(self) -> Any:
        invalid = (self.num_workers and self.prefetch_factor <= 0
                   or not isinstance(self.generator, (torch.Generator, type(None))))
        if self._is_foreign() or invalid:
            return super().__iter__()    # torch runs data pipes, and raises its own errors
        kind = self._choose_iterator()
        if type(self._iterator) is kind:
            self._iterator._reset(self)
            return self._iterator
        self._source = find_source(self.dataset)    # the dataset's snapshot may have changed
        self._data = Data(self.dataset, self._source)
        if kind is ByTorch and self.num_workers:
            self.check_worker_number_rationality()    # torch warns here, too
        made = kind(self)
        self._iterator = made if made._progress.stays else None
        return Rest(self, made) if made._progress.batches else made

    def _choose_iterator(self) -> Any:
        if self.num_workers and self._uses_processes():
            return ByTorch
        if is_direct(self):
            return Direct
        return Threaded if self.num_workers else ByTorch

    def _is_iterable(self) -> bool:
        return isinstance(self.dataset, data.IterableDataset)

    def _fetcher_maker(self, sent: bool = False) -> Callable[..., Any]:
        """Return a function that creates a fetcher; the function does not reference self.

        If it will be sent to a process, it does not reference the dataset, either.
        """
        if self._source is not None and self._collates:
            if sent:
                return functools.partial(_gather_in_process, self._is_batched())
            return functools.partial(_gather, self._source, self._is_batched())
        return functools.partial(_fetch, self._is_iterable(), self._is_batched(),
                                 collation(self.collate_fn), self.drop_last)

    def _dataset_for_worker(self, dataset: Any) -> Any:
        return copy_for_worker(dataset) if self._is_iterable() else dataset

    def _take_resumed(self) -> Mapping[str, Any]:
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            return {}
        if self._is_replaced():
            return {name: resumed[name] for name in ('datasets',) if name in resumed}
        return resumed

    def _is_replaced(self) -> bool:
        """Return whether set_epoch() has been called, which makes the loaded position void."""
        return isinstance(self._wrapped, Stateful) and self._wrapped._moved(self._wrapped._pending)

    def _refuse_foreign(self) -> None:
        if self._is_foreign():
            raise ValueError("torch's own loader, which runs data pipes, is not resumable: pass a "
                             'dataset that is not a data pipe')

    def state_dict(self) -> Dict[str, Any]:
        """Return the position of the latest iterator as a JSON-compatible dict (version 1).

        The position is the number of batches returned; prefetched batches do not count.

        Raises
        ------
        ValueError
            torch's own loader runs, which is not resumable; batches were returned out of order; or
            threads share a map-style dataset that has its own state.
        """
        self._refuse_foreign()
        if self._resumed is not None and not self._is_replaced():
            return copy.deepcopy(dict(self._resumed))
        return make_state(self, self._wrap_sampler(), self._progress)

    def load_state_dict(self, state: Mapping[str, Any], *,
                        changed: Literal['raise', 'allow'] = 'raise') -> None:
        """Make the next ``iter()`` return the rest of a pass; later passes are complete.

        If no batch of the pass is left, it returns the next pass. The sampler and the generator
        return to their saved positions. A loader without a `generator` uses torch's default
        generator, which the caller must restore. The number of workers may differ, except for
        iterable datasets and for datasets with their own state; so may the batch size, if the
        sampler can save its state.

        Parameters
        ----------
        state : dict
            A dict that `state_dict` returned.
        changed : {'raise', 'allow'}
            What to do if records of a loaderx dataset were changed or deleted after the state was
            saved; see ``loaderx.Loader.load_state_dict``.

        Raises
        ------
        ValueError
            The sampler or its data differ from those in the state, or records changed; the message
            names the difference. If records were appended to a loaderx dataset, open it with the
            `length` that the message names.
        LoaderxError
            The state was saved in an unsupported format version.
        CorruptError
            The state was changed after it was saved, or is invalid.
        """
        self._refuse_foreign()
        self._source = find_source(self.dataset)    # the dataset may have been refreshed
        self._data = Data(self.dataset, self._source)
        check_state(self, self._wrap_sampler(), state, changed)
        self._resumed = copy.deepcopy(dict(state))
        self._progress = None
        self._iterator = None


def _signature() -> inspect.Signature:
    """Return torch's signature with `workers`, for tools that construct a loader again."""
    torchs = inspect.signature(data.DataLoader.__init__)
    own = inspect.Parameter('workers', inspect.Parameter.KEYWORD_ONLY, default=None,
                            annotation=Optional[str])
    return torchs.replace(parameters=[*torchs.parameters.values(), own])


DataLoader.__init__.__signature__ = _signature()    # type: ignore[attr-defined]
