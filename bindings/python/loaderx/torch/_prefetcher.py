# SPDX-License-Identifier: MIT
"""Copies batches to a device while it works on earlier batches."""

from __future__ import annotations

import collections
import copy
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, MutableMapping

import torch
from torch.nn.utils.rnn import PackedSequence

from .._fixed import Fixed
from ..batch import Batch
from ..ragged import Ragged

__all__ = ['DevicePrefetcher']


class DevicePrefetcher(Fixed):
    """Iterates over the batches of a loader, and copies them to a device.

    A batch is copied on a stream of its own, for which the current stream waits. The device thus
    copies a batch while it still works on the one before it, and the loader's threads prepare the
    following batches meanwhile. The caller gets at most two batches ahead of the device, so that no
    more of them are in its memory. Copies overlap with other work only from pinned memory: create
    the loader with ``pin_memory=True``. A loop that waits for the device in each step, as
    ``.item()`` does, leaves nothing to overlap: read such values every few steps.

    The tensors in dicts, lists, tuples, named tuples and a `Ragged` are copied; everything else in
    a batch stays as it is. On the CPU, batches are returned without a copy.

    No batch is taken in advance, so ``len()``, exceptions, the ends of passes, ``break`` and states
    are those of the loader.

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

    loader: Iterable[Any]
    device: Any

    def __init__(self, loader: Iterable[Any], device: Any) -> None:
        self.loader, device = loader, torch.device(device)
        # The module with the streams of the device, such as torch.cuda.
        self._streams: Any = None if device.type == 'cpu' else getattr(torch, device.type, None)
        if device.type != 'cpu' and not hasattr(self._streams, 'Stream'):
            raise ValueError(f'device must be a device that has streams, or the CPU, not {device}: '
                             'copy the batches of the loader with .to()')
        self._side: Any = None    # the stream of the copies
        if self._streams is not None:
            if device.index is None:
                device = torch.device(device.type, self._streams.current_device())
            self._side = self._streams.Stream(device)
        self.device = device
        # Events at which the device has done the work on the last batches.
        self._marks: Deque[Any] = collections.deque()

    def __iter__(self) -> Iterator[Any]:
        return _Copies(self, iter(self.loader))

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def state_dict(self) -> Dict[str, Any]:
        """Return the loader's state."""
        return dict(self.loader.state_dict())  # type: ignore[attr-defined]

    def load_state_dict(self, state: Mapping[str, Any], **options: Any) -> None:
        """Load a state into the loader: the next loop continues there.

        The arguments are those of the loader's method.
        """
        self.loader.load_state_dict(state, **options)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f'<loaderx.torch.DevicePrefetcher to {self.device} of {self.loader!r}>'

    def _wait(self) -> None:
        """Wait until the device has at most two batches left to work on."""
        if self._side is None:
            return
        self._marks.append(self._streams.current_stream(self.device).record_event())
        while len(self._marks) > 2:
            self._marks[0].synchronize()
            self._marks.popleft()

    def _copy(self, batch: Any) -> Any:
        """Return a copy of a batch, which the current stream may use."""
        if self._side is None:
            return _convert(batch, lambda tensor: tensor.to(self.device))
        begun: List[torch.Tensor] = []    # what is copied on the stream of the copies
        others: List[Any] = []            # what is copied on the current stream

        def copy_to(tensor: Any) -> Any:
            if (not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided
                    or tensor.is_nested):
                others.append(tensor)    # record_stream() does not support it
                return tensor
            begun.append(tensor.to(self.device, non_blocking=True))
            return begun[-1]

        with self._streams.stream(self._side):
            made = _convert(batch, copy_to)
        if not begun and not others:
            raise TypeError('the batches contain no tensors that could be copied to the device: '
                            "create the loader with out='torch'")
        current = self._streams.current_stream(self.device)
        current.wait_stream(self._side)
        for tensor in begun:
            tensor.record_stream(current)    # keeps its memory until the stream has used it
        if others:
            return _convert(made, lambda tensor: tensor.to(self.device, non_blocking=True))
        return made


class _Copies:
    """An iterator over the copies of batches."""

    def __init__(self, prefetcher: DevicePrefetcher, batches: Iterator[Any]) -> None:
        self._prefetcher, self._batches = prefetcher, batches

    def __iter__(self) -> _Copies:
        return self

    def __next__(self) -> Any:
        self._prefetcher._wait()    # before a batch is taken, which an interrupt would lose
        return self._prefetcher._copy(next(self._batches))


def _convert(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Convert the tensors in a batch."""
    if isinstance(value, (torch.Tensor, PackedSequence)):
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
        for name, one in value.items():
            made[name] = _convert(one, convert)
        return made
    return value
