# SPDX-License-Identifier: MIT
"""The API of Megatron-LM: the GPT dataset, document splits and dataset blends.

The samples and their order match Megatron's exactly. PyTorch is not required: samples and batches
are tensors if PyTorch is installed, and NumPy arrays otherwise. ``out='numpy'`` always selects
NumPy arrays.
"""

from .. import _installation    # raises ImportError if another package has replaced ours
from ._blended import BlendedDataset
from ._samples import GPTDataset
from ._splits import samples_per_dataset, split_documents

__all__ = ['BlendedDataset', 'GPTDataset', 'samples_per_dataset', 'split_documents']
