# SPDX-License-Identifier: MIT
"""Augmentation of images differs in each epoch, and continues exactly after a resume."""

import json
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor

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


def no_init(worker):
    pass


# The ways in which a DataLoader reads: by a loader of the library, by threads, by processes, with
# the caller's code, and without workers.
WAYS = {
    'direct': {'num_workers': 2},
    'inline': {},
    'shuffled': {'num_workers': 1, 'shuffle': True},
    'shuffled by a generator': {'num_workers': 1, 'shuffle': True, 'generator': True},
    'persistent': {'num_workers': 2, 'persistent_workers': True},
    'threads': {'num_workers': 2, 'worker_init_fn': no_init},
    'threads that stay': {'num_workers': 2, 'worker_init_fn': no_init,
                          'persistent_workers': True},
    'collated': {'num_workers': 2, 'collate_fn': collate},
    'collated inline': {'collate_fn': collate},
    'processes': {'num_workers': 2, 'workers': 'processes'},
    'processes that stay': {'num_workers': 2, 'workers': 'processes', 'persistent_workers': True},
}


def make_loader(train, way, batch_size=BATCH):
    options = dict(WAYS[way])
    if options.get('generator'):
        options['generator'] = torch.Generator().manual_seed(5)
    return DataLoader(train, batch_size=batch_size, **options)


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


@pytest.mark.parametrize('size', [BATCH, 12])
@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('stop', [(0, 3), (1, 1), (2, 7)])
def test_a_resumed_loader_continues_with_the_same_augmentation(train, way, stop, size):
    torch.manual_seed(2)
    loader = make_loader(train, way)
    for _ in range(stop[0]):
        epoch_of(loader)
    iterator = iter(loader)
    for _ in range(stop[1]):
        next(iterator)
    state = json.loads(json.dumps(loader.state_dict()))
    expected = epoch_of(iterator)
    torch.manual_seed(77)
    resumed = make_loader(train, way, size)
    resumed.load_state_dict(state)
    assert epoch_of(resumed) == expected


class Rows(torch.utils.data.Dataset):
    """A user's dataset, which reads a record at a time: as a whole, or a value of each field."""

    def __init__(self, records, by_field=False):
        self.records, self.by_field = records, by_field

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        if self.by_field:
            return {name: self.records[name][index] for name in ('label', 'image')}
        return self.records[index]


def test_all_ways_give_the_same_pixels(train):
    found = []
    for way in [way for way in WAYS if 'shuffled' not in way]:
        torch.manual_seed(3)
        found.append(epoch_of(make_loader(train, way)))
    for way in 'inline', 'threads', 'processes':
        torch.manual_seed(3)
        found.append(epoch_of(make_loader(Rows(train), way)))
    torch.manual_seed(3)
    found.append(epoch_of(DataLoader(torch.utils.data.Subset(train, range(COUNT)), BATCH,
                                     collate_fn=collate)))
    assert found[1:] == found[:-1]


def count_in_batches(loader):
    """Return how many images of each batch are mirrored."""
    return [int((batch['image'][:, 0, 0, 0] == 0).sum()) for batch in loader]


@pytest.mark.parametrize('way', [way for way in WAYS if 'shuffled' not in way])
def test_a_record_that_is_drawn_again_is_augmented_differently(train, way):
    torch.manual_seed(1)
    loader = DataLoader(train, batch_size=20, sampler=[7] * COUNT, **WAYS[way])
    counts = count_in_batches(loader)
    assert len(counts) == 3 and all(2 < count < 18 for count in counts), counts


@pytest.mark.parametrize('options', [{}, {'num_workers': 1}])
@pytest.mark.parametrize('kind', [lambda train: train, lambda train: lx.SubsetDataset(
    train, np.arange(COUNT)), lambda train: torch.utils.data.Subset(train, range(COUNT))])
def test_torch_augments_a_record_that_is_drawn_again_differently(train, kind, options):
    torch.manual_seed(1)
    dataset = kind(train)
    if not options and not hasattr(dataset, '__getitems__'):
        pytest.skip('the Subset of old versions of torch reads one record at a time')
    loader = torch.utils.data.DataLoader(dataset, batch_size=20, sampler=[7] * COUNT, **options)
    counts = count_in_batches(loader)
    assert len(counts) == 3 and all(2 < count < 18 for count in counts), counts


class Views(Rows):
    """Two views of each image, as contrastive methods need them."""

    def __getitem__(self, index):
        return {'label': index, 'views': [int(self.records[index]['image'][0, 0, 0] == 0)
                                          for _ in range(2)]}


@pytest.mark.parametrize('options', [{}, {'num_workers': 2}])
def test_views_of_an_image_and_those_of_other_batches_are_independent(train, options):
    torch.manual_seed(1)
    loader = DataLoader(Views(train), batch_size=BATCH, **options)
    first, second = (np.concatenate(views) for views in zip(*(batch['views'] for batch in loader)))
    views = np.stack([first, second], 1).reshape(-1)    # in the order of the reads
    for distance in 1, 2 * BATCH, BATCH:    # of a batch: BATCH and, with all views, 2 * BATCH
        same = (views[distance:] == views[:-distance]).mean()
        assert 0.3 < same < 0.7, (distance, same)


def test_fields_that_are_read_one_by_one_differ_in_each_epoch(train):
    torch.manual_seed(1)
    loader = DataLoader(Rows(train, by_field=True), batch_size=BATCH, num_workers=1)
    one, other = epoch_of(loader), epoch_of(loader)
    assert 10 < sum(one[i] != other[i] for i in one) < 50


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
    {}, {'num_workers': 2}, {'num_workers': 1, 'persistent_workers': True}])
def test_loaders_of_torch_augment_each_epoch_differently(train, options):
    loader = torch.utils.data.DataLoader(train, batch_size=BATCH, **options)
    one, other = epoch_of(loader), epoch_of(loader)
    assert 10 < sum(one[i] != other[i] for i in one) < 50


def test_a_loader_of_torch_without_workers_depends_on_the_seed(train):
    def epochs(seed):
        """Two epochs of a new thread, which stands for a new process."""
        torch.manual_seed(seed)
        loader = torch.utils.data.DataLoader(train, batch_size=BATCH)
        with ThreadPoolExecutor(1) as thread:
            return [thread.submit(epoch_of, loader).result() for _ in range(2)]
    assert epochs(1) == epochs(1) != epochs(2)


class Draws(torch.utils.data.Dataset):
    """Items that are random numbers, drawn after a record was read."""

    def __init__(self, records):
        self.records = records

    def __len__(self):
        return 6

    def __getitem__(self, index):
        assert self.records[index] is not None
        if hasattr(self.records, '__getitems__'):
            assert self.records.__getitems__([index])
        return torch.rand(1)


@pytest.mark.parametrize('workers', [0, 1])
def test_reading_in_a_loader_of_torch_draws_no_number_of_torch(train, workers):
    def numbers(records):
        torch.manual_seed(1)
        return list(torch.utils.data.DataLoader(Draws(records), num_workers=workers))
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
