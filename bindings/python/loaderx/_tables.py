# SPDX-License-Identifier: MIT
"""Conversion of other libraries' tables to columns by name. No library is imported for this: an
object of a library's class exists only if the caller has imported the library."""

from __future__ import annotations

import itertools
import sys
from typing import Any, Container, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from ._tensors import to_numpy

# The number of records of a Hugging Face dataset to read at a time, which is its own default.
_HUB_ROWS = 1000

__all__ = ['arrow_of', 'columns_of', 'export_arrow', 'find_class', 'find_columns', 'is_frame',
           'is_tensor', 'kind_of', 'to_array']


def find_class(module: str, name: str) -> Any:
    """Return the class of a library, or None if the caller has not imported the library."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind if isinstance(kind, type) else None


def is_tensor(value: Any) -> bool:
    """Return whether `value` is a torch tensor."""
    tensor = find_class('torch', 'Tensor')
    return tensor is not None and isinstance(value, tensor)


def is_frame(value: Any) -> bool:
    """Return whether `value` is a pandas DataFrame."""
    frame = find_class('pandas', 'DataFrame')
    return frame is not None and isinstance(value, frame)


def kind_of(value: Any) -> str:
    """Return the name of a value's type, and its library if only pandas' type is a table."""
    kind = type(value)
    if kind.__name__ != 'DataFrame':
        return kind.__name__
    library = kind.__module__.partition('.')[0]
    return f'a DataFrame of {library} (pass frame.to_pandas(), or a dict of arrays)'


def to_array(value: Any, name: str) -> Any:
    """Return an array that shares the memory of a torch tensor; return other values unchanged.

    A list that contains tensors becomes a list that contains arrays. Errors begin with `name`.
    """
    tensor = find_class('torch', 'Tensor')
    if tensor is None:
        return value
    try:
        if isinstance(value, tensor):
            return to_numpy(value)
        # A list of numbers may be long, but has few types.
        if isinstance(value, (list, tuple)) and any(issubclass(kind, tensor)
                                                    for kind in set(map(type, value))):
            return [to_numpy(item) if isinstance(item, tensor) else item for item in value]
    except (RuntimeError, TypeError) as error:    # gradients, a device, or a dtype
        raise TypeError(f'{name}: {error}') from None
    return value


def export_arrow(table: Any) -> Any:
    """Return what a table exports through the Arrow PyCapsule interface, or None.

    That is the capsule of a stream, or a tuple of the capsules of a type and of an array.
    """
    table = _validated(table)
    for name in ('__arrow_c_stream__', '__arrow_c_array__'):
        export = getattr(table, name, None)
        if export is not None and not isinstance(table, type):
            return export()
    batches = _batches_of_hub(table)
    return batches if batches is None else _validated(batches).__arrow_c_stream__()


def _validated(table: Any) -> Any:
    """Return a table of pyarrow whose buffers have the bytes that its offsets refer to.

    Only pyarrow can check this: the Arrow C data interface does not tell how long a buffer is, and
    pyarrow reads any offsets from a file. This takes a few microseconds for each array. Other
    objects are returned as they are.
    """
    for name in 'Table', 'RecordBatch', 'Array', 'ChunkedArray':
        kind = find_class('pyarrow', name)
        if kind is not None and isinstance(table, kind):
            table.validate()
            return table
    reader = find_class('pyarrow', 'RecordBatchReader')
    if reader is not None and isinstance(table, reader):
        return reader.from_batches(table.schema, _validated_batches(table))
    return table


def _validated_batches(reader: Any) -> Iterator[Any]:
    """Yield the batches of a reader, which may come from a generator of any batches."""
    names, types = reader.schema.names, reader.schema.types
    for batch in reader:
        if batch.schema.names != names or batch.schema.types != types:
            raise ValueError(f'a batch has the columns {batch.schema}, but the reader has '
                             f'{reader.schema}')
        batch.validate()
        yield batch


def _batches_of_hub(dataset: Any) -> Any:
    """Return a reader of the records of a Hugging Face dataset, in the order that it shows.

    Return None for any other object.
    """
    for name in 'DatasetDict', 'IterableDatasetDict':
        kind = find_class('datasets', name)
        if kind is not None and isinstance(dataset, kind):
            raise TypeError(f'a {name} is several datasets: pass one of them, such as '
                            f'dataset[{next(iter(dataset), "train")!r}]')
    whole, iterable = find_class('datasets', 'Dataset'), find_class('datasets', 'IterableDataset')
    if whole is None or not isinstance(dataset, (whole, iterable)):
        return None
    import pyarrow as pa    # type: ignore[import-untyped, unused-ignore]    # datasets requires it

    tables = dataset.with_format('arrow').iter(_HUB_ROWS)
    batches: Iterator[Any] = (batch for table in tables for batch in table.to_batches())
    if isinstance(dataset, whole):
        schema = dataset.data.schema
    elif dataset.features is not None:
        schema = dataset.features.arrow_schema
    else:
        first = next(batches, None)
        if first is None:
            raise ValueError('the IterableDataset has no records, so its columns are unknown')
        schema, batches = first.schema, itertools.chain([first], batches)
    return pa.RecordBatchReader.from_batches(schema, batches)


def arrow_of(table: Any) -> Any:
    """Return what export_arrow() returns, but None for a pandas DataFrame.

    find_columns() takes the columns of a DataFrame as they are; Arrow would, for example, turn NaN
    into null.
    """
    frame = find_class('pandas', 'DataFrame')
    return None if frame is not None and isinstance(table, frame) else export_arrow(table)


def find_columns(table: Any, name: str, json: Container[str] = ()) -> Optional[Dict[str, Any]]:
    """Return the columns of a DataFrame, of the arrays of an .npz file, or of a list of dicts.

    Return None for any other object. `json` contains the names of the JSON fields.
    """
    if is_frame(table):
        if not table.columns.is_unique:
            raise ValueError(f'{name} has several columns of the same name')
        return {label: _of_series(table[label], label in json) for label in table.columns}
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, (list, tuple)) and table and isinstance(table[0], Mapping):
        return _of_records(table, name)
    return None


def columns_of(table: Any, name: str, fields: Iterable[Tuple[Any, ...]]) -> Dict[str, Any]:
    """Return the columns of a table as find_columns() does; raise TypeError for other objects.

    A field is described by a tuple that begins with its name and the name of its type.
    """
    if isinstance(table, (list, tuple)) and not table:
        raise ValueError(f'{name} is empty, so its fields are unknown')
    columns = find_columns(table, name, [field[0] for field in fields if field[1] == 'json'])
    if columns is None:
        raise TypeError(f'{name} must be a dict of values by field, a list of dicts, a pandas '
                        f'DataFrame, the arrays of an .npz file or an Arrow table, not '
                        f'{kind_of(table)}')
    return columns


def _of_series(series: Any, is_json: bool) -> Any:
    """Return an array, or a list if values are missing (None in the list) or are objects.

    The text of a column that can only contain text becomes UTF-8, as in an Arrow table. For a JSON
    field, it stays a str, which is a value, as in a list.
    """
    if isinstance(series.dtype, np.dtype) and series.dtype.kind != 'O':
        return series.to_numpy()
    text = find_class('pandas', 'StringDtype')
    if text is not None and isinstance(series.dtype, text) and not is_json:
        return [None if missing else value.encode()
                for value, missing in zip(series, series.isna())]
    return [None if missing else value for value, missing in zip(series, series.isna())]


def _of_records(records: Any, name: str) -> Dict[str, List[Any]]:
    fields = list(records[0])
    for i, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TypeError(f'record {i} of {name} must be a dict like record 0, not '
                            f'{type(record).__name__}')
        if record.keys() != records[0].keys():
            raise ValueError(f'record {i} of {name} has the fields {list(record)}, but record 0 '
                             f'has {fields}: use None for the value of a missing field')
    return {field: [record[field] for record in records] for field in fields}
