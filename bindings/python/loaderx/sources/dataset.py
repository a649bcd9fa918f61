# SPDX-License-Identifier: MIT
"""Reading of datasets."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional,
                    Sequence, Union, overload)

from .. import _core
from .._check import boolean
from .._progress import Progress, telling
from ..errors import CorruptError
from ..executor import Executor
from ..field import Field
from .column import Column, Views
from .stored import Stored

Path = Union[str, bytes, 'os.PathLike[Any]']
Verify = Literal['first', 'always', 'never']
OnDamage = Literal['raise', 'zeros']
Access = Literal['auto', 'mmap', 'pread']

# Damages that a report lists; there may be more than memory holds.
_MOST_DAMAGES = 100_000


class Dataset(Stored, _core.Dataset):
    """A dataset that is read, in the state that was committed when it was opened or refreshed.

    ``ds[5]`` is a record, a dict by field; ``ds['data']`` is a `Column`. All methods may be called
    from any threads at once. Each call reads one state, all fields of it.

    It shows the fields that there were when it was opened, under the names that they had. Fields
    that are added are not shown; once one that is shown was dropped, the state stays what it is,
    and refreshing says to open the dataset again.

    It goes into torch's DataLoader. A child of ``fork()`` reads the same state on; where it is
    pickled, it is opened anew, without the executor, in the state that was committed last: a
    LoaderxError if there is another dataset, if its fields are others, or if it became shorter.

    Parameters
    ----------
    path : path-like
        The dataset's directory.
    verify : {'first', 'always', 'never'}, optional
        When the checksums of raw records are checked: at their first reading by default. Those of
        compressed ones are always.
    durable : bool, optional
        Whether only commits that survive a power loss are seen.
    live : bool, optional
        Whether each call shows what was committed last. Where several belong together, `pin` gives
        one state for them. A `Loader` reads each batch in the newest state.
    on_damage : {'raise', 'zeros'}, optional
        What is done about a value that is damaged: 'raise' raises CorruptError, 'zeros' reads it
        as if it were missing. `damaged` counts them in both cases.
    access : {'auto', 'mmap', 'pread'}, optional
        How files are read. 'mmap' is fastest, but truncation of a file by another process, or a
        bad sector, ends this process by SIGBUS. 'pread' raises CorruptError or OSError then, and
        copies what `views` shows. 'auto', the default, is 'mmap' on local file systems and
        'pread' on network ones, where only sealed datasets can be read.
    executor : Executor, optional
        Whose readers work for `verify`, by default one for each CPU. Whose cleaners unmap and close
        the files, once nothing needs them; by default it is done by the thread that lets go of the
        last array that did.
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
        """What tells this dataset from all others, whatever its state."""
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
            raise KeyError(f'there is no field {key!r}; there are {list(self._fields)}')
        return Column(self, key, field)

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Several records at a time, as torch's DataLoader asks for them."""
        return self._read_together(indices)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        state = self.pin() if self.live else self
        for index in range(len(state)):
            yield state._record(index)

    def pin(self) -> Dataset:
        """Open the state that is shown now, or the newest one of a live dataset, once more.

        It costs next to nothing: all that is large is shared.

        Returns
        -------
        Dataset
            It stays in that state until it is refreshed, whatever becomes of this one. It is not
            live.
        """
        pinned: Dataset = self._pin()
        pinned._fields = self._fields
        pinned._opened = self._opened[0], {**self._opened[1], 'live': False}
        return pinned

    def views(self, indices: Any, fields: Optional[Iterable[str]] = None) -> Views:
        """Show records where they lie, without a copy, for use in a with-block.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            Which records.
        fields : sequence of str, optional
            Which fields; all of them by default. Records that are stored compressed cannot be
            shown.

        Returns
        -------
        Views
            A dict of lists.
        """
        return Views(self._views(indices, fields))

    def verify(self, damaged: Optional[Callable[[CorruptError], object]] = None,
               progress: Progress = True) -> Dict[str, Any]:
        """Read everything and check every checksum, on the threads of the executor.

        Parameters
        ----------
        damaged : callable, optional
            Called with a CorruptError for each damage, as it is found.
        progress : bool or callable, optional
            True shows a bar where stderr is a terminal and tqdm is installed. A function is called
            with the records done, and all, now and then; what it raises ends the job.

        Returns
        -------
        dict
            ``records``, ``values`` and ``bytes`` that were looked at.

        Raises
        ------
        CorruptError
            The first damage, after all else was looked at. Its attribute ``report`` is what would
            have been returned, with ``damage_count``, and ``damages``: a dict for each (the first
            100,000) with field, record, path, offset and message.
        """
        damages: List[Dict[str, Any]] = []
        if damaged is not None and not callable(damaged):
            raise TypeError(f'damaged must be callable or None, not {type(damaged).__name__}')

        def collect(error: CorruptError) -> None:
            if len(damages) < _MOST_DAMAGES:
                damages.append(error._locate())
            if damaged is not None:
                damaged(error)

        with telling(progress, 'verify') as told:
            report, first = self._verify(collect, told)
        report['damages'] = damages
        if first is not None:
            first.report = report
            raise first
        return report

    def backup(self, path: Path, progress: Progress = True) -> None:
        """Copy the state that is read to another directory, beside whoever writes.

        The copy is durable when this returns, and has the same uuid: only one of the two may be
        written to. Records are not verified.

        Parameters
        ----------
        path : path-like
            The directory to make. It may be there if it is empty.
        progress : bool or callable, optional
            As for `verify`, in bytes.

        Raises
        ------
        FileExistsError
            Something is in `path`.
        """
        with telling(progress, 'backup', 'B') as told:
            self._backup(path, told)

    def export(self, field: str, path: Path, *, indices: Any = None, files: Optional[bool] = None,
               suffix: str = '', progress: Progress = True) -> Dict[str, int]:
        """Write a field to an .npy file, or its records to a file each.

        Parameters
        ----------
        field : str
            The field.
        path : path-like
            The .npy file, which replaces one that is there when it is whole; or the directory, made
            if need be.
        indices : sequence of int, slice or mask, optional
            Which records; all of them by default.
        files : bool, optional
            Whether each record becomes a file, named by its index with eight digits at least. By
            default records of bytes do, which cannot be an array.
        suffix : str, optional
            How the names of these files end, ``'.jpg'`` for instance.
        progress : bool or callable, optional
            As for `verify`.

        Returns
        -------
        dict
            ``records`` that were looked at, ``bytes`` that were written, and records that are
            ``missing``: zeros in an array, and without a file; so are ``damaged`` ones, where the
            dataset was opened with ``on_damage='zeros'``.

        Raises
        ------
        FileExistsError
            A file of the name of a record is there. What was written before stays.
        """
        kind = self[field].field if isinstance(field, str) else None
        if kind is None:
            raise TypeError(f'field must be a str, not {type(field).__name__}')
        if not isinstance(suffix, str):
            raise TypeError(f'suffix must be a str, not {type(suffix).__name__}')
        files = kind.dtype is bytes if files is None else boolean('files', files)
        if suffix and not files:
            raise ValueError('suffix is for records that become files')
        if files and isinstance(path, (str, os.PathLike)) and os.fspath(path)[-4:] == '.npy':
            raise ValueError(f'path: records of field {field!r} become files in a folder, and no '
                             f'.npy file')
        with telling(progress, f'export {field}') as told:
            return self._export(field, path, indices, suffix if files else None, told)

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Dataset {self.path!r}, closed>'
        return f'<loaderx.Dataset {self.path!r}: {len(self)} records of {dict(self._fields)}>'
