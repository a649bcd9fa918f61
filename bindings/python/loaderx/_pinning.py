# SPDX-License-Identifier: MIT
"""Pinned memory, from which a GPU copies while the program continues.

torch owns it, because torch alone knows which copies from a block have not ended yet: when the last
tensor over the block is gone, torch reuses the block only after these copies.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

__all__ = ['pinned_allocator', 'pins']


def pins(pin_memory: bool = True, device: str = '') -> bool:
    """Return whether torch's DataLoader would pin memory.

    A loader of torch decides it, and warns if there is no device.
    """
    import torch
    from torch.utils import data
    probe = data.DataLoader([torch.zeros(1)], None, pin_memory=pin_memory,
                            pin_memory_device=device, generator=torch.Generator())
    return bool(next(iter(probe)).is_pinned())


def pinned_allocator() -> Callable[[int], Any]:
    """Return a function that returns a pinned tensor of so many bytes."""
    import torch
    return functools.partial(torch.empty, dtype=torch.uint8, device='cpu', pin_memory=True)
