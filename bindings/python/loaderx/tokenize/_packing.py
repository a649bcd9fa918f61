# SPDX-License-Identifier: MIT
"""Samples from concatenated documents, and their positions."""

from __future__ import annotations

import collections
import json
import zlib
from typing import Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import _core
from .._check import natural
from ..errors import CorruptError
from ..orders import Order
from ._sources import Pace, Texts, as_bytes
from ._texts import BadText, Text, encode
from ._tokenizer import Encoder

__all__ = ['Place', 'Samples', 'walk_of']

_Array = np.ndarray[Any, Any]

# Bytes and documents tokenized at a time.
_BLOCK = 256 << 10
_MOST = 256
# Epochs without tokens after which an endless pass fails; a random order may have some.
_BARREN = 100


class Place(NamedTuple):
    """The start of a sample: the position of its document in the order, and the token in it."""

    position: int
    offset: int = 0
    crc: Optional[int] = None    # of the document; None: not read yet


class Walk:
    """The positions of a rank in an order, and the indices there."""

    def __init__(self, order: _core.Order, rank: int, world: int) -> None:
        self._whole, self._order = order, order.shard(rank, world)
        self.length, self.rank, self.world = order.length, rank, world
        self.description: Dict[str, Any] = json.loads(self._order.save())['order']    # in states

    def begin(self) -> Walk:
        """Return a copy for another thread."""
        return Walk(self._whole, self.rank, self.world)

    def own(self, position: int) -> int:
        """The first position of this rank from here on."""
        epoch, offset = divmod(position, self.length)
        offset += (self.rank - offset) % self.world
        return epoch * self.length + offset if offset < self.length else (
            (epoch + 1) * self.length + self.rank)

    def take(self, position: int, count: int, end: Optional[int]) -> Tuple[List[int], _Array]:
        """Up to this many positions of this rank before the end, and their indices."""
        places: List[int] = []
        place = self.own(position)
        while len(places) < count and (end is None or place < end):
            places.append(place)
            place = self.own(place + 1)
        self._order.seek(places[0] if places else 0)
        return places, self._order.take(len(places))


def walk_of(order: Order, count: int, rank: int, world: int) -> Walk:
    """The positions of a rank in an order of this many texts."""
    world = natural('world', world, least=1)
    rank = natural('rank', rank, most=world - 1)
    core = order._for_length(count)
    if core.length <= rank:
        what = 'texts' if rank == 0 else f'texts for rank {rank}'
        raise ValueError(f'texts: an epoch has {core.length}, so there are no {what}')
    return Walk(core, rank, world)


class Samples(NamedTuple):
    """The parts that make the samples of a pass, for one thread."""

    texts: Texts
    encoder: Encoder
    errors: str
    walk: Walk
    length: int    # of a sample, with the last token, which is also the first of the next one
    batch: int
    dtype: np.dtype[Any]

    def run(self, begin: Place, end: Optional[int],
            is_stopped: Callable[[], bool]) -> Iterator[Tuple[_Array, Place]]:
        """Yield batches from a position on, each with the position of the next one."""
        rows: List[_Array] = []
        line = _Line(self.length)
        for place, tokens in self._documents(begin, end, is_stopped):
            line.add(place, tokens)
            while True:
                row = line.cut()
                if row is None:
                    break
                rows.append(row)
                if len(rows) == self.batch:
                    yield np.stack(rows).astype(self.dtype), line.place()
                    rows = []
        if rows and not is_stopped():
            yield np.stack(rows).astype(self.dtype), line.place()

    def _documents(self, begin: Place, end: Optional[int],
                   is_stopped: Callable[[], bool]) -> Iterator[Tuple[Place, _Array]]:
        walk, pace = self.walk.begin(), Pace(_BLOCK, _MOST)
        position, resumed = begin.position, begin.crc is not None
        barren = walk.own(position)    # no document from there on had a token
        while not is_stopped():
            places, indices = walk.take(position, pace.count, end)
            if not places:
                return
            texts = self._read(indices)
            tokens, lengths = self._encode(texts)
            pace.tell(texts)
            ends = np.cumsum(lengths)
            for place, text, last, length in zip(places, texts, ends, lengths):
                own = tokens[last - length:last]
                here = Place(place, 0, zlib.crc32(as_bytes(text)))
                if resumed:
                    here, own = _resume(begin, here, own, text)
                    resumed = False
                if len(own):
                    yield here, own
            position = places[-1] + 1
            barren = position if len(tokens) else barren
            if end is None and position - barren > _BARREN * walk.length:
                raise ValueError(f'texts: {_BARREN} epochs had no token for this rank')

    def _read(self, indices: _Array) -> List[Text]:
        wrong = np.flatnonzero(indices >= len(self.texts))
        if len(wrong):
            raise IndexError(f'order: index {indices[wrong[0]]} is out of range: there are '
                             f'{len(self.texts)} texts')
        return self.texts.read(indices)

    def _encode(self, texts: List[Text]) -> Tuple[_Array, _Array]:
        try:
            return encode(self.encoder, [text.data for text in texts], None, self.errors)
        except BadText as error:
            raise texts[error.number].fault(error.message, error.at) from None


def _resume(begin: Place, here: Place, tokens: _Array, text: Text) -> Tuple[Place, _Array]:
    """Return the rest of the document at which a state stopped."""
    if here.crc != begin.crc or begin.offset >= len(tokens):
        raise CorruptError(f'the state does not fit: the text of index {text.record}, at which it '
                           'stopped, has changed since it was saved')
    return Place(here.position, begin.offset, here.crc), tokens[begin.offset:]


class _Line:
    """Concatenated tokens of documents, cut into samples that overlap by one token."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._parts: Deque[Tuple[Place, _Array]] = collections.deque()
        self._there = 0    # tokens in the parts

    def add(self, place: Place, tokens: _Array) -> None:
        self._parts.append((place, tokens))
        self._there += len(tokens)

    def place(self) -> Place:
        """The position of the next sample."""
        return self._parts[0][0]

    def cut(self) -> Optional[_Array]:
        """The next sample, if enough tokens are left."""
        if self._there < self._length:
            return None
        made = np.empty(self._length, np.uint32)
        filled = 0
        while True:
            place, tokens = self._parts[0]
            part = tokens[:self._length - filled]
            made[filled:filled + len(part)] = part
            filled += len(part)
            if filled == self._length:
                break
            self._parts.popleft()
        kept = len(part) - 1    # the last token begins the next sample, too
        self._parts[0] = place._replace(offset=place.offset + kept), tokens[kept:]
        self._there -= self._length - 1
        return made
