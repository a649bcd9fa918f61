# SPDX-License-Identifier: MIT
"""Datasets that are open for reading."""

from __future__ import annotations

import html
import os
from types import MappingProxyType
from typing import (Any, Callable, Dict, Iterable, Iterator, KeysView, List, Literal, Mapping,
                    Optional, Sequence, Union, overload)

from .. import _core
from .._check import boolean
from .._elsewhere import Credentials, Size
from .._missing import read_filled
from .._paths import absolute
from .._progress import Progress, reporting
from ..errors import CorruptError
from ..executor import Executor
from ..field import Field
from .arrow import ArrowRecords
from .column import Column, Views, selects_several
from .difference import describe_difference
from .preview import preview
from .records import Concatenable, has_field
from .stored import Stored
from .where import Condition, find_records

Path = Union[str, bytes, 'os.PathLike[Any]']
Verify = Literal['first', 'always', 'never']
OnDamage = Literal['raise', 'zeros']
Access = Literal['auto', 'mmap', 'pread']

# The maximum number of findings in a report; more could exhaust memory.
_MAX_DAMAGES = 100_000


class Dataset(Stored, _core.Dataset):
    """A dataset that is open for reading.

    >>> with create('numbers', {'x': Field('int32', (2,))}) as writer:
    ...     first = writer.extend({'x': np.arange(6, dtype=np.int32).reshape(3, 2)})
    >>> ds = Dataset('numbers')
    >>> len(ds), ds[1]
    (3, {'x': array([2, 3], dtype=int32)})

    The dataset shows the snapshot of the last commit made before it was opened; `refresh` advances
    to the newest snapshot. All methods are thread-safe. Each call reads all fields from one
    snapshot.

    A dataset is both a sequence of records and a mapping of names to columns. ``ds[5]`` is a
    record, as a dict of values by field name. ``ds[:2]``, ``ds[[0, 1]]`` and ``ds[mask]`` are
    several records, as the dict of arrays that `gather` returns. A torch tensor selects the same
    records as an array with the same values. ``ds['data']`` is a `Column`. Iteration yields
    records, but ``dict(ds)`` contains the columns by name, and ``'data' in ds`` tests whether there
    is a field of that name. Testing for a key that is not a str raises a TypeError, because records
    are not searched. Notebooks show a table of the first five records, with small images, also of
    image files if libloaderx has images; values of more than 4 KiB, or images of more than 256 KiB,
    are not read for this table.

    The dataset shows the fields that existed when it was opened, under their names at that time.
    Fields added later are not visible. Once one of its fields has been dropped, the dataset can no
    longer advance to a newer snapshot, and `refresh` raises an error: open the dataset again.

    A dataset works with torch's DataLoader. After ``fork()``, the child can continue to read the
    same snapshot. Unpickling opens the newest snapshot of the dataset, without the executor; it
    raises LoaderxError if the path now contains a different dataset, different fields, or fewer
    records. A pickle of a dataset at a URL has the whole URL, with its query, which may be secret.

    Parameters
    ----------
    path : path-like
        The dataset directory; or the URL of a sealed remote dataset, such as
        ``s3://bucket/train``, ``https://host/train`` or ``file:///nfs/train``.
    verify : {'first', 'always', 'never'}, optional
        When the checksums of uncompressed values are verified; by default, when a value is first
        read. The checksums of compressed values are always verified.
    durable : bool, optional
        Whether to show only commits that survive a power loss.
    live : bool, optional
        Whether each call reads the newest snapshot. To read one snapshot in several calls, use
        `pin`. A `Loader` over a live dataset reads each batch from the newest snapshot.
    on_damage : {'raise', 'zeros'}, optional
        What to do if a value is damaged: 'raise' raises CorruptError; with 'zeros', arrays of
        several values contain zeros for it, and otherwise the value is treated as missing. In both
        cases, `damaged` counts the value.
    access : {'auto', 'mmap', 'pread'}, optional
        How files are accessed. 'mmap' is the fastest for values in memory, but SIGBUS kills this
        process if another process truncates a file or if a disk sector is bad. 'pread' raises
        CorruptError or OSError in these cases, but `views` returns copies. 'auto', the default,
        selects 'mmap' on local file systems, but requests values that are not in memory from the
        disk all at once, and reads them with pread. It selects 'pread' on network file systems,
        where only sealed datasets can be read.
    executor : Executor, optional
        The threads that run `verify`. By default, `verify` uses one thread per CPU.
    length : int, optional
        The number of records to show: the first `length` records, even if more are appended; by
        default, all records. To continue a run with the same samples after records have been
        appended, pass the length that the dataset had when the state was saved. `stat`, `verify`
        and `backup` process the whole dataset.
    cache : path-like, optional
        For a remote dataset: a directory on a local disk that keeps what was fetched,
        for all processes of this user. It is created if it does not exist. What it has admitted
        stays as long as the dataset is in use; once it is full, the rest passes through memory.
        This option, and each of the next four, also makes a directory be read like a remote dataset,
        for example one on a network file system.
    limit : int or str, optional
        The most bytes in the cache, of all datasets, as a number or a size such as '500GiB'; by
        default, only the space on the disk limits it.
    memory : int or str, optional
        The number of bytes of memory for what the cache does not hold, at least '16MiB'; the
        default is '1GiB'.
    connections : int, optional
        The maximum number of requests at a time, from 1 to 256; the default suits the kind of URL.
    patience : float, optional
        How long a read keeps trying while the server or the network is not available, in seconds;
        the default is 1800. After that, it raises OSError, which `on_damage` does not affect, and a
        loader stays before the batch. With 0, it fails at the first problem.
    tier : sequence of str, optional
        The nodes of a tier, such as ``['http://node1:8080', 'http://node2:8080']``: nginx on the
        hosts of a job, which keeps what any host has read over ``s3://``, ``https://`` or
        ``http://``, so that it comes from the server once for all hosts. All hosts must have the
        same URLs, in any order. A node that fails is passed over for a while, and what was damaged
        is fetched past it. Requests to nodes are not encrypted, and a node sends what it has to
        anyone. The document remote.md has the configuration of nginx.
    endpoint : str, optional
        The server of an ``s3://`` URL that is not AWS, such as 'https://storage.googleapis.com' or
        'http://127.0.0.1:9000'; by default, what the environment variables or the profile of AWS
        say.
    region : str, optional
        The region of an ``s3://`` URL; by default, what the environment or the profile of AWS says,
        or 'us-east-1'.
    anonymous : bool, optional
        Whether to send requests to ``s3://`` without credentials, for public buckets.
    credentials : callable, optional
        A function that returns the credentials for ``s3://``, ``https://`` or ``http://``: a
        mapping, or an object with attributes, of `access_key` and `secret_key`, `token` (for HTTP
        the only one: it is sent as a bearer token) and `expires` (seconds since 1970, or a datetime
        with a time zone). Any thread may call it: before the first request, 5 minutes before they
        expire, and if the server refuses them. An exception in it ends the read. By default, those
        for ``s3://`` come from the environment, the profile, or the metadata service of AWS, and
        HTTP sends none. They are not pickled, but the function is: a dataset with a lambda, for
        example, cannot be sent to a process that was spawned.

    Examples
    --------
    >>> ds[:2]
    {'x': array([[0, 1],
           [2, 3]], dtype=int32)}
    >>> list(dict(ds)), 'x' in ds
    (['x'], True)
    >>> ds['x'][[2, 0]].tolist()
    [[4, 5], [0, 1]]
    >>> len(Dataset('numbers', length=2))
    2
    >>> with create('train', {'x': Field('int64')}) as writer:
    ...     first = writer.extend(x=range(3))
    >>> with open('train', 'a') as writer:
    ...     writer.seal()
    >>> train = Dataset('train', cache='cache', limit='1GiB')
    >>> train['x'][:], train.remote_stats()['requests'] > 0
    (array([0, 1, 2]), True)
    """

    __slots__ = ('_fields', '_opened')

    _fields: Mapping[str, Field]

    def __init__(self, path: Path, *, verify: Verify = 'first', durable: bool = False,
                 live: bool = False, on_damage: OnDamage = 'raise',
                 access: Access = 'auto', executor: Optional[Executor] = None,
                 length: Optional[int] = None, cache: Optional[Path] = None,
                 limit: Optional[Size] = None, memory: Optional[Size] = None,
                 connections: Optional[int] = None, patience: Optional[float] = None,
                 tier: Optional[Sequence[str]] = None, endpoint: Optional[str] = None,
                 region: Optional[str] = None, anonymous: bool = False,
                 credentials: Optional[Credentials] = None) -> None:
        self._fields = MappingProxyType(Field._from_descriptions(self._describe()))
        self._opened = absolute(path), {
            'verify': verify, 'durable': durable, 'live': live, 'on_damage': on_damage,
            'access': access, 'length': length,
            'cache': None if cache is None else absolute(cache), 'limit': limit, 'memory': memory,
            'connections': connections, 'patience': patience, 'tier': tier,
            'endpoint': endpoint, 'region': region, 'anonymous': anonymous,
            'credentials': credentials}

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in the dataset's order."""
        return self._fields

    @property
    def card(self) -> Mapping[str, str]:
        """The card: texts about the dataset, by key, as a read-only dict.

        It stays with the dataset when the dataset is copied, backed up, sealed or changed. By
        convention, the keys are 'source' (where the data came from), 'license' (an SPDX
        identifier, if there is one), 'tokenizer' and 'description'. A card has at most 64 entries
        and 65,536 bytes. Set it with `create` or `Writer.set_card`.

        Examples
        --------
        >>> create('notes', {'x': Field('int64')}, card={'license': 'MIT'}).close()
        >>> open('notes').card['license']
        'MIT'
        """
        return MappingProxyType(self._card())

    @property
    def uuid(self) -> str:
        """The UUID of the dataset, which is the same for all of its snapshots."""
        return str(self.identity['uuid'])

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: Any) -> Dict[str, Any]: ...

    def __getitem__(self, key: Any) -> Union[Column, Dict[str, Any]]:
        if isinstance(key, str):
            field = self._fields.get(key)
            if field is None:
                raise KeyError(f'field {key!r} not found: the fields are {list(self._fields)}')
            return Column(self, key, field)
        return self.gather(key) if selects_several(key) else self._record(key)

    def __contains__(self, key: object) -> bool:
        return has_field(self, self._fields, key)

    def keys(self) -> KeysView[str]:
        """Return the names of the fields, in the dataset's order."""
        return self._fields.keys()

    def _ipython_key_completions_(self) -> List[str]:
        return list(self._fields)

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Return several records at once, for torch's DataLoader."""
        return self._read_together(indices)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        state = self.pin() if self.live else self
        for index in range(len(state)):
            yield state._record(index)

    def gather(self, indices: Any, fields: Optional[Iterable[str]] = None,
               out: Optional[Dict[str, Any]] = None, *, missing: Any = 'raise'
               ) -> Dict[str, Any]:
        """Read records, in the order of the indices.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            The records. Negative indices count from the end; an index may occur more than once.
        fields : sequence of str, optional
            The fields to read; by default, the fields of `out`, or all fields without `out`.
        out : dict of str to writable buffer, optional
            For dense fields, buffers to fill and return in place of new arrays. A buffer must be
            C-contiguous, and have the dtype and shape of the array that it replaces.
        missing : {'raise', 'zeros', 'mask'}, number, array or dict
            What stands for missing values in arrays, as for a `Loader`. 'raise', the default: a
            missing value is an error. 'zeros': zeros stand for them, and nothing marks them.
            'mask': the arrays are masked arrays of NumPy, whose masks hide them. A number or an
            array replaces them. A dict maps the names of dense fields to one of these choices; for
            fields that it does not contain, 'raise' applies.

        Returns
        -------
        dict
            For each dense field, an array of shape ``(len(indices), *shape)``; for each field whose
            values vary in length, a list, with None for missing values.

        Raises
        ------
        ValueError
            A value is missing, and `missing` is 'raise'. The error names the field and the record.

        Examples
        --------
        >>> with create('people', {'age': Field('int64'), 'score': Field('float64')}) as writer:
        ...     first = writer.extend(age=[31, None, 47], score=[0.5, 1.5, None])
        >>> ds = open('people')
        >>> ds.gather([2, 1], missing={'age': -1, 'score': np.nan})
        {'age': array([47, -1]), 'score': array([nan, 1.5])}
        >>> ds.gather(slice(None), ['score'], missing='mask')['score'].mean().item()
        1.0
        """
        if isinstance(fields, Iterator):
            fields = tuple(fields)    # the names are used more than once
        return read_filled(lambda lacking: self._gather(indices, fields, out, lacking), missing,
                           self, out if fields is None else fields)

    def pin(self) -> Dataset:
        """Return a second Dataset for the current snapshot.

        If this Dataset is live, the second Dataset reads the newest snapshot. The two datasets
        share all large objects, so the call is fast.

        Returns
        -------
        Dataset
            A dataset that is not live, and reads this snapshot until it is refreshed.
        """
        pinned: Dataset = self._pin()
        pinned._fields = self._fields
        pinned._opened = self._opened[0], {**self._opened[1], 'live': False}
        return pinned

    def where(self, condition: Condition) -> Any:
        """Return the records that meet a condition as a dataset, which a `Loader` can read.

        The condition is evaluated once. The result stores the indices of its records: it uses 12
        bytes of memory for each of them (16 if an index is 2**32 or more), and reads this snapshot,
        even if the dataset is refreshed or live.

        Parameters
        ----------
        condition : callable or array of bool
            A mask of all records; or a function that is called with the columns of up to 1024
            adjacent records, a mapping of names to arrays (lists if values vary in length), and
            returns a mask of these records. Only the fields that it looks up are read.

        Returns
        -------
        SubsetDataset
            The records, in their order in this dataset.

        Raises
        ------
        ValueError
            The mask has the wrong length; or the function looks up a field whose value is missing
            in a record: pass a mask, which says whether to select such records.

        Examples
        --------
        >>> with create('digits', {'label': Field('int64')}) as writer:
        ...     first = writer.extend(label=[7, 3, 7, 1])
        >>> ds = open('digits')
        >>> sevens = ds.where(lambda columns: columns['label'] == 7)
        >>> len(sevens), sevens.gather([0, 1])
        (2, {'label': array([7, 7])})
        >>> len(ds.where(ds['label'][:] > 1))
        3
        """
        state = self.pin()    # later refreshes must not change what the indices mean
        return Concatenable._select(state, find_records(state, condition))

    def views(self, indices: Any, fields: Optional[Iterable[str]] = None) -> Views:
        """Return views of records without copying them, for use in a with-block.

        Parameters
        ----------
        indices : sequence of int, slice or mask
            The records.
        fields : sequence of str, optional
            The fields; by default, all fields. Compressed values cannot be viewed.

        Returns
        -------
        Views
            A dict of lists.
        """
        return Views(self._views(indices, fields))

    def to_arrow(self, indices: Any = None, fields: Optional[Iterable[str]] = None) -> ArrowRecords:
        """Return records for a library that reads Arrow tables, such as pyarrow, polars or DuckDB.

        Parameters
        ----------
        indices : sequence of int, slice or mask, optional
            The records; by default, all records.
        fields : sequence of str, optional
            The fields; by default, all fields. Arrow has no type for complex numbers, bfloat16 and
            float8, so fields of these types raise an error.

        Returns
        -------
        ArrowRecords
            An object to pass to the library, which reads this snapshot in batches, each when it is
            needed. Missing values are nulls.

        Examples
        --------
        >>> with create('squares', {'x': Field('int64'), 'text': Field(bytes)}) as writer:
        ...     first = writer.extend(x=[1, 4], text=[b'one', None])
        >>> import pyarrow                                    # doctest: +SKIP
        >>> pyarrow.table(open('squares').to_arrow())         # doctest: +SKIP
        """
        return ArrowRecords(self.pin(), indices, fields)

    def verify(self, damaged: Optional[Callable[[CorruptError], object]] = None,
               progress: Progress = True) -> Dict[str, Any]:
        """Read everything and verify all checksums, on the threads of the executor.

        Parameters
        ----------
        damaged : callable, optional
            Called with a CorruptError for each damaged value or file.
        progress : bool or callable, optional
            True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
            passed, it is called periodically with the number of records processed so far and the
            total; if it raises an exception, the operation ends.

        Returns
        -------
        dict
            The numbers of ``records``, ``values`` and ``bytes`` that were read;
            ``not_images``, the number of values in image fields that are intact but begin as no
            image file, which writers before 1.0.0 stored (``loaderx verify`` lists them); and
            ``leftover_bytes``, as `stat` has it.

        Raises
        ------
        CorruptError
            The error of the first damaged value or file, raised after everything has been read. Its
            ``report`` attribute is the dict above, with ``damage_count``, the number of findings,
            and ``damages``, a list with a dict for each of the first 100,000 findings. Each dict
            contains field, record, path, offset and message.
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

    def digest(self, progress: Progress = True) -> str:
        """Compute a digest of the contents, as 16 hexadecimal digits.

        Datasets with the same fields (names, dtypes and shapes) and the same values, in the same
        order, have the same digest, however they are stored; the card is not included. The digest
        detects accidents, not attacks: it is easy to make another dataset with the same digest on
        purpose. All values are read and verified, on the threads of the executor.

        Parameters
        ----------
        progress : bool or callable, optional
            See `verify`.

        Raises
        ------
        CorruptError
            A value is damaged.

        Examples
        --------
        >>> with create('a', {'x': Field('int64')}) as writer:
        ...     first = writer.extend(x=range(10))
        >>> copy('a', 'b', chunk_records=3)
        >>> open('a').digest() == open('b').digest()
        True
        """
        with reporting(progress, 'digest') as report_progress:
            return f'{self._digest(report_progress):016x}'

    def diff(self, other: Dataset, progress: Progress = True) -> Dict[str, Any]:
        """Compare this dataset with another one: fields, lengths, values and cards.

        How values are stored makes no difference. Values are compared as bytes, for each field that
        both datasets have with the same dtype and shape, in the records that both have; a missing
        value differs from every value that is present. All values of these fields are read and
        verified, on the threads of the executor.

        Parameters
        ----------
        other : Dataset
            The other dataset.
        progress : bool or callable, optional
            See `verify`.

        Returns
        -------
        dict
            ``same`` (whether nothing differs), ``lengths`` (of both), ``same_order`` (whether the
            fields that both have are in the same order), ``fields`` and ``card``. ``fields`` has a
            dict for each name of a field: ``a`` and ``b`` (the `Field` of this dataset and of
            `other`, or None), ``records`` (the number of records with different values; None if
            the values were not compared) and ``first`` (the first of these records, at most 8).
            ``card`` has the pair of texts of each entry that differs, None for an absent one.

        Raises
        ------
        CorruptError
            A value is damaged.

        Examples
        --------
        >>> for path, numbers in ('old', [1, 2, 3]), ('new', [1, 5, 3]):
        ...     with create(path, {'x': Field('int64')}) as writer:
        ...         first = writer.extend(x=numbers)
        >>> difference = open('old').diff(open('new'))
        >>> difference['same'], difference['fields']['x']['first']
        (False, [1])
        """
        if not isinstance(other, Dataset):
            raise TypeError(f'other must be a Dataset, not {type(other).__name__}')
        a, b = (each.pin() if each.live else each for each in (self, other))
        return describe_difference(a, b, lambda pairs, report: a._diff(b, pairs, report), progress)

    def backup(self, path: Path, progress: Progress = True) -> None:
        """Copy the current snapshot to another directory; writers can continue in the meantime.

        The copy is durable when this method returns. It has the same uuid as the original: write to
        only one of the two datasets. Records are not verified.

        Parameters
        ----------
        path : path-like
            The directory to create. It may already exist if it is empty.
        progress : bool or callable, optional
            See `verify`. The function receives numbers of bytes instead of records.

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
            The .npy file, which replaces an existing file once it is complete; or the directory for
            the files, which is created if it does not exist.
        indices : sequence of int, slice or mask, optional
            The records; by default, all records.
        files : bool, optional
            Whether to write each record to its own file, whose name is the index with at least
            eight digits. The default is True for fields whose values vary in length, which cannot
            form an array, and False for other fields.
        suffix : str, optional
            The suffix of the file names, for example ``'.jpg'``.
        progress : bool or callable, optional
            See `verify`.

        Returns
        -------
        dict
            The numbers of ``records`` read, ``bytes`` written, and ``missing`` values. In an array,
            a missing value is written as zeros; if each record is written to its own file, no file
            is written for a missing value. With ``on_damage='zeros'``, damaged values are treated
            in the same way and counted as ``damaged``.

        Raises
        ------
        FileExistsError
            The file for a record already exists. Files written before the error remain.
        """
        kind = self[field].field if isinstance(field, str) else None
        if kind is None:
            raise TypeError(f'field must be a str, not {type(field).__name__}')
        if not isinstance(suffix, str):
            raise TypeError(f'suffix must be a str, not {type(suffix).__name__}')
        files = kind.varies if files is None else boolean('files', files)
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

    def _repr_html_(self) -> str:
        if self.closed:
            return f'<code>{html.escape(repr(self))}</code>'
        return preview(self.pin(), self._fields)

    def __repr__(self) -> str:
        if self.closed:
            return f'<loaderx.Dataset {self.path!r}, closed>'
        return f'<loaderx.Dataset {self.path!r}: {len(self)} records of {dict(self._fields)}>'
