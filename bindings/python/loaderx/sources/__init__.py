# SPDX-License-Identifier: MIT
"""Sources: the datasets that a loader can read."""

from .arrays import NPDataset
from .arrow import ArrowRecords
from .column import Column, Views
from .concat import ConcatDataset, SubsetDataset
from .dataset import Dataset
from .flat import FlatDataset
from .null import NullDataset
from .packing import PackedDataset, cu_seqlens
from .tokens import TokenDataset, Tokens

__all__ = [
    'ArrowRecords',
    'Column',
    'ConcatDataset',
    'Dataset',
    'FlatDataset',
    'NPDataset',
    'NullDataset',
    'PackedDataset',
    'SubsetDataset',
    'TokenDataset',
    'Tokens',
    'Views',
    'cu_seqlens',
]
