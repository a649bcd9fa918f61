# SPDX-License-Identifier: MIT
"""Encodes, decodes and checks parts of sampler states."""

from __future__ import annotations

import base64
import zlib
from typing import Any, List, Mapping, Optional

import numpy as np
import torch

from .._check import natural
from ..errors import CorruptError

# The number of items of a sequence to hash at a time.
_BLOCK = 4096
# The maximum size of a generator's state, in bytes. The state of a torch generator is 5,056 bytes.
_MAX_STATE = 1 << 16


def digest(values: Any) -> Optional[str]:
    """Return a checksum of a sequence of numbers, or None if it contains other objects."""
    crc = 0
    try:
        for first in range(0, len(values), _BLOCK):
            part = np.asarray(values[first:first + _BLOCK])
            if part.dtype.kind not in 'biuf':
                return None
            wide = part.astype('<f8' if part.dtype.kind == 'f' else '<i8')
            crc = zlib.crc32(wide.tobytes(), crc)
    except (TypeError, ValueError, LookupError):    # the sequence cannot be sliced, or is ragged
        return None
    return f'{crc:08x}'


def pack(state: torch.Tensor) -> str:
    """Encode a generator's state as text, compressed because half of its bytes are zeros."""
    return base64.b64encode(zlib.compress(state.numpy().tobytes(), 1)).decode('ascii')


def unpack(state: Mapping[str, Any], key: str) -> torch.Tensor:
    try:
        inflate = zlib.decompressobj()
        data = inflate.decompress(base64.b64decode(state[key], validate=True), _MAX_STATE)
        made = torch.from_numpy(np.frombuffer(data, np.uint8).copy())
        torch.Generator().set_state(made)
        return made
    except (TypeError, ValueError, RuntimeError, zlib.error) as cause:
        raise CorruptError(f'the state is damaged: its "{key}" is not a generator state of this '
                           f'torch ({cause})') from cause


def get_rest(state: Mapping[str, Any], maximum: int) -> List[int]:
    """Return the indices that were generated but not returned."""
    rest = state['rest']
    if 'drawn_from' in state or not isinstance(rest, list) or state['given'] + len(rest) > maximum:
        raise CorruptError('the state is damaged: its "rest" is invalid')
    try:
        return [natural(f'"rest"[{i}]', one, maximum=state['length'] - 1)
                for i, one in enumerate(rest)]
    except (TypeError, ValueError) as cause:
        raise CorruptError(f'the state is damaged: {cause}') from cause
