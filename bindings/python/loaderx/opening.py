# SPDX-License-Identifier: MIT
"""The two functions that open datasets."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Literal, Mapping, Optional, Union, overload

from .sources import Dataset
from .sources.dataset import Access, OnDamage, Path, Verify
from .executor import Executor
from .field import Field
from .writer import Writer

Durability = Literal['full', 'periodic', 'none']


def create(path: Path, fields: Mapping[str, Field], *, durability: Durability = 'periodic',
           level: Optional[int] = None, chunk_records: Optional[int] = None,
           chunk_bytes: Optional[int] = None, executor: Optional[Executor] = None) -> Writer:
    """Create a dataset and open it for writing.

    Parameters
    ----------
    path : path-like
        The directory to make. It may be there if it is empty.
    fields : dict of str to Field
        What it stores, at least one field.
    durability : {'full', 'periodic', 'none'}, optional
        What a commit survives. 'full': a power loss, from the moment that it returns. 'periodic':
        kill -9 at once, a power loss within about a second. 'none': kill -9; a power loss only
        after `Writer.sync` or `Writer.close`.
    level : int, optional
        The effort of flate, 1 (fast) to 9 (small); 6 by default.
    chunk_records, chunk_bytes : int, optional
        When a file of payloads is full: 1,048,576 records or 1 GiB by default.
    executor : Executor, optional
        Whose threads write; one of the writer's own by default.

    Returns
    -------
    Writer
        Close it, or use it in a with-block, which is one transaction. An exception undoes that,
        and no more: the dataset stays, without records, and is there for the next `create`.

    Raises
    ------
    FileExistsError
        There is a dataset, or something else, at `path`.
    """
    return creation(fields, durability=durability, level=level, chunk_records=chunk_records,
                    chunk_bytes=chunk_bytes, executor=executor)(path)


def creation(fields: Mapping[str, Field], **options: Any) -> Callable[[Path], Writer]:
    """Look at what `create` is given, and make of it a function that takes the path.

    That runs nothing of Python: no signal comes between the dataset and the Writer.
    """
    if not isinstance(fields, Mapping):
        raise TypeError(f'fields must be a dict of loaderx.Field, not {type(fields).__name__}')
    for name, field in fields.items():
        if not isinstance(name, str):
            raise TypeError(f'fields must have names that are str, not {name!r}')
        if not isinstance(field, Field):
            raise TypeError(f'fields[{name!r}] must be a loaderx.Field, not {field!r}')
    if not fields:
        raise ValueError('fields must have at least one field')
    described = [field._describe(name) for name, field in fields.items()]
    return partial(Writer, fields=described, **options)


@overload
def open(path: Path, mode: Literal['r'] = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, live: Optional[bool] = None,
         on_damage: Optional[OnDamage] = None, access: Optional[Access] = None,
         executor: Optional[Executor] = None) -> Dataset: ...


@overload
def open(path: Path, mode: Literal['a', 'r+'], *, durability: Optional[Durability] = None,
         level: Optional[int] = None, executor: Optional[Executor] = None) -> Writer: ...


def open(path: Path, mode: str = 'r', *, verify: Optional[Verify] = None,
         durable: Optional[bool] = None, live: Optional[bool] = None,
         on_damage: Optional[OnDamage] = None, access: Optional[Access] = None,
         durability: Optional[Durability] = None, level: Optional[int] = None,
         executor: Optional[Executor] = None) -> Union[Dataset, Writer]:
    """Open a dataset.

    Parameters
    ----------
    path : path-like
        The dataset's directory.
    mode : {'r', 'a', 'r+'}, optional
        'r' reads. 'a' appends, and cannot change what is there. 'r+' changes it, too.
    verify : {'first', 'always', 'never'}, optional
        For reading: when checksums are checked, see `Dataset`.
    durable : bool, optional
        For reading: whether only commits that survive a power loss are seen.
    live : bool, optional
        For reading: whether each call shows what was committed last.
    on_damage : {'raise', 'zeros'}, optional
        For reading: what is done about damaged values, see `Dataset`.
    access : {'auto', 'mmap', 'pread'}, optional
        For reading: how files are read, see `Dataset`.
    durability : {'full', 'periodic', 'none'}, optional
        For writing: what a commit survives, see `create`.
    level : int, optional
        For writing: the effort of flate.
    executor : Executor, optional
        Whose threads write; for reading, whose cleaners unmap and close, see `Dataset`.

    Returns
    -------
    Dataset or Writer
        By the mode.

    Raises
    ------
    FileNotFoundError
        There is no dataset at `path`.
    BlockingIOError
        Another writer has it open.
    CorruptError
        It is damaged.
    """
    reading: Dict[str, Any] = {'verify': verify, 'durable': durable, 'live': live,
                               'on_damage': on_damage, 'access': access}
    writing = {'durability': durability, 'level': level}
    if mode == 'r':
        _refuse(writing, "'a' and 'r+'")
        given = {name: value for name, value in reading.items() if value is not None}
        return Dataset(path, executor=executor, **given)
    if mode in ('a', 'r+'):
        _refuse(reading, "'r'")
        return Writer(path, durability=durability, level=level, executor=executor,
                      append_only=mode == 'a')
    kind = ValueError if isinstance(mode, str) else TypeError
    raise kind(f"mode must be 'r', 'a' or 'r+', not {mode!r}")


def _refuse(options: Dict[str, Any], mode: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(f'{name} is for mode {mode} alone')
