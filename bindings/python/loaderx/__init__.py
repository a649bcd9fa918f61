# SPDX-License-Identifier: MIT
"""Datasets of records stored in a directory, and loaders that return shuffled batches."""

_is_libloaderx = True    # _installation looks for this mark

from ._installation import check_folder, explain
from ._version import __version__
from .errors import CorruptError, LoaderxError

try:
    check_folder(__path__[0])
    from ._core import library_version
except ImportError as error:
    raise explain(error) from None

from .arrow import import_arrow
from .batch import Batch
from .compat import ARDataset, DataLoader, converter
from .executor import Executor
from .field import Field
from .importing import (ImportReport, import_csv, import_folder, import_jsonl, import_lines,
                        import_lmdb, import_mds, import_original, import_tar, import_tfrecord)
from .joining import join
from .loader import Loader, generator
from .maintenance import copy, remove, repair, unseal
from .opening import create, open
from .orders import (Balanced, Blend, Blocks, Bucketed, Budgeted, Concat, Distributed, Lanes,
                     Nanoset, Order, Padded, Random, Repeat, Sequential, Shuffle, Slice, Subset,
                     TorchRandom, TorchSubset, Weighted, split)
from .parts import Part, PartWriter, publish
from .prefetching import Prefetcher, prefetch
from .publishing import PrunedFile, prune, push
from .ragged import Pad, Ragged
from .ranks import world
from .sources import (ArrowRecords, Column, ConcatDataset, Dataset, FlatDataset, NPDataset,
                      NullDataset, PackedDataset, SubsetDataset, TokenDataset, Tokens, Views,
                      cu_seqlens)
from .tokenize import TokenStream
from .writer import Ticket, Writer

__all__ = [
    'ARDataset',
    'ArrowRecords',
    'Balanced',
    'Batch',
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
    'ImportReport',
    'Lanes',
    'Loader',
    'LoaderxError',
    'NPDataset',
    'Nanoset',
    'NullDataset',
    'Order',
    'PackedDataset',
    'Pad',
    'Padded',
    'Part',
    'PartWriter',
    'Prefetcher',
    'PrunedFile',
    'Ragged',
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
    'import_arrow',
    'import_csv',
    'import_folder',
    'import_jsonl',
    'import_lines',
    'import_lmdb',
    'import_mds',
    'import_original',
    'import_tar',
    'import_tfrecord',
    'join',
    'library_version',
    'open',
    'prefetch',
    'prune',
    'publish',
    'push',
    'remove',
    'repair',
    'split',
    'unseal',
    'world',
]
