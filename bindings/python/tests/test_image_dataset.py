# SPDX-License-Identifier: MIT
"""Datasets of encoded images that become tensors."""

import io
import os
import pickle

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images')
from loaderx import images    # noqa: E402
from public_classes import PNG, Files    # noqa: E402

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TRAIN = [images.RandomResizedCrop(16), images.Flip(), images.Normalize(MEAN, STD)]


def photo(number, width=50, height=40):
    """Return pixels of an image with smooth parts and edges."""
    y, x = np.mgrid[:height, :width]
    planes = [(x * (3 + number) + y) % 256, (y * 5 + number * 40) % 256, (x // 8 * 30 + y // 8) % 256]
    return np.stack(planes, -1).astype(np.uint8)


def encoded(number, kind='PNG', **more):
    image = pytest.importorskip('PIL.Image')
    file = io.BytesIO()
    image.fromarray(photo(number, **more)).save(file, kind)
    return file.getvalue()


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.fixture
def photos(tmp_path):
    """A dataset of 40 images in several sizes and formats."""
    path = tmp_path / 'photos'
    files = [encoded(i, ('PNG', 'JPEG')[i % 2], width=50 + i % 5, height=40 + i % 3)
             for i in range(40)]
    with lx.create(path, {'image': lx.Field('image'), 'label': lx.Field('int64')}) as writer:
        writer.extend({'image': files, 'label': np.arange(40)})
    return path


def read(dataset, **options):
    """Return all images by epoch and label."""
    options = {'batch_size': 6, 'order': lx.Shuffle(seed=3), 'epochs': 2, **options}
    found = {}
    for batch in lx.Loader(dataset, **options):
        for label, image in zip(batch['label'].tolist(), batch['image']):
            found.setdefault(label, []).append(image.copy())
    return found


def assert_equal(one, other):
    assert one.keys() == other.keys()
    for label, made in one.items():
        np.testing.assert_array_equal(made, other[label])


def test_pixels_are_those_of_pillow(photos):
    image = pytest.importorskip('PIL.Image')
    steps = [images.Resize(30), images.CenterCrop((20, 28))]
    dataset = images.ImageDataset(photos, steps, layout='HWC')
    for i in range(0, 40, 2):
        right = image.fromarray(photo(i, width=50 + i % 5, height=40 + i % 3))
        width = 30 * right.width // right.height
        left, top = round((width - 28) / 2), 5
        right = right.resize((width, 30), image.BILINEAR).crop((left, top, left + 28, top + 20))
        np.testing.assert_array_equal(dataset[i]['image'], right)


def test_normalized_pixels_are_those_of_torchvision(photos):
    steps = [images.Resize((8, 9)), images.Normalize(MEAN, STD)]
    got = images.ImageDataset(photos, steps)[:5]['image']
    raw = images.ImageDataset(photos, steps[:1])[:5]['image'].astype(np.float32)
    mean, std = (np.float32(numbers).reshape(3, 1, 1) for numbers in (MEAN, STD))
    assert got.dtype == np.float32 and got.shape == (5, 3, 8, 9)
    np.testing.assert_array_equal(got, (raw / np.float32(255) - mean) / std)


@pytest.mark.parametrize('dtype, low, high', [
    ('float32', 0, 1), ('float16', 0, 1), ('uint8', 0, 255), ('int8', -128, 127)])
def test_ranges_of_dtypes(photos, dtype, low, high):
    got = images.ImageDataset(photos, [images.Resize((20, 20))], dtype=dtype)[:]['image']
    assert got.dtype == np.dtype(dtype)
    assert low <= got.min() < low + (high - low) * 0.1 and high >= got.max() > high * 0.9


def test_pixels_do_not_depend_on_threads_ranks_or_batches(photos):
    right = read(images.ImageDataset(photos, TRAIN, seed=5), threads=0)
    assert_equal(right, read(images.ImageDataset(photos, TRAIN, seed=5), threads=3, batch_size=7))
    ranks = {}
    for rank in range(3):
        part = read(images.ImageDataset(photos, TRAIN, seed=5), rank=rank, world=3, threads=2,
                    uneven=True)
        for label, made in part.items():
            ranks.setdefault(label, []).extend(made)
    for label, made in right.items():
        assert {one.tobytes() for one in ranks[label]} == {one.tobytes() for one in made}
    other = read(images.ImageDataset(photos, TRAIN, seed=6), threads=0)
    assert sum((right[i][0] != other[i][0]).any() for i in range(40)) == 40


def test_epochs_and_repeats_differ(photos):
    found = read(images.ImageDataset(photos, TRAIN, seed=5),
                 order=lx.Repeat(lx.Shuffle(n=40, seed=1), 2))
    for made in found.values():
        assert len({one.tobytes() for one in made}) == 4


def test_a_restored_loader_continues_with_the_same_pixels(photos):
    def loader():
        return lx.Loader(images.ImageDataset(photos, TRAIN, seed=5), batch_size=6,
                         order=lx.Shuffle(seed=3), epochs=2)
    one, other = loader(), loader()
    batches = iter(one)
    for _ in range(4):
        next(batches)
    state = one.state_dict()
    other.load_state_dict(state)
    rest = list(batches)
    assert len(rest) == 10
    for left, right in zip(rest, other):
        np.testing.assert_array_equal(left['image'], right['image'])
    changed = lx.Loader(images.ImageDataset(photos, TRAIN, seed=7), batch_size=6,
                        order=lx.Shuffle(seed=3), epochs=2)
    with pytest.raises(ValueError, match='identity'):
        changed.load_state_dict(state)


def test_bad_images_are_damaged_records(tmp_path):
    path = tmp_path / 'bad'
    files = [PNG] * 10
    files[3], files[7] = PNG[:-20], PNG[:8] + b'no image'
    with lx.create(path, {'image': lx.Field('image'), 'label': lx.Field('int64')}) as writer:
        writer.extend({'image': files, 'label': np.arange(10)})
    dataset = images.ImageDataset(path, [images.Resize((4, 4))])
    with pytest.raises(lx.CorruptError, match="field 'image', record 3"):
        list(lx.Loader(dataset, batch_size=10))
    batch, = lx.Loader(dataset, batch_size=10, on_damage='skip')
    assert batch['label'].tolist() == [0, 1, 2, 4, 5, 6, 8, 9]
    batch, = lx.Loader(dataset, batch_size=10, on_damage='zeros')
    assert [bool(one.any()) for one in batch['image']] == [i not in (3, 7) for i in range(10)]


@pytest.mark.parametrize('on_damage', ['raise', 'skip', 'zeros'])
def test_images_of_too_many_pixels_are_not_damage(tmp_path, on_damage):
    """They are not left out: the error names the record and the argument."""
    path = tmp_path / 'large'
    files = [images.encode(np.zeros((4, 4 if i != 6 else 5, 3), np.uint8), 'png') for i in range(10)]
    with lx.create(path, {'image': lx.Field('image'), 'mask': lx.Field('image')}) as writer:
        mask = images.encode(np.zeros((4, 5), np.uint8), 'png')
        writer.extend({'image': files, 'mask': [mask] * 10})

    def read(max_pixels, targets=None):
        dataset = images.ImageDataset(path, [images.Resize((2, 2))], max_pixels=max_pixels,
                                      targets=targets)
        dataset = pickle.loads(pickle.dumps(dataset))    # in other processes, too
        with lx.Loader(dataset, batch_size=4, on_damage=on_damage) as loader:
            return sum(len(batch['image']) for batch in loader)

    with pytest.raises(ValueError, match=r"field 'image', record 6: .* 5 x 4 pixels, more than "
                                         r'max_pixels, 16: raise max_pixels'):
        read(16)
    assert read(20) == 10
    for wrong in -1, 2**64, 1.5:
        with pytest.raises((ValueError, TypeError), match='max_pixels'):
            read(wrong)
    with lx.open(path, 'r+') as writer:
        writer.truncate(1)
    with pytest.raises(ValueError, match="field 'mask', record 0: .* more than max_pixels, 16"):
        read(16, {'mask': images.Mask()})


def test_bad_images_are_named_by_file_and_offset(tmp_path):
    recordio = pytest.importorskip('loaderx.recordio')
    offsets = {}
    for name in 'a', 'b':
        with recordio.MXIndexedRecordIO(tmp_path / f'{name}.idx', tmp_path / f'{name}.rec',
                                        'w') as file:
            for i in range(5):
                offsets[name, i] = file.tell()
                image = b'no image' if (name, i) == ('b', 2) else PNG
                file.write_idx(i, recordio.pack(recordio.IRHeader(0, i, i, 0), image))
    both = lx.ConcatDataset([recordio.RecordIODataset(tmp_path / f'{name}.rec') for name in 'ab'])
    dataset = images.ImageDataset(lx.SubsetDataset(both, [9, 7, 8]), [images.Resize((4, 4))])
    with pytest.raises(lx.CorruptError) as raised:
        list(lx.Loader(dataset, batch_size=3))
    error = raised.value
    assert (error.path, error.record, error.offset) == (str(tmp_path / 'b.rec'), 2, offsets['b', 2])


def test_reads_like_any_dataset(photos):
    dataset = images.ImageDataset(photos, [images.Resize((4, 6))], mode='L')
    assert len(dataset) == 40 and dataset.fields['image'].shape == (1, 4, 6)
    both = dataset + dataset
    np.testing.assert_array_equal(both[42]['image'], dataset[2]['image'])
    again = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(again[:]['image'], dataset[:]['image'])
    subset = lx.SubsetDataset(dataset, [5, 6])
    np.testing.assert_array_equal(subset[1]['image'], dataset[6]['image'])


def test_feeds_torch(photos):
    torch = pytest.importorskip('torch')
    from loaderx.torch import DataLoader
    dataset = images.ImageDataset(photos, TRAIN, seed=2)
    batches = list(DataLoader(dataset, batch_size=8, shuffle=True))
    assert len(batches) == 5 and batches[0]['image'].shape == (8, 3, 16, 16)
    assert batches[0]['image'].dtype == torch.float32


@pytest.mark.parametrize('make, message', [
    (lambda path: images.ImageDataset(path, []), 'one size'),
    (lambda path: images.ImageDataset(path, [images.Resize(8)]), 'one size'),
    (lambda path: images.ImageDataset(path, [images.Resize(8, 'cubic')]), 'interpolation must be'),
    (lambda path: images.ImageDataset(path, [images.Resize((1, 2, 3))]), 'size must be'),
    (lambda path: images.ImageDataset(path, [images.Flip(2), images.CenterCrop(3)]),
     'probability of 2'),
    (lambda path: images.ImageDataset(path, [images.RandomResizedCrop(8, scale=(0.5, 0.1))]),
     'scale must be'),
    (lambda path: images.ImageDataset(path, TRAIN[::-1]), 'last step'),
    (lambda path: images.ImageDataset(path, TRAIN, mode='L'), 'Normalize has 3 numbers'),
    (lambda path: images.ImageDataset(path, TRAIN, layout='WHC'), 'layout must be'),
    (lambda path: images.ImageDataset(path, TRAIN, field='label'), 'not the bytes'),
    (lambda path: images.ImageDataset(path, [images.CenterCrop(60)])[0], 'less than the crop'),
])
def test_errors_name_the_argument(photos, make, message):
    with pytest.raises(ValueError, match=message):
        make(photos)


def test_other_errors(photos):
    with pytest.raises(KeyError, match="'picture' not found: the source has .*image"):
        images.ImageDataset(photos, TRAIN, field='picture')
    with pytest.raises(TypeError, match='steps of loaderx.images'):
        images.ImageDataset(photos, ['resize'])
    with pytest.raises(TypeError, match=r'pass \[CenterCrop\(3\)\]'):
        images.ImageDataset(photos, images.CenterCrop(3))


def test_other_fields_may_vary_in_length(tmp_path):
    path = tmp_path / 'captions'
    with lx.create(path, {'image': lx.Field('image'), 'text': lx.Field('str')}) as writer:
        writer.extend({'image': [PNG] * 3, 'text': ['a', '', 'ccc']})
    dataset = images.ImageDataset(path, [images.Resize((2, 2))])
    assert dataset[2]['text'] == 'ccc' and dataset['text'][:] == ['a', '', 'ccc']
    batch = next(lx.Loader(dataset, batch_size=3, ragged='list'))
    assert batch['text'] == ['a', '', 'ccc'] and batch['image'].shape == (3, 3, 2, 2)


def test_records_of_mxnet_become_tensors(tmp_path):
    from loaderx import recordio
    path = str(tmp_path / 'a.rec')
    with recordio.MXIndexedRecordIO(path[:-3] + 'idx', path, 'w') as file:
        for i in range(7):
            file.write_idx(i, recordio.pack((0, i, i, 0), PNG))
    dataset = images.ImageDataset(recordio.RecordIODataset(path), [images.Resize((2, 2))])
    batch = next(lx.Loader(dataset, batch_size=7))
    assert batch['label'].tolist() == list(range(7)) and batch['image'].shape == (7, 3, 2, 2)
    assert batch['image'][:, 0].min() == 255


def test_stats_say_that_decoding_takes_the_time_even_if_files_come_from_the_disk(tmp_path):
    files = [encoded(i, 'JPEG', width=700, height=500) for i in range(4)]
    with lx.create(tmp_path / 'd', {'image': lx.Field('image')}) as writer:
        writer.extend({'image': files * 30})
    for file in (tmp_path / 'd').rglob('*'):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
    decoded = images.ImageDataset(tmp_path / 'd', [images.Resize(256), images.CenterCrop(224)])
    loader = lx.Loader(decoded, batch_size=10, threads=2)
    list(loader)
    stats = loader.stats()
    assert stats['fill_ns'] / 2 < stats['map_ns'] <= stats['fill_ns']
    assert 'decoding and augmenting images, is the bottleneck' in stats.summary


# ---- several image datasets in one loader


VIEW = [images.RandomResizedCrop(8), images.Flip()]
DEFAULT = {}


def nested(one, other):
    return {'a': lx.SubsetDataset(lx.ConcatDataset([one]), range(3)),
            'b': lx.SubsetDataset(other, range(3))}


SIDE_BY_SIDE = [lambda one, other: {'a': one, 'b': other}, nested,
                lambda one, other: (lx.NPDataset(np.arange(3)), nested(one, other)['a'],
                                    nested(one, other)['b'])]


def readers():
    yield lx.Loader
    try:
        from loaderx.torch import DataLoader
    except ImportError:
        return
    yield DataLoader


@pytest.mark.parametrize('seeds', [(DEFAULT, DEFAULT), ({'seed': 0}, DEFAULT),
                                   (DEFAULT, {'seed': 0})])
@pytest.mark.parametrize('arrange', SIDE_BY_SIDE)
def test_two_views_with_forgotten_seeds_are_refused(seeds, arrange, files):
    made = arrange(*(images.ImageDataset(files.photos, VIEW, **more) for more in seeds))
    for reader in readers():
        with pytest.raises(ValueError, match='same random choices.*seed 0: pass another seed='):
            reader(made)


def test_one_view_that_is_read_twice_is_refused(files):
    view = images.ImageDataset(files.photos, VIEW)
    for made in {'a': view, 'b': view}, (view, view), {'a': view, 'b': lx.ConcatDataset([view])}:
        with pytest.raises(ValueError, match='same random choices'):
            lx.Loader(made)


def test_two_fields_of_a_record_with_forgotten_seeds_are_refused(tmp_path):
    with lx.create(tmp_path / 'd', {name: lx.Field('image') for name in 'xy'}) as writer:
        writer.extend(x=[PNG] * 3, y=[PNG] * 3)
    left = images.ImageDataset(tmp_path / 'd', VIEW, field='x')
    with pytest.raises(ValueError, match='dataset and the ImageDataset over it.*same random'):
        images.ImageDataset(left, VIEW, field='y')
    assert len(images.ImageDataset(left, VIEW, field='y', seed=1)) == 3


def test_views_with_seeds_of_their_own_differ(photos):
    views = {name: images.ImageDataset(photos, VIEW, **more)
             for name, more in (('a', DEFAULT), ('b', {'seed': 1}))}
    batch = next(lx.Loader(views, batch_size=40))
    assert sorted(batch) == ['a.image', 'a.label', 'b.image', 'b.label']
    assert np.array_equal(batch['a.label'], batch['b.label'])
    assert sum(map(np.array_equal, batch['a.image'], batch['b.image'])) < 5
    chosen = next(lx.Loader(views, batch_size=40, fields=['a.image', 'b.image']))
    assert np.array_equal(chosen['b.image'], batch['b.image']) and len(chosen) == 2


def test_views_with_the_same_given_seed_are_the_same(photos):
    view = images.ImageDataset(photos, VIEW, seed=0)
    batch = next(lx.Loader({'a': view, 'b': images.ImageDataset(photos, VIEW, seed=0)}))
    assert np.array_equal(batch['a.image'], batch['b.image'])
    # the default is the same seed, also after pickling, and stays the one that states know
    assert np.array_equal(batch['a.image'], next(lx.Loader(
        pickle.loads(pickle.dumps(images.ImageDataset(photos, VIEW)))))['image'])
    state = lx.Loader(images.ImageDataset(photos, VIEW)).state_dict()
    lx.Loader(view).load_state_dict(state)


def test_datasets_that_are_not_random_or_not_side_by_side_need_no_seed(files):
    plain = [images.ImageDataset(files.photos, [images.Resize((8, 8)), images.Flip(1)])
             for _ in range(2)]
    view = images.ImageDataset(files.photos, VIEW)
    assert len(lx.Loader({'a': plain[0], 'b': plain[1], 'c': view})) == len(plain[0])
    assert len(lx.ConcatDataset([view, images.ImageDataset(files.photos, VIEW)])) == 2 * len(view)
    both = lx.ConcatDataset([view, view])
    assert len(lx.Loader({'a': both, 'b': np.arange(len(both))})) == len(both)


def test_a_copy_of_a_view_has_forgotten_its_seed_as_well(files):
    view = images.ImageDataset(files.photos, VIEW)
    with pytest.raises(ValueError, match='same random choices'):
        lx.Loader({'a': view, 'b': pickle.loads(pickle.dumps(view))})


STEPS = [images.CenterCrop(4), images.ColorJitter(.5), images.Flip(), images.Flip(0),
         images.Flip(1), images.GaussianBlur(3), images.Lighting(.5), images.Pad(1),
         images.RandomCrop(4), images.RandomErasing(), images.RandomGrayscale(.5),
         images.RandomResizedCrop(4), images.RandomRotation(60), images.Resize((5, 4)),
         images.Normalize(MEAN, STD), images.SubtractMean((1, 2, 3))]


def test_all_steps_are_tested():
    public = {getattr(images, name) for name in images.__all__}
    steps = {kind for kind in public if isinstance(kind, type) and issubclass(
        kind, type(images.Resize(1)).__mro__[1])}
    assert steps == set(map(type, STEPS))


@pytest.mark.parametrize('step', STEPS, ids=repr)
def test_a_step_that_makes_random_choices_says_so(tmp_path, step):
    steps = [images.Resize((6, 6)), step]
    if isinstance(step, images.RandomErasing):
        steps.insert(1, images.Normalize(MEAN, STD))
    noise = np.random.default_rng(1).integers(0, 256, (6, 6, 3), np.uint8)
    with lx.create(tmp_path / 'd', {'image': lx.Field('image')}) as writer:
        writer.extend(image=[images.encode(noise, 'png')] * 30)
    pixels = next(lx.Loader(images.ImageDataset(tmp_path / 'd', steps), batch_size=30))['image']
    differ = any(not np.array_equal(one, pixels[0]) for one in pixels)
    assert differ == step._random
