# SPDX-License-Identifier: MIT
"""The API of Megatron-LM: its GPT dataset, the split of documents, and blends of datasets.

The samples and their order reproduce Megatron exactly. Nothing needs PyTorch: samples and batches
are tensors if it is installed, and otherwise, or with ``out='numpy'``, NumPy arrays.
"""

from ._blended import BlendedDataset
from ._samples import GPTDataset
from ._splits import samples_per_dataset, split_documents

__all__ = ['BlendedDataset', 'GPTDataset', 'samples_per_dataset', 'split_documents']
