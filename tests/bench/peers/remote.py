# SPDX-License-Identifier: MIT
"""Packages that read records from a server: how each writes them, and reads its share of an epoch.

Records are bytes objects that begin with their number. This module runs in the process of one rank,
with the interpreter that has the package.
"""

import importlib
import importlib.metadata
import os
import random

BATCH = 64
RECORD = 110_000    # bytes, like a photograph for training
SHARD = 64 << 20    # bytes, the usual size of the packages that have shards
WORKERS = 1    # processes of torch's DataLoader
LANES = 2 * BATCH    # of two ranks
BLOCK = 9    # records: 990 KB


def make_record(number):
    """Random bytes after the number; the same in each run."""
    return number.to_bytes(8, 'little') + random.Random(number).randbytes(RECORD - 8)


def read_numbers(records):
    """The numbers with which these records begin."""
    return [int.from_bytes(memoryview(record)[:8], 'little') for record in records]


class Reader:
    """One package, as a rank uses it.

    write(folder, count)  writes so many records to a new folder
    open(place, cache, limit)  opens what is at that place and keeps at most `limit` bytes of it in
                          the folder `cache`; None: as many as it likes
    epoch()               yields lists of the records of this rank, in shuffled order

    A place is where the folder is: a path, or "http://HOST:PORT/NAME".
    """

    name = ''
    package = ''    # which pip installs
    module = ''    # which is imported before anything is timed

    def __init__(self, rank, world):
        self.rank, self.world = rank, world

    @classmethod
    def version(cls):
        """Return the version of the package, or raise ImportError."""
        importlib.import_module(cls.module)
        return importlib.metadata.version(cls.package)

    def epoch(self):
        for batch in self.loader:
            yield batch['record']

    def stats(self):
        """What the package says about its requests."""
        return {}


class Loaderx(Reader):
    name = 'loaderx'
    package = 'loaderx'
    module = 'loaderx'

    @classmethod
    def version(cls):
        return importlib.import_module('loaderx').__version__

    def write(self, folder, count):
        import loaderx as lx
        import numpy as np
        with lx.create(folder, {'record': lx.Field('uint8', (RECORD,))}) as writer:
            for first in range(0, count, BATCH):
                rows = [np.frombuffer(make_record(number), np.uint8)
                        for number in range(first, min(first + BATCH, count))]
                writer.extend({'record': np.stack(rows)})
            writer.seal()

    def open(self, place, cache, limit):
        import loaderx as lx
        options = {} if cache is None else {'cache': cache, 'limit': limit}
        if limit is not None:    # or memory would hold what the cache does not
            options['memory'] = (128 << 20) + 2 * LANES // self.world * BLOCK * RECORD
        self.dataset = lx.open(place, **options)
        self.remote = bool(options)
        self.loader = lx.Loader(
            self.dataset, batch_size=BATCH, rank=self.rank, world=self.world,
            order=lx.Lanes(n=len(self.dataset), lanes=LANES, block=BLOCK, seed=1))

    def stats(self):
        return dict(self.dataset.remote_stats()) if self.remote else {}


class Mosaic(Reader):
    """It reads object stores by their S3 interface, whose GET is that of a web server."""

    name = 'Mosaic Streaming'
    package = 'mosaicml-streaming'
    module = 'streaming'

    def write(self, folder, count):
        from streaming import MDSWriter
        with MDSWriter(out=folder, columns={'record': 'bytes'}, size_limit=SHARD) as writer:
            for number in range(count):
                writer.write({'record': make_record(number)})

    def open(self, place, cache, limit):
        from streaming import StreamingDataset
        from torch.utils.data import DataLoader
        os.environ['S3_ENDPOINT_URL'], name = place.rsplit('/', 1)
        dataset = StreamingDataset(remote=f's3://{name}', local=cache, cache_limit=limit,
                                   shuffle=True, batch_size=BATCH)
        self.loader = DataLoader(dataset, BATCH, num_workers=WORKERS, persistent_workers=True)


def copy_record(sample):
    """LitData returns a memoryview, which cannot be sent to another process."""
    return {'record': bytes(sample['record'])}


class Litdata(Reader):
    """As Mosaic Streaming."""

    name = 'LitData'
    package = 'litdata'
    module = 'litdata'

    def write(self, folder, count):
        from litdata.streaming.writer import BinaryWriter
        os.makedirs(folder)
        writer = BinaryWriter(folder, chunk_bytes=SHARD)
        for number in range(count):
            writer[number] = {'record': make_record(number)}
        writer.done()
        writer.merge()

    def open(self, place, cache, limit):
        import litdata
        from litdata.streaming import downloader
        # If it finds obstore, it uses that, which refuses http://; otherwise, boto3.
        downloader._OBSTORE_AVAILABLE = False
        endpoint, name = place.rsplit('/', 1)
        more = {} if limit is None else {'max_cache_size': limit}
        dataset = litdata.StreamingDataset(
            f's3://{name}', cache_dir=cache, shuffle=True,
            storage_options={'endpoint_url': endpoint}, transform=copy_record, **more)
        self.loader = litdata.StreamingDataLoader(
            dataset, batch_size=BATCH, num_workers=WORKERS, persistent_workers=True)


class Webdataset(Reader):
    """It has no index: the shards have numbers. They are shuffled, and then 1,000 records."""

    name = 'WebDataset'
    package = 'webdataset'
    module = 'webdataset'

    def write(self, folder, count):
        import webdataset
        os.makedirs(folder)
        shards = os.path.join(folder, '%06d.tar')
        with webdataset.ShardWriter(shards, maxsize=SHARD, verbose=0) as writer:
            for number in range(count):
                writer.write({'__key__': f'{number:08}', 'bin': make_record(number)})
        with open(os.path.join(folder, 'shards'), 'w', encoding='utf-8') as file:
            file.write(str(len(os.listdir(folder)) - 1))    # without this file

    def open(self, place, cache, limit):
        import webdataset
        from torch.utils.data import DataLoader
        from urllib.request import urlopen
        with urlopen(place + '/shards') as answer:
            last = int(answer.read()) - 1
        dataset = webdataset.WebDataset(
            f'{place}/{{000000..{last:06}}}.tar', cache_dir=cache, shardshuffle=100,
            nodesplitter=webdataset.split_by_node)
        dataset = dataset.shuffle(1000).to_tuple('bin').batched(BATCH, collation_fn=list)
        self.loader = DataLoader(dataset, None, num_workers=WORKERS, persistent_workers=True)

    def epoch(self):
        for batch in self.loader:
            yield [record for record, in batch]


READERS = {'loaderx': Loaderx, 'mosaic': Mosaic, 'litdata': Litdata, 'webdataset': Webdataset}
