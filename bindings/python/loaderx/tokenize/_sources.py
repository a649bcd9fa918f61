# SPDX-License-Identifier: MIT
"""Texts that are read by their indices: a field of a dataset, or any sequence."""

from __future__ import annotations

import os
import zlib
from typing import Any, Dict, List, Optional, Sequence

from ..sources import Column, Dataset
from ._texts import Text

__all__ = ['Pace', 'Texts', 'choose_field', 'texts_of']

# Texts of a sequence that tell it from others.
_LOOKED_AT = 16


class Pace:
    """How many texts are read at a time, so that they have about so many bytes."""

    def __init__(self, size: int, most: int) -> None:
        self._size, self._most = size, most
        self.count = min(16, most)

    def tell(self, texts: Sequence[Text]) -> None:
        """Learn from texts that were read."""
        read = sum(len(text.data) for text in texts)
        wanted = self._size * len(texts) // max(read, 1)
        self.count = max(1, min(self._most, 2 * self.count, wanted))


class Texts:
    """Texts of a sequence, of which each is a str, UTF-8 in bytes, None, or a dict with one."""

    def __init__(self, texts: Sequence[Any], field: Optional[str]) -> None:
        self._texts = texts
        self._field = field

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, indices: Any) -> List[Text]:
        """The texts of some indices; one that is missing is empty."""
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
        """What tells these texts from others, of some of them."""
        count = len(self)
        step = max(1, -(-count // _LOOKED_AT))
        crc = 0
        for text in self.read(range(0, count, step)):
            crc = zlib.crc32(as_bytes(text), crc)
        return {'length': count, 'field': self._field, 'crc32': f'{crc:08x}'}


class _Stored(Texts):
    """Texts of a field of a dataset, in the state that it shows now."""

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
    """What a text is told apart by."""
    data: Any = text.data
    return data.encode('utf-8', 'surrogatepass') if isinstance(data, str) else data


def choose_field(dataset: Dataset, field: Optional[str]) -> str:
    """The field of texts that is asked for, or the only one."""
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
                         'and texts are fields of bytes')
    return field


def texts_of(texts: Any, field: Optional[str]) -> Texts:
    """What is read of what a user gives."""
    if isinstance(texts, (str, bytes, os.PathLike)):
        texts = Dataset(texts)
    if isinstance(texts, Column):
        if field is not None:
            raise ValueError('field is for a dataset: a column is one')
        texts, field = texts._dataset, texts.name
    if isinstance(texts, Dataset):
        return _Stored(texts, choose_field(texts, field))
    if not hasattr(texts, '__getitem__') or not hasattr(texts, '__len__'):
        raise TypeError('texts must be a Dataset, its path, a column of it, or a sequence of texts, '
                        f'not {texts!r:.100}')
    return Texts(texts, field)
