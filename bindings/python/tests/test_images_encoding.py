# SPDX-License-Identifier: MIT
"""Encoding of images, sheets of batches, and what Pillow makes of the files."""

import io
import threading

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._images', reason='libloaderx was built without images')

from loaderx import images  # noqa: E402

NOISE = np.random.default_rng(1).integers(0, 256, (19, 31, 3), np.uint8)


def make_photo(height, width, channels=3):
    """Return an image with waves and a little noise."""
    y, x, c = np.ogrid[:height, :width, :channels]
    noise = np.random.default_rng(2).normal(0, 4, (height, width, channels))
    waves = 128 + 50 * np.sin(x / 9 + c) + 50 * np.cos(y / 7 - x / 30 + 2 * c)
    return np.clip(waves + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize('options', [{'format': 'png'}, {'format': 'webp', 'lossless': True},
                                     {'format': 'png', 'lossless': True}], ids=str)
def test_lossless_files_have_the_same_pixels(options):
    for pixels in NOISE, NOISE[:1, :1], make_photo(40, 50):
        np.testing.assert_array_equal(images.decode(images.encode(pixels, **options)), pixels)
        grey = images.encode(pixels[:, :, 0], **options)
        np.testing.assert_array_equal(images.decode(grey, mode='L'), pixels[:, :, 0])
        assert grey == images.encode(pixels[:, :, :1], **options)


@pytest.mark.parametrize('form', ['jpeg', 'webp'])
def test_quality(form):
    photo = make_photo(100, 120)
    sizes, losses = [], []
    for quality in 10, 50, 95, 100:
        data = images.encode(photo, form, quality=quality)
        assert images.info(data)[:4] == (form, 120, 100, 3)
        sizes.append(len(data))
        losses.append(np.abs(images.decode(data) - photo.astype(float)).mean())
    assert sizes == sorted(sizes) and losses == sorted(losses, reverse=True) and losses[2] < 6
    assert images.encode(photo, form) == images.encode(photo, form, quality=95)


def test_takes_any_array_of_bytes():
    data = images.encode(NOISE, 'png')
    wide = np.zeros((19, 62, 3), np.uint8)
    wide[:, ::2] = NOISE
    channels_first = np.ascontiguousarray(NOISE.transpose(2, 0, 1))
    for same in (wide[:, ::2], channels_first.transpose(1, 2, 0), NOISE[::-1][::-1],
                 np.asfortranarray(NOISE), NOISE.tolist() and memoryview(NOISE)):
        assert images.encode(same, 'png') == data


def test_a_tensor():
    torch = pytest.importorskip('torch')
    assert images.encode(torch.from_numpy(NOISE), 'png') == images.encode(NOISE, 'png')


def test_refuses_wrong_arguments():
    for array in NOISE.astype(np.int8), NOISE / 255, 'text', None:
        with pytest.raises(TypeError, match='uint8'):
            images.encode(array)
    for shape in (4, 5, 4), (4, 5, 2), (2, 4, 5, 3), (7,), (0, 5, 3), (5, 0), ():
        with pytest.raises(ValueError, match='array must be'):
            images.encode(np.zeros(shape, np.uint8))
    for quality in 0, 101, -1:
        with pytest.raises(ValueError, match='quality must be from 1 to 100'):
            images.encode(NOISE, quality=quality)
    with pytest.raises(TypeError, match='quality'):
        images.encode(NOISE, quality=95.0)
    for form in 'jpg', 'gif', 'PNG', None:
        with pytest.raises(ValueError, match='format must be'):
            images.encode(NOISE, form)
    with pytest.raises(ValueError, match='a png loses nothing'):
        images.encode(NOISE, 'png', quality=9)
    with pytest.raises(ValueError, match='a lossless webp loses nothing'):
        images.encode(NOISE, 'webp', quality=9, lossless=True)
    with pytest.raises(ValueError, match='JPEG images are not lossless: choose PNG or WebP'):
        images.encode(NOISE, lossless=True)


@pytest.mark.parametrize('form, most', [('jpeg', 65500), ('webp', 16383)])
def test_the_longest_side(form, most):
    side = np.zeros((1, most + 1), np.uint8)
    assert images.info(images.encode(side[:, :-1], form)).width == most
    for long in side, side.T:
        with pytest.raises(ValueError, match=f'{form} images have at most {most} on each side'):
            images.encode(long, form)


def test_encodes_in_threads():
    expected = images.encode(NOISE)
    wrong = []

    def work():
        for _ in range(50):
            if images.encode(NOISE) != expected:
                wrong.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- sheets

def read(path):
    return images.decode(path.read_bytes())


def test_sheet(tmp_path):
    batch = np.random.default_rng(3).integers(0, 256, (5, 3, 8, 9), np.uint8)
    images.write_sheet(tmp_path / 'a.png', batch)
    sheet = read(tmp_path / 'a.png')
    assert sheet.shape == (2 * 8 + 2, 3 * 9 + 2 * 2, 3)
    for i in range(5):
        top, left = i // 3 * 10, i % 3 * 11
        np.testing.assert_array_equal(sheet[top:top + 8, left:left + 9],
                                      batch[i].transpose(1, 2, 0))
    assert not sheet[8:10].any() and not sheet[:, 9:11].any() and not sheet[10:, 22:].any()
    images.write_sheet(str(tmp_path / 'a.png'), batch.transpose(0, 2, 3, 1), layout='HWC')
    np.testing.assert_array_equal(read(tmp_path / 'a.png'), sheet)
    images.write_sheet(tmp_path / 'grey.png', batch[:1, :1])
    grey = read(tmp_path / 'grey.png')
    np.testing.assert_array_equal(grey, np.broadcast_to(batch[0, 0, :, :, None], (8, 9, 3)))
    assert images.info((tmp_path / 'grey.png').read_bytes()).channels == 1


@pytest.mark.parametrize('dtype', ['uint8', 'int8', 'float16', 'bfloat16', 'float32', 'normalized'])
def test_sheet_of_a_loader(tmp_path, dtype):
    """The sheet shows the pixels of the images, whatever the type of the tensors."""
    photos = [make_photo(16, 24) for _ in range(4)]
    if dtype == 'bfloat16':
        pytest.importorskip('ml_dtypes')
    with lx.create(tmp_path / 'ds', {'image': lx.Field('image')}) as writer:
        writer.extend({'image': [images.encode(photo, 'png') for photo in photos]})
    options, undo, steps = {'dtype': dtype}, {}, [images.CenterCrop((16, 24))]
    if dtype == 'normalized':
        undo = {'mean': np.array([0.485, 0.456, 0.406]), 'std': [0.229, 0.224, 0.225]}
        options, steps = {}, [*steps, images.Normalize(**undo)]
    for layout in 'CHW', 'HWC':
        train = images.ImageDataset(tmp_path / 'ds', steps, layout=layout, **options)
        batch = next(lx.Loader(train, batch_size=4))
        images.write_sheet(tmp_path / 'a.png', batch['image'], layout=layout, **undo)
        loss = np.abs(read(tmp_path / 'a.png')[:16, :24] - photos[0].astype(int)).max()
        assert loss == 0 or dtype == 'bfloat16' and loss == 1    # of 8 bits, some are rounded


def test_sheet_clips(tmp_path):
    values = np.array([-np.inf, -1, 0, 0.5, 1, 2, np.inf, np.nan], np.float32)
    images.write_sheet(tmp_path / 'a.png', values.reshape(1, 1, 1, 8))
    assert read(tmp_path / 'a.png')[0, :, 0].tolist() == [0, 0, 0, 128, 255, 255, 255, 0]


def test_sheet_refuses_wrong_arguments(tmp_path):
    path = tmp_path / 'a.png'
    batch = np.zeros((2, 3, 8, 9), np.float32)
    for value in batch[0], batch[:0], batch[:, :, :0]:
        with pytest.raises(ValueError, match='4 axes and at least one pixel'):
            images.write_sheet(path, value)
    with pytest.raises(ValueError, match="1 or 3 channels, not 9: is the layout 'HWC' right"):
        images.write_sheet(path, batch, layout='HWC')
    with pytest.raises(ValueError, match='layout'):
        images.write_sheet(path, batch, layout='NCHW')
    with pytest.raises(TypeError, match='int64'):
        images.write_sheet(path, batch.astype(np.int64))
    for wrong in ({'mean': (1, 2, 3)}, {'std': (1, 2, 3)}, {'mean': (1, 2), 'std': (1, 2)}):
        with pytest.raises(ValueError, match='mean and std'):
            images.write_sheet(path, batch, **wrong)
    with pytest.raises(ValueError, match='mean and std are for floats'):
        images.write_sheet(path, batch.astype(np.uint8), mean=(0.5,), std=(0.5,))
    with pytest.raises(ValueError, match='mean and std have 3 numbers, but the images have 1'):
        images.write_sheet(path, batch[:, :1], mean=(0.5,) * 3, std=(0.5,) * 3)
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        images.write_sheet(tmp_path / 'no' / 'a.png', batch)


# ---- Pillow

@pytest.mark.parametrize('channels', [1, 3])
@pytest.mark.parametrize('form', ['jpeg', 'png', 'webp'])
def test_pillow_reads_the_files(form, channels):
    Image = pytest.importorskip('PIL.Image')
    photo = make_photo(67, 45, channels)
    data = images.encode(photo, form)
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == form.upper() and image.size == (45, 67)
        assert image.mode == ('L' if channels == 1 and form != 'webp' else 'RGB')
        np.testing.assert_array_equal(np.asarray(image.convert('RGB')), images.decode(data))


@pytest.mark.parametrize('quality', [1, 30, 75, 95, 100])
@pytest.mark.parametrize('size', [(1, 1), (16, 16), (67, 45), (200, 301)])
@pytest.mark.parametrize('channels', [1, 3])
def test_jpeg_pixels_are_those_of_pillow(channels, size, quality):
    Image = pytest.importorskip('PIL.Image')
    features = pytest.importorskip('PIL.features')
    if not features.check('libjpeg_turbo'):
        pytest.skip('this Pillow has no libjpeg-turbo')
    photo = make_photo(*size, channels)
    file = io.BytesIO()
    Image.fromarray(photo[:, :, 0] if channels == 1 else photo).save(file, 'JPEG', quality=quality)
    np.testing.assert_array_equal(images.decode(images.encode(photo, quality=quality)),
                                  images.decode(file.getvalue()))
