# SPDX-License-Identifier: MIT
"""Encoding of JPEG, PNG and WebP images."""

from __future__ import annotations

import math
import os
from typing import Any, Optional, Sequence, Union

import numpy as np

from .._check import boolean, natural
from .._images import Encoder
from .tensors import Normalize

__all__ = ['encode', 'write_sheet']

_QUALITY = 95
_FORMATS = {'jpeg': 1, 'png': 2, 'webp': 3}    # as in the library

# Pixels between the images of a sheet.
_GAP = 2


def encode(array: Any, format: str = 'jpeg', *, quality: Optional[int] = None,
           lossless: bool = False) -> bytes:
    """Encode an image.

    A JPEG has the pixels of Pillow's with the same quality: it is baseline, with a colour for each
    2 x 2 pixels. The same array always gives the same bytes, with the same versions of the
    libraries. Several threads can encode at the same time.

    Parameters
    ----------
    array : array of uint8
        The pixels: grey, (height, width) or (height, width, 1), or red, green and blue, (height,
        width, 3).
    format : {'jpeg', 'png', 'webp'}
        The format of the file. PNG is lossless. WebP has no grey: decoded, a grey image has
        colours, which are all grey.
    quality : int, optional
        The quality of a JPEG or WebP, from 1 to 100; 95 by default. WebP files of the same quality
        are smaller and lose more.
    lossless : bool
        Whether no pixel of a WebP may change; then it has no quality. A JPEG is refused.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    TypeError
        `array` is not of uint8.
    ValueError
        `array` has another shape; a side is longer than the format allows, 65,500 pixels for JPEG
        and 16,383 for WebP; or the image would have a quality but is lossless.

    Examples
    --------
    >>> from loaderx import images
    >>> pixels = np.zeros((40, 60, 3), np.uint8)
    >>> images.info(images.encode(pixels, quality=90))
    ImageInfo(format='jpeg', width=60, height=40, channels=3, bits=8, orientation=1)
    >>> np.array_equal(images.decode(images.encode(pixels, 'png')), pixels)
    True
    """
    if format not in _FORMATS:
        raise ValueError(f"format must be 'jpeg', 'png' or 'webp', not {format!r}")
    lossless = boolean('lossless', lossless)
    if quality is not None and (format == 'png' or lossless):
        raise ValueError(f'quality must not be given, since a {"lossless " * lossless}{format} '
                         'loses nothing')
    pixels = np.asarray(array)
    if pixels.dtype != np.uint8:
        raise TypeError(f'array must have the dtype uint8, not {pixels.dtype}')
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3) or pixels.size == 0:
        raise ValueError('array must be (height, width), (height, width, 1) or (height, width, 3), '
                         f'not {np.shape(array)}')
    encoder = Encoder(_QUALITY if quality is None else natural('quality', quality, 1, 100),
                      lossless)
    return encoder.encode(np.ascontiguousarray(pixels), _FORMATS[format])


def write_sheet(path: Union[str, 'os.PathLike[str]'], batch: Any, *, layout: str = 'CHW',
                mean: Optional[Sequence[float]] = None,
                std: Optional[Sequence[float]] = None) -> None:
    """Write a batch of images as one PNG file, to look at what a model sees.

    The images are in rows from left to right, in about as many rows as columns.

    Parameters
    ----------
    path : str or path
        The file, which is replaced if it exists.
    batch : array
        The images, as an `ImageDataset` gives them: (images, channels, height, width), with 1 or 3
        channels. uint8 are pixels, int8 are pixels minus 128, and floats are pixels divided by 255;
        what is outside of the range becomes black or white, and NaN black.
    layout : {'CHW', 'HWC'}
        The order of the axes of an image, as for `ImageDataset`.
    mean, std : sequence of float, optional
        Those of `Normalize`, which is undone; only for floats.

    Examples
    --------
    >>> from loaderx import images
    >>> mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    >>> batch = np.random.default_rng(1).normal(size=(10, 3, 32, 48)).astype('float32')
    >>> images.write_sheet('batch.png', batch, mean=mean, std=std)
    >>> images.info(np.fromfile('batch.png', np.uint8))[:3]
    ('png', 198, 100)
    """
    if layout not in ('CHW', 'HWC'):
        raise ValueError(f"layout must be 'CHW' or 'HWC', not {layout!r}")
    values = np.asarray(batch)
    if values.ndim != 4 or 0 in values.shape:
        raise ValueError(f'batch must have 4 axes and at least one pixel, not the shape '
                         f'{values.shape}')
    if layout == 'CHW':
        values = values.transpose(0, 2, 3, 1)
    count, height, width, channels = values.shape
    if channels not in (1, 3):
        raise ValueError(f'images must have 1 or 3 channels, not {channels}: is the layout '
                         f'{layout!r} right?')
    normalize = None
    if mean is not None or std is not None:
        normalize = Normalize(() if mean is None else mean, () if std is None else std)
    pixels = _pixels_of(values, normalize)
    columns = math.ceil(math.sqrt(count))
    rows = -(-count // columns)
    sheet = np.zeros((rows * (height + _GAP), columns * (width + _GAP), channels), np.uint8)
    for i in range(count):
        top, left = i // columns * (height + _GAP), i % columns * (width + _GAP)
        sheet[top:top + height, left:left + width] = pixels[i]
    data = encode(sheet[:-_GAP, :-_GAP], 'png')
    with open(path, 'wb') as file:
        file.write(data)


def _pixels_of(values: np.ndarray[Any, Any],
               normalize: Optional[Normalize]) -> np.ndarray[Any, Any]:
    """Return the uint8 pixels of images whose last axis is that of the channels."""
    floats = values.dtype.kind == 'f' or values.dtype.name == 'bfloat16'
    if not floats and values.dtype not in (np.uint8, np.int8):
        raise TypeError(f'batch must be of uint8, int8 or floats, not {values.dtype}')
    if normalize is not None and not floats:
        raise ValueError(f'mean and std are for floats, but batch is of {values.dtype}')
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.int8:
        return (values.astype(np.int16) + 128).astype(np.uint8)
    scaled = values.astype(np.float32)
    if normalize is not None:
        if len(normalize.mean) not in (1, values.shape[-1]):
            raise ValueError(f'mean and std have {len(normalize.mean)} numbers, but the images '
                             f'have {values.shape[-1]} channels')
        scaled = scaled * np.array(normalize.std, 'f4') + np.array(normalize.mean, 'f4')
    pixels: np.ndarray[Any, Any] = np.rint(np.nan_to_num(np.clip(scaled * 255, 0, 255)))
    return pixels.astype(np.uint8)
