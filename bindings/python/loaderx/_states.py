# SPDX-License-Identifier: MIT
"""Functions that create and check saved states, for objects implemented in Python."""

from __future__ import annotations

import json
import zlib
from typing import Any, Callable, Mapping, Optional

from ._check import UINT64_MAX, natural
from .errors import CorruptError, LoaderxError
from .orders.order import to_json

VERSION = 1


def differs(key: str, saved: Any, current: Any) -> ValueError:
    """Return the error for a state in which the value of `key` differs from the current value."""
    return ValueError(f'"{key}" is {saved} in the state, but {current} here: use the value '
                      'from the state, or start without the state')


def other_length(path: str, saved: int, current: int) -> ValueError:
    """Return the error for a dataset whose length differs from that in a state."""
    if current > saved:
        return ValueError(f'{path}: the dataset has {current} records, but had {saved} when the '
                          f'state was saved: to continue with those, open it with length={saved}; '
                          'otherwise, start without the state')
    return ValueError(f'{path}: the dataset has only {current} records, but had {saved} when the '
                      'state was saved: open it without a smaller length, or append records until '
                      f'there are {saved} again; otherwise, start without the state')


def is_same(saved: Any, current: Any) -> bool:
    """Return whether values in a state are equal; unlike in Python, True is not 1."""
    return isinstance(saved, bool) == isinstance(current, bool) and bool(saved == current)


def number(state: Mapping[str, Any], key: str, minimum: int = 0, maximum: int = UINT64_MAX) -> int:
    """Return the number that a state contains under `key`, after checking its range."""
    try:
        return natural(f'"{key}"', state.get(key), minimum, maximum)
    except (TypeError, ValueError) as cause:
        raise CorruptError(f'the state is damaged: {cause}') from cause


def checksum(state: Mapping[str, Any]) -> str:
    content = {key: value for key, value in state.items() if key != 'crc32'}
    return f'{zlib.crc32(json.dumps(content, sort_keys=True).encode()):08x}'


def check(state: Mapping[str, Any], kind: str, configuration: Mapping[str, Any],
          explain: Callable[[str, Mapping[str, Any]], Optional[ValueError]] = lambda *_: None,
          ) -> None:
    """Raise an error unless a state is valid and matches `kind` and `configuration`.

    `explain` may return an error of its own for the key of a value that differs.
    """
    to_json(state)
    if not isinstance(state.get('state'), str):
        raise CorruptError('the state is invalid: "state" is missing')
    if state['state'] != kind:
        raise ValueError(f'this is the state of a {state["state"]}, not of a {kind}')
    if state.get('version') != VERSION:
        raise LoaderxError(f'the state has version {state.get("version")}, but this loaderx reads '
                           f'version {VERSION}: use the version of loaderx that wrote it')
    for key, current in configuration.items():
        if not is_same(state.get(key), current):
            raise explain(key, state) or differs(key, state.get(key), current)
    if state.get('crc32') != checksum(state):
        raise CorruptError(f'the state was changed after it was written: its "crc32" is '
                           f'{state.get("crc32")}, but the checksum of its content is '
                           f'{checksum(state)}')
