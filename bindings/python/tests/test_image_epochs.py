# SPDX-License-Identifier: MIT
"""Augmentation of images differs in each epoch, and continues exactly after a resume."""

import json
import struct
import zlib

import numpy as np
import pytest

import loaderx as lx

images = pytest.importorskip('loaderx.images')
torch = pytest.importorskip('torch')

from loaderx.torch import DataLoader

def make_png(width, height, rows):
    """Return a PNG of colours."""
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>2I5B', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


PNG = make_png(2, 1, b'\0\xff\xff\xff\0\0\0')
COUNT, BATCH = 60, 8


@pytest.fixture(scope='module')
def train(tmp_path_factory):
    """Images of two pixels, which are exchanged or not."""
    path = tmp_path_factory.mktemp('data') / 'photos'
    with lx.create(path, {'image': lx.Field('image'), 'label': lx.Field('int64')}) as writer:
        writer.extend({'image': [PNG] * COUNT, 'label': np.arange(COUNT)})
    return images.ImageDataset(path, [images.Resize((1, 2), 'nearest'), images.Flip()], seed=3)


def collate(records):
    return torch.utils.data.default_collate(records)


# The ways in which a DataLoader reads: by a loader of the library, by threads, by processes, with
# the caller's code, and without workers.
WAYS = {
    'direct': {'num_workers': 2},
    'inline': {},
    'shuffled': {'num_workers': 1, 'shuffle': True},
    'shuffled by a generator': {'num_workers': 1, 'shuffle': True, 'generator': True},
    'persistent': {'num_workers': 2, 'persistent_workers': True},
    'threads': {'num_workers': 2, 'worker_init_fn': lambda worker: None},
    'threads that stay': {'num_workers': 2, 'worker_init_fn': lambda worker: None,
                          'persistent_workers': True},
    'collated': {'num_workers': 2, 'collate_fn': collate},
    'collated inline': {'collate_fn': collate},
    'processes': {'num_workers': 2, 'workers': 'processes'},
    'processes that stay': {'num_workers': 2, 'workers': 'processes', 'persistent_workers': True},
}


def make_loader(train, way):
    options = dict(WAYS[way])
    if options.get('generator'):
        options['generator'] = torch.Generator().manual_seed(5)
    return DataLoader(train, batch_size=BATCH, **options)


def flips(batch):
    """Whether each image was mirrored, by its label."""
    return dict(zip(batch['label'].tolist(), (batch['image'][:, 0, 0, 0] == 0).tolist()))


def epoch_of(batches):
    found = {}
    for batch in batches:
        found.update(flips(batch))
    return found


@pytest.mark.parametrize('way', WAYS)
def test_each_epoch_is_augmented_differently(train, way):
    torch.manual_seed(1)
    loader = make_loader(train, way)
    epochs = [epoch_of(loader) for _ in range(3)]
    assert all(sorted(epoch) == list(range(COUNT)) for epoch in epochs)
    assert all(10 < sum(epoch.values()) < 50 for epoch in epochs)    # of 60, each with 1/2
    assert all(10 < sum(one[i] != other[i] for i in one) < 50
               for one, other in [epochs[:2], epochs[1:], epochs[::2]])
    if way != 'shuffled by a generator':    # which begins with the same seed
        assert epoch_of(make_loader(train, way)) != epochs[0]
    torch.manual_seed(1)
    again = make_loader(train, way)
    assert [epoch_of(again) for _ in range(3)] == epochs


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('stop', [(0, 3), (1, 1), (2, 7)])
def test_a_resumed_loader_continues_with_the_same_augmentation(train, way, stop):
    torch.manual_seed(2)
    loader = make_loader(train, way)
    for _ in range(stop[0]):
        epoch_of(loader)
    iterator = iter(loader)
    for _ in range(stop[1]):
        next(iterator)
    state = json.loads(json.dumps(loader.state_dict()))
    expected = [flips(batch) for batch in iterator]
    torch.manual_seed(77)
    resumed = make_loader(train, way)
    resumed.load_state_dict(state)
    assert [flips(batch) for batch in resumed] == expected


def test_all_ways_by_threads_give_the_same_pixels(train):
    found = []
    for way in 'direct', 'inline', 'threads', 'processes':
        torch.manual_seed(3)
        found.append(epoch_of(make_loader(train, way)))
    assert found[1:] == found[:-1]


@pytest.mark.parametrize('way', ['direct', 'inline', 'threads', 'processes'])
def test_ranks_with_one_seed_augment_differently(train, way):
    def loader(rank):
        torch.manual_seed(4)
        ours = torch.utils.data.DistributedSampler(train, 2, rank, shuffle=False)
        return DataLoader(train, batch_size=BATCH, sampler=ours, **WAYS[way])
    one, other = (list(epoch_of(loader(rank)).values()) for rank in (0, 1))
    assert len(one) == len(other) == COUNT // 2
    assert 5 < sum(a != b for a, b in zip(one, other)) < 25
    first = loader(0)
    next(iter(first))
    second = loader(1)
    second.load_state_dict(first.state_dict())    # of another rank
    assert list(epoch_of(second).values()) == other[BATCH:]


@pytest.mark.parametrize('options', [
    {'num_workers': 2}, {'num_workers': 1, 'persistent_workers': True}])
def test_workers_of_torch_augment_each_epoch_differently(train, options):
    loader = torch.utils.data.DataLoader(train, batch_size=BATCH, **options)
    one, other = epoch_of(loader), epoch_of(loader)
    assert 10 < sum(one[i] != other[i] for i in one) < 50


class Rows(torch.utils.data.Dataset):
    """Items that are random numbers, drawn after a record was read."""

    def __init__(self, records):
        self.records = records

    def __len__(self):
        return 6

    def __getitem__(self, index):
        assert self.records[index] is not None
        return torch.rand(1)


def test_reading_in_a_worker_of_torch_draws_no_number_of_torch(train):
    def numbers(records):
        torch.manual_seed(1)
        return list(torch.utils.data.DataLoader(Rows(records), num_workers=1))
    assert numbers(train) == numbers(lx.SubsetDataset(train, [3] * 6)) == numbers(range(6))


class Nested(torch.utils.data.Dataset):
    """Images, read while another DataLoader is read in the same thread."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        next(iter(DataLoader(self.images, batch_size=1, collate_fn=collate)))
        return self.images[index]


def test_a_dataset_can_read_another_loader(train):
    torch.manual_seed(1)
    loader = DataLoader(Nested(train), batch_size=BATCH)
    epochs = [epoch_of(loader) for _ in range(2)]
    assert 10 < sum(epochs[0][i] != epochs[1][i] for i in range(COUNT)) < 50


def test_records_read_alone_are_those_of_epoch_0(train):
    assert [train[i]['image'].tolist() for i in range(5)] == train[:5]['image'].tolist()
    first = next(lx.Loader(train, batch_size=COUNT))
    np.testing.assert_array_equal(first['image'], train[:]['image'])
