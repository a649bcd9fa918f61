# SPDX-License-Identifier: MIT
"""Datasets of records in a directory, and loaders that hand them out as shuffled batches."""

from ._version import __version__
from .errors import CorruptError, LoaderxError

try:
    from ._core import library_version
except ImportError as error:
    if 'libloaderx' not in str(error):
        raise
    raise ImportError(f'{error}. libloaderx is installed where the linker does not look: run '
                      f'ldconfig, or put the folder of the library into LD_LIBRARY_PATH.') from None

from .arrays import NPDataset
from .blend import Blend
from .budgeted import Budgeted
from .column import Column, Views
from .combined import Concat, Padded, Repeat, Slice, Subset
from .compat import ARDataset, DataLoader, converter
from .dataset import Dataset
from .executor import Executor
from .field import Field
from .flat import FlatDataset
from .grouped import Balanced, Bucketed, split
from .loader import Loader, generator
from .null import NullDataset
from .opening import create, open
from .orders import Blocks, Order, Random, Sequential, Shuffle
from .packing import PackedDataset, cu_seqlens
from .parts import ConcatDataset, SubsetDataset
from .peers import Distributed, Nanoset, TorchRandom, TorchSubset
from .tokenize import TokenStream
from .tokens import TokenDataset, Tokens
from .upkeep import copy, repair, unseal
from .weighted import Weighted
from .writer import Ticket, Writer

__all__ = [
    'ARDataset',
    'Balanced',
    'Blend',
    'Blocks',
    'Bucketed',
    'Budgeted',
    'Column',
    'Concat',
    'ConcatDataset',
    'CorruptError',
    'DataLoader',
    'Dataset',
    'Distributed',
    'Executor',
    'Field',
    'FlatDataset',
    'Loader',
    'LoaderxError',
    'NPDataset',
    'Nanoset',
    'NullDataset',
    'Order',
    'PackedDataset',
    'Padded',
    'Random',
    'Repeat',
    'Sequential',
    'Shuffle',
    'Slice',
    'Subset',
    'SubsetDataset',
    'Ticket',
    'TokenDataset',
    'TokenStream',
    'Tokens',
    'TorchRandom',
    'TorchSubset',
    'Views',
    'Weighted',
    'Writer',
    '__version__',
    'converter',
    'copy',
    'create',
    'cu_seqlens',
    'generator',
    'library_version',
    'open',
    'repair',
    'split',
    'unseal',
]
