# SPDX-License-Identifier: MIT
"""Datasets that many tasks write: each task writes a part, and the parts become one dataset.

`loaderx.ray`, `loaderx.spark` and `loaderx.dask` do this in jobs of these engines. For others, such
as job arrays, this module has the two halves: `PartWriter` and `publish`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, Mapping, NamedTuple, Optional, Type

from ._check import natural
from ._elsewhere import Credentials
from ._fixed import Fixed
from ._paths import absolute, check_target, is_url, shown
from ._tables import arrow_of
from .arrow import derive_fields
from .errors import LoaderxError
from .field import Field
from .joining import join
from .opening import creation
from .publishing import push
from .sources import Dataset
from .sources.dataset import Path
from .writer import Writer

__all__ = ['Part', 'PartJob', 'PartWriter', 'publish']


class Part(NamedTuple):
    """What a task has written; see `PartWriter.result`.

    Attributes
    ----------
    name : str or None
        The part's path below the URL of the dataset; None: the task wrote no records.
    length : int
        The number of records.
    order : int
        The place of the part among the others.
    """

    name: Optional[str]
    length: int
    order: int


class PartWriter(Fixed):
    """Writes the share of one task, for a dataset that many tasks write.

    In a with-block, the object writes a dataset in a local directory. At the end of the block, the
    dataset is sealed and pushed to ``<url>/part/<uuid>``. The local directory is removed in any
    case, unless the process is killed.

    A task can fail, run again, and run twice at the same time, because each attempt writes to
    another place. A part belongs to the dataset only once it was passed to `publish`: pass the
    result of one attempt of each task. `prune` later removes all other parts.

    Parameters
    ----------
    url : path-like
        The URL of the whole dataset, such as ``s3://bucket/train``; or its directory on a file
        system that all tasks share, such as NFS or Lustre.
    fields : dict of str to Field, optional
        All fields, by name, as for `create`. By default, those of the first table that is appended:
        of an Arrow table or a pandas DataFrame, those of `import_arrow`; of arrays, their dtypes
        and shapes. Pass them if the types may differ between tasks, for example because a column
        has only missing values in one of them.
    order : int
        The place of this part among the others, such as the number of the task.
    scratch : path-like, optional
        A directory on a local disk with room for the part. By default, the directory for temporary
        files, which the environment variable TMPDIR selects.
    level, chunk_records, chunk_bytes, card
        See `create`.
    connections, patience, endpoint, region, anonymous, credentials
        See `Dataset`. Engines pickle the function for credentials.

    Examples
    --------
    >>> def task(number):
    ...     with PartWriter('all', {'x': Field('int64')}, order=number) as part:
    ...         part.extend({'x': [10 * number, 10 * number + 1]})
    ...     return part.result
    >>> publish('all', [task(2), task(0), task(1)])
    6
    >>> open('all')['x'][:].tolist()
    [0, 1, 10, 11, 20, 21]
    """

    def __init__(self, url: Path, fields: Optional[Mapping[str, Field]] = None, *, order: int,
                 scratch: Optional[Path] = None, level: Optional[int] = None,
                 chunk_records: Optional[int] = None, chunk_bytes: Optional[int] = None,
                 card: Optional[Mapping[str, str]] = None, connections: Optional[int] = None,
                 patience: Optional[float] = None, endpoint: Optional[str] = None,
                 region: Optional[str] = None, anonymous: bool = False,
                 credentials: Optional[Credentials] = None) -> None:
        self._url = _url_of(url)
        self._order = natural('order', order)
        self._scratch = None if scratch is None else os.fsdecode(scratch)
        self._options: Dict[str, Any] = {
            'level': level, 'chunk_records': chunk_records, 'chunk_bytes': chunk_bytes,
            'card': card, 'durability': 'none'}    # a part that is lost is written again
        self._remote: Dict[str, Any] = {
            'connections': connections, 'patience': patience, 'endpoint': endpoint,
            'region': region, 'anonymous': anonymous, 'credentials': credentials}
        self._create = None if fields is None else self._creation(fields)
        self._folder: Optional[str] = None
        self._exit = contextlib.ExitStack()
        self._writer: Optional[Writer] = None
        self._result: Optional[Part] = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record, given by field. This requires `fields`."""
        if self._create is None:
            raise ValueError('fields must be given: a record does not tell the types of its values')
        self._open(self._create).append(dict(record))

    def extend(self, table: Any) -> None:
        """Append several records.

        Parameters
        ----------
        table : dict of arrays, list of dicts, DataFrame or Arrow table
            The records, as for `Writer.extend`. A list of dicts requires `fields`.
        """
        exported = None if isinstance(table, Mapping) else arrow_of(table)
        if self._create is None:
            self._create = self._creation(derive_fields(table, exported))
        writer = self._open(self._create)
        if exported is None:
            writer.extend(table)
        else:
            writer._extend_arrow(exported, None)

    @property
    def result(self) -> Part:
        """What was written, for `publish`: a tuple that can be pickled and saved as JSON.

        It is there after the with-block has ended without an exception.
        """
        if self._result is None:
            raise LoaderxError('the part has no result: its with-block did not end, or it failed')
        return self._result

    def __enter__(self) -> PartWriter:
        if self._folder is not None:
            raise LoaderxError('the part was written already: use a new PartWriter')
        self._folder = self._exit.enter_context(
            tempfile.TemporaryDirectory(prefix='loaderx-part-', dir=self._scratch))
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        with self._exit:    # which closes the writer and removes the folder
            if kind is None:
                self._result = self._push()

    def _creation(self, fields: Mapping[str, Field]) -> Callable[[Path], Writer]:
        create = creation(fields, **self._options)
        for name, field in fields.items():
            if field.dictionary is not None:
                raise ValueError(f'fields[{name!r}] must have no dictionary: each task would train '
                                 'another one, and such parts cannot be joined')
        return create

    def _open(self, create: Callable[[Path], Writer]) -> Writer:
        if self._writer is None:
            if self._folder is None:
                raise LoaderxError('the part is not open: append records in a with-block')
            self._writer = create(os.path.join(self._folder, 'part'))
            self._exit.callback(self._abandon, self._writer)
        return self._writer

    @staticmethod
    def _abandon(writer: Writer) -> None:
        with contextlib.suppress(Exception):    # so that the original error is raised
            if not writer.closed:
                writer.rollback()
                writer.close()

    def _push(self) -> Part:
        """Seal the dataset and push it, unless it has no records."""
        if self._writer is None:
            return Part(None, 0, self._order)
        length = len(self._writer)
        self._writer.seal()
        self._writer.close()
        if length == 0:
            return Part(None, 0, self._order)
        with Dataset(self._writer.path) as part:
            name = f'part/{part.uuid}'
        push(self._writer.path, f'{self._url}/{name}', progress=False, **self._remote)
        return Part(name, length, self._order)


def publish(url: Path, parts: Iterable[Part], **options: Any) -> int:
    """Make one dataset of parts that tasks wrote.

    Only tables are read and written: the values stay where they are. The dataset appears at `url`
    once it is complete.

    Parameters
    ----------
    url : path-like
        The URL or the directory that the tasks passed to `PartWriter`.
    parts : iterable of Part
        One `PartWriter.result` of each task, in any order. All have the same fields.
    **options
        `scratch`, `connections`, `patience`, `endpoint`, `region`, `anonymous` and `credentials`,
        as for `join`.

    Returns
    -------
    int
        The number of records.

    Raises
    ------
    FileExistsError
        Another dataset is at `url`.
    TypeError
        `parts` has anything but results, which may have been saved as JSON.
    ValueError
        Two parts have the same `order`, or no task wrote a record.
    """
    if isinstance(parts, Part):
        raise TypeError('parts must be a list of the results of PartWriters, not a single one')
    found = sorted(map(_part_of, parts), key=lambda part: part.order)
    for part, following in zip(found, found[1:]):
        if part.order == following.order:
            raise ValueError(f'{part.name} and {following.name} both have the order {part.order}: '
                             'pass the result of one attempt of each task')
    names = [part.name for part in found if part.name is not None]
    if not names:
        raise ValueError(f'{shown(url)}: no task wrote a record: nothing to publish')
    shared = _url_of(url)
    join(shared, [f'{shared}/{name}' for name in names], progress=False, **options)
    return sum(part.length for part in found)


def _part_of(part: Any) -> Part:
    if not isinstance(part, (tuple, list)) or len(part) != 3:
        raise TypeError('parts must be a list of PartWriter.result of each task, not of '
                        f'{type(part).__name__}')
    return Part(*part)


def _url_of(url: Path) -> str:
    """Return the URL of a directory; return a URL as it is. One that can only be read is refused."""
    text = absolute(url)
    check_target(text)
    return (text if is_url(text) else f'file://{text}').rstrip('/')


class PartJob(Fixed):
    """A job of an engine, whose tasks write parts; the engine pickles it.

    Parameters
    ----------
    url : path-like
        The URL of the dataset.
    options : dict
        Arguments of `PartWriter`, which are checked here, before any task runs.
    """

    url: str

    def __init__(self, url: Path, options: Mapping[str, Any]) -> None:
        self.url = _url_of(url)
        self._options = dict(options)
        self._remote = PartWriter(self.url, order=0, **options)._remote

    def check(self) -> None:
        """Raise FileExistsError now, and not after hours, if the job could not publish."""
        with contextlib.suppress(FileNotFoundError):
            Dataset(self.url, **self._remote).close()
            raise FileExistsError(errno.EEXIST, 'a dataset is there already: write to another URL',
                                  shown(self.url))

    def write(self, order: int, tables: Iterable[Any]) -> Part:
        """Write the tables of a task."""
        with PartWriter(self.url, order=order, **self._options) as part:
            for table in tables:
                part.extend(table)
        return part.result

    def publish(self, parts: Iterable[Part]) -> int:
        """Publish the parts of all tasks."""
        return publish(self.url, parts, **self._remote)
