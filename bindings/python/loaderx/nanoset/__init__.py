# SPDX-License-Identifier: MIT
"""The API of Nanotron: Nanosets, their collators, and a sampler that skips samples.

The samples and their order match Nanotron's exactly. PyTorch is not required: samples and batches
are tensors if PyTorch is installed, and NumPy arrays otherwise. ``out='numpy'`` always selects
NumPy arrays.
"""

from typing import TYPE_CHECKING, Any

from .. import _installation    # raises ImportError if another package has replaced ours
from ._batches import DataCollatorForCLM, DataCollatorForCLMWithPositionIds, TensorPointer
from ._dataset import Nanoset

if TYPE_CHECKING:
    from ._samplers import EmptyInfiniteDataset, SkipBatchSampler

__all__ = ['DataCollatorForCLM', 'DataCollatorForCLMWithPositionIds', 'EmptyInfiniteDataset',
           'Nanoset', 'SkipBatchSampler', 'TensorPointer']


def __getattr__(name: str) -> Any:
    # _samplers derives from a class of torch, which takes seconds to import.
    if name not in ('EmptyInfiniteDataset', 'SkipBatchSampler'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from . import _samplers
    return getattr(_samplers, name)
