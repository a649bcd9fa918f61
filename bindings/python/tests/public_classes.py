# SPDX-License-Identifier: MIT
"""A dataset of each public class, and all public classes, for tests of what all of them have."""

import functools
import importlib
import pkgutil

import numpy as np

import loaderx as lx
from loaderx import megatron, nanoset, recordio
from megatrons import write_documents
from nanosets import write_folder

try:
    from loaderx import images
except ImportError:
    images = None
try:
    import loaderx.torch    # noqa: F401
except ImportError:
    torch = False
else:
    torch = True

PNG = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
                    '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
                    '0000000049454e44ae426082')
COUNT = 6    # the records of most datasets


class Files:
    """What the constructors of datasets read, in a folder; each thing is made once."""

    def __init__(self, folder):
        self.folder = folder

    @functools.cached_property
    def stored(self):
        with lx.create(self.folder / 'stored', {'x': lx.Field('int64')}) as writer:
            writer.extend(x=np.arange(COUNT))
        return self.folder / 'stored'

    @functools.cached_property
    def tokens(self):
        return write_documents(self.folder / 'tokens', [np.arange(20) for _ in range(4)])

    @functools.cached_property
    def photos(self):
        with lx.create(self.folder / 'photos', {'image': lx.Field('image')}) as writer:
            writer.extend(image=[PNG] * COUNT)
        return self.folder / 'photos'

    @functools.cached_property
    def sorted_photos(self):
        (self.folder / 'root' / 'cat').mkdir(parents=True)
        for i in range(COUNT):
            (self.folder / 'root' / 'cat' / f'{i}.png').write_bytes(PNG)
        return self.folder / 'root'

    @functools.cached_property
    def records(self):
        path = self.folder / 'records.rec'
        with recordio.MXIndexedRecordIO(path.with_suffix('.idx'), path, 'w') as file:
            for i in range(COUNT):
                file.write_idx(i, recordio.pack(recordio.IRHeader(0, float(i), i, 0), b'text'))
        return path

    @functools.cached_property
    def token_files(self):
        return write_folder(self.folder / 'sets', [np.arange(60)])


# How to make a dataset of each class: of the class itself, or of one that derives from it.
MAKE = {
    lx.ARDataset: lambda kind, files: kind(files.stored),
    lx.ConcatDataset: lambda kind, files: kind([np.arange(2), np.arange(COUNT - 2)]),
    lx.Dataset: lambda kind, files: kind(files.stored),
    lx.FlatDataset: lambda kind, files: kind(files.token_files + '/00000_tokens.ds', 'int16'),
    lx.NPDataset: lambda kind, files: kind(np.arange(COUNT)),
    lx.NullDataset: lambda kind, files: kind(np.arange(COUNT)),
    lx.PackedDataset: lambda kind, files: kind(files.tokens, 20),
    lx.SubsetDataset: lambda kind, files: kind(np.arange(9), range(COUNT)),
    lx.TokenDataset: lambda kind, files: kind(files.tokens, 9),
    megatron.BlendedDataset: lambda kind, files: kind([megatron.GPTDataset(files.tokens, 9)]),
    megatron.GPTDataset: lambda kind, files: kind(files.tokens, 9),
    nanoset.Nanoset: lambda kind, files: kind([files.token_files], 9, 2, COUNT),
    recordio.RecordIODataset: lambda kind, files: kind(files.records),
}
if images is not None:
    MAKE[images.ImageDataset] = lambda kind, files: kind(files.photos, [images.Resize((2, 2))])
    MAKE[images.ImageFolder] = lambda kind, files: kind(files.sorted_photos)
if torch:
    MAKE[nanoset.EmptyInfiniteDataset] = lambda kind, files: kind(COUNT)


# Public classes whose objects need torch, if it is not installed.
OF_TORCH = () if torch else (nanoset.EmptyInfiniteDataset, nanoset.SkipBatchSampler)


def public_classes():
    for module in pkgutil.iter_modules(lx.__path__, 'loaderx.'):
        if module.name.startswith('loaderx._'):
            continue
        try:
            module = importlib.import_module(module.name)
        except ImportError:    # needs a library that is not installed
            continue
        found = (getattr(module, name) for name in getattr(module, '__all__', ()))
        yield from (one for one in found if one not in OF_TORCH)
