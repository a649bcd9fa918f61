# SPDX-License-Identifier: MIT
"""Cuts concatenated documents into samples, and keeps track of the position."""

from __future__ import annotations

import collections
import json
import zlib
from typing import Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .. import _core
from ..errors import CorruptError
from ..orders import Order
from ._sources import ReadSize, Texts, as_bytes
from ._texts import BadText, Text, encode
from ._tokenizer import Encoder

__all__ = ['Place', 'Samples', 'cursor_of']

_Array = np.ndarray[Any, Any]

# The maximum numbers of bytes and documents to tokenize at a time.
_BLOCK = 256 << 10
_MAX = 256
# The number of epochs without tokens after which an endless pass fails. With a random order, some
# epochs may contain no tokens.
_MAX_EMPTY_EPOCHS = 100


class Place(NamedTuple):
    """The start of a sample: the position of a document in the order, and a token offset in the
    document."""

    position: int
    offset: int = 0
    crc: Optional[int] = None    # checksum of the document; None if it has not been read yet


class Cursor:
    """The positions of a rank in an order, and the indices at these positions."""

    def __init__(self, order: _core.Order, rank: int, world: int) -> None:
        self._whole, self._order = order, order.shard(rank, world)
        self.length, self.rank, self.world = order.length, rank, world
        self.description: Dict[str, Any] = json.loads(self._order.save())['order']    # for states

    def begin(self) -> Cursor:
        """Return a copy for use on a different thread."""
        return Cursor(self._whole, self.rank, self.world)

    def align(self, position: int) -> int:
        """Return the first position of this rank at or after `position`."""
        epoch, offset = divmod(position, self.length)
        offset += (self.rank - offset) % self.world
        return epoch * self.length + offset if offset < self.length else (
            (epoch + 1) * self.length + self.rank)

    def take(self, position: int, count: int, end: Optional[int]) -> Tuple[List[int], _Array]:
        """Return up to `count` positions of this rank before `end`, and their indices."""
        places: List[int] = []
        place = self.align(position)
        while len(places) < count and (end is None or place < end):
            places.append(place)
            place = self.align(place + 1)
        self._order.seek(places[0] if places else 0)
        return places, self._order.take(len(places))


def cursor_of(order: Order, count: int, rank: int, world: int) -> Cursor:
    """Return a cursor over the positions of a rank in an order of `count` texts."""
    core = order._for_length(count)
    if core.length <= rank:
        what = ('no texts' if rank == 0 else
                f'only {core.length} texts, none of them for rank {rank}')
        raise ValueError(f'texts: an epoch has {what}')
    return Cursor(core, rank, world)


def count_in(description: Any, order: Order, rank: int, world: int) -> Optional[int]:
    """Return the number of texts for which `order` has a description in a state, or None."""
    for count in _lengths(description):
        try:
            if cursor_of(order, count, rank, world).description == description:
                return count
        except ValueError:
            pass    # the order does not suit this number
    return None


def _lengths(description: Any) -> Iterator[int]:
    """Yield the lengths of a described order and of its parts; one is the number of texts."""
    if isinstance(description, list):
        for one in description:
            yield from _lengths(one)
    elif isinstance(description, dict):
        length = description.get('length')
        if isinstance(length, int) and length > 0:
            yield length
        for one in description.values():
            yield from _lengths(one)


class Samples(NamedTuple):
    """The samples of a pass, produced on one thread."""

    texts: Texts
    encoder: Encoder
    errors: str
    cursor: Cursor
    length: int    # including the last token, which is also the first token of the next sample
    batch: int
    dtype: np.dtype[Any]

    def run(self, begin: Place, end: Optional[int],
            is_stopped: Callable[[], bool]) -> Iterator[Tuple[_Array, Place]]:
        """Yield batches starting at a position, each with the position of the next batch."""
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
        cursor, read_size = self.cursor.begin(), ReadSize(_BLOCK, _MAX)
        position, resumed = begin.position, begin.crc is not None
        empty_from = cursor.align(position)    # all documents read since this position were empty
        while not is_stopped():
            places, indices = cursor.take(position, read_size.count, end)
            if not places:
                return
            texts = self._read(indices)
            tokens, lengths = self._encode(texts)
            read_size.update(texts)
            ends = np.cumsum(lengths)
            for place, text, last, length in zip(places, texts, ends, lengths):
                document = tokens[last - length:last]
                start = Place(place, 0, zlib.crc32(as_bytes(text)))
                if resumed:
                    start, document = _resume(begin, start, document, text)
                    resumed = False
                if len(document):
                    yield start, document
            position = places[-1] + 1
            empty_from = position if len(tokens) else empty_from
            if end is None and position - empty_from > _MAX_EMPTY_EPOCHS * cursor.length:
                raise ValueError(f'texts: this rank has no tokens in {_MAX_EMPTY_EPOCHS} epochs')

    def _read(self, indices: _Array) -> List[Text]:
        wrong = np.flatnonzero(indices >= len(self.texts))
        if len(wrong):
            raise IndexError(f'order: index {indices[wrong[0]]} is out of range: there are only '
                             f'{len(self.texts)} texts')
        return self.texts.read(indices)

    def _encode(self, texts: List[Text]) -> Tuple[_Array, _Array]:
        try:
            return encode(self.encoder, [text.data for text in texts], None, self.errors)
        except BadText as error:
            raise texts[error.number].make_error(error.message, error.at) from None


def _resume(begin: Place, start: Place, tokens: _Array, text: Text) -> Tuple[Place, _Array]:
    """Return the rest of the document in which a state was saved."""
    if start.crc != begin.crc or begin.offset >= len(tokens):
        raise CorruptError(f'the state does not match: the text at index {text.record}, in '
                           'which the position was saved, has changed')
    return Place(start.position, begin.offset, start.crc), tokens[begin.offset:]


class _Line:
    """Concatenated tokens of documents, cut into samples that overlap by one token."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._parts: Deque[Tuple[Place, _Array]] = collections.deque()
        self._count = 0    # number of tokens in the parts

    def add(self, place: Place, tokens: _Array) -> None:
        self._parts.append((place, tokens))
        self._count += len(tokens)

    def place(self) -> Place:
        """Return the start of the next sample."""
        return self._parts[0][0]

    def cut(self) -> Optional[_Array]:
        """Return the next sample, or None if too few tokens are left."""
        if self._count < self._length:
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
        consumed = len(part) - 1    # the last token is also the first token of the next sample
        self._parts[0] = place._replace(offset=place.offset + consumed), tokens[consumed:]
        self._count -= self._length - 1
        return made
