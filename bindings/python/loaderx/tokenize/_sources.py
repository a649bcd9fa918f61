# SPDX-License-Identifier: MIT
"""Access to texts by index, in a dataset field or in a sequence."""

from __future__ import annotations

import os
import zlib
from typing import Any, Dict, List, Optional, Sequence

from ..sources import Column, Dataset
from ..sources.records import own_method
from ._texts import Text

__all__ = ['ReadSize', 'Texts', 'choose_field', 'texts_of']

# The maximum number of texts to read to identify a sequence.
_SAMPLED = 16


class ReadSize:
    """The number of texts to read at a time, so that their total size is about `size` bytes."""

    def __init__(self, size: int, maximum: int) -> None:
        self._size, self._maximum = size, maximum
        self.count = min(16, maximum)

    def update(self, texts: Sequence[Text]) -> None:
        """Update the number, based on the sizes of the texts that were last read."""
        read = sum(len(text.data) for text in texts)
        estimate = self._size * len(texts) // max(read, 1)
        self.count = max(1, min(self._maximum, 2 * self.count, estimate))


class Texts:
    """The texts of a sequence: each is a str, UTF-8 bytes, None, or a dict with such a value."""

    path: Optional[str] = None    # of the dataset that contains them

    def __init__(self, texts: Sequence[Any], field: Optional[str]) -> None:
        self._texts = texts
        self._field = field

    def __len__(self) -> int:
        return len(self._texts)

    def read(self, indices: Any) -> List[Text]:
        """Return the texts at the indices; a missing text is empty."""
        numbers = [int(index) for index in indices]
        many = getattr(self._texts, '__getitems__', None)
        found = [self._texts[i] for i in numbers] if many is None else many(numbers)
        return [self._text(number, one) for number, one in zip(numbers, found)]

    def _text(self, number: int, found: Any) -> Text:
        if self._field is not None:
            found = found[self._field]
        found = b'' if found is None else found
        if not isinstance(found, (str, bytes, memoryview, bytearray)):
            hint = '' if self._field is not None else '; pass field if texts are dicts'
            raise TypeError(f'text {number} must be a str or bytes, not '
                            f'{type(found).__name__}{hint}')
        return Text(found if isinstance(found, (str, bytes)) else bytes(found),
                    field=self._field, record=number)

    def identity(self) -> Dict[str, Any]:
        """Return the identity of the texts, computed from a sample of the texts."""
        count = len(self)
        step = max(1, -(-count // _SAMPLED))
        crc = 0
        for text in self.read(range(0, count, step)):
            crc = zlib.crc32(as_bytes(text), crc)
        return {'length': count, 'field': self._field, 'crc32': f'{crc:08x}'}


class _Stored(Texts):
    """The texts of a field, in the current snapshot of a dataset."""

    def __init__(self, dataset: Dataset, field: str) -> None:
        self._dataset = dataset.pin()
        self.path = dataset.path
        super().__init__([], field)

    def __len__(self) -> int:
        return len(self._dataset)

    def read(self, indices: Any) -> List[Text]:
        field: str = self._field or ''
        found = self._dataset.gather(indices, [field])[field]
        positions = (range(*indices.indices(len(self))) if isinstance(indices, slice)
                     else map(int, indices))
        return [Text(text or b'', self._dataset.path, None, None, field, place)
                for place, text in zip(positions, found)]

    def identity(self) -> Dict[str, Any]:
        return {'uuid': self._dataset.uuid, 'field': self._field}


def as_bytes(text: Text) -> bytes:
    """Return a text as bytes, for the checksum."""
    data: Any = text.data
    return data.encode('utf-8', 'surrogatepass') if isinstance(data, str) else data


def choose_field(dataset: Dataset, field: Optional[str]) -> str:
    """Return the requested field, or the only bytes or str field."""
    candidates = [name for name, one in dataset.fields.items() if one.dtype in (bytes, str)]
    if field is None:
        if len(candidates) != 1:
            kinds = ', '.join(map(repr, candidates)) or 'none'
            raise ValueError(f'field must be given: {dataset.path} has the text fields {kinds}')
        return candidates[0]
    if field not in dataset.fields:
        raise ValueError(f'field {field!r} not found: {dataset.path} has {list(dataset.fields)}')
    if field not in candidates:
        raise ValueError(f'field {field!r} of {dataset.path} must be a str or bytes field, not '
                         f'{dataset.fields[field].dtype}')
    return field


def texts_of(texts: Any, field: Optional[str]) -> Texts:
    """Return the texts that the caller's argument describes."""
    if isinstance(texts, (str, bytes, os.PathLike)):
        texts = Dataset(texts)
    stored = isinstance(texts, Column) or own_method(texts) is None
    if isinstance(texts, Column):
        if field is not None:
            raise ValueError('field must not be given with a Column, which is a field')
        texts, field = texts._dataset, texts.name
    if isinstance(texts, Dataset) and stored:
        return _Stored(texts, choose_field(texts, field))
    if not hasattr(texts, '__getitem__') or not hasattr(texts, '__len__'):
        raise TypeError('texts must be a Dataset, its path, a Column, or a sequence of texts, '
                        f'not {texts!r:.100}')
    return Texts(texts, field)
