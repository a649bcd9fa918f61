# SPDX-License-Identifier: MIT
"""SubtractMean, the step of an ImageDataset that multiplies, and its mean images."""

import pickle
import struct
import zlib

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images')
from loaderx import images    # noqa: E402

HEIGHT, WIDTH, COUNT = 9, 31, 6


def encode_png(pixels):
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    head = struct.pack('>IIBBBBB', WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = (b'IHDR', head), (b'IDAT', zlib.compress(rows)), (b'IEND', b'')
    return b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        for kind, data in chunks)


NOISE = np.random.default_rng(1).integers(0, 256, (COUNT, HEIGHT, WIDTH, 3), np.uint8)
MEAN = np.random.default_rng(2).uniform(0, 255, (HEIGHT, WIDTH, 3)).astype(np.float32)


@pytest.fixture
def pictures(tmp_path):
    path = tmp_path / 'pictures'
    with lx.create(path, {'image': lx.Field('image')}) as writer:
        writer.extend({'image': [encode_png(pixels) for pixels in NOISE]})
    return path


def made(pictures, *steps, **options):
    return images.ImageDataset(pictures, [images.CenterCrop((HEIGHT, WIDTH)), *steps], **options)


@pytest.mark.parametrize('layout', ['CHW', 'HWC'])
@pytest.mark.parametrize('scale', [1.0, 0.0173, (1 / 58, -0.5, 3), np.array([1 / 58, -0.5, 3])])
def test_a_mean_image_is_subtracted_before_the_flip(pictures, layout, scale):
    factor = np.float32(scale)
    right = (NOISE.astype(np.float32) - MEAN) * factor
    mean = MEAN if layout == 'HWC' else MEAN.transpose(2, 0, 1)
    for flip in 0, 1:
        dataset = made(pictures, images.Flip(flip), images.SubtractMean(mean, scale), layout=layout)
        got = np.stack([dataset[i]['image'] for i in range(COUNT)])
        got = got if layout == 'HWC' else got.transpose(0, 2, 3, 1)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, right[:, :, ::-1] if flip else right)


# Steps after a flip may mirror the pixels before they become a tensor.
@pytest.mark.parametrize('steps, flips', [
    ([images.Flip(1), images.Resize((5, 7), 'nearest')], 1),
    ([images.Flip(1), images.RandomRotation((90, 90)), images.Resize((5, 7))], 1),
    ([images.Flip(1), images.Resize((5, 7), 'nearest'), images.Flip(1)], 2)])
def test_the_mean_image_is_flipped_wherever_the_flip_is(pictures, steps, flips):
    mean = np.random.default_rng(3).uniform(0, 255, (5, 7, 3)).astype(np.float32)
    steps = [images.CenterCrop((HEIGHT, WIDTH)), *steps]
    for i in range(COUNT):
        plain, got = (images.ImageDataset(pictures, [*steps, *more], layout='HWC')[i]['image']
                      for more in ([], [images.SubtractMean(mean)]))
        np.testing.assert_array_equal(got, plain - (mean[:, ::-1] if flips % 2 else mean))


def test_numbers_and_types(pictures):
    means = 124, 117, 104
    for dtype in 'float32', 'float16', 'int8', 'uint8':
        dataset = made(pictures, images.SubtractMean(means, 0.5), dtype=dtype, layout='HWC')
        right = (NOISE[0] - np.float32(means)) * np.float32(0.5)
        if dtype[0] != 'f':
            info = np.iinfo(dtype)
            right = np.clip(np.rint(right), info.min, info.max)
        np.testing.assert_array_equal(dataset[0]['image'], right.astype(dtype))
    grey = made(pictures, images.SubtractMean([1], 2), mode='L')
    raw = made(pictures, mode='L')
    np.testing.assert_array_equal(grey[0]['image'], (raw[0]['image'].astype(np.float32) - 1) * 2)


def test_erasing_can_follow_and_copies_are_the_same(pictures):
    steps = images.SubtractMean(MEAN), images.RandomErasing(1.0, value=-1000)
    dataset = made(pictures, *steps, layout='HWC')
    assert (dataset[0]['image'] == -1000).any()
    copy = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(copy[0]['image'], dataset[0]['image'])
    with pytest.raises(ValueError, match='Normalize or SubtractMean must be the last step'):
        made(pictures, *steps[::-1], layout='HWC')


def test_the_caller_may_change_the_mean_image_afterwards(pictures):
    mean = MEAN.copy()
    step = images.SubtractMean(mean)
    mean[:] = 0
    np.testing.assert_array_equal(made(pictures, step, layout='HWC')[0]['image'], NOISE[0] - MEAN)


def test_a_state_with_another_mean_image_is_refused(pictures):
    def loader(*step):
        return lx.Loader(made(pictures, images.SubtractMean(*step), layout='HWC'), batch_size=2)
    state = loader(MEAN).state_dict()
    loader(MEAN.copy()).load_state_dict(state)
    other = MEAN.copy()
    other[-1, -1, -1] = np.nextafter(other[-1, -1, -1], np.float32(0))
    for step in (other,), (MEAN, 0.5), ((1, 2, 3),):
        with pytest.raises(ValueError, match='identity'):
            loader(*step).load_state_dict(state)


@pytest.mark.parametrize('make, options, message', [
    (lambda: images.SubtractMean(MEAN), {}, '9 channels: images have 1 or 3'),
    (lambda: images.SubtractMean(MEAN[1:]), {'layout': 'HWC'}, '31 x 8 pixels, .* 31 x 9'),
    (lambda: images.SubtractMean(MEAN[..., :1]), {'layout': 'HWC'}, 'has 1 channels'),
    (lambda: images.SubtractMean(MEAN * np.nan), {'layout': 'HWC'}, r'nan in channel 0'),
    (lambda: images.SubtractMean(MEAN, 1e38), {'layout': 'HWC'}, 'inf'),
    (lambda: images.SubtractMean(np.full_like(MEAN, 1e39, float)), {'layout': 'HWC'}, 'has inf in'),
    (lambda: images.SubtractMean((1, 2, 3), 1e38), {}, 'check the mean and the factor'),
    (lambda: images.SubtractMean((1,)), {}, 'SubtractMean has 1 numbers'),
    (lambda: images.SubtractMean((1, 2)), {}, 'mean must have 3 numbers'),
    (lambda: images.SubtractMean((1, 2, float('nan'))), {}, 'mean must be finite'),
    (lambda: images.SubtractMean((1, 2, 3), (1, 2)), {}, 'scale must be a number'),
    (lambda: images.SubtractMean((1, 2, 3), float('inf')), {}, 'scale must be finite')])
def test_errors_name_the_argument(pictures, make, options, message):
    with pytest.raises(ValueError, match=message):
        made(pictures, make(), **options)


def test_what_is_no_number_is_refused():
    for mean in np.array([[['a']]]), np.zeros((2, 2)), '123', 5:
        with pytest.raises(TypeError, match='mean must be'):
            images.SubtractMean(mean)


@pytest.mark.parametrize('mean, std, ranges', [
    ((123.68, 116.78, 103.94), (58.4, 57.1, 57.4), '-2.118 to -2.101, -2.045 to -2.028'),
    ((127.5,), (127.5,), '-1 to -0.9922'),
    ((0.0, 0.0, 0.0), (255.0, 255.0, 255.0), '-0 to 0.003922'),
    ((0.5, 0.5, 1.5), (0.5, 0.5, 0.5), '-3 to -1')])
def test_numbers_of_another_range_are_named_once(caplog, monkeypatch, mean, std, ranges):
    """Nearly constant pictures train, but to nothing."""
    monkeypatch.setattr('loaderx.images.tensors._warned', set())
    for _ in range(3):
        pickle.loads(pickle.dumps(images.Normalize(mean, std)))
    message, = caplog.messages
    assert message.startswith(f'Normalize({mean}, {std}) is for values from 0 to 1')
    assert ranges in message
    images.Normalize(tuple(number + 2 for number in mean), std)
    assert len(caplog.messages) == 2


@pytest.mark.parametrize('mean, std', [
    ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), ((0,) * 3, (1,) * 3), ((1,), (1,)),
    ((0.5,), (0.5,)), ((-1, 0, 1), (2, 2, 2))])
def test_numbers_of_the_range_are_not_named(caplog, mean, std):
    images.Normalize(mean, std)
    assert not caplog.messages
