# SPDX-License-Identifier: MIT
"""Steps that move the pixels of images."""

from __future__ import annotations

from typing import Sequence, Tuple, Union

from .._check import natural
from .._images import Transform
from .steps import Step, _around, _filter

__all__ = ['Pad', 'RandomRotation']

_Fill = Union[int, Sequence[int]]


def _fill(fill: _Fill) -> Tuple[int, ...]:
    """Return a byte for each of three channels."""
    numbers = tuple(fill) if isinstance(fill, Sequence) else (fill,)
    if len(numbers) not in (1, 3):
        raise ValueError(f'fill must be an int, or 3 for images with colours, not {fill!r}')
    return tuple(natural('fill', number, 0, 255) for number in (numbers * 3)[:3])


class Pad(Step):
    """Surround images with a colour, as torchvision's Pad does.

    Parameters
    ----------
    padding : int, (horizontal, vertical) or (left, top, right, bottom)
        How many pixels to add to the sides.
    fill : int or (red, green, blue)
        The colour, from 0 to 255; an int is that of each channel.

    Examples
    --------
    >>> from loaderx import images
    >>> images.Pad((4, 2), fill=128)
    Pad((4, 2), 128)
    """

    def __init__(self, padding: Union[int, Sequence[int]], fill: _Fill = 0) -> None:
        self._arguments = padding, fill
        numbers = tuple(padding) if isinstance(padding, Sequence) else (padding,)
        if len(numbers) not in (1, 2, 4):
            raise ValueError('padding must be an int, (horizontal, vertical) or (left, top, right, '
                             f'bottom), not {padding!r}')
        self._sides = tuple(natural('padding', number, 0, 2**20)
                            for number in (numbers * 4)[:4])
        self._fill = _fill(fill)

    def _add(self, transform: Transform) -> None:
        transform.add_pad(self._sides, self._fill)


class RandomRotation(Step):
    """Rotate images around their centre, as torchvision's RandomRotation does.

    They keep their size. With the same angle, the pixels are those of Pillow's ``Image.rotate()``.

    Parameters
    ----------
    degrees : float or (least, largest)
        The range of the angle, counter-clockwise, from -360 to 360; a number ``x`` means
        ``(-x, x)``.
    interpolation : {'nearest', 'bilinear'}
        How a pixel is computed.
    fill : int or (red, green, blue)
        The colour of the corners, from 0 to 255; an int is that of each channel.

    Examples
    --------
    >>> RandomRotation(15, 'bilinear')
    RandomRotation(15, 'bilinear', 0)
    """

    _random = True

    def __init__(self, degrees: Union[float, Sequence[float]], interpolation: str = 'nearest',
                 fill: _Fill = 0) -> None:
        self._arguments = degrees, interpolation, fill
        if interpolation not in ('nearest', 'bilinear'):
            raise ValueError("interpolation must be 'nearest' or 'bilinear', not "
                             f'{interpolation!r}')
        self._degrees = _around('degrees', degrees)
        self._filter = _filter(interpolation)
        self._fill = _fill(fill)

    def _add(self, transform: Transform) -> None:
        transform.add_rotation(self._degrees, self._filter, self._fill)
