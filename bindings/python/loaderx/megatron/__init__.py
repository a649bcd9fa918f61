# SPDX-License-Identifier: MIT
"""What users of Megatron-LM know: its GPT dataset, the split of documents, and blends of datasets.

The samples, and their order, are those of Megatron's, number for number. None of it needs PyTorch:
samples and batches are tensors where it is installed, and NumPy arrays where it is not, or where
``out='numpy'`` asks for these.
"""

from ._blended import BlendedDataset
from ._samples import GPTDataset
from ._splits import samples_per_dataset, split_documents

__all__ = ['BlendedDataset', 'GPTDataset', 'samples_per_dataset', 'split_documents']
