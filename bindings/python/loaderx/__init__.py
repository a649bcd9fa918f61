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

from .blend import Blend
from .column import Column, Views
from .combined import Concat, Repeat, Slice, Subset
from .compat import ARDataset, DataLoader, converter
from .dataset import Dataset
from .executor import Executor
from .field import Field
from .loader import Loader
from .opening import create, open
from .orders import Blocks, Order, Random, Sequential, Shuffle
from .source import ConcatDataset, FlatDataset, NPDataset, SubsetDataset
from .upkeep import copy, repair, unseal
from .writer import Ticket, Writer

__all__ = [
    'ARDataset',
    'Blend',
    'Blocks',
    'Column',
    'Concat',
    'ConcatDataset',
    'CorruptError',
    'DataLoader',
    'Dataset',
    'Executor',
    'Field',
    'FlatDataset',
    'Loader',
    'LoaderxError',
    'NPDataset',
    'Order',
    'Random',
    'Repeat',
    'Sequential',
    'Shuffle',
    'Slice',
    'Subset',
    'SubsetDataset',
    'Ticket',
    'Views',
    'Writer',
    '__version__',
    'converter',
    'copy',
    'create',
    'library_version',
    'open',
    'repair',
    'unseal',
]
