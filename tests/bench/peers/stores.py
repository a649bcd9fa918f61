# SPDX-License-Identifier: MIT
"""Peers that read any record: NumPy, both versions of loaderx, and stores of bytes or arrays."""

import mmap
import os

import numpy as np

from .peer import BATCH, ByteStore, Peer, shuffled_batches


class NumPy(Peer):
    """Files of arrays, mapped; texts as one file with their ends in another."""

    name = 'NumPy'
    package = 'numpy'
    modules = ('numpy',)

    def write(self, columns):
        os.makedirs(self.folder)
        for name, column in columns.items():
            path = os.path.join(self.folder, name + '.npy')
            if isinstance(column, list):
                np.save(path, np.cumsum([0] + [len(value) for value in column]))
                with open(path + '.bytes', 'wb') as file:
                    file.write(b''.join(column))
            else:
                np.save(path, column)

    def open(self):
        self.columns, self.texts = {}, {}
        for file in os.listdir(self.folder):
            path = os.path.join(self.folder, file)
            name = file.split('.')[0]
            if file.endswith('.bytes'):
                with open(path, 'rb') as opened:
                    self.texts[name] = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
            else:
                self.columns[name] = np.load(path, mmap_mode='r')

    def read(self, name, indices):
        if name not in self.texts:
            return self.columns[name][indices]
        texts, ends = self.texts[name], self.columns[name]
        return [texts[begin:end] for begin, end
                in zip(ends[indices].tolist(), ends[indices + 1].tolist())]

    def read_one(self, name, index):
        if name not in self.texts:
            return self.columns[name][index]
        ends = self.columns[name]
        return self.texts[name][ends[index]:ends[index + 1]]

    def batches(self):
        images, labels = (np.array(self.columns[name]) for name in ('image', 'label'))
        for indices in shuffled_batches(len(labels)):
            yield images[indices], labels[indices]

    def order(self, n):
        yield np.random.default_rng(1).permutation(n)


class Loaderx(Peer):
    name = 'loaderx'
    modules = ('loaderx',)
    codecs = ('zstd',)

    @classmethod
    def version(cls):
        import loaderx
        return loaderx.__version__

    def write(self, columns):
        import loaderx as lx
        codec = {'compress': self.codec} if self.codec else {}
        fields = {name: lx.Field('bytes', **codec) if isinstance(column, list)
                  else lx.Field(column.dtype, column.shape[1:])
                  for name, column in columns.items()}
        with lx.create(self.folder, fields, durability='none') as writer:
            writer.extend(columns)

    def open(self):
        import loaderx as lx
        self.dataset = lx.open(self.folder)
        self.fields = {name: self.dataset[name] for name in self.dataset.fields}

    def read(self, name, indices):
        return self.fields[name][indices]

    def read_one(self, name, index):
        return self.fields[name][index]

    def batches(self):
        import loaderx as lx
        for batch in lx.Loader(self.dataset, batch_size=BATCH, order=lx.Shuffle(seed=1),
                               epochs=None):
            yield batch['image'], batch['label']

    def order(self, n):
        import loaderx as lx
        order = lx.Shuffle(n=n, seed=1)
        for first in range(0, n, 1 << 16):
            yield order.take(min(1 << 16, n - first))


class Original(Peer):
    """The first loaderx, whose module has the same name: --original says where it is."""

    name = 'loaderx 2.8'
    modules = ('loaderx.zrecord',)
    codecs = ('zstd',)

    @classmethod
    def version(cls):
        import loaderx
        import loaderx.zrecord    # which the rewritten package has not
        return loaderx.__version__

    def encode(self, columns):
        from loaderx.zrecord import RaggedBatch
        return {name: RaggedBatch.from_records([np.frombuffer(value, np.uint8) for value in column])
                if isinstance(column, list) else column for name, column in columns.items()}

    def write(self, columns):
        from loaderx.zrecord import DenseWriter, RaggedWriter
        os.makedirs(self.folder)
        for name, column in columns.items():
            path, codec = os.path.join(self.folder, name), self.codec or 'raw'
            with (DenseWriter(path, column.dtype, column.shape[1:], codec=codec)
                  if isinstance(column, np.ndarray)
                  else RaggedWriter(path, np.uint8, 1, codec=codec)) as writer:
                writer.append(column)

    def open(self):
        from loaderx import Allocator
        from loaderx.zrecord import DenseStore, RaggedStore
        self.views, allocator = {}, Allocator('cpu')
        for name in os.listdir(self.folder):
            store = RaggedStore if name == 'text' else DenseStore
            self.views[name] = store(os.path.join(self.folder, name)).bind(allocator)

    def read(self, name, indices):
        return self.views[name][indices]

    def read_one(self, name, index):
        return self.views[name][index]

    def batches(self):
        from loaderx import Loader
        from loaderx.sampler import Sampler
        sampler = Sampler(len(self.views['label']), BATCH, Sampler.Mode.CYCLIC)
        streams = {name: [view] for name, view in self.views.items()}
        for shard, in Loader(streams, sampler, workers=1):    # more would mix the epochs
            yield shard['image'], shard['label']

    def order(self, n):
        from loaderx.sampler import Sampler
        sampler, left = Sampler(n, 1 << 16, Sampler.Mode.CYCLIC), n
        while left > 0:
            indices = sampler.next()
            yield indices[:left]
            left -= len(indices)


class Lmdb(ByteStore):
    name = 'LMDB'
    package = 'lmdb'
    modules = ('lmdb',)

    def put(self, records):
        import lmdb
        with lmdb.open(self.folder, map_size=1 << 34, sync=False) as environment:
            with environment.begin(write=True) as change:
                for i, record in enumerate(records):
                    change.put(b'%08d' % i, record, append=True)

    def open(self):
        import lmdb
        self.transaction = lmdb.open(self.folder, readonly=True, lock=False).begin()

    def length(self):
        return self.transaction.stat()['entries']

    def get(self, indices):
        return [self.get_one(i) for i in indices.tolist()]

    def get_one(self, index):
        return self.transaction.get(b'%08d' % index)


class ArrayRecord(ByteStore):
    name = 'ArrayRecord'
    package = 'array_record'
    modules = ('array_record.python.array_record_module',)
    codecs = ('zstd',)

    def path(self):
        return os.path.join(self.folder, 'data.array_record')

    def put(self, records):
        from array_record.python.array_record_module import ArrayRecordWriter
        os.makedirs(self.folder)
        codec = 'zstd' if self.codec else 'uncompressed'
        writer = ArrayRecordWriter(self.path(), f'group_size:1,{codec}')
        for record in records:
            writer.write(record)
        writer.close()

    def open(self):
        from array_record.python.array_record_module import ArrayRecordReader
        # The options that its documentation recommends for random access.
        self.reader = ArrayRecordReader(self.path(), 'readahead_buffer_size:0,max_parallelism:0')

    def length(self):
        return self.reader.num_records()

    def get(self, indices):
        return self.reader.read(indices)

    def get_one(self, index):
        return self.reader.read([index])[0]


class Bagz(ByteStore):
    name = 'bagz'
    package = 'bagz'
    modules = ('bagz',)
    codecs = ('zstd',)

    def path(self):
        return os.path.join(self.folder, 'data.bagz')

    def put(self, records):
        import bagz
        os.makedirs(self.folder)
        compression = bagz.CompressionZstd() if self.codec else bagz.CompressionNone()
        with bagz.Writer(self.path(), bagz.Writer.Options(compression=compression)) as writer:
            for record in records:
                writer.write(record)

    def open(self):
        import bagz
        compression = bagz.CompressionZstd() if self.codec else bagz.CompressionNone()
        self.reader = bagz.Reader(self.path(), bagz.Reader.Options(compression=compression))

    def length(self):
        return len(self.reader)

    def get(self, indices):
        return self.reader.read_indices(indices)

    def get_one(self, index):
        return self.reader[index]


class Hdf5(Peer):
    name = 'HDF5'
    package = 'h5py'
    modules = ('h5py',)

    def path(self):
        return os.path.join(self.folder, 'data.h5')

    def encode(self, columns):
        return {name: np.array([np.frombuffer(value, np.uint8) for value in column], object)
                if isinstance(column, list) else column for name, column in columns.items()}

    def write(self, columns):
        import h5py
        os.makedirs(self.folder)
        with h5py.File(self.path(), 'w') as file:
            for name, column in columns.items():
                varying = {'dtype': h5py.vlen_dtype(np.uint8)} if column.dtype == object else {}
                file.create_dataset(name, data=column, **varying)

    def open(self):
        import h5py
        file = h5py.File(self.path(), 'r')
        self.columns = {name: file[name] for name in file}

    def read(self, name, indices):
        # It takes only indices that increase.
        ordered, places = np.unique(indices, return_inverse=True)
        return self.columns[name][ordered][places]

    def read_one(self, name, index):
        return self.columns[name][index]

    def batches(self):
        for indices in shuffled_batches(len(self.columns['label'])):
            yield self.read('image', indices), self.read('label', indices)


class HfDatasets(Peer):
    name = 'HF datasets'
    package = 'datasets'
    modules = ('datasets',)
    writes_slowly = True

    def encode(self, columns):
        """Records as binary values, which it writes faster than lists of numbers."""
        return {name: [row.tobytes() for row in column]
                if isinstance(column, np.ndarray) and column.ndim == 2 else column
                for name, column in columns.items()}

    def write(self, columns):
        import datasets
        features = {name: datasets.Value('binary') if isinstance(column, list)
                    else datasets.Value(str(column.dtype)) if column.ndim == 1
                    else datasets.Array2D(column.shape[1:], str(column.dtype))
                    for name, column in columns.items()}
        datasets.disable_progress_bars()
        datasets.Dataset.from_dict(columns, datasets.Features(features)).save_to_disk(self.folder)

    def open(self):
        import datasets
        opened = datasets.load_from_disk(self.folder)
        self.dataset = opened.with_format('numpy') if 'image' in opened.features else opened

    def read(self, name, indices):
        return self.dataset[indices][name]

    def read_one(self, name, index):
        return self.dataset[index][name]

    def batches(self):
        for epoch in range(1 << 30):
            for batch in self.dataset.shuffle(epoch).iter(BATCH):
                yield batch['image'], batch['label']
