# SPDX-License-Identifier: MIT
"""Peers whose purpose is to shuffle: torch, Grain, litdata, MDS, WebDataset, FFCV."""

import os

import numpy as np

from .peer import BATCH, Peer, endless
from .stores import ArrayRecord, NumPy


class Samples:
    """A typical dataset of torch and of Grain: (image, number of the class)."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Indexed(Samples):
    """The same, read a batch at a time."""

    def __getitems__(self, indices):
        return self.images[indices], self.labels[indices]


def to_tensors(arrays):
    import torch
    return [torch.from_numpy(array) for array in arrays]


class Torch(Peer):
    """A DataLoader over arrays in memory."""

    name = 'torch'
    package = 'torch'
    modules = ('torch',)
    appends = False
    workers = 0
    samples, more = Samples, {}

    def write(self, columns):
        NumPy(self.folder).write(columns)

    def open(self):
        import torch
        torch.set_num_threads(1)
        self.columns = {name: np.load(os.path.join(self.folder, name + '.npy'))
                        for name in ('image', 'label')}

    def batches(self):
        from torch.utils.data import DataLoader
        return endless(DataLoader(
            self.samples(self.columns['image'], self.columns['label']), BATCH, shuffle=True,
            num_workers=self.workers, persistent_workers=self.workers > 0, **self.more))

    def order(self, n):
        import torch
        yield torch.randperm(n).numpy()


class TorchWorkers(Torch):
    name = 'torch, 2 workers'
    workers = 2
    order = None


class TorchIndexed(Torch):
    name = 'torch, __getitems__'
    samples, more = Indexed, {'collate_fn': to_tensors}
    order = None


class Grain(Torch):
    """Arrays in memory, too."""

    name = 'Grain'
    package = 'grain'
    modules = ('grain.python',)
    timed_indices = 100_000

    def open(self):
        super().open()
        self.source = Samples(self.columns['image'], self.columns['label'])

    def batches(self):
        import grain.python as grain
        shuffled = grain.MapDataset.source(self.source).seed(1).shuffle().repeat()
        return iter(shuffled.batch(BATCH).to_iter_dataset())

    def order(self, n):
        from grain._src.python.experimental.index_shuffle.python import index_shuffle_module
        shuffle = index_shuffle_module.index_shuffle
        while True:    # one index a call is all that it has
            yield [shuffle(i, max_index=n - 1, seed=1, rounds=4) for i in range(1000)]


class GrainArrayRecord(Grain):
    name = 'Grain on ArrayRecord'
    order = None

    def encode(self, columns):
        self.records = ArrayRecord(self.folder)
        return self.records.encode(columns)

    def write(self, encoded):
        self.records.write(encoded)

    def open(self):
        import grain.python as grain
        dtype = self.records.dtype

        class Decoded(grain.ArrayRecordDataSource):
            def __getitem__(self, index):
                row, = np.frombuffer(super().__getitem__(index), dtype)
                return row['image'], row['label']

        self.source = Decoded([self.records.path()])


class Litdata(Peer):
    name = 'litdata'
    package = 'litdata'
    modules = ('litdata',)
    writes_slowly = True

    def write(self, columns):
        from litdata.streaming.writer import BinaryWriter
        os.makedirs(self.folder)
        writer = BinaryWriter(self.folder, chunk_bytes='64MB')
        for i, values in enumerate(zip(*columns.values())):
            writer[i] = dict(zip(columns, values))
        writer.done()
        writer.merge()

    def open(self):
        import litdata
        self.dataset = litdata.StreamingDataset(self.folder, shuffle=True)

    def batches(self):
        import litdata
        for batch in endless(litdata.StreamingDataLoader(
                self.dataset, batch_size=BATCH, num_workers=0)):
            yield batch['image'], batch['label']


class Mds(Peer):
    name = 'MDS'
    package = 'mosaicml-streaming'
    modules = ('streaming',)
    writes_slowly = True

    def write(self, columns):
        from streaming import MDSWriter
        kinds = {name: 'bytes' if isinstance(column, list)
                 else str(column.dtype) if column.ndim == 1
                 else f'ndarray:{column.dtype}:{",".join(map(str, column.shape[1:]))}'
                 for name, column in columns.items()}
        with MDSWriter(out=self.folder, columns=kinds) as writer:
            for values in zip(*columns.values()):
                writer.write(dict(zip(columns, values)))

    def open(self):
        from streaming import StreamingDataset
        from streaming.base.util import clean_stale_shared_memory
        clean_stale_shared_memory()
        self.dataset = StreamingDataset(local=self.folder, shuffle=True, batch_size=BATCH)

    def read(self, name, indices):
        return [self.dataset[i][name] for i in indices]

    def read_one(self, name, index):
        return self.dataset[index][name]

    def batches(self):
        from torch.utils.data import DataLoader
        for batch in endless(DataLoader(self.dataset, BATCH)):
            yield batch['image'], batch['label']


class Webdataset(Peer):
    name = 'WebDataset'
    package = 'webdataset'
    modules = ('webdataset',)
    writes_slowly = True

    def path(self):
        return os.path.join(self.folder, 'data.tar')

    def write(self, columns):
        import webdataset
        os.makedirs(self.folder)
        kinds = {name: 'cls' if name == 'label' else 'bytes' if column.ndim == 2 else 'npy'
                 for name, column in columns.items()}
        with webdataset.TarWriter(self.path()) as writer:
            for i, values in enumerate(zip(*columns.values())):
                sample = {kind: value.tobytes() if kind == 'bytes' else value
                          for kind, value in zip(kinds.values(), values)}
                writer.write({'__key__': f'{i:08}', **sample})

    def open(self):
        import webdataset
        self.dataset = webdataset.WebDataset(self.path(), shardshuffle=False)

    def batches(self):
        # A shuffle through a buffer of 1,000, its usual size.
        return endless(self.dataset.shuffle(1000).decode().to_tuple('npy', 'cls').batched(BATCH))


class Ffcv(Peer):
    name = 'FFCV'
    package = 'ffcv'
    modules = ('ffcv',)

    @classmethod
    def version(cls):
        try:
            return super().version()
        except ImportError as error:
            raise ImportError(f'{error}; pip builds it where pkg-config finds OpenCV') from error

    def write(self, columns):
        from ffcv.fields import IntField, NDArrayField
        from ffcv.writer import DatasetWriter
        image = columns['image']
        os.makedirs(self.folder)
        fields = {'image': NDArrayField(image.dtype, image.shape[1:]), 'label': IntField()}
        DatasetWriter(os.path.join(self.folder, 'data.beton'), fields).from_indexed_dataset(
            Samples(image, columns['label']))

    def open(self):
        from ffcv.loader import Loader, OrderOption
        self.loader = Loader(os.path.join(self.folder, 'data.beton'), BATCH, num_workers=2,
                             order=OrderOption.RANDOM)

    def batches(self):
        return endless(self.loader)
