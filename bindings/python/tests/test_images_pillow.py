# SPDX-License-Identifier: MIT
"""Decoded pixels are those of Pillow."""

import io

import numpy as np
import pytest

pytest.importorskip('loaderx._images', reason='libloaderx was built without images')
Image = pytest.importorskip('PIL.Image')

from PIL import ImageOps  # noqa: E402

import loaderx as lx  # noqa: E402
from loaderx import images  # noqa: E402

WIDTH, HEIGHT = 67, 45


def picture(mode='RGB', size=(WIDTH, HEIGHT)):
    """Return a picture with smooth and noisy parts."""
    noise = np.random.default_rng(3).integers(0, 256, (9, 13, 4), np.uint8)
    return Image.fromarray(noise, 'RGBA' if mode == 'RGBA' else None).resize(size).convert(mode)


def encode(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def check(data, **options):
    """Compare with Pillow, whole and in a region."""
    expected = np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))
    np.testing.assert_array_equal(images.decode(data, **options), expected)
    height, width, _ = expected.shape
    region = (width // 3, height // 4, (width + 1) // 2, (height + 1) // 2)
    np.testing.assert_array_equal(
        images.decode(data, region=region, **options),
        expected[region[1]:region[1] + region[3], region[0]:region[0] + region[2]])


@pytest.mark.parametrize('quality', [30, 90, 100])
@pytest.mark.parametrize('progressive', [False, True])
@pytest.mark.parametrize('sampling', [0, 1, 2])
@pytest.mark.parametrize('mode', ['RGB', 'L', 'CMYK'])
def test_jpeg(mode, sampling, progressive, quality):
    options = {} if mode == 'L' else {'subsampling': sampling}
    data = encode(picture(mode), 'JPEG', quality=quality, progressive=progressive, **options)
    check(data)
    assert images.info(data).channels == {'RGB': 3, 'L': 1, 'CMYK': 4}[mode]


@pytest.mark.parametrize('size', [(1, 1), (1, 40), (40, 1), (7, 9), (16, 16), (17, 33)])
def test_jpeg_of_odd_sizes(size):
    check(encode(picture(size=size), 'JPEG', quality=80))


@pytest.mark.parametrize('mode', ['RGB', 'L'])
def test_grey_of_jpeg_is_that_of_draft(mode):
    data = encode(picture(mode), 'JPEG')
    image = Image.open(io.BytesIO(data))
    image.draft('L', None)
    np.testing.assert_array_equal(images.decode(data, mode='L'), np.asarray(image.convert('L')))


@pytest.mark.parametrize('scale', [2, 4, 8])
@pytest.mark.parametrize('sampling', [0, 1, 2])
def test_scaled_jpeg_is_that_of_draft(sampling, scale):
    size = (640, 480)
    data = encode(picture(size=size), 'JPEG', subsampling=sampling)
    image = Image.open(io.BytesIO(data))
    image.draft('RGB', (size[0] // scale, size[1] // scale))
    np.testing.assert_array_equal(images.decode(data, scale=scale), np.asarray(image))


@pytest.mark.parametrize('mode', ['1', 'L', 'LA', 'P', 'RGB', 'RGBA'])
def test_png(mode):
    check(encode(picture(mode), 'PNG'))


@pytest.mark.parametrize('bits', [1, 2, 4, 8])
def test_png_with_a_palette(bits):
    image = picture().quantize(2**bits)
    check(encode(image, 'PNG', bits=bits))
    check(encode(image, 'PNG', bits=bits, transparency=1))


def test_png_with_a_transparent_colour():
    image = picture()
    check(encode(image, 'PNG', transparency=image.getpixel((30, 20))))


def test_png_with_16_bits():
    values = np.arange(HEIGHT * WIDTH, dtype=np.uint16).reshape(HEIGHT, WIDTH) * 17
    data = encode(Image.fromarray(values), 'PNG')
    assert images.info(data).bits == 16
    np.testing.assert_array_equal(images.decode(data, mode='L'), values >> 8)


@pytest.mark.parametrize('mode', ['RGB', 'RGBA'])
@pytest.mark.parametrize('lossless', [False, True])
def test_webp(lossless, mode):
    check(encode(picture(mode), 'WEBP', lossless=lossless, quality=70, exact=True))


def test_webp_with_an_animation():
    frames = [picture(), picture().rotate(180)]
    data = encode(frames[0], 'WEBP', save_all=True, append_images=frames[1:])
    with pytest.raises(lx.LoaderxError, match='animated'):
        images.decode(data)


def test_grey_of_other_formats():
    image = picture()
    for form, options in ('PNG', {}), ('WEBP', {'lossless': True}):
        np.testing.assert_array_equal(images.decode(encode(image, form, **options), mode='L'),
                                      np.asarray(image.convert('L')))


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('form', ['JPEG', 'PNG', 'WEBP'])
def test_orientation(form, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encode(picture(), form, exif=exif)
    check(data, exif=False)
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert('RGB')
    np.testing.assert_array_equal(images.decode(data), np.asarray(image))
    assert images.info(data)[1:3] == image.size and images.info(data).orientation == orientation


def test_profiles_are_ignored():
    from PIL import ImageCms
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('LAB')).tobytes()
    for form in 'JPEG', 'PNG', 'WEBP':
        check(encode(picture(), form, icc_profile=profile))


@pytest.mark.parametrize('form', ['JPEG', 'PNG', 'WEBP'])
def test_survives_changed_bytes(form):
    data = np.frombuffer(encode(picture(), form), np.uint8)
    generator = np.random.default_rng(4)
    for _ in range(300):
        changed = data.copy()
        changed[generator.integers(0, len(data), 4)] = generator.integers(0, 256, 4)
        try:
            images.decode(changed, max_pixels=100_000)
        except (lx.LoaderxError, ValueError):
            pass


@pytest.mark.parametrize('form', ['JPEG', 'PNG', 'WEBP'])
def test_truncated(form):
    data = encode(picture(), form)
    for size in range(0, len(data) * 9 // 10, 37):
        with pytest.raises(lx.LoaderxError):
            images.decode(data[:size])
