# SPDX-License-Identifier: MIT
"""What users of torch.utils.data know, with states.

The samplers have torch's arguments, checks and errors, give torch's numbers, and advance a
generator as torch's do, draw for draw; they are subclasses of those of the torch that is installed.
What they add is ``state_dict()`` and ``load_state_dict()``, by which an epoch goes on where it was
left without drawing again what lies before, and ``seek()``, by a count alone. The DataLoader is
torch's, too, with threads for workers, and with a state. ConcatDataset and default_convert are
torch's own, for who imports all from here. `loaderx` itself does without torch; this module needs
it.
"""

from __future__ import annotations

try:
    import torch as _torch    # the one that is installed, not this module
except ModuleNotFoundError as error:
    if error.name != 'torch':
        raise
    raise ImportError('loaderx.torch needs PyTorch, and there is no module torch: install it, or '
                      'use lx.TorchRandom, lx.TorchSubset and lx.Distributed, which have its '
                      'orders without it', name='torch') from None

from torch.utils.data import ConcatDataset
from torch.utils.data._utils.collate import default_convert

from ._batches import BatchSampler
from ._collate import default_collate
from ._loader import DataLoader
from ._samplers import (DistributedSampler, RandomSampler, SequentialSampler,
                        SubsetRandomSampler, WeightedRandomSampler)
from ._token_stream import TokenStream

__all__ = [
    'BatchSampler',
    'ConcatDataset',
    'DataLoader',
    'DistributedSampler',
    'RandomSampler',
    'SequentialSampler',
    'SubsetRandomSampler',
    'TokenStream',
    'WeightedRandomSampler',
    'default_collate',
    'default_convert',
]
