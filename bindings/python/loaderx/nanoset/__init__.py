# SPDX-License-Identifier: MIT
"""What users of Nanotron know: Nanosets, the collator of their samples, and a sampler that skips.

The samples, and their order, are those of Nanotron, number for number. None of it needs PyTorch:
samples and batches are tensors where it is installed, and NumPy arrays where it is not, or where
``out='numpy'`` asks for these.
"""

from ._batches import DataCollatorForCLM, TensorPointer
from ._dataset import Nanoset
from ._samplers import EmptyInfiniteDataset, SkipBatchSampler

__all__ = ['DataCollatorForCLM', 'EmptyInfiniteDataset', 'Nanoset', 'SkipBatchSampler',
           'TensorPointer']
