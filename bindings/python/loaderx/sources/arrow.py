# SPDX-License-Identifier: MIT
"""Records of a dataset as Arrow tables."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Tuple

from .. import _core

__all__ = ['ArrowRecords']

# The size of a batch in bytes: large enough that the cost per batch does not matter.
_BATCH_BYTES = 32 << 20


class ArrowRecords:
    """Records of a dataset, for libraries that read Arrow tables; see `Dataset.to_arrow`.

    The object has the methods of the Arrow PyCapsule interface: ``__arrow_c_stream__`` returns
    batches of about 32 MiB, each of which is read from the dataset when it is needed;
    ``__arrow_c_array__`` returns all records at once. Values are copied once, from the dataset to
    the memory that the library uses. Each call reads the records again.

    Each field becomes a column. Bytes become large binary values, text and JSON large strings, and
    arrays fixed-size lists, nested for each axis; the first axis of a ragged field becomes a large
    list. datetime64 becomes date32 or a timestamp, and NaT and missing values become nulls.

    Examples
    --------
    >>> with create('squares', {'x': Field('int64')}) as writer:
    ...     first = writer.extend({'x': np.arange(5) ** 2})
    >>> records = open('squares').to_arrow([4, 2])
    >>> len(records)
    2
    >>> with create('copies', {'x': Field('int64')}) as writer:
    ...     first = writer.extend(records)
    >>> open('copies')['x'][:]
    array([16,  4])
    """

    __slots__ = ('_dataset', '_indices', '_fields')

    def __init__(self, dataset: _core.Dataset, indices: Any = None,
                 fields: Optional[Iterable[str]] = None) -> None:
        self._dataset = dataset
        self._indices = None if indices is None else dataset._resolve(indices)
        self._fields = fields if fields is None or isinstance(fields, str) else tuple(fields)
        self.__arrow_c_schema__()    # raises an exception for an invalid field

    def __arrow_c_schema__(self) -> Any:
        """Return the columns, as the capsule of an Arrow type."""
        return _core.arrow_schema(self._dataset._to_arrow((), self._fields, None))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the records, as the capsule of an Arrow stream.

        The interface allows a `requested_schema` to be ignored.
        """
        return self._dataset._to_arrow(self._indices, self._fields, _BATCH_BYTES)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """Return the records, as the capsules of an Arrow type and of an array."""
        stream = self._dataset._to_arrow(self._indices, self._fields, None)
        return _core.arrow_schema(stream), _core.arrow_array(stream)

    def __len__(self) -> int:
        return len(self._dataset if self._indices is None else self._indices)

    def __repr__(self) -> str:
        return f'<loaderx.ArrowRecords: {len(self)} records of {self._dataset.path!r}>'
