# SPDX-License-Identifier: MIT
"""The API of Nanotron: Nanosets, the collator of their samples, and a sampler that skips.

The samples and their order reproduce Nanotron exactly. Nothing needs PyTorch: samples and batches
are tensors if it is installed, and otherwise, or with ``out='numpy'``, NumPy arrays.
"""

from ._batches import DataCollatorForCLM, TensorPointer
from ._dataset import Nanoset
from ._samplers import EmptyInfiniteDataset, SkipBatchSampler

__all__ = ['DataCollatorForCLM', 'EmptyInfiniteDataset', 'Nanoset', 'SkipBatchSampler',
           'TensorPointer']
