# SPDX-License-Identifier: MIT
"""The API of Nanotron: Nanosets, their collator, and a sampler that skips samples.

The samples and their order reproduce Nanotron exactly. PyTorch is not required: samples and batches
are tensors if PyTorch is installed, and NumPy arrays otherwise. ``out='numpy'`` always selects
NumPy arrays.
"""

from ._batches import DataCollatorForCLM, TensorPointer
from ._dataset import Nanoset
from ._samplers import EmptyInfiniteDataset, SkipBatchSampler

__all__ = ['DataCollatorForCLM', 'EmptyInfiniteDataset', 'Nanoset', 'SkipBatchSampler',
           'TensorPointer']
