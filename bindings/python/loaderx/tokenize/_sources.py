# SPDX-License-Identifier: MIT
"""Texts by index: a field of a dataset, or a sequence."""

from __future__ import annotations

import os
import zlib
from typing import Any, Dict, List, Optional, Sequence

from ..sources import Column, Dataset
from ._texts import Text

__all__ = ['Pace', 'Texts', 'choose_field', 'texts_of']

# Texts of a sequence that identify it.
_LOOKED_AT = 16


class Pace:
    """The number of texts to read at a time, for about this many bytes."""

    def __init__(self, size: int, most: int) -> None:
        self._size, self._most = size, most
        self.count = min(16, most)

    def tell(self, texts: Sequence[Text]) -> None:
        """Update the average from texts that were read."""
        read = sum(len(text.data) for text in texts)
        wanted = self._size * len(texts) // max(read, 1)
        self.count = max(1, min(self._most, 2 * self.count, wanted))


class Texts:
    """Texts of a sequence; each is a str, UTF-8 in bytes, None, or a dict with one of these."""

    def __init__(self, texts: Sequence[Any], field: Optional[str]) -> None:
        self._texts = texts
        self._field = field

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, indices: Any) -> List[Text]:
        """Return the texts of some indices; a missing one is empty."""
        numbers = [int(index) for index in indices]
        many = getattr(self._texts, '__getitems__', None)
        found = [self._texts[i] for i in numbers] if many is None else many(numbers)
        return [self._text(number, one) for number, one in zip(numbers, found)]

    def _text(self, number: int, found: Any) -> Text:
        if self._field is not None:
            found = found[self._field]
        found = b'' if found is None else found
        if not isinstance(found, (str, bytes, memoryview, bytearray)):
            hint = '' if self._field is not None else '; a field may be given'
            raise TypeError(f'text {number} must be a str or bytes, not '
                            f'{type(found).__name__}{hint}')
        return Text(found if isinstance(found, (str, bytes)) else bytes(found),
                    field=self._field, record=number)

    def identity(self) -> Dict[str, Any]:
        """The identity of the texts, from a sample of them."""
        count = len(self)
        step = max(1, -(-count // _LOOKED_AT))
        crc = 0
        for text in self.read(range(0, count, step)):
            crc = zlib.crc32(as_bytes(text), crc)
        return {'length': count, 'field': self._field, 'crc32': f'{crc:08x}'}


class _Stored(Texts):
    """Texts of a field of a dataset, in its current snapshot."""

    def __init__(self, dataset: Dataset, field: str) -> None:
        self._dataset = dataset.pin()
        super().__init__([], field)

    def __len__(self) -> int:
        return len(self._dataset)

    def read(self, indices: Any) -> List[Text]:
        field: str = self._field or ''
        found = self._dataset.gather(indices, [field])[field]
        places = (range(*indices.indices(len(self))) if isinstance(indices, slice)
                  else map(int, indices))
        return [Text(text or b'', self._dataset.path, None, None, field, place)
                for place, text in zip(places, found)]

    def identity(self) -> Dict[str, Any]:
        return {'uuid': self._dataset.uuid, 'field': self._field}


def as_bytes(text: Text) -> bytes:
    """Return the bytes of a text for the checksum."""
    data: Any = text.data
    return data.encode('utf-8', 'surrogatepass') if isinstance(data, str) else data


def choose_field(dataset: Dataset, field: Optional[str]) -> str:
    """The requested field of texts, or the only one."""
    there = [name for name, one in dataset.fields.items() if one.dtype is bytes]
    if field is None:
        if len(there) != 1:
            kinds = ', '.join(map(repr, there)) or 'none'
            raise ValueError(f'field must be given: {dataset.path} has the fields of bytes {kinds}')
        return there[0]
    if field not in dataset.fields:
        raise ValueError(f'field: {dataset.path} has no {field!r}, but {list(dataset.fields)}')
    if field not in there:
        raise ValueError(f'field: {field!r} of {dataset.path} is of {dataset.fields[field].dtype}, '
                         'but texts must be a field of bytes')
    return field


def texts_of(texts: Any, field: Optional[str]) -> Texts:
    """Return the texts of the caller's argument."""
    if isinstance(texts, (str, bytes, os.PathLike)):
        texts = Dataset(texts)
    if isinstance(texts, Column):
        if field is not None:
            raise ValueError('field needs a dataset: a Column is a field already')
        texts, field = texts._dataset, texts.name
    if isinstance(texts, Dataset):
        return _Stored(texts, choose_field(texts, field))
    if not hasattr(texts, '__getitem__') or not hasattr(texts, '__len__'):
        raise TypeError('texts must be a Dataset, its path, a column of it, or a sequence of texts, '
                        f'not {texts!r:.100}')
    return Texts(texts, field)
