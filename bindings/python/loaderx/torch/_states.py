# SPDX-License-Identifier: MIT
"""States of samplers of torch: what is in them, and whether it can be."""

from __future__ import annotations

import base64
import zlib
from typing import Any, List, Mapping, Optional

import numpy as np
import torch

from .._check import natural
from ..errors import CorruptError

# Numbers of a sequence that are looked at at a time.
_STRETCH = 4096
# Bytes of a generator's state: torch's have 5,056. One that inflates to more is none.
_MOST_STATE = 1 << 16


def digest(values: Any) -> Optional[str]:
    """A checksum of numbers in a sequence; None where it has none."""
    crc = 0
    try:
        for first in range(0, len(values), _STRETCH):
            part = np.asarray(values[first:first + _STRETCH])
            if part.dtype.kind not in 'biuf':
                return None
            wide = part.astype('<f8' if part.dtype.kind == 'f' else '<i8')
            crc = zlib.crc32(wide.tobytes(), crc)
    except (TypeError, ValueError, LookupError):    # it has no slices, or no rectangular ones
        return None
    return f'{crc:08x}'


def pack(state: torch.Tensor) -> str:
    """The bytes of a generator's state, half of which are zeros, as a text."""
    return base64.b64encode(zlib.compress(state.numpy().tobytes(), 1)).decode('ascii')


def unpack(state: Mapping[str, Any], key: str) -> torch.Tensor:
    try:
        inflate = zlib.decompressobj()
        data = inflate.decompress(base64.b64decode(state[key], validate=True), _MOST_STATE)
        made = torch.from_numpy(np.frombuffer(data, np.uint8).copy())
        torch.Generator().set_state(made)
        return made
    except (TypeError, ValueError, RuntimeError, zlib.error) as cause:
        raise CorruptError(f'the state is damaged: its "{key}" is no state of a generator of this '
                           f'torch ({cause})') from cause


def get_rest(state: Mapping[str, Any], most: int) -> List[int]:
    """What was drawn, and is still to be given."""
    rest = state['rest']
    if 'drawn_from' in state or not isinstance(rest, list) or state['given'] + len(rest) > most:
        raise CorruptError('the state is damaged: its "rest" cannot be')
    try:
        return [natural(f'"rest"[{i}]', one, most=state['length'] - 1)
                for i, one in enumerate(rest)]
    except (TypeError, ValueError) as cause:
        raise CorruptError(f'the state is damaged: {cause}') from cause
