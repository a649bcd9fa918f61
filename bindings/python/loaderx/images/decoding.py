# SPDX-License-Identifier: MIT
"""Decoding of JPEG, PNG and WebP images."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from .._check import boolean, natural
from .._images import Image

__all__ = ['MAX_PIXELS', 'ImageInfo', 'decode', 'info']

MAX_PIXELS = 178_956_970
"""The most pixels that `decode` accepts by default: as many as Pillow allows without an error."""

_CHANNELS = {'L': 1, 'RGB': 3}


class ImageInfo(NamedTuple):
    """What the header of an image says."""

    format: str
    """``'jpeg'``, ``'png'`` or ``'webp'``."""
    width: int
    """The number of columns of what `decode` returns."""
    height: int
    """The number of rows."""
    channels: int
    """Of the file: 1 (grey), 2 (grey, alpha), 3 (colour), 4 (colour, alpha; or CMYK)."""
    bits: int
    """Of a channel in the file: 1, 2, 4, 8 or 16; 8 with a palette."""
    orientation: int
    """The orientation in the Exif data, from 1 to 8; 1 if there is none."""


def info(data: Any, *, exif: bool = True) -> ImageInfo:
    """Read the header of an image.

    Parameters
    ----------
    data : bytes-like object or array of uint8
        The image file.
    exif : bool
        Whether to turn the image as its Exif data says, as for `decode`.

    Returns
    -------
    ImageInfo
        Width, height, format and more.

    Raises
    ------
    CorruptError
        The header is damaged, or `data` ends in it.
    LoaderxError
        The format is unknown, or the image cannot be decoded.

    Examples
    --------
    >>> from loaderx import images
    >>> png = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
    ...                     '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
    ...                     '0000000049454e44ae426082')
    >>> images.info(png)
    ImageInfo(format='png', width=2, height=1, channels=3, bits=8, orientation=1)
    """
    return ImageInfo(*Image(data, 3, boolean('exif', exif), 1, 2**64 - 1).info())


def decode(data: Any, *, mode: str = 'RGB', region: Optional[Sequence[int]] = None,
           exif: bool = True, scale: int = 1, max_pixels: int = MAX_PIXELS,
           out: Optional[np.ndarray[Any, Any]] = None) -> np.ndarray[Any, Any]:
    """Decode an image, or a region of it.

    The pixels are those of Pillow's ``convert('RGB')``: alpha is dropped, 16 bits are reduced to
    the upper 8, of which a warning tells once in a process, and CMYK is converted without a profile.
    Profiles and gamma are ignored. A region has the pixels that the whole image has there, and takes
    less time. Several threads can decode at the same time.

    Parameters
    ----------
    data : bytes-like object or array of uint8
        The image file.
    mode : {'RGB', 'L'}
        Colours or grey. The grey of a JPEG is the brightness in the file, as in OpenCV and
        torchvision.
    region : (left, top, width, height), optional
        What to decode, in pixels of the upright and scaled image.
    exif : bool
        Whether to turn the image upright if it has an orientation in its Exif data, as viewers and
        OpenCV do. Pillow does it in ``ImageOps.exif_transpose``.
    scale : {1, 2, 4, 8}
        Decode a JPEG at 1, 1/2, 1/4 or 1/8 of its size, rounded up. This is several times faster
        than to decode and shrink it, but gives other pixels. Other formats are refused.
    max_pixels : int
        The most pixels that the image may have in its file.
    out : array of uint8, optional
        Where to put the pixels; its rows must not have gaps.

    Returns
    -------
    array of uint8
        The pixels, (height, width, 3), or (height, width) for ``'L'``; `out` if it was given.

    Raises
    ------
    CorruptError
        The image is damaged, or `data` ends too early.
    LoaderxError
        The format is unknown, or the image cannot be decoded, such as an animated WebP.
    ValueError
        The image has more than `max_pixels` pixels, or the region is not within the image.

    Examples
    --------
    >>> from loaderx import images
    >>> png = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
    ...                     '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
    ...                     '0000000049454e44ae426082')
    >>> images.decode(png)
    array([[[255,   0,   0], [255,   0,   0]]], dtype=uint8)
    >>> images.decode(png, mode='L', region=(1, 0, 1, 1))
    array([[76]], dtype=uint8)
    """
    if mode not in _CHANNELS:
        raise ValueError(f"mode must be 'RGB' or 'L', not {mode!r}")
    channels = _CHANNELS[mode]
    image = Image(data, channels, boolean('exif', exif), natural('scale', scale, 1, 8),
                  natural('max_pixels', max_pixels))
    _, width, height, *_ = image.info()
    if region is None:
        region = (0, 0, width, height)
    elif len(region) != 4:
        raise ValueError(f'region must be (left, top, width, height), not {region!r}')
    left, top, columns, rows = (natural('region', number, maximum=2**32 - 1) for number in region)
    if left + columns > width or top + rows > height or columns == 0 or rows == 0:
        raise ValueError(f'the region {tuple(region)} is empty or not within the image of {width} '
                         f'x {height} pixels')
    if out is None:
        out = np.empty((rows, columns, channels)[:2 if channels == 1 else 3], np.uint8)
    elif getattr(out, 'dtype', None) != np.uint8:
        raise TypeError('out must be an array of uint8')
    image.read(left, top, columns, rows, out)
    return out
