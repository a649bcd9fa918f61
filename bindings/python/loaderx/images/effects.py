# SPDX-License-Identifier: MIT
"""Steps that blur images, and erase parts of them."""

from __future__ import annotations

from typing import Sequence, Union

from .._check import natural, real
from .._images import Transform
from .steps import Step, _range

__all__ = ['GaussianBlur', 'RandomErasing']


class GaussianBlur(Step):
    """Blur images, as torchvision's GaussianBlur does.

    With the same deviation, the pixels differ by at most 1 from those of torchvision.

    Parameters
    ----------
    kernel_size : int or (width, height)
        How many pixels a pixel is made of: odd numbers, at most 255. An image of which a side has
        at most half as many is an error.
    sigma : float or (least, largest)
        The range of the standard deviation in pixels.

    Examples
    --------
    >>> GaussianBlur(23)
    GaussianBlur(23, (0.1, 2.0))
    """

    _random = True

    def __init__(self, kernel_size: Union[int, Sequence[int]],
                 sigma: Union[float, Sequence[float]] = (0.1, 2.0)) -> None:
        self._arguments = kernel_size, sigma
        sizes = tuple(kernel_size) if isinstance(kernel_size, Sequence) else (kernel_size,) * 2
        if len(sizes) != 2:
            raise ValueError(f'kernel_size must be an int or (width, height), not {kernel_size!r}')
        self._width, self._height = (natural('kernel_size', size, 1, 255) for size in sizes)
        self._sigma = _range('sigma', sigma if isinstance(sigma, Sequence) else (sigma, sigma))

    def _add(self, transform: Transform) -> None:
        transform.add_blur(self._width, self._height, self._sigma)


class RandomErasing(Step):
    """Replace a random part of the tensor, as torchvision's RandomErasing does.

    It must be the last step, also after `Normalize`; only another `RandomErasing` can follow.

    Parameters
    ----------
    p : float
        The probability.
    scale : (least, largest)
        The area of the part, as a fraction of the image.
    ratio : (least, largest)
        The ratio of its height to its width.
    value : float or sequence of float
        The new elements of the tensor; a number for each channel, or for all. In a tensor of
        integers, they are rounded, and limited to the range of the type. Torchvision's value
        ``'random'`` is not available.

    Examples
    --------
    >>> RandomErasing(0.25)
    RandomErasing(0.25, (0.02, 0.33), (0.3, 3.3), 0)
    """

    _random = True

    def __init__(self, p: float = 0.5, scale: Sequence[float] = (0.02, 0.33),
                 ratio: Sequence[float] = (0.3, 3.3),
                 value: Union[float, Sequence[float]] = 0) -> None:
        self._arguments = p, scale, ratio, value
        if isinstance(value, str):
            raise ValueError(f'value must be a number or one for each channel, not {value!r}')
        numbers = tuple(value) if isinstance(value, Sequence) else (value,)
        if len(numbers) not in (1, 3):
            raise ValueError(f'value must be a number or one for each channel, not {value!r}')
        self._values = tuple(real('value', number) for number in (numbers * 3)[:3])
        self._probability = real('p', p)
        self._scale, self._ratio = _range('scale', scale), _range('ratio', ratio)
        if not 0 <= self._scale[0] <= self._scale[1] <= 1:
            raise ValueError(f'scale must be a range in [0, 1], not {scale!r}')

    def _add(self, transform: Transform) -> None:
        transform.add_erasing(self._probability, self._scale, self._ratio, self._values)
