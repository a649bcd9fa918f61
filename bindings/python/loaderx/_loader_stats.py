# SPDX-License-Identifier: MIT
"""The statistics of a loader, as numbers and in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Dict, Iterable, List, Mapping

__all__ = ['LoaderStats']

# Below this share of the time, waiting for batches is not worth the reader's attention.
_LITTLE = 0.05
# If more than this share of the records comes from the disk, the disk takes most of the time; as in
# tools/bench-report.c.
_ON_DISK = 0.1
# Copying from memory takes less time than this for a record and for a byte, in nanoseconds. The
# library uses the same numbers: RECORD_NS and KIB_NS in lib/zrecord/read/residency.c.
_RECORD_NS = 1000
_BYTE_NS = 500 / 1024


class LoaderStats(Dict[str, Any]):
    """The dict of numbers that `Loader.stats` returns; ``print()`` shows its `summary`."""

    __slots__ = ()

    def __init__(self, numbers: Mapping[str, Any] = MappingProxyType({}),
                 remote: Iterable[Mapping[str, int]] = ()) -> None:
        """Add up the statistics of the remote datasets under 'remote', if any."""
        super().__init__(numbers)
        for one in remote:
            total = self.setdefault('remote', dict.fromkeys(one, 0))
            for name, value in one.items():
                total[name] += value

    @property
    def summary(self) -> str:
        """A few sentences that say how long the consumer waited, why, and what may help."""
        if self['time_ns'] == 0:
            return 'No batch has been requested yet.'
        share = min(self['wait_ns'] / self['time_ns'], 1)
        waited = (f"The consumer waited {100 * share:.0f}% of the time "
                  f"({_seconds(self['wait_ns'])} of {_seconds(self['time_ns'])} s) for batches: ")
        return ' '.join([waited + (self._reason_to_wait() if share >= _LITTLE else
                                   'the loader keeps up, and the consumer is the bottleneck.'),
                         *self._problems()])

    def _reason_to_wait(self) -> str:
        fill, transform, maps = self['fill_ns'], self['transform_ns'], self['map_ns']
        if fill + transform < self['wait_ns'] / 2:
            return (f'but preparing them took only {_seconds(fill + transform)} s. Other users of '
                    'the executor, or other processes, kept the threads busy.')
        if transform > fill:
            return (f'the transform is the bottleneck. It took {_seconds(transform)} s, summed '
                    f'over all threads, and reading {_seconds(fill)} s. Python code runs in one '
                    'thread at a time: let NumPy do the work, or store its results.')
        if maps > fill / 2:
            return ('computing columns, such as decoding and augmenting images, is the bottleneck. '
                    f'It took {_seconds(maps)} s, summed over all threads, and reading '
                    f'{_seconds(fill - maps)} s. More threads on more processors, cheaper steps or '
                    'smaller images may help.')
        waited = self.get('remote', {}).get('wait_ns', 0)
        if waited > (fill - maps) / 2:
            return (f'the network is the bottleneck. Reading waited {_seconds(waited)} s, summed '
                    'over all threads, for remote bytes. A cache, or a larger one, more '
                    'connections or memory, or fewer fields may help.')
        if self['read_ahead'] > _ON_DISK * self['records'] and self._is_slower_than_memory():
            return (f'the disk is the bottleneck. {self["read_ahead"]:,} records were not in '
                    'memory and were read ahead of the batches. Fewer fields, compression, more '
                    'memory or a faster disk may help.')
        return (f'reading is the bottleneck. It took {_seconds(fill - maps)} s, summed over all '
                "threads. More threads, larger batches or fewer fields may help; 'loaderx bench' "
                'measures whether they do for a dataset.')

    def _is_slower_than_memory(self) -> bool:
        """Whether reading took longer than from memory: ``read_ahead`` alone can be a guess."""
        limit = _RECORD_NS * self['records'] + _BYTE_NS * self['bytes']
        return bool(self['fill_ns'] - self['map_ns'] > limit)

    def _problems(self) -> List[str]:
        return [f'{what} {self[key]}.' for key, what in
                (('failures', 'Failed batches:'), ('damaged', 'Damaged records:')) if self[key]]

    def __str__(self) -> str:
        return self.summary


def _seconds(nanoseconds: int) -> str:
    return f'{nanoseconds / 1e9:.3g}'
