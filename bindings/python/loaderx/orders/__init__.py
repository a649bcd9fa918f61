# SPDX-License-Identifier: MIT
"""Orders, which determine the index at each position of a training run."""

from .basic import Blocks, Random, Sequential, Shuffle
from .blend import Blend
from .budgeted import Budgeted
from .combined import Concat, Padded, Repeat, Slice, Subset
from .grouped import Balanced, Bucketed, split
from .lanes import Lanes
from .order import Order
from .parity import Distributed, Nanoset, TorchRandom, TorchSubset
from .weighted import Weighted

__all__ = [
    'Balanced',
    'Blend',
    'Blocks',
    'Bucketed',
    'Budgeted',
    'Concat',
    'Distributed',
    'Nanoset',
    'Lanes',
    'Order',
    'Padded',
    'Random',
    'Repeat',
    'Sequential',
    'Shuffle',
    'Slice',
    'Subset',
    'TorchRandom',
    'TorchSubset',
    'Weighted',
    'split',
]
