# SPDX-License-Identifier: MIT
"""Copies batches to a device while earlier batches are in use."""

from __future__ import annotations

import copy
from typing import (Any, Callable, Dict, Iterable, List, Mapping, MutableMapping, Optional,
                    Tuple)

import torch

from ..batch import Batch
from ..ragged import Ragged

__all__ = ['DevicePrefetcher']


class DevicePrefetcher:
    """Iterates over the batches of a loader, and copies them to a device in advance.

    When a batch is returned, the copy of the following batch begins on a stream of its own, so the
    device copies it while it works on the current batch. The current stream waits for the copy of
    the batch that is returned. Copies overlap with other work only from pinned memory: create the
    loader with ``pin_memory=True``. A `loaderx.Loader` is asked only for a batch that is ready; any
    other loader is asked for the following batch in any case, and may let the caller wait.

    The tensors in dicts, lists, tuples, named tuples and a `Ragged` are copied; everything else in
    a batch stays as it is. On the CPU, batches are returned without a copy.

    ``len()``, exceptions, the ends of passes and ``break`` are those of the loader. The position
    does not count the batch that is copied in advance: a `loaderx.Loader` itself does not count it;
    for any other loader, such as a `DataLoader`, call ``state_dict()`` and ``load_state_dict()`` of
    this object.

    Parameters
    ----------
    loader : iterable
        A `loaderx.Loader` with ``out='torch'``, a `DataLoader`, or any other iterable of batches.
    device : str, int or torch.device
        The device: a GPU or other device that has streams, or the CPU.

    Examples
    --------
    >>> ds = {'image': np.zeros((8, 4, 4), np.uint8), 'label': np.arange(8)}
    >>> with lx.Loader(ds, batch_size=4, out='torch') as loader:
    ...     for batch in DevicePrefetcher(loader, 'cpu'):
    ...         print(batch['image'].device, batch['label'], loader.tell())
    cpu tensor([0, 1, 2, 3]) 4
    cpu tensor([4, 5, 6, 7]) 8
    """

    def __init__(self, loader: Iterable[Any], device: Any) -> None:
        self.loader = loader
        self.device = device = torch.device(device)
        # The module with the streams of the device, such as torch.cuda.
        self._streams: Any = None if device.type == 'cpu' else getattr(torch, device.type, None)
        if device.type != 'cpu' and not hasattr(self._streams, 'Stream'):
            raise ValueError(f'device must be a device that has streams, or the CPU, not {device}: '
                             'copy the batches of the loader with .to()')
        self._side: Any = None    # the stream of the copies
        if self._streams is not None:
            if device.index is None:
                self.device = torch.device(device.type, self._streams.current_device())
            self._side = self._streams.Stream(self.device)
        self._latest: Any = None    # the batches of the latest pass

    def __iter__(self) -> _Pass:
        batches: Any = iter(self.loader)
        if not hasattr(batches, '_peek_ready'):
            batches = _Lookahead(self.loader, batches)
        self._latest = batches
        return _Pass(self, batches)

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def state_dict(self) -> Dict[str, Any]:
        """Return the loader's state, which does not count the batch that is copied in advance."""
        saved = getattr(self._latest, 'saved', None)
        state = _attempt(self.loader.state_dict) if saved is None else saved  # type: ignore
        return dict(_result(state))

    def load_state_dict(self, state: Mapping[str, Any], **options: Any) -> None:
        """Load a state into the loader: the next loop continues there.

        The arguments are those of the loader's method.
        """
        self.loader.load_state_dict(state, **options)  # type: ignore[attr-defined]
        self._latest = None

    def __repr__(self) -> str:
        return f'<loaderx.torch.DevicePrefetcher to {self.device} of {self.loader!r}>'

    def _begin(self, batch: Any) -> _Copy:
        """Begin to copy a batch."""
        made = _Copy(batch)
        if self._side is None:
            made.copy = _convert(batch, lambda tensor: tensor.to(self.device))
            return made

        def copy_to(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.layout is not torch.strided or tensor.is_nested:
                made.others = True    # record_stream() does not support them
                return tensor
            copied = tensor.to(self.device, non_blocking=True)
            made.tensors.append(copied)
            return copied

        with self._streams.stream(self._side):
            made.copy = _convert(batch, copy_to)
            made.event = self._side.record_event()
        if not made.tensors and not made.others:
            raise TypeError('the batches contain no tensors that could be copied to the device: '
                            "create the loader with out='torch'")
        return made

    def _end(self, begun: _Copy) -> Any:
        """Return the copy, which the current stream may use."""
        if begun.event is None:
            return begun.copy
        current = self._streams.current_stream(self.device)
        current.wait_event(begun.event)
        for tensor in begun.tensors:
            tensor.record_stream(current)    # keeps its memory until the stream has used it
        if begun.others:
            return _convert(begun.copy, lambda tensor: tensor.to(self.device, non_blocking=True))
        return begun.copy


class _Copy:
    """A batch, its copy, and the event at which the copy is complete."""

    __slots__ = ('batch', 'copy', 'tensors', 'others', 'event')

    def __init__(self, batch: Any) -> None:
        self.batch = batch
        self.copy: Any = None
        self.tensors: List[torch.Tensor] = []    # those that are being copied
        self.others = False                      # whether there are others, still to be copied
        self.event: Any = None


class _Pass:
    """An iterator over the batches of a pass."""

    def __init__(self, prefetcher: DevicePrefetcher, batches: Any) -> None:
        self._prefetcher, self._batches = prefetcher, batches
        self._ahead: Optional[_Copy] = None    # the copy of the next batch

    def __iter__(self) -> _Pass:
        return self

    def __next__(self) -> Any:
        batch = next(self._batches)
        begun, self._ahead = self._ahead, None
        if begun is None or begun.batch is not batch:    # else the loader has been moved
            begun = self._prefetcher._begin(batch)
        try:
            following = self._batches._peek_ready()
            if following is not None:
                self._ahead = self._prefetcher._begin(following)
        except Exception:    # the next call raises it again
            pass
        return self._prefetcher._end(begun)


class _Lookahead:
    """An iterator over a loader that can look at the next batch; its state does not count it."""

    def __init__(self, loader: Any, batches: Any) -> None:
        self._batches = batches
        self._save: Optional[Callable[[], Any]] = getattr(loader, 'state_dict', None)
        self._taken: Optional[_Outcome] = None    # what the loader has returned in advance
        self.saved: Optional[_Outcome] = None     # its state before that

    def _peek_ready(self) -> Any:
        if self._taken is None:
            self.saved = None if self._save is None else _attempt(self._save)
            self._taken = _attempt(next, self._batches)
        return _result(self._taken)

    def __next__(self) -> Any:
        taken, self._taken, self.saved = self._taken, None, None
        return next(self._batches) if taken is None else _result(taken)


_Outcome = Tuple[Any, Optional[Exception]]


def _attempt(function: Callable[..., Any], *arguments: Any) -> _Outcome:
    """Call a function, and return its result or its exception."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def _result(outcome: _Outcome) -> Any:
    value, error = outcome
    if error is not None:
        raise error
    return value


def _convert(value: Any, convert: Callable[[torch.Tensor], Any]) -> Any:
    """Convert the tensors in a batch."""
    if isinstance(value, torch.Tensor):
        return convert(value)
    if type(value) in (dict, Batch):
        values = {name: _convert(one, convert) for name, one in value.items()}
        return value.with_values(values) if type(value) is Batch else values
    if type(value) in (list, tuple):
        return type(value)(_convert(one, convert) for one in value)
    if isinstance(value, Ragged):
        return Ragged(_convert(value.values, convert), value.offsets, value.item)
    if isinstance(value, tuple) and hasattr(value, '_fields'):
        return type(value)(*(_convert(one, convert) for one in value))
    if isinstance(value, MutableMapping):
        made = copy.copy(value)
        made.update({name: _convert(one, convert) for name, one in value.items()})
        return made
    return value
