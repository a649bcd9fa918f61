# SPDX-License-Identifier: MIT
"""The API of torch.utils.data, with positions that can be saved and restored.

The samplers are subclasses of the installed torch's samplers: they have the same arguments, checks
and errors, return the same indices, and advance a generator in the same way. They add
``state_dict()`` and ``load_state_dict()``, which resume an epoch without generating its earlier
random numbers again, and ``seek()``, which needs only a count. DataLoader, too, is a subclass of
torch's: it reads loaderx datasets in threads, and its position can be saved and restored. Dataset,
IterableDataset, Sampler, ConcatDataset, Subset, TensorDataset, random_split, get_worker_info and
default_convert are torch's own; they are included so that one import suffices. DevicePrefetcher
copies the batches of any loader to a GPU while it works. Only this module requires torch.
"""

from __future__ import annotations

from .. import _installation    # raises ImportError if another package has replaced ours

try:
    import torch as _torch    # the installed torch, not this module
except ModuleNotFoundError as error:
    if error.name != 'torch':
        raise
    raise ImportError('loaderx.torch needs PyTorch: install torch, or '
                      'use lx.TorchRandom, lx.TorchSubset and lx.Distributed, which produce its '
                      'orders without PyTorch', name='torch') from None

from torch.utils.data import (ConcatDataset, Dataset, IterableDataset, Sampler, Subset,
                              TensorDataset, default_convert, get_worker_info, random_split)

from ._batches import BatchSampler
from ._collate import default_collate
from ._loader import DataLoader
from ._prefetcher import DevicePrefetcher
from ._samplers import (DistributedSampler, RandomSampler, SequentialSampler,
                        SubsetRandomSampler, WeightedRandomSampler)
from ._token_stream import TokenStream

__all__ = [
    'BatchSampler',
    'ConcatDataset',
    'DataLoader',
    'Dataset',
    'DevicePrefetcher',
    'DistributedSampler',
    'IterableDataset',
    'RandomSampler',
    'Sampler',
    'SequentialSampler',
    'Subset',
    'SubsetRandomSampler',
    'TensorDataset',
    'TokenStream',
    'WeightedRandomSampler',
    'default_collate',
    'default_convert',
    'get_worker_info',
    'random_split',
]
