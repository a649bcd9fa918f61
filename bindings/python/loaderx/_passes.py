# SPDX-License-Identifier: MIT
"""The passes of a loader; any number of them can be under way at the same time."""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from typing import (Any, Callable, ContextManager, Dict, Iterator, List, Optional, Sequence,
                    Tuple)

from . import _core
from ._check import UINT64_MAX
from ._tracing import Trace
from .errors import LoaderxError

__all__ = ['Passes']

# The statistics that are current values, not counters.
_GAUGES = ('block_bytes', 'prefetched')


def _fail_closed(position: int) -> _core.Loader:
    raise _error('LX_ERR_STATE', 'the loader is closed')


def _error(status: str, text: str) -> LoaderxError:
    error = LoaderxError(text)
    error.status, error.message = status, text
    return error


class _Pass:
    """A pass: the reader of its batches, and the position at which it began."""

    __slots__ = ('reader', 'begin')

    def __init__(self, reader: _core.Loader) -> None:
        self.reader = reader
        self.begin = reader.tell()

    @property
    def has_begun(self) -> bool:
        return self.reader.tell() != self.begin


class Passes:
    """The passes of a loader, each over `epochs` epochs of `length` samples.

    A pass has a reader, whose iterator ends with the pass. A reader whose iterator has ended, or no
    longer exists, serves the next pass, so a second reader is opened only if two passes are under
    way. `reader` is the reader of the newest pass.
    """

    def __init__(self, open_reader: Callable[[int], _core.Loader], start: int, length: int,
                 epochs: int, world: int, is_run: bool) -> None:
        self._open = open_reader
        self._length = max(length, 1)
        run = self._length * epochs
        self._run = run if run < UINT64_MAX else 0    # the samples of a pass; 0: endless
        self._epochs = epochs
        self._world = world
        self._is_run = is_run
        self._canceled = False
        self._lock = threading.RLock()    # held while a pass begins
        self._process = os.getpid()
        self._trace: Optional[Trace] = None    # what the readers record in
        self._past: Counter[str] = Counter()    # the statistics of readers that are closed
        self.reader = open_reader(start)
        self._readers = [self.reader]    # the open readers
        # The passes that began where the newest one did. The newest is last; an earlier one that
        # has returned a batch since then counts as the last pass.
        self._twins = [_Pass(self.reader)]

    # ---- where passes begin

    def iterate(self) -> Iterator[Any]:
        """Begin a pass, and return its iterator."""
        # These are released without the lock, for which one of their transforms may wait.
        dropped: List[_core.Loader] = []
        with self._guard():
            newest, iterator = self._settle()
            begun = [twin for twin in self._twins if twin.has_begun]
            if begun:
                del iterator    # its reader is free
                return self._begin(self._following(begun), dropped)
            if iterator is None:
                return self._begin(newest.begin, dropped, self._twins)
            self._drop_spare(dropped)
            return iterator

    def set_epoch(self, epoch: int) -> None:
        """Begin a pass with an epoch, unless the newest pass will begin in it anyway."""
        if epoch and self._is_run:
            raise ValueError(f'epoch must be 0, not {epoch}: the order is a whole training run, '
                             'which has no further epoch')
        if self._epochs > 1 and epoch % self._epochs:
            raise ValueError(f'epoch must be a multiple of {self._epochs}, the number of epochs '
                             f'in a pass, but is {epoch}: create the loader with epochs=1, or use '
                             'seek() to begin in the middle of a pass')
        position = epoch * self._length
        if position >= UINT64_MAX:
            raise ValueError(f'epoch must be less than {-(-UINT64_MAX // self._length)}, '
                             f'not {epoch}')
        dropped: List[_core.Loader] = []
        with self._guard():
            newest, iterator = self._settle()
            if (position <= newest.begin < position + (self._run or self._length)
                    and not any(twin.has_begun for twin in self._twins)):
                position = newest.begin
                if iterator is not None:
                    self._twins = [newest]
                    return
            del iterator
            self._begin(position, dropped)

    def move(self, seek: Callable[[_core.Loader], None]) -> None:
        """Move the newest pass by calling `seek`; the pass then begins at its new position.

        If no batch is left there, as with `drop_last` after the last full one, the pass has ended:
        ``tell()`` counts what it left out, so that a resumed run is as long as any other.
        """
        with self._guard():
            seek(self.reader)
            self.reader._finish(self._end_of(self.reader.tell()))
            self._twins = [_Pass(self.reader)]

    def save(self) -> str:
        """Return the state of the newest pass; warn if an older one was continued after it."""
        latest, _ = self.reader._last_use()
        for reader in list(self._readers):
            used, under_way = reader._last_use()
            if under_way and used > latest:
                warnings.warn('an older pass returned a batch after the newest one, but the state '
                              'describes the newest: to look at a batch within a loop, call peek() '
                              'instead of next(iter(loader))', UserWarning, stacklevel=3)
                break
        return self.reader._save()

    def _guard(self) -> ContextManager[object]:
        """Return the lock; fail in a transform, for which the holder of the lock may be waiting."""
        for reader in list(self._readers):
            reader._check_transform()
        if self._process != os.getpid():    # the lock may be held forever
            raise _error('LX_ERR_FORKED', 'the loader belongs to the parent process: create '
                         'another one in this process')
        return self._lock

    def _settle(self) -> Tuple[_Pass, Optional[Iterator[Any]]]:
        """Return the newest pass and its new iterator, which is None if the pass already has one.

        While the new iterator exists, no other thread can move the pass. If the pass has not begun,
        it is moved to the position of its first batch.
        """
        newest = self._twins[-1]
        iterator, end = newest.reader._iterate(), self._end_of(newest.begin)
        if iterator is not None and not newest.has_begun and newest.reader._finish(end):
            newest.begin = end    # the pass was between its last batch and its end
            iterator = newest.reader._iterate()
        return newest, iterator

    def _end_of(self, position: int) -> int:
        """Return the end of the pass that contains a position."""
        if not self._run:
            return UINT64_MAX
        return min((position // self._run + 1) * self._run, UINT64_MAX)

    def _following(self, begun: Sequence[_Pass]) -> int:
        """Return the position after the last pass; fail if that pass must not be abandoned."""
        end = self._end_of(begun[0].begin)
        complete = all([pass_.reader._finish(end) for pass_ in begun])    # all of them must end
        if not complete and (self._world > 1 or self._is_run):
            raise self._abandoned()
        if self._run:
            return end
        position = max(pass_.reader.tell() for pass_ in begun)
        return -(-position // self._length) * self._length

    def _abandoned(self) -> LoaderxError:
        if self._is_run:
            text = ('the last loop was left before its end, and the order is a whole training run, '
                    'which has no further epoch: continue with next(loader) or '
                    'loader.seek(loader.tell()), or begin again with loader.set_epoch(0)')
        else:
            text = ('the last pass was left before its end, and another rank may be in a different '
                    'epoch: call loader.set_epoch(epoch) on all ranks to begin a new pass, or '
                    'loader.seek(loader.tell()) to continue the last one; loader.peek() returns '
                    'a batch without beginning a pass')
        return _error('LX_ERR_STATE', text)

    # ---- readers

    def _begin(self, position: int, dropped: List[_core.Loader],
               twins: Sequence[_Pass] = ()) -> Iterator[Any]:
        """Begin a new pass at a position, in addition to `twins`, and return its iterator."""
        reader, iterator = self._claim(position)
        reader.seek(position)
        self.reader = reader
        self._twins = [*(twin for twin in twins if twin.reader is not reader), _Pass(reader)]
        self._drop_spare(dropped)
        return iterator

    def _claim(self, position: int) -> Tuple[_core.Loader, Iterator[Any]]:
        """Return a reader that had no iterator, and its new iterator."""
        for reader in [self.reader, *self._readers]:
            iterator = reader._iterate()
            if iterator is not None:
                break
        else:
            reader = self._open(position)
            iterator = reader._iterate()
            assert iterator is not None
            self._readers.append(reader)
            if self._canceled:
                reader.cancel()
            if self._trace is not None:
                reader._set_trace(self._trace._core)
            if self.reader.closed:    # by another thread
                reader.close()
        return reader, iterator

    def _drop_spare(self, dropped: List[_core.Loader]) -> None:
        """Move the readers that have no iterator to `dropped`, except that of the newest pass."""
        for spare in [reader for reader in self._readers
                      if reader is not self.reader and reader._iterate() is not None]:
            self._readers.remove(spare)
            dropped.append(spare)
            self._twins = [twin for twin in self._twins if twin.reader is not spare]
            self._past.update({name: value for name, value in spare.stats().items()
                               if name not in _GAUGES})

    def close(self) -> None:
        readers = [self.reader, *self._readers]
        for reader in readers:
            reader._check_transform()    # for all of them, before any of them is closed
        for reader in readers:
            reader.close()
        self._open = _fail_closed    # releases what it would read
        if self._trace is not None and self._process == os.getpid():
            self._trace.close()

    def cancel(self) -> None:
        self._canceled = True
        for reader in list(self._readers):
            reader.cancel()

    # ---- traces

    def begin_trace(self, path: Any) -> Trace:
        """Let all readers record in a new trace."""
        with self._guard():
            if self._trace is not None:
                raise _error('LX_ERR_STATE', f'the loader is traced already: {self._trace!r}')
            trace = Trace(path, self._end_trace)
            for reader in self._readers:
                reader._set_trace(trace._core)
            self._trace = trace
            return trace

    def _end_trace(self, trace: Trace) -> None:
        with self._guard():
            if self._trace is not trace:
                return
            self._trace = None
            for reader in self._readers:
                if not reader.closed:
                    reader._set_trace(None)

    # ---- numbers

    def stats(self) -> Dict[str, int]:
        """Return the statistics of all passes together."""
        total = self.reader.stats()
        for reader in list(self._readers):
            if reader is not self.reader:
                for name, value in reader.stats().items():
                    total[name] += value
        return {name: value + self._past[name] for name, value in total.items()}

    def count_batches(self, varies: bool, skipped: Sequence[Tuple[int, int]]) -> int:
        """Return the number of batches of the newest pass.

        Parameters
        ----------
        varies : bool
            Whether epochs differ in their number of batches even if none are skipped.
        skipped : sequence of (int, int)
            The ranges of positions that the loader skips.
        """
        if not self._epochs:
            raise TypeError('a loader with epochs=None is endless and has no length')
        if not (varies or skipped) or self._epochs == 1:
            return self._epochs * len(self.reader)
        length = self._length
        first = self.reader.tell() // self._run * self._epochs if self._run else 0
        epochs = range(first, first + self._epochs)
        counts = dict.fromkeys(epochs, 1) if varies else _choose(skipped, length, epochs)
        probe, count = self._open(first * length), 0
        for epoch, times in counts.items():
            probe.seek(epoch * length)
            count += times * len(probe)
        probe.close()
        return count


def _choose(skipped: Sequence[Tuple[int, int]], length: int, epochs: range) -> Dict[int, int]:
    """Return epochs to count batches in, and the number of epochs that each of them stands for.

    Epochs that are skipped in part differ; all others have equally many batches, or none.
    """
    chosen = {epoch: 1 for first, end in skipped for epoch in (first // length, (end - 1) // length)
              if epoch in epochs}
    parts, place, others = sorted(chosen), epochs.start, []
    for epoch in [*parts, epochs.stop]:
        if place < epoch:    # the epochs in between are skipped entirely, or not at all
            others.append((place, epoch - place))
        place = epoch + 1
    whole = [(epoch, count) for epoch, count in others
             if not any(first < epoch * length < end for first, end in skipped)]
    if whole:
        chosen[whole[0][0]] = sum(count for _, count in whole)
    return chosen
