# SPDX-License-Identifier: MIT
"""Steps of an ImageDataset, compared with Pillow and torchvision."""

import io
import itertools

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images')
from loaderx import images    # noqa: E402

SIZES = (40, 52), (33, 21), (30, 30)    # heights and widths


def noise(number):
    height, width = SIZES[number]
    return np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture(scope='module')
def pictures(tmp_path_factory):
    """A dataset with a PNG file of noise for each size."""
    image = pytest.importorskip('PIL.Image')
    path = tmp_path_factory.mktemp('steps') / 'pictures'
    with lx.create(path, {'image': lx.Field('image')}) as writer:
        for number in range(len(SIZES)):
            file = io.BytesIO()
            image.fromarray(noise(number)).save(file, 'PNG')
            writer.append({'image': file.getvalue()})
    return path


def made(pictures, number, *steps, mode='RGB', **options):
    """Return what steps make of a picture: (height, width, channels)."""
    whole = images.CenterCrop(SIZES[number])
    dataset = images.ImageDataset(pictures, [whole, *steps], mode=mode, layout='HWC', **options)
    return dataset[number]['image']


def pillow(number, mode='RGB', mirrored=False):
    image = pytest.importorskip('PIL.Image')
    picture = image.fromarray(noise(number)).convert(mode)
    return picture.transpose(image.FLIP_LEFT_RIGHT) if mirrored else picture


def assert_equal(got, right, most=0):
    difference = got.astype(int) - np.asarray(right).reshape(got.shape)
    assert abs(difference).max() <= most


def functional():
    return pytest.importorskip('torchvision.transforms.functional')


@pytest.mark.parametrize('name, amounts', [
    ('brightness', (0, 0.3, 0.99, 1, 1.7, 40)), ('contrast', (0, 0.3, 0.99, 1, 1.7, 40)),
    ('saturation', (0, 0.3, 0.99, 1, 1.7, 40)), ('hue', (-0.5, -0.1234, 0.003, 0.004, 0.3, 0.5))])
def test_colours_are_those_of_torchvision(pictures, name, amounts):
    change = getattr(functional(), f'adjust_{name}')
    for number, amount, mode in itertools.product(range(3), amounts, ('RGB', 'L')):
        step = images.ColorJitter(**{name: (amount, amount)})
        assert_equal(made(pictures, number, step, mode=mode), change(pillow(number, mode), amount))


def test_changes_are_made_in_each_order(pictures):
    names = 'brightness', 'contrast', 'saturation', 'hue'
    amounts = dict(zip(names, (1.2, 0.7, 1.6, 0.1)))
    step = images.ColorJitter(**{name: (amount, amount) for name, amount in amounts.items()})
    right = {}
    for order in itertools.permutations(names):
        picture = pillow(0)
        for name in order:
            picture = getattr(functional(), f'adjust_{name}')(picture, amounts[name])
        right[np.asarray(picture).tobytes()] = order
    seen = {right[made(pictures, 0, step, seed=seed).tobytes()] for seed in range(60)}
    assert len(seen) > 15


def test_numbers_are_ranges_as_in_torchvision():
    transforms = pytest.importorskip('torchvision.transforms')
    for amounts in ((0.4, 0.3, 0.2, 0.1), (1.5, (0.5, 0.7), 2, (-0.2, 0.3))):
        ours, theirs = images.ColorJitter(*amounts), transforms.ColorJitter(*amounts)
        assert ours._ranges == (theirs.brightness, theirs.contrast, theirs.saturation, theirs.hue)
    assert images.RandomRotation(30)._degrees == tuple(transforms.RandomRotation(30).degrees)


def test_ranges_can_be_arrays(pictures):
    step = images.RandomErasing(1, np.array([0.1, 0.2]), ratio=np.float32([1, 1]))
    assert made(pictures, 0, step).shape == (*SIZES[0], 3)


def test_grey_is_that_of_torchvision(pictures):
    for number in range(3):
        assert_equal(made(pictures, number, images.RandomGrayscale(1)),
                     functional().to_grayscale(pillow(number), 3))
        assert_equal(made(pictures, number, images.RandomGrayscale(0)), pillow(number))


def test_lighting_adds_a_colour_along_the_components(pictures):
    vectors = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140],
                        [-0.5836, -0.6948, 0.4203]])
    amounts = []
    for seed in range(300):
        got = made(pictures, 0, images.Lighting(0.2), seed=seed).astype(float)
        inside = ((got > 0) & (got < 255)).all(axis=-1)
        colour = (got - noise(0))[inside].mean(axis=0)
        assert abs((got - noise(0))[inside] - colour).max() < 1
        amounts.append(np.linalg.solve(vectors * (55.46, 4.794, 1.148), colour))
    assert abs(np.std([amount[0] for amount in amounts]) - 0.2) < 0.03
    assert abs(np.mean([amount[0] for amount in amounts])) < 0.04
    assert_equal(made(pictures, 0, images.Lighting(0)), noise(0))


@pytest.mark.parametrize('padding', [0, 3, (2, 5), (1, 2, 3, 4)])
def test_pads_are_those_of_torchvision(pictures, padding):
    for number, mirrored, mode in itertools.product(range(3), (0, 1), ('RGB', 'L')):
        fill = (9, 8, 7) if mode == 'RGB' else 9
        got = made(pictures, number, images.Flip(mirrored), images.Pad(padding, fill), mode=mode)
        assert_equal(got, functional().pad(pillow(number, mode, mirrored), padding, fill))


@pytest.mark.parametrize('name', ['nearest', 'bilinear'])
def test_rotations_are_those_of_pillow(pictures, name):
    image = pytest.importorskip('PIL.Image')
    angles = [0, 30, 45, 60, 90, 180, 270, 360, -45, -90, 1e-9]
    angles += np.random.default_rng(5).uniform(-360, 360, 20).tolist()
    for number, mirrored, angle in itertools.product(range(3), (0, 1), angles):
        step = images.RandomRotation((angle, angle), name, (9, 8, 7))
        right = pillow(number, mirrored=mirrored).rotate(angle, getattr(image, name.upper()),
                                                         fillcolor=(9, 8, 7))
        assert_equal(made(pictures, number, images.Flip(mirrored), step), right)
    grey = made(pictures, 1, images.RandomRotation((20, 20), name, 77), mode='L')
    assert_equal(grey, pillow(1, 'L').rotate(20, getattr(image, name.upper()), fillcolor=77))


@pytest.mark.parametrize('size', [1, 5, 23, (3, 11)])
def test_blurs_are_within_1_of_torchvision(pictures, size):
    sizes = list(size) if isinstance(size, tuple) else [size, size]
    for number, sigma in itertools.product(range(3), (0.1, 0.5, 1, 2, 20)):
        if sizes[0] // 2 < SIZES[number][1] and sizes[1] // 2 < SIZES[number][0]:
            right = functional().gaussian_blur(pillow(number), sizes, [sigma, sigma])
            assert_equal(made(pictures, number, images.GaussianBlur(size, sigma)), right, most=1)


@pytest.mark.parametrize('dtype, layout', [
    ('float32', 'CHW'), ('float16', 'HWC'), ('uint8', 'CHW'), ('int8', 'HWC'), ('bfloat16', 'HWC')])
@pytest.mark.parametrize('mode', ['RGB', 'L'])
def test_parts_of_tensors_are_erased(pictures, dtype, layout, mode):
    if dtype == 'bfloat16':
        pytest.importorskip('ml_dtypes')
    options = {'mode': mode, 'dtype': dtype, 'layout': layout}
    start = [images.CenterCrop(20), images.Flip(1)]
    whole = images.ImageDataset(pictures, start, **options)[:]['image']
    step = images.RandomErasing(1, (0.2, 0.3), value=(1.0, -3.0, 2.0))
    got = images.ImageDataset(pictures, [*start, step], **options)[:]['image']
    for before, after in zip(whole, got):
        if layout == 'HWC':
            before, after = before.transpose(2, 0, 1), after.transpose(2, 0, 1)
        rows, columns = np.nonzero((before != after).any(axis=0))
        box = np.s_[rows.min():rows.max() + 1, columns.min():columns.max() + 1]
        assert 0.15 < after[0][box].size / 400 < 0.35
        for channel, value in zip(after, (1, 0 if dtype == 'uint8' else -3, 2)):
            assert (channel[box] == value).all()


def test_erased_parts_are_drawn_as_by_torchvision(pictures):
    transforms = pytest.importorskip('torchvision.transforms')
    torch = pytest.importorskip('torch')
    def boxes(tensors):
        for tensor in tensors:
            rows, columns = np.nonzero(tensor)
            yield rows.size, np.ptp(rows) + 1, np.ptp(columns) + 1, rows.min(), columns.min()
    torch.manual_seed(1)
    theirs = transforms.RandomErasing(1, value=1)
    right = [theirs(torch.zeros(1, 40, 52))[0].numpy() for _ in range(600)]
    step = images.RandomErasing(1, value=1)
    black = images.ColorJitter(brightness=(0, 0))
    got = [made(pictures, 0, black, step, mode='L', seed=seed)[..., 0] for seed in range(600)]
    for one, other in zip(zip(*boxes(got)), zip(*boxes(right))):
        assert abs(np.mean(one) / np.mean(other) - 1) < 0.12


EVERY = [images.RandomResizedCrop(16), images.Flip(), images.ColorJitter(0.4, 0.4, 0.4, 0.1),
         images.RandomGrayscale(0.2), images.Lighting(), images.GaussianBlur(5),
         images.Pad((1, 2, 3, 0)), images.RandomRotation(20, 'bilinear'),
         images.Normalize((0.5,) * 3, (0.2,) * 3), images.RandomErasing(),
         images.RandomErasing(0.2)]


def test_threads_and_restarts_change_no_pixel(pictures):
    dataset = images.ImageDataset(pictures, EVERY, seed=3)
    order = lx.Repeat(lx.Shuffle(n=3, seed=1), 20)
    right = [batch['image'] for batch in lx.Loader(dataset, batch_size=7, order=order, threads=0)]
    assert right[0].shape == (7, 3, 18, 20)
    loader = lx.Loader(dataset, batch_size=7, order=order, threads=3)
    for one in right[:4]:
        np.testing.assert_array_equal(next(loader)['image'], one)
    again = lx.Loader(images.ImageDataset(pictures, EVERY, seed=3), batch_size=7, order=order)
    again.load_state_dict(loader.state_dict())
    for one in right[4:]:
        np.testing.assert_array_equal(next(again)['image'], one)


@pytest.mark.parametrize('one, other', [
    (images.ColorJitter(0.1), images.ColorJitter(0.2)),
    (images.RandomGrayscale(), images.Flip(0.1)),
    (images.Lighting(0.1), images.Lighting(0.2)),
    (images.Pad(1), images.Pad((2, 1, 0, 1))),
    (images.Pad(1), images.Pad(1, 5)),
    (images.RandomRotation(1), images.RandomRotation(1, 'bilinear')),
    (images.RandomRotation(1), images.RandomRotation(1, fill=1)),
    (images.RandomRotation(1), images.RandomRotation((0, 1))),
    (images.GaussianBlur(3), images.GaussianBlur((3, 5))),
    (images.GaussianBlur(3), images.GaussianBlur(3, 1)),
    (images.RandomErasing(), images.RandomErasing(0.1)),
    (images.RandomErasing(), images.RandomErasing(value=1))])
def test_states_distinguish_parameters(pictures, one, other):
    def loader(step):
        return lx.Loader(images.ImageDataset(pictures, [images.CenterCrop(20), step]), batch_size=1)
    state = loader(one).state_dict()
    loader(one).load_state_dict(state)
    with pytest.raises(ValueError, match='identity'):
        loader(other).load_state_dict(state)


@pytest.mark.parametrize('make, message', [
    (lambda: images.ColorJitter(-1), 'brightness must be finite and not negative'),
    (lambda: images.ColorJitter(contrast=(1, 2, 3)), 'contrast must be'),
    (lambda: images.ColorJitter(hue=0.6), r'hue: \[-0.6, 0.6\] is not a range in \[-0.5, 0.5\]'),
    (lambda: images.ColorJitter(saturation=(2, 1)), 'saturation'),
    (lambda: images.RandomGrayscale(2), 'probability of 2'),
    (lambda: images.Flip(-10**400), 'probability of -inf'),
    (lambda: images.Lighting(-1), 'standard deviation of -1'),
    (lambda: images.Pad((1, 2, 3)), 'padding must be'),
    (lambda: images.Pad(-1), 'padding must be from 0'),
    (lambda: images.Pad(1, 256), 'fill must be from 0 to 255'),
    (lambda: images.Pad(1, (1, 2)), 'fill must be an int, or 3'),
    (lambda: images.RandomRotation(400), 'degrees'),
    (lambda: images.RandomRotation(4, 'bicubic'), "must be 'nearest' or 'bilinear'"),
    (lambda: images.GaussianBlur(4), 'must be odd'),
    (lambda: images.GaussianBlur(300), 'kernel_size must be from 1 to 255'),
    (lambda: images.GaussianBlur(3, 0), 'sigma'),
    (lambda: images.RandomErasing(2), 'probability of 2'),
    (lambda: images.RandomErasing(scale=(0.5, 2)), r'^scale must be a range in \[0, 1\], not'),
    (lambda: images.RandomResizedCrop(9, scale=(0, 1)), r'^scale must be a range in \(0, 1\]'),
    (lambda: images.RandomErasing(ratio=(0, 1)), 'ratio'),
    (lambda: images.RandomErasing(scale=0.3), r'scale must be \(least, largest\), not 0.3'),
    (lambda: images.RandomErasing(ratio='12'), 'ratio must be'),
    (lambda: images.RandomErasing(value='random'), 'value must be a number'),
    (lambda: images.RandomErasing(value=1e6), 'value of 1e')])
def test_errors_name_the_argument(pictures, make, message):
    with pytest.raises(ValueError, match=message):
        images.ImageDataset(pictures, [images.CenterCrop(20), make()])


@pytest.mark.parametrize('make, name', [
    (lambda: images.ColorJitter((0, '1')), 'brightness'),
    (lambda: images.Flip('0.5'), 'p'),
    (lambda: images.RandomGrayscale(None), 'p'),
    (lambda: images.Lighting([0.1]), 'alphastd'),
    (lambda: images.GaussianBlur(3, None), 'sigma'),
    (lambda: images.GaussianBlur(3, (0.1, '2')), 'sigma'),
    (lambda: images.Normalize('123', (1, 2, 3)), 'mean'),
    (lambda: images.RandomErasing('1'), 'p'),
    (lambda: images.RandomErasing(value=(None, 1, 2)), 'value')])
def test_numbers_are_not_texts(make, name):
    with pytest.raises(TypeError, match=f'{name} must be a number, not '):
        make()


@pytest.mark.parametrize('steps', [
    [images.RandomErasing(), images.Normalize((0,) * 3, (1,) * 3)],
    [images.Normalize((0,) * 3, (1,) * 3), images.Flip()],
    [images.RandomErasing(), images.Flip()]])
def test_what_changes_the_tensor_comes_last(pictures, steps):
    with pytest.raises(ValueError, match='only RandomErasing can follow|cannot follow erasing'):
        images.ImageDataset(pictures, [images.CenterCrop(20), *steps])


def test_small_images_cannot_be_blurred(pictures):
    with pytest.raises(ValueError, match='too few to blur'):
        made(pictures, 1, images.GaussianBlur(43))
