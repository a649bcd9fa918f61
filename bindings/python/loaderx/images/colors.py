# SPDX-License-Identifier: MIT
"""Steps that change the colours of images."""

from __future__ import annotations

from typing import Sequence, Union

from .._check import real
from .._images import Transform
from .steps import Step, _around

__all__ = ['ColorJitter', 'Lighting', 'RandomGrayscale']

_Amount = Union[float, Sequence[float]]


class ColorJitter(Step):
    """Change brightness, contrast, saturation and hue, as torchvision's ColorJitter does.

    The four changes are made in a random order. With the same factors, the pixels are those that
    torchvision makes of Pillow's images. Saturation and hue of grey images do not change.

    Parameters
    ----------
    brightness, contrast, saturation : float or (least, largest)
        The range of the factor, which is uniform; 1 changes nothing. A number ``x`` means
        ``(max(0, 1 - x), 1 + x)``.
    hue : float or (least, largest)
        The range of the turn of the hue, from -0.5 to 0.5; 0.5 is half of the circle. A number
        ``x`` means ``(-x, x)``.

    Examples
    --------
    >>> ColorJitter(0.4, 0.4, 0.4, hue=0.1)
    ColorJitter(0.4, 0.4, 0.4, 0.1)
    """

    _random = True

    def __init__(self, brightness: _Amount = 0, contrast: _Amount = 0, saturation: _Amount = 0,
                 hue: _Amount = 0) -> None:
        self._arguments = brightness, contrast, saturation, hue
        self._ranges = (_around('brightness', brightness, 1, 0),
                        _around('contrast', contrast, 1, 0),
                        _around('saturation', saturation, 1, 0), _around('hue', hue))

    def _add(self, transform: Transform) -> None:
        transform.add_color_jitter(*self._ranges)


class RandomGrayscale(Step):
    """Remove the colours of images at random, as torchvision's RandomGrayscale does.

    Images keep their three channels.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> RandomGrayscale()
    RandomGrayscale(0.1)
    """

    _random = True

    def __init__(self, p: float = 0.1) -> None:
        self._arguments = (p,)
        self._probability = real('p', p)

    def _add(self, transform: Transform) -> None:
        transform.add_grey(self._probability)


class Lighting(Step):
    """Add a random colour to an image, along the principal components of the colours of ImageNet.

    This is the augmentation of AlexNet (Krizhevsky, Sutskever and Hinton, 2012), and MXNet's
    ``pca_noise``, with the same components. Grey images do not change.

    Parameters
    ----------
    alphastd : float
        The standard deviation of the amount of each component; AlexNet had 0.1.

    Examples
    --------
    >>> Lighting()
    Lighting(0.1)
    """

    _random = True

    def __init__(self, alphastd: float = 0.1) -> None:
        self._arguments = (alphastd,)
        self._deviation = real('alphastd', alphastd)

    def _add(self, transform: Transform) -> None:
        transform.add_lighting(self._deviation)
