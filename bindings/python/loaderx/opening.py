# SPDX-License-Identifier: MIT
"""Functions that create and open datasets."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import (Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union,
                    overload)

from . import _core
from ._check import boolean
from ._elsewhere import Credentials, Size
from ._import_state import MARK
from ._logging import log
from ._paths import is_url, shown
from ._replacement import replacing
from .sources import Dataset
from .sources.dataset import Access, OnDamage, Path, Verify
from .executor import Executor
from .field import Field
from .writer import Writer

Durability = Literal['full', 'periodic', 'none']


def create(path: Path, fields: Mapping[str, Field], *, durability: Optional[Durability] = None,
           level: Optional[int] = None, chunk_records: Optional[int] = None,
           chunk_bytes: Optional[int] = None, executor: Optional[Executor] = None,
           replace: bool = False, card: Optional[Mapping[str, str]] = None) -> Writer:
    """Create a dataset and open it for writing.

    >>> with create('squares', {'x': Field('int64')}) as writer:
    ...     first = writer.extend({'x': np.arange(5) ** 2})
    >>> open('squares')['x'][:].tolist()
    [0, 1, 4, 9, 16]

    Parameters
    ----------
    path : path-like
        The directory to create. It may already exist if it is empty, or if it contains only what an
        interrupted creation left behind.
    fields : dict of str to Field
        The fields, by name. There must be at least one field.
    durability : {'full', 'periodic', 'none'}, optional
        What a commit survives. 'full': a power loss, as soon as the call returns. 'periodic' (the
        default): kill -9 as soon as the call returns, and a power loss about a second later.
        'none': kill -9 as soon as the call returns, and a power loss only after `Writer.sync` or
        `Writer.close`.
    level : int, optional
        The compression level, from 1 (fastest) to 9 (smallest), of the fields whose `Field` does
        not set one. The default is 6 for 'flate' and 3 for 'zstd'.
    chunk_records, chunk_bytes : int, optional
        The maximum number of records and of bytes in a chunk file. The defaults are 1,048,576
        records and 1 GiB.
    executor : Executor, optional
        The executor whose threads write. By default, the writer creates its own threads.
    replace : bool, optional
        Whether to replace an existing dataset. It is removed once the new, still empty dataset has
        been created, so its records are lost even if writing the new records fails. Nothing is
        removed if the arguments are invalid, if the existing dataset is open, or if the directory
        contains anything that is not part of the dataset.
    card : dict of str to str, optional
        Texts about the dataset, such as its 'source' and its 'license'; see `Dataset.card`.

    Returns
    -------
    Writer
        The writer. Close it, or use it in a with-block, which is one transaction. An exception in
        the block undoes only the transaction: the empty dataset remains. To write to it, use
        ``open(path, 'a')``, or create it again with ``replace=True``.

    Raises
    ------
    FileExistsError
        `path` exists and is not an empty directory; with `replace`, it is not a dataset, or
        contains something that is not part of the dataset.
    BlockingIOError
        The dataset to replace is in use.

    Examples
    --------
    >>> create('squares', {'y': Field('float32')}, replace=True).close()
    >>> open('squares').fields, len(open('squares'))
    (mappingproxy({'y': Field('float32')}), 0)
    """
    make = creation(fields, durability=durability, level=level, chunk_records=chunk_records,
                    chunk_bytes=chunk_bytes, executor=executor, card=card)
    if not boolean('replace', replace) or not isinstance(path, (str, bytes, os.PathLike)):
        try:
            return make(path)    # which rejects a path of another type
        except FileExistsError as error:
            shown = os.fsdecode(path)
            if not os.path.lexists(os.path.join(shown, 'meta.json')):
                raise    # replace=True would not replace it, either
            raise FileExistsError(error.errno, f'{error.strerror}: pass replace=True to replace it',
                                  shown) from None
    target = os.path.realpath(os.fsdecode(path))
    if not os.path.lexists(os.path.join(target, 'meta.json')):
        return make(path)
    with replacing(target, os.fsdecode(path)) as made:
        make(made).close()
    return Writer(path, durability=durability, level=level, executor=executor)


def creation(fields: Mapping[str, Field], *, card: Optional[Mapping[str, str]] = None,
             **options: Any) -> Callable[[Path], Writer]:
    """Check the arguments of `create`; return a function that creates the dataset at a path.

    The returned function runs no Python code, so no signal handler can run before the Writer
    exists.
    """
    if not isinstance(fields, Mapping):
        raise TypeError(f'fields must be a dict of loaderx.Field, not {type(fields).__name__}')
    for name, field in fields.items():
        if not isinstance(name, str):
            raise TypeError(f'field names must be str, not {name!r}')
        if not isinstance(field, Field):
            raise TypeError(f'fields[{name!r}] must be a loaderx.Field, not {field!r}')
    if not fields:
        raise ValueError('fields must have at least one field')
    if card is not None and not isinstance(card, Mapping):
        raise TypeError(f'card must be a dict of str to str, not {type(card).__name__}')
    described = [field._describe(name) for name, field in fields.items()]
    return partial(Writer, fields=described, card=dict(card or {}), **options)


def fill_new(create: Callable[[Path], Writer], path: Path,
             fill: Callable[[Writer], None]) -> None:
    """Create a dataset and fill it; if this fails, remove the created dataset."""
    created: List[Writer] = []
    try:
        # With an assignment to a variable, a signal handler could run after the dataset is created
        # and before the assignment. No handler can run before extend() has added the writer to the
        # list. A dataset may be removed only if its writer is in the list: it was created here.
        created.extend(map(create, [path]))
        with created[0]:
            fill(created[0])
    except BaseException:
        for writer in created:
            with contextlib.suppress(Exception):    # so that the original error is raised
                if not writer.closed:
                    writer._finish(False)
            with contextlib.suppress(Exception):
                _core.Dataset._remove(path)
        raise


@overload
def open(path: Path, mode: Literal['r'] = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, live: Optional[bool] = None,
         on_damage: Optional[OnDamage] = None, access: Optional[Access] = None,
         executor: Optional[Executor] = None, length: Optional[int] = None,
         cache: Optional[Path] = None, limit: Optional[Size] = None,
         memory: Optional[Size] = None, connections: Optional[int] = None,
         patience: Optional[float] = None, tier: Optional[Sequence[str]] = None,
         endpoint: Optional[str] = None, region: Optional[str] = None,
         anonymous: Optional[bool] = None, credentials: Optional[Credentials] = None) -> Dataset: ...


@overload
def open(path: Path, mode: Literal['a', 'r+'], *, durability: Optional[Durability] = None,
         level: Optional[int] = None, executor: Optional[Executor] = None) -> Writer: ...


def open(path: Path, mode: str = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, live: Optional[bool] = None,
         on_damage: Optional[OnDamage] = None, access: Optional[Access] = None,
         durability: Optional[Durability] = None, level: Optional[int] = None,
         executor: Optional[Executor] = None, length: Optional[int] = None,
         cache: Optional[Path] = None, limit: Optional[Size] = None,
         memory: Optional[Size] = None, connections: Optional[int] = None,
         patience: Optional[float] = None, tier: Optional[Sequence[str]] = None,
         endpoint: Optional[str] = None, region: Optional[str] = None,
         anonymous: Optional[bool] = None, credentials: Optional[Credentials] = None) -> Union[Dataset, Writer]:
    """Open a dataset.

    >>> with create('cubes', {'x': Field('int64')}) as writer:
    ...     first = writer.extend(x=np.arange(4) ** 3)
    >>> with open('cubes', 'r+') as writer:
    ...     writer[0] = {'x': -1}
    >>> open('cubes')['x'][:]
    array([-1,  1,  8, 27])

    Parameters
    ----------
    path : path-like
        The dataset directory; or, for reading, the URL of a sealed remote dataset, such
        as ``s3://bucket/train``, ``https://host/train`` or ``file:///nfs/train``.
    mode : {'r', 'a', 'r+'}, optional
        'r' opens the dataset for reading, 'a' for appending only, and 'r+' for appending and
        changing records.
    verify : {'first', 'always', 'never'}, optional
        For reading: when checksums are verified; see `Dataset`.
    durable : bool, optional
        For reading: whether to show only commits that survive a power loss.
    live : bool, optional
        For reading: whether each call reads the newest snapshot.
    on_damage : {'raise', 'zeros'}, optional
        For reading: what to do if a value is damaged; see `Dataset`.
    access : {'auto', 'mmap', 'pread'}, optional
        For reading: how files are accessed; see `Dataset`.
    durability : {'full', 'periodic', 'none'}, optional
        For writing: what a commit survives; see `create`.
    level : int, optional
        For writing: the compression level; see `create`.
    executor : Executor, optional
        For writing: the executor whose threads write. For reading: see `Dataset`.
    length : int, optional
        For reading: the number of records to show; see `Dataset`.
    cache, limit, memory, connections, patience, tier : optional
        For reading a remote dataset; see `Dataset`.
    endpoint, region, anonymous, credentials : optional
        For reading from an object store; see `Dataset`.

    Returns
    -------
    Dataset or Writer
        A Dataset in mode 'r'; otherwise, a Writer.

    Raises
    ------
    FileNotFoundError
        `path` does not contain a dataset.
    BlockingIOError
        Another writer has the dataset open.
    CorruptError
        The dataset is damaged.
    OSError
        The server or the network is not available.
    """
    reading: Dict[str, Any] = {'verify': verify, 'durable': durable, 'live': live,
                               'on_damage': on_damage, 'access': access, 'length': length,
                               'cache': cache, 'limit': limit, 'memory': memory,
                               'connections': connections, 'patience': patience, 'tier': tier,
                               'endpoint': endpoint, 'region': region, 'anonymous': anonymous,
                               'credentials': credentials}
    writing = {'durability': durability, 'level': level}
    if mode == 'r':
        _reject(writing, "'a' and 'r+'")
        options = {name: value for name, value in reading.items() if value is not None}
        dataset = Dataset(path, executor=executor, **options)
        if MARK in dataset.card:
            log(f'{dataset.path}: an import into the dataset is not complete, so records may be '
                'missing', True)
        return dataset
    if mode in ('a', 'r+'):
        _reject(reading, "'r'")
        if isinstance(path, (str, bytes)) and is_url(path):
            raise ValueError(f'{shown(path)}: a remote dataset can only be read: '
                             "use mode 'r'")
        return Writer(path, durability=durability, level=level, executor=executor,
                      append_only=mode == 'a')
    kind = ValueError if isinstance(mode, str) else TypeError
    raise kind(f"mode must be 'r', 'a' or 'r+', not {mode!r}")


def _reject(options: Dict[str, Any], mode: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(f'{name} requires mode {mode}')
