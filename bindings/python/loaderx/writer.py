# SPDX-License-Identifier: MIT
"""Datasets that are open for writing."""

from __future__ import annotations

import time
import warnings
from types import MappingProxyType, TracebackType
from typing import Any, Dict, Literal, Mapping, Optional, Type, Union

from . import _core
from ._check import boolean
from ._casting import converter
from ._progress import Progress, reporting
from .errors import LoaderxError
from .field import Field
from ._types import BYTE_STRINGS, type_name
from .sources import Dataset
from .sources.dataset import Path


Ticket = _core.Ticket


class Writer(_core.Writer):
    """A dataset that is open for writing, as returned by `create` and `open`.

    >>> with create('labels', {'label': Field('int64')}) as writer:
    ...     first = writer.append({'label': 7})
    ...     writer[0] = {'label': 8}
    >>> open('labels')['label'][:].tolist()
    [8]

    A writer appends records and changes them. ``w[7] = {'label': 3}`` sets some fields of a record,
    and ``w[indices] = {...}`` sets fields of several records, with one column per field.
    ``del w[9]`` deletes a record and moves the last record to its index. A writer that `open`
    returns in mode 'a' can only append.

    A dataset has at most one writer at a time. Calls take effect in the order in which they are
    made; readers see the effects after the next commit. A with-block is one transaction: leaving
    the block commits the changes and closes the writer; an exception undoes all calls in the block
    and closes the writer. The calls that `add_field` names commit at once, with all calls before
    them; an exception undoes only what comes after.

    All methods are thread-safe. Threads that commit at the same time share a commit, so many small
    commits cost little. The calls of all threads form one sequence, and a rollback undoes the calls
    of all threads. A deletion by one thread can move a record to an index that another thread is
    using.
    """

    __slots__ = ()

    def add_field(self, name: str, field: Field, default: Any = None) -> None:
        """Add a field after the last field.

        The change is committed immediately, together with all previous calls, and cannot be undone.
        The same applies to `cast_field`, `drop_field`, `rename_field`, `checkpoint`, `rebalance`
        and `seal`. Readers see the new field once they open the dataset again.

        Parameters
        ----------
        name : str
            The name of the field.
        field : Field
            The dtype, shape and compression of the field's values.
        default : value, optional
            The value of the field in all existing records; None: they have no value. Other fields
            are not rewritten: the call writes 24 bytes for each record, and stores a value of more
            than 8 bytes once for all of them. Records that are appended later need a value of their
            own.

        Examples
        --------
        >>> with create('pets', {'name': Field(str)}) as writer:
        ...     first = writer.extend(name=['Rex', 'Tom'])
        ...     writer.add_field('legs', Field('uint8'), default=4)
        >>> open('pets')['legs'][:].tolist()
        [4, 4]
        """
        if not isinstance(name, str):
            raise TypeError(f'name must be a str, not {type(name).__name__}')
        if not isinstance(field, Field):
            raise TypeError(f'field must be a loaderx.Field, not {field!r}')
        self._add_field(field._describe(name), default)

    def cast_field(self, name: str, dtype: Any, *, shape: Any = None,
                   casting: Literal['safe', 'same_kind', 'unsafe'] = 'safe') -> None:
        """Change the type of a field, and convert its values.

        Only this field is rewritten. It keeps its name, its position and its compression; missing
        values stay missing. The change is committed immediately, together with all previous calls,
        and cannot be undone. Datasets that are open can no longer advance to a newer snapshot, as
        after `drop_field`. `rebalance` frees the space of the old values.

        Parameters
        ----------
        name : str
            The name of the field.
        dtype : dtype, type or str
            The new type, as for `Field`.
        shape : int or tuple of int, optional
            The new shape, as for `Field`; each value must have as many elements as the shape. By
            default, the shape of arrays stays the same.
        casting : {'safe', 'same_kind', 'unsafe'}
            Which conversions are allowed. Between arrays, NumPy's rules apply. 'safe' also allows
            any type of any length to become bytes, and JSON to become str. 'same_kind' also allows
            the other conversions between types of any length; if a value is not valid UTF-8 or
            JSON, nothing is changed. 'unsafe' also allows arrays to become the bytes of their
            elements, and the reverse.

        Raises
        ------
        TypeError
            `casting` does not allow the conversion.
        ValueError
            A value cannot be converted; the field is unchanged.

        Examples
        --------
        >>> with create('points', {'x': Field('float64', (2,))}) as writer:
        ...     first = writer.append(x=[0.5, 1])
        ...     writer.cast_field('x', 'float32', casting='same_kind')
        >>> open('points')['x'][0]
        array([0.5, 1. ], dtype=float32)
        """
        before = self._field(name)
        after = Field(dtype, _shape_after(before, dtype, shape))
        convert = converter(name, before, after, casting)
        self._convert_field(before._describe(name), after._describe(name), convert)

    def set_compression(self, name: str, *, level: Optional[int] = None,
                        dictionary: Union[None, str, int] = None) -> None:
        """Change how new values of a field are compressed, for this and all later writers.

        Existing values stay as they are. The change is committed immediately, together with all
        previous calls.

        Parameters
        ----------
        name : str
            The name of the field, which must be compressed.
        level, dictionary
            See `Field`. If one of the two is not given, it does not change. A dictionary that was
            trained can no longer be changed.
        """
        field = self._field(name)
        new = Field(field._type, field.shape, field.compress,
                    level=field.level if level is None else level,
                    dictionary=field.dictionary if dictionary is None else dictionary)
        self._set_compression(name, new.level or 0, new.dictionary or 0)

    def set_card(self, card: Mapping[str, Optional[str]]) -> None:
        """Set and remove entries of the dataset's card; see `Dataset.card`.

        The change is committed immediately, together with all previous calls, and cannot be undone.
        Readers see it after they refresh.

        Parameters
        ----------
        card : dict of str to str
            The entries to set, by key; None removes an entry. All other entries stay.

        Examples
        --------
        >>> with create('texts', {'text': Field(bytes)}) as writer:
        ...     writer.set_card({'source': 'https://example.org/texts', 'license': 'CC-BY-4.0'})
        >>> dict(open('texts').card)
        {'source': 'https://example.org/texts', 'license': 'CC-BY-4.0'}
        """
        if not isinstance(card, Mapping):
            raise TypeError(f'card must be a dict of str to str, not {type(card).__name__}')
        self._set_card(dict(card))

    def train_dictionary(self, name: str, source: Union[None, Dataset, Path] = None) -> None:
        """Train the dictionary of a zstd field now, and compress new values with it.

        The dictionary is trained on evenly spaced values of the field. Existing values stay as they
        are; `copy` the dataset to compress them with the dictionary, too. The change is committed
        immediately, together with all previous calls, and cannot be undone.

        Parameters
        ----------
        name : str
            The name of the field. The size of the dictionary is ``fields[name].dictionary``, or
            else 110 KiB.
        source : Dataset or path, optional
            The dataset whose values to train on; it has a field with the same name. By default,
            this dataset, including the records of previous calls.

        Raises
        ------
        LoaderxError
            ``'LX_ERR_STATE'``: the field already has a dictionary, or its values are too few, too
            short, or have nothing in common.
        """
        if source is None or isinstance(source, Dataset):
            self._train_dictionary(name, source)
            return
        with Dataset(source) as dataset:
            self._train_dictionary(name, dataset)

    def rebalance(self, progress: Progress = True, *, wait: bool = False) -> Dict[str, Any]:
        """Write the values of all records to new chunks, without dead bytes (compaction).

        Readers keep their snapshots. While the call runs, the disk needs space for both copies of
        the values. If the call is interrupted, at any point, no data is lost. The change is
        committed immediately, together with all previous calls.

        Parameters
        ----------
        progress : bool or callable, optional
            True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
            passed, it is called periodically with the number of records processed so far and the
            total; if it raises an exception, the operation ends.
        wait : bool, optional
            True also waits until no reader uses the old files any more, and removes them: the bytes
            of deleted values are then in no file of the dataset. Readers that refresh their
            snapshot or are closed let go of them.

        Returns
        -------
        dict
            ``kept_files``, the number of old files that are kept for readers, with the deleted
            values in them, until a later writer removes them;
            ``utilisation_before`` and ``_after`` (the fraction of the payloads in the chunks that
            is live), ``live_ratio_before`` and ``_after`` (the fraction of the bytes that is live),
            ``bytes_before`` and ``_after``, ``chunks_before`` and ``_after``, and the numbers of
            records, payloads and bytes moved.
        """
        wait = boolean('wait', wait)
        with reporting(progress, 'rebalance') as report_progress:
            result = self._rebalance(report_progress)
        while wait and result['kept_files'] != 0:
            time.sleep(0.1)
            result['kept_files'] = self._remove_old_files()
        return result

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the dataset's order."""
        return MappingProxyType(Field._from_descriptions(self._describe()))

    def _field(self, name: str) -> Field:
        fields = self.fields
        if name not in fields:
            raise KeyError(f'field {name!r} not found: the fields are {list(fields)}')
        return fields[name]

    def __enter__(self) -> Writer:
        self._begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self._finish(kind is None)

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Writer of {self.path!r}, closed>'
        return f'<loaderx.Writer of {self.path!r}, {len(self)} records>'

    def __reduce__(self) -> str:
        raise TypeError('a loaderx.Writer cannot be pickled: only one process can write at a time')

    def __del__(self) -> None:
        if self.closed:
            return
        warnings.warn(f'{self!r} was not closed', ResourceWarning, source=self)
        try:
            self.close()
        except LoaderxError as error:
            if error.status != 'LX_ERR_FORKED':    # the parent process closes the writer
                raise


def _shape_after(before: Field, dtype: Any, shape: Any) -> Any:
    """Return the shape of a field after a conversion."""
    if shape is not None:
        return shape
    if type_name(dtype) in BYTE_STRINGS:
        return ()
    if before._type in BYTE_STRINGS:
        raise ValueError(f'shape must be given, because the values of {before!r} are no arrays')
    return before.shape
