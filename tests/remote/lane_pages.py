# SPDX-License-Identifier: MIT
"""Which pages of a dataset's chunks hold the blocks of an order of lanes, and which a cache has.

The pages of all chunks are numbered one after the other. A set of pages is an array of bools.
"""

from __future__ import annotations

import pathlib

import numpy as np

import loaderx as lx

PAGE = 4096
ENTRY = np.dtype([('chunk', '<u4'), ('size', '<u4'), ('offset', '<u8')])    # zrecord-format.md, 5.2
GROUP = 512    # pages of a cache file that follow a page with their entries: cache-file.h
MARK = np.dtype([('crc', '<u4'), ('bytes', '<u2'), ('boot', '<u2')])


class LanePages:
    """The pages that the order of some epochs needs.

    The dataset has one field, of values that are larger than 8 bytes.
    """

    def __init__(self, path: pathlib.Path, order: lx.Lanes, epochs: int, lanes: int,
                 block: int) -> None:
        self.lanes, self.stripe = lanes, lanes * block
        sizes = {int(file.stem): file.stat().st_size for file in path.glob('chunk/*.zr')}
        self.bases, self.count = {}, 0
        for chunk in sorted(sizes):
            self.bases[chunk] = self.count
            self.count += -(-sizes[chunk] // PAGE)
        table, = path.glob('*.offset')
        rows = np.fromfile(table, ENTRY)
        self.length = len(rows)
        bases = np.array([self.bases[int(chunk)] for chunk in rows['chunk']])
        ends = rows['offset'] + rows['size']
        self.first = bases + (rows['offset'] // PAGE).astype(int)    # pages of each record
        self.end = bases + ((ends - 1) // PAGE).astype(int) + 1
        self.order = order.take(epochs * self.length)    # as one process has it
        self.block_of = self._find_blocks()

    def _find_blocks(self) -> np.ndarray:
        """For each page, the number of the block in which it is; -1: in two of them, or in none."""
        offsets = np.arange(self.length)
        numbers = np.empty(self.length, int)
        numbers[self.order[:self.length].astype(int)] = (
            offsets // self.stripe * self.lanes + offsets % self.lanes)
        lowest = np.full(self.count, self.length + self.stripe)
        highest = np.full(self.count, -1)
        for record, number in enumerate(numbers):
            here = slice(self.first[record], self.end[record])
            np.minimum(lowest[here], number, out=lowest[here])
            np.maximum(highest[here], number, out=highest[here])
        return np.where(lowest == highest, lowest, -1)

    def of_records(self, records: np.ndarray) -> np.ndarray:
        """The pages of some records."""
        changes = np.zeros(self.count + 1, int)
        np.add.at(changes, self.first[records], 1)
        np.subtract.at(changes, self.end[records], 1)
        return np.cumsum(changes)[:-1] > 0

    def of_positions(self, lanes: np.ndarray, begin: int, end: int) -> np.ndarray:
        """The pages of the blocks that these lanes read at positions from `begin` to `end`."""
        records = []
        for epoch in range(begin // self.length, -(-end // self.length)):
            first = max(begin - epoch * self.length, 0) // self.stripe * self.stripe
            last = min(-(-(end - epoch * self.length) // self.stripe) * self.stripe, self.length)
            offsets = np.arange(first, last)
            offsets = offsets[lanes[offsets % self.lanes]]
            records.append(self.order[epoch * self.length + offsets].astype(int))
        return self.of_records(np.concatenate(records))

    def of_lanes(self, lanes: np.ndarray) -> np.ndarray:
        """The pages of all blocks of these lanes."""
        return self.of_positions(lanes, 0, self.length)

    def find_stored(self, cache: pathlib.Path) -> np.ndarray:
        """The pages that are in a cache. No process changes it now."""
        stored = np.zeros(self.count, bool)
        for file in cache.glob('*/chunk/*.zr'):
            base = self.bases[int(file.stem)]
            end = min([other for other in self.bases.values() if other > base] + [self.count])
            with file.open('rb') as opened:
                for group in range(-(-(end - base) // GROUP)):
                    opened.seek(group * (GROUP + 1) * PAGE)
                    marks = np.frombuffer(opened.read(PAGE), MARK)['boot'] != 0
                    here = stored[base + group * GROUP:end][:len(marks)]
                    here[:] = marks[:len(here)]
        return stored
