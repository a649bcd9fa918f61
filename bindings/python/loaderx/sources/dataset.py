# SPDX-License-Identifier: MIT
"""Datasets that are open for reading."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional,
                    Sequence, Union, overload)

from .. import _core
from .._check import boolean
from .._progress import Progress, reporting
from ..errors import CorruptError
from ..executor import Executor
from ..field import Field
from .column import Column, Views
from .stored import Stored

Path = Union[str, bytes, 'os.PathLike[Any]']
Verify = Literal['first', 'always', 'never']
OnDamage = Literal['raise', 'zeros']
Access = Literal['auto', 'mmap', 'pread']

# Maximum number of damages in a report: more could exhaust the memory.
_MAX_DAMAGES = 100_000


class Dataset(Stored, _core.Dataset):
    """A dataset that is open for reading, in the snapshot of the last commit before it was opened.

    ``ds[5]`` is a record, a dict by field; ``ds['data']`` is a `Column`. All methods are
    thread-safe. Each call reads all fields from one snapshot. `refresh` advances to the newest
    snapshot.

    The dataset has the fields that existed when it was opened, under the names of that time. Fields
    added later are not visible. After one of its fields is dropped, the snapshot can no longer
    advance, and `refresh` raises an error: open the dataset again.

    It works with torch's DataLoader. A child of ``fork()`` continues to read the same snapshot.
    Unpickling opens the dataset again, without the executor, in its newest snapshot; it raises
    LoaderxError if the path has another dataset, other fields, or fewer records.

    Parameters
    ----------
    path : path-like
        The directory of the dataset.
    verify : {'first', 'always', 'never'}, optional
        When the checksums of raw records are verified: by default at the first read. Those of
        compressed records are always verified.
    durable : bool, optional
        Whether to show only commits that survive a power loss.
    live : bool, optional
        Whether each call reads the newest snapshot. `pin` returns one snapshot for several calls. A
        `Loader` reads each batch from the newest snapshot.
    on_damage : {'raise', 'zeros'}, optional
        The action for a damaged value: 'raise' raises CorruptError, 'zeros' reads the value as
        missing. `damaged` counts both.
    access : {'auto', 'mmap', 'pread'}, optional
        The access mode of files. 'mmap' is fastest, but if another process truncates a file, or a
        sector is bad, this process ends by SIGBUS. 'pread' raises CorruptError or OSError in that
        case, and `views` are copies. 'auto', the default, is 'mmap' on local file systems and
        'pread' on network file systems, where only sealed datasets can be read.
    executor : Executor, optional
        The threads for `verify`, by default one for each CPU, and for unmapping and closing files
        after their last use; by default the thread that releases the last array does that.

    Examples
    --------
    >>> with create('numbers', {'x': Field('int32', (2,))}) as writer:
    ...     first = writer.extend({'x': np.arange(6, dtype=np.int32).reshape(3, 2)})
    >>> ds = Dataset('numbers')
    >>> len(ds), ds[1]
    (3, {'x': array([2, 3], dtype=int32)})
    >>> ds['x'][[2, 0]].tolist()
    [[4, 5], [0, 1]]
    """

    __slots__ = ('_fields', '_opened')

    _fields: Mapping[str, Field]

    def __init__(self, path: Path, *, verify: Verify = 'first', durable: bool = False,
                 live: bool = False, on_damage: OnDamage = 'raise',
                 access: Access = 'auto', executor: Optional[Executor] = None) -> None:
        self._fields = MappingProxyType({name: Field(dtype, shape, compress)
                                         for name, dtype, shape, compress in self._describe()})
        self._opened = os.path.abspath(os.fsdecode(path)), {
            'verify': verify, 'durable': durable, 'live': live, 'on_damage': on_damage,
            'access': access}

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the dataset's order."""
        return self._fields

    @property
    def uuid(self) -> str:
        """The identity of the dataset, the same for all of its snapshots."""
        return str(self.identity['uuid'])

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: int) -> Dict[str, Any]: ...

    def __getitem__(self, key: Union[str, int]) -> Union[Column, Dict[str, Any]]:
        if not isinstance(key, str):
            return self._record(key)
        field = self._fields.get(key)
        if field is None:
            raise KeyError(f'field {key!r} not found: the fields are {list(self._fields)}')
        return Column(self, key, field)

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Return several records at once, for torch's DataLoader."""
        return self._read_together(indices)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        state = self.pin() if self.live else self
        for index in range(len(state)):
            yield state._record(index)

    def pin(self) -> Dataset:
        """Open the current snapshot, or the newest one of a live dataset, once more.

        Both datasets share everything large, so this is fast.

        Returns
        -------
        Dataset
            A dataset that reads this snapshot until it is refreshed; it is not live.
        """
        pinned: Dataset = self._pin()
        pinned._fields = self._fields
        pinned._opened = self._opened[0], {**self._opened[1], 'live': False}
        return pinned

    def views(self, indices: Any, fields: Optional[Iterable[str]] = None) -> Views:
        """Return views of records, without a copy, for use in a with-block.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            The records.
        fields : sequence of str, optional
            The fields; by default all. Compressed records have no views.

        Returns
        -------
        Views
            A dict of lists.
        """
        return Views(self._views(indices, fields))

    def verify(self, damaged: Optional[Callable[[CorruptError], object]] = None,
               progress: Progress = True) -> Dict[str, Any]:
        """Read everything and verify all checksums, on the threads of the executor.

        Parameters
        ----------
        damaged : callable, optional
            Called with a CorruptError for each damaged value.
        progress : bool or callable, optional
            True shows a bar if stderr is a terminal and tqdm is installed. A function is called
            from time to time with the records done and their total; an exception ends the
            operation.

        Returns
        -------
        dict
            The numbers of ``records``, ``values`` and ``bytes`` that were read.

        Raises
        ------
        CorruptError
            The first damage, raised after everything was read. Its attribute ``report`` is the dict
            above with ``damage_count`` and ``damages``: a dict for each of the first 100,000, with
            field, record, path, offset and message.
        """
        damages: List[Dict[str, Any]] = []
        if damaged is not None and not callable(damaged):
            raise TypeError(f'damaged must be callable or None, not {type(damaged).__name__}')

        def collect(error: CorruptError) -> None:
            if len(damages) < _MAX_DAMAGES:
                damages.append(error._as_dict())
            if damaged is not None:
                damaged(error)

        with reporting(progress, 'verify') as report_progress:
            report, first = self._verify(collect, report_progress)
        report['damages'] = damages
        if first is not None:
            first.report = report
            raise first
        return report

    def backup(self, path: Path, progress: Progress = True) -> None:
        """Copy the current snapshot to another directory; writers can continue meanwhile.

        The copy is durable when this returns, and has the same uuid: write to only one of the two.
        Records are not verified.

        Parameters
        ----------
        path : path-like
            The directory to create; it may exist if it is empty.
        progress : bool or callable, optional
            As for `verify`, in bytes.

        Raises
        ------
        FileExistsError
            `path` exists and is not an empty directory.
        """
        with reporting(progress, 'backup', 'B') as report_progress:
            self._backup(path, report_progress)

    def export(self, field: str, path: Path, *, indices: Any = None, files: Optional[bool] = None,
               suffix: str = '', progress: Progress = True) -> Dict[str, int]:
        """Write a field to an .npy file, or each record to its own file.

        Parameters
        ----------
        field : str
            The name of the field.
        path : path-like
            The .npy file, which replaces an existing one when it is complete; or the directory,
            which is created if needed.
        indices : sequence of int, slice or mask, optional
            The records; by default all.
        files : bool, optional
            Whether to write each record to its own file, named by its index with at least eight
            digits. The default is True only for fields of bytes, which cannot form an array.
        suffix : str, optional
            The suffix of the names of these files, for example ``'.jpg'``.
        progress : bool or callable, optional
            As for `verify`.

        Returns
        -------
        dict
            The numbers of ``records`` read, of ``bytes`` written, and of ``missing`` records, which
            are zeros in an array and have no file. With ``on_damage='zeros'``, ``damaged`` records
            are treated in the same way.

        Raises
        ------
        FileExistsError
            A file with the name of a record exists. Files written before the error remain.
        """
        kind = self[field].field if isinstance(field, str) else None
        if kind is None:
            raise TypeError(f'field must be a str, not {type(field).__name__}')
        if not isinstance(suffix, str):
            raise TypeError(f'suffix must be a str, not {type(suffix).__name__}')
        files = kind.dtype is bytes if files is None else boolean('files', files)
        if suffix and not files:
            raise ValueError('suffix requires files=True')
        if files and isinstance(path, (str, os.PathLike)) and os.fspath(path)[-4:] == '.npy':
            raise ValueError('path must be a directory, not an .npy file: each record of field '
                             f'{field!r} is written to its own file')
        with reporting(progress, f'export {field}') as report_progress:
            return self._export(field, path, indices, suffix if files else None, report_progress)

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Dataset {self.path!r}, closed>'
        return f'<loaderx.Dataset {self.path!r}: {len(self)} records of {dict(self._fields)}>'
