# SPDX-License-Identifier: MIT
"""Masks, boxes and points that change with the images of an ImageDataset."""

import io
import json
import pickle

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images')
from loaderx import images    # noqa: E402

WIDTH, HEIGHT, COUNT = 40, 30, 50
TARGETS = {'mask': images.Mask(fill=9), 'boxes': images.Boxes(), 'points': images.Points()}
STEPS = [images.RandomCrop((20, 24)), images.Flip(), images.Pad(2)]


def png(pixels, **more):
    """Encode an array, or an image of Pillow."""
    if isinstance(pixels, np.ndarray):
        return images.encode(pixels, 'png')
    file = io.BytesIO()
    pixels.save(file, 'PNG', **more)
    return file.getvalue()


def scene(number):
    """Return a white rectangle with a few black pixels around it, and its boxes: it comes first."""
    random = np.random.default_rng(number)
    left, top = random.integers(8, 14, 2)
    right, bottom = left + random.integers(2, 6), top + random.integers(2, 6)
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    pixels[top:bottom, left:right] = 255
    box = np.float32([left, top, right, bottom])
    return pixels, np.stack([box] + [random.uniform(0, 30, 4).astype('f4')] * (number % 3))


def write(path, count=COUNT, missing=(), without=()):
    fields = {'image': lx.Field('image'), 'mask': lx.Field('image'), 'label': lx.Field('int64'),
              'boxes': lx.Field('float32', (None, 4)), 'points': lx.Field('float64', (2, 2))}
    fields = {name: fields[name] for name in fields if name not in without}
    with lx.create(path, fields, durability='none') as writer:
        for number in range(count):
            pixels, boxes = scene(number)
            values = {'image': png(pixels), 'mask': png((pixels > 0).astype(np.uint8)),
                      'label': number, 'boxes': None if number in missing else boxes,
                      'points': boxes[0].astype('f8').reshape(2, 2)}
            writer.append({name: values[name] for name in values if name not in without})
    return path


@pytest.fixture
def scenes(tmp_path):
    return write(tmp_path / 'scenes')


def write_one(path, **values):
    """Write a dataset of one record: byte strings, and arrays of coordinates."""
    kinds = {bytes: lambda value: lx.Field('image'),
             np.ndarray: lambda value: lx.Field(value.dtype, (None, value.shape[1]))}
    fields = {name: kinds[type(value)](value) for name, value in values.items()}
    with lx.create(path, fields, durability='none') as writer:
        writer.append(values)
    return path


BLACK = np.zeros((HEIGHT, WIDTH), np.uint8)


def make(path, steps=STEPS, **more):
    return images.ImageDataset(path, steps, mode='L', targets=TARGETS, seed=4, **more)


def check(record):
    """The box, the points and the mask are where the image is white."""
    image, mask, boxes = (np.asarray(record[name]) for name in ('image', 'mask', 'boxes'))
    image = image[0]
    assert image.dtype == mask.dtype == np.uint8 and boxes.dtype == np.float32
    assert boxes.shape == (1 + int(record['label']) % 3, 4)
    np.testing.assert_array_equal(image[2:-2, 2:-2] == 255, mask[2:-2, 2:-2] == 1)
    assert (mask[:2] == 9).all() and (mask[:, -2:] == 9).all()
    rows, columns = (np.flatnonzero((image == 255).any(axis)) for axis in (1, 0))
    left, top, right, bottom = boxes[0].tolist()
    if len(rows) == 0:
        assert left == right or top == bottom
        return
    assert (left, right) == (columns[0], columns[-1] + 1)
    assert (top, bottom) == (rows[0], rows[-1] + 1)
    points = np.asarray(record['points'])
    height, width = image.shape
    inner = np.clip(points, 2, [width - 2, height - 2])    # the crop, which is padded by 2
    np.testing.assert_array_equal([*inner.min(0), *inner.max(0)], boxes[0])


def records_of(batch):
    return [{name: batch[name][row] for name in ('image', 'mask', 'boxes', 'points', 'label')}
            for row in range(len(batch['label']))]


def read(dataset, **options):
    """Return all records of a loader by epoch and label."""
    options = {'batch_size': 6, 'order': lx.Shuffle(seed=3), 'epochs': 2, **options}
    found = {}
    for batch in lx.Loader(dataset, **options):
        for record in records_of(batch):
            check(record)
            found.setdefault(int(record['label']), []).append(
                b''.join(np.asarray(value).tobytes() for value in record.values()))
    return found


def test_targets_agree_with_the_image_whatever_reads_them(scenes):
    right = read(make(scenes), threads=0)
    assert right == read(make(scenes), threads=3, batch_size=7)
    assert len(right) == COUNT and all(one != other for one, other in list(right.values())[:5])
    parts = {}
    for rank in range(3):
        part = read(make(scenes), rank=rank, world=3, threads=2, uneven=True)
        for label, found in part.items():
            parts.setdefault(label, []).extend(found)
    assert {label: sorted(found) for label, found in parts.items()} == {
        label: sorted(found) for label, found in right.items()}


def test_a_resumed_loader_continues_with_the_same_values(scenes):
    def loader():
        return lx.Loader(make(scenes), batch_size=6, order=lx.Shuffle(seed=3), epochs=2, threads=2)

    first = loader()
    for _ in range(5):
        next(first)
    state = json.loads(json.dumps(first.state_dict()))
    second = loader()
    second.load_state_dict(state)
    for _ in range(8):
        one, other = next(first), next(second)
        for name in ('image', 'mask', 'points', 'label'):
            np.testing.assert_array_equal(one[name], other[name])
        np.testing.assert_array_equal(one['boxes'].values, other['boxes'].values)
    others = lx.Loader(images.ImageDataset(scenes, STEPS, mode='L', seed=4,
                                           targets={**TARGETS, 'mask': images.Mask(8)}),
                       batch_size=6, order=lx.Shuffle(seed=3), epochs=2)
    with pytest.raises(ValueError, match='source.identity'):
        others.load_state_dict(state)


def test_records_are_read_one_by_one(scenes):
    dataset = make(scenes)
    for made in (dataset, pickle.loads(pickle.dumps(dataset)),
                 lx.SubsetDataset(dataset, [7, 3, 40, 3]), lx.ConcatDataset([dataset, dataset])):
        for index in (0, 3, len(made) - 1):
            check(made[index])
        for record in made.__getitems__([1, 0, 2]):
            check(record)
        batch = made.gather([0, 2])
        for record in records_of(batch):
            check(record)
        assert made['boxes'][1].tolist() == made[1]['boxes'].tolist()
        assert made[1]['boxes'].flags.writeable


@pytest.mark.parametrize('options', [
    {}, {'num_workers': 2}, {'num_workers': 2, 'shuffle': True},
    {'num_workers': 2, 'workers': 'processes'}])
def test_torch_loaders(scenes, options):
    torch = pytest.importorskip('torch')
    import loaderx.torch

    loader = loaderx.torch.DataLoader(make(scenes), batch_size=8, collate_fn=list, **options)
    passes = []
    for _ in range(2):
        seen = {}
        for batch in loader:
            for record in batch:
                check(record)
                seen[int(record['label'])] = np.asarray(record['boxes']).tolist()
        assert len(seen) == COUNT
        passes.append(seen)
    assert passes[0] != passes[1]    # each pass makes other choices
    own = torch.utils.data.DataLoader(make(scenes), batch_size=8, collate_fn=list, num_workers=2)
    for batch in own:
        for record in batch:
            check(record)


class Columns:
    """A dataset of a caller that reads one field after the other."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return [self.dataset[name][index] for name in ('label', 'image', 'boxes')]


@pytest.mark.parametrize('own, workers', [(False, 0), (True, 1)])
def test_images_and_targets_are_read_together(scenes, own, workers):
    """In a DataLoader, reads one after the other would make different random choices."""
    torch = pytest.importorskip('torch')
    import loaderx.torch

    columns = Columns(make(scenes))
    assert len(columns[4]) == 3    # no DataLoader: the same choices in each read
    loader = torch.utils.data.DataLoader if own else loaderx.torch.DataLoader
    with pytest.raises(ValueError, match=r'read together.*: read dataset\[.\] instead of '
                       r"dataset\['image'\]\[.\]"):
        next(iter(loader(columns, batch_size=2, collate_fn=list, num_workers=workers)))


def test_masks_and_points_are_collated(tmp_path):
    pytest.importorskip('torch')
    import loaderx.torch

    targets = {name: TARGETS[name] for name in ('mask', 'points')}
    path = write(tmp_path / 'd', 20, without=['boxes'])
    dataset = images.ImageDataset(path, STEPS, mode='L', targets=targets)
    batch = next(iter(loaderx.torch.DataLoader(dataset, batch_size=8, num_workers=2)))
    assert batch['mask'].shape == (8, 24, 28) and batch['points'].shape == (8, 2, 2)


def test_missing_values(tmp_path):
    dataset = make(write(tmp_path / 'd', 12, missing=(3, 8)))
    assert dataset[3]['image'] is None and dataset[3]['boxes'] is None and dataset[3]['label'] == 3
    assert dataset['boxes'].present().tolist() == [i not in (3, 8) for i in range(12)]
    check(dataset[4])
    loader = lx.Loader(dataset, batch_size=12, missing={'image': 'mask', 'mask': 'mask',
                                                        'boxes': 'mask', 'points': 'mask'})
    assert [len(boxes) for boxes in next(loader)['boxes']] == [
        0 if i in (3, 8) else 1 + i % 3 for i in range(12)]


def test_boxes_of_a_fixed_number(tmp_path):
    with lx.create(tmp_path / 'd', {'image': lx.Field('image'),
                                    'boxes': lx.Field('float64', (2, 4))}) as writer:
        for _ in range(9):
            writer.append({'image': png(BLACK), 'boxes': [[0, 0, 5, 5], [10, 10, 30, 25]]})
    dataset = images.ImageDataset(tmp_path / 'd', [images.CenterCrop((10, 12))],
                                  targets={'boxes': images.Boxes()})
    for batch in lx.Loader(dataset, batch_size=3, threads=2):
        assert batch['boxes'].tolist() == [[[0, 0, 0, 0], [0, 0, 12, 10]]] * 3


def test_targets_belong_to_the_upright_image(tmp_path):
    Image = pytest.importorskip('PIL.Image')
    exif = Image.Exif()
    exif[0x0112] = 6    # stored on its left side
    path = write(tmp_path / 'd', 6)
    with lx.open(path, 'r+') as writer:
        for number in range(6):
            pixels, _ = scene(number)
            stored = png(Image.fromarray(np.ascontiguousarray(np.rot90(pixels))), exif=exif)
            writer[number] = {**lx.Dataset(path)[number], 'image': stored}
    dataset = make(path)
    for number in range(6):
        check(dataset[number])


def test_a_mask_of_another_size_is_damage(tmp_path):
    path = write(tmp_path / 'd', 10)
    with lx.open(path, 'r+') as writer:
        writer[4] = {**lx.Dataset(path)[4], 'mask': png(np.zeros((3, 5), np.uint8))}
    with pytest.raises(lx.LoaderxError, match='the mask has 5 x 3 pixels, and its image has 40 x 30'
                       ) as caught:
        next(lx.Loader(make(path), batch_size=10))
    assert caught.value.record == 4 and caught.value.field == 'mask'
    batch = next(lx.Loader(make(path), batch_size=10, on_damage='skip'))
    assert batch['label'].tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    for record in records_of(batch):
        check(record)


# ---- other libraries


@pytest.mark.parametrize('mode, bits', [('P', 1), ('P', 2), ('P', 4), ('P', 8), ('L', 8), ('1', 1)])
def test_classes_are_those_of_pillow(tmp_path, mode, bits):
    Image = pytest.importorskip('PIL.Image')
    classes = np.random.default_rng(5).integers(0, 2**bits, (HEIGHT, WIDTH), np.uint8)
    made = Image.fromarray(classes, 'L')
    if mode == 'P':
        made.putpalette([number % 256 for number in range(7, 7 + 3 * 2**bits)])
    made = made.convert('1') if mode == '1' else made
    file = png(made, **({'bits': bits} if mode == 'P' else {}))
    expected = np.array(Image.open(io.BytesIO(file)))
    dataset = images.ImageDataset(
        write_one(tmp_path / 'd', image=png(BLACK), mask=file),
        [images.CenterCrop((HEIGHT, WIDTH))], targets={'mask': images.Mask()})
    np.testing.assert_array_equal(dataset[0]['mask'], expected)
    assert mode != 'P' or (expected == classes).all()


@pytest.mark.parametrize('mode', ['RGB', 'RGBA', 'LA', 'I;16'])
def test_images_of_colours_are_no_masks(tmp_path, mode):
    Image = pytest.importorskip('PIL.Image')
    dataset = images.ImageDataset(
        write_one(tmp_path / 'd', image=png(BLACK), mask=png(Image.new(mode, (WIDTH, HEIGHT)))),
        [images.CenterCrop((HEIGHT, WIDTH))], targets={'mask': images.Mask()})
    with pytest.raises(lx.LoaderxError, match='a mask must be a PNG'):
        dataset[0]


BOXES = np.random.default_rng(1).uniform(0, 1, (50, 4)) * [WIDTH * .6, HEIGHT * .6, 16, 12]
FORMATS = 'xyxy', 'xywh', 'cxcywh'


def boxes_in(format):
    """Return the same boxes, most of which are within the image."""
    x, y, w, h = BOXES.T
    corner = {'xyxy': (x, y, x + w, y + h), 'xywh': (x, y, w, h),
              'cxcywh': (x + w / 2, y + h / 2, w, h)}
    return np.stack(corner[format], 1).astype(np.float32)


def move(folder, steps, format, boxes=None, seed=1):
    """Move boxes, and the corners of the image as points."""
    boxes = boxes_in(format) if boxes is None else boxes
    path = write_one(folder / str(seed), image=png(BLACK), boxes=boxes,
                     points=np.float64([[0, 0], [WIDTH, HEIGHT]]))
    targets = {'boxes': images.Boxes(format), 'points': images.Points()}
    return images.ImageDataset(path, steps, seed=seed, targets=targets)[0]


CASES = {
    'resize': ([images.Resize((17, 53))], lambda F, boxes, _: F.resize(boxes, [17, 53])),
    'shorter': ([images.Resize(20), images.CenterCrop((20, 26))],
                lambda F, boxes, _: F.center_crop(F.resize(boxes, 20), [20, 26])),
    'center': ([images.CenterCrop((11, 14))], lambda F, boxes, _: F.center_crop(boxes, [11, 14])),
    'flip': ([images.Flip(1), images.CenterCrop((30, 40))],
             lambda F, boxes, _: F.horizontal_flip(boxes)),
    'pad': ([images.CenterCrop((30, 40)), images.Pad((1, 2, 3, 4))],
            lambda F, boxes, _: F.pad(boxes, [1, 2, 3, 4])),
    'rotation': ([images.RandomRotation((25, 25)), images.CenterCrop((30, 40))],
                 lambda F, boxes, _: F.rotate(boxes, 25)),
    'crop and pad': ([images.CenterCrop((11, 14)), images.Pad(5)],
                     lambda F, boxes, _: F.pad(F.center_crop(boxes, [11, 14]), [5])),
    'two turns': ([images.RandomRotation((25, 25)), images.RandomRotation((-60, -60)),
                   images.CenterCrop((20, 24))],
                  lambda F, boxes, _: F.center_crop(F.rotate(F.rotate(boxes, 25), -60), [20, 24])),
    'random': ([images.RandomCrop((12, 20))],
               lambda F, boxes, at: F.crop(boxes, round(-at[0, 1]), round(-at[0, 0]), 12, 20)),
    'resized': ([images.RandomResizedCrop((25, 30), (0.2, 0.9))],
                lambda F, boxes, at: F.resized_crop(boxes, *region(at, 25, 30), [25, 30])),
}


def region(at, height, width):
    """Return the part (top, left, height, width) that became the whole image."""
    scale = (at[1] - at[0]) / [WIDTH, HEIGHT]
    left, top = np.rint(-at[0] / scale).astype(int).tolist()
    return top, left, round(height / scale[1]), round(width / scale[0])


@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('case', CASES)
def test_boxes_are_those_of_torchvision(tmp_path, case, format):
    torch = pytest.importorskip('torch')
    tv = pytest.importorskip('torchvision.tv_tensors')
    from torchvision.transforms.v2 import functional

    steps, reference = CASES[case]
    for seed in range(5):
        got = move(tmp_path, steps, format, seed=seed)
        boxes = tv.BoundingBoxes(torch.from_numpy(boxes_in(format)), format=format.upper(),
                                 canvas_size=(HEIGHT, WIDTH))
        # Each of these steps clamps boxes except for resizes and flips.
        expected = functional.clamp_bounding_boxes(
            reference(functional, functional.clamp_bounding_boxes(boxes), got['points']))
        np.testing.assert_allclose(got['boxes'], expected.numpy(), atol=2e-4)


@pytest.mark.parametrize('format', FORMATS)
def test_a_box_that_is_cut_off_has_no_area(tmp_path, format):
    boxes = {'xyxy': [[0, 0, 5, 5], [10, 10, 30, 25]], 'xywh': [[0, 0, 5, 5], [10, 10, 20, 15]],
             'cxcywh': [[2.5, 2.5, 5, 5], [20, 17.5, 20, 15]]}[format]
    got = move(tmp_path, [images.CenterCrop((10, 12))], format, np.float32(boxes))['boxes']
    sizes = got[:, 2:] - (got[:, :2] if format == 'xyxy' else 0)
    assert sizes.tolist() == [[0, 0], [12, 10]]


def test_masks_are_those_of_pillow(tmp_path):
    Image = pytest.importorskip('PIL.Image')
    classes = np.random.default_rng(5).integers(0, 200, (HEIGHT, WIDTH), np.uint8)
    mask = Image.fromarray(classes, 'L')
    path = write_one(tmp_path / 'd', image=png(classes), mask=png(classes))
    for steps, expected in (
            ([images.Resize((17, 53), 'bicubic')], mask.resize((53, 17), Image.NEAREST)),
            ([images.Flip(1), images.Resize((15, 20))],
             mask.transpose(Image.FLIP_LEFT_RIGHT).resize((20, 15), Image.NEAREST)),
            ([images.RandomRotation((25, 25), 'bilinear'), images.CenterCrop((30, 40))],
             mask.rotate(25, Image.NEAREST, fillcolor=9)),
            ([images.Resize((30, 40)), images.ColorJitter(0.5), images.GaussianBlur(3),
              images.RandomErasing(1)], mask)):
        dataset = images.ImageDataset(path, steps, targets={'mask': images.Mask(fill=9)})
        np.testing.assert_array_equal(dataset[0]['mask'], np.array(expected))


# ---- failures


@pytest.mark.parametrize('number', [np.nan, np.inf, -1e30])
def test_numbers_that_are_no_coordinates(tmp_path, number):
    boxes = boxes_in('xyxy')
    boxes[7, 2] = number
    with pytest.raises(lx.LoaderxError, match=r'boxes.*number 2 of row 7.*no coordinate'):
        move(tmp_path, [images.CenterCrop((10, 12))], 'xyxy', boxes)


@pytest.mark.parametrize('targets, message', [
    ({'mask': images.Boxes()}, r'shape \(n, 4\)'),
    ({'label': images.Boxes()}, r'shape \(n, 4\)'),
    ({'points': images.Boxes()}, r'shape \(n, 4\)'),
    ({'boxes': images.Points()}, r'shape \(n, 2\).* float32 with 2 axes and 4 numbers in a row'),
    ({'boxes': images.Mask()}, 'encoded masks'),
    ({'image': images.Mask()}, 'named twice'),
    ({'depth': images.Mask()}, "no column 'depth'"),
])
def test_targets_that_do_not_fit(scenes, targets, message):
    with pytest.raises((ValueError, KeyError), match=message):
        images.ImageDataset(scenes, STEPS, targets=targets)


def test_wrong_arguments(scenes):
    with pytest.raises(TypeError, match='must be a dict'):
        images.ImageDataset(scenes, STEPS, targets=[images.Mask()])
    with pytest.raises(TypeError, match="targets\\['mask'\\] must be a Mask, Boxes or Points"):
        images.ImageDataset(scenes, STEPS, targets={'mask': 'mask'})
    with pytest.raises(ValueError, match='format must be one of'):
        images.Boxes('yxyx')
    with pytest.raises(ValueError, match='fill'):
        images.Mask(256)
