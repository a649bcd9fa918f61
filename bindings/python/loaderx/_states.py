# SPDX-License-Identifier: MIT
"""Functions that create and check saved states, for objects implemented in Python."""

from __future__ import annotations

import json
import zlib
from typing import Any, Mapping

from ._check import UINT64_MAX, natural
from .errors import CorruptError, LoaderxError
from .orders.order import to_json

VERSION = 1


def differs(key: str, saved: Any, current: Any) -> ValueError:
    """Return the error for a state in which the value of `key` differs from the current value."""
    return ValueError(f'"{key}" is {saved} in the state, but {current} here: use the value '
                      'from the state, or start without the state')


def number(state: Mapping[str, Any], key: str, minimum: int = 0, maximum: int = UINT64_MAX) -> int:
    """Return the number that a state contains under `key`, after checking its range."""
    try:
        return natural(f'"{key}"', state.get(key), minimum, maximum)
    except (TypeError, ValueError) as cause:
        raise CorruptError(f'the state is damaged: {cause}') from cause


def checksum(state: Mapping[str, Any]) -> str:
    content = {key: value for key, value in state.items() if key != 'crc32'}
    return f'{zlib.crc32(json.dumps(content, sort_keys=True).encode()):08x}'


def check(state: Mapping[str, Any], kind: str, configuration: Mapping[str, Any]) -> None:
    """Raise an error unless a state is valid and matches `kind` and `configuration`."""
    to_json(state)
    if not isinstance(state.get('state'), str):
        raise CorruptError('the state is invalid: "state" is missing')
    if state['state'] != kind:
        raise ValueError(f'this is the state of a {state["state"]}, not of a {kind}')
    if state.get('version') != VERSION:
        raise LoaderxError(f'the state has version {state.get("version")}, but this loaderx reads '
                           f'version {VERSION}: use the version of loaderx that wrote it')
    for key, current in configuration.items():
        if state.get(key) != current:
            raise differs(key, state.get(key), current)
    if state.get('crc32') != checksum(state):
        raise CorruptError(f'the state was changed after it was written: its "crc32" is '
                           f'{state.get("crc32")}, but the checksum of its content is '
                           f'{checksum(state)}')
