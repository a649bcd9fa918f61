# SPDX-License-Identifier: MIT
"""The steps of an `ImageDataset`."""

from __future__ import annotations

from typing import Any, Sequence, Tuple, Union

from .._check import natural, number, real
from .._fixed import Fixed
from .._images import Transform

__all__ = ['CenterCrop', 'Flip', 'RandomCrop', 'RandomResizedCrop', 'Resize', 'Step']

# The names of Pillow's filters, in the order of the library's.
_FILTERS = 'nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos'

_Size = Union[int, Sequence[int]]


def _side(name: str, value: Any) -> int:
    return natural(name, value, 1, 2**20)


def _size(size: _Size) -> Tuple[int, int]:
    """Return the height and width; an int is both."""
    if isinstance(size, Sequence) and not isinstance(size, str):
        if len(size) != 2:
            raise ValueError(f'size must be an int or (height, width), not {size!r}')
        return _side('size', size[0]), _side('size', size[1])
    return (_side('size', size),) * 2


def _filter(interpolation: str) -> int:
    if interpolation not in _FILTERS:
        raise ValueError(f'interpolation must be one of {", ".join(map(repr, _FILTERS))}, not '
                         f'{interpolation!r}')
    return _FILTERS.index(interpolation)


def _range(name: str, numbers: Sequence[float]) -> Tuple[float, float]:
    if isinstance(numbers, (str, bytes)) or not hasattr(numbers, '__len__') or len(numbers) != 2:
        raise ValueError(f'{name} must be (least, largest), not {numbers!r}')
    return real(name, numbers[0]), real(name, numbers[1])


def _around(name: str, amount: Union[float, Sequence[float]], centre: float = 0,
            least: float = float('-inf')) -> Tuple[float, float]:
    """Return the range; a number is the distance from the centre."""
    if isinstance(amount, Sequence) and not isinstance(amount, str):
        return _range(name, amount)
    distance = number(name, amount)
    return max(centre - distance, least), centre + distance


class Step(Fixed):
    """The base class of steps."""

    _arguments: Tuple[Any, ...]
    _random = False    # whether the step makes random choices

    def _add(self, transform: Transform) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f'{type(self).__name__}({", ".join(map(repr, self._arguments))})'


class Resize(Step):
    """Resize images, with antialiasing, as torchvision's Resize does.

    Parameters
    ----------
    size : int or (height, width)
        An int is the length of the shorter side; the longer side keeps the proportions.
    interpolation : str
        Pillow's name of the filter: 'nearest', 'box', 'bilinear', 'hamming', 'bicubic' or
        'lanczos'.

    Examples
    --------
    >>> Resize(256)
    Resize(256, 'bilinear')
    """

    def __init__(self, size: _Size, interpolation: str = 'bilinear') -> None:
        self._arguments = size, interpolation
        self._size = _size(size)
        self._shorter = not isinstance(size, Sequence)
        self._filter = _filter(interpolation)

    def _add(self, transform: Transform) -> None:
        height, width = self._size
        if self._shorter:
            transform.add_resize_shorter(width, self._filter)
        else:
            transform.add_resize(width, height, self._filter)


class _Crop(Step):
    def __init__(self, size: _Size) -> None:
        self._arguments = (size,)
        self._size = _size(size)

    def _add(self, transform: Transform) -> None:
        height, width = self._size
        transform.add_crop(width, height, self._random)


class CenterCrop(_Crop):
    """Keep the middle of images.

    Parameters
    ----------
    size : int or (height, width)
        The size of the part; an int is the side of a square. A smaller image is an error.

    Examples
    --------
    >>> CenterCrop(224)
    CenterCrop(224)
    """


class RandomCrop(_Crop):
    """Keep a part of images at a random place.

    Parameters
    ----------
    size : int or (height, width)
        The size of the part; an int is the side of a square. A smaller image is an error.

    Examples
    --------
    >>> RandomCrop((28, 32))
    RandomCrop((28, 32))
    """

    _random = True


class RandomResizedCrop(Step):
    """Keep a random part of images, and resize it, as torchvision's RandomResizedCrop does.

    Parameters
    ----------
    size : int or (height, width)
        The size in pixels that the part is resized to; an int is the side of a square.
    scale : (least, largest)
        The area of the part, as a fraction of the image.
    ratio : (least, largest)
        The ratio of its width to its height.
    interpolation : str
        The filter; see `Resize`.

    Examples
    --------
    >>> RandomResizedCrop(224)
    RandomResizedCrop(224, (0.08, 1.0), (0.75, 1.3333333333333333), 'bilinear')
    """

    _random = True

    def __init__(self, size: _Size, scale: Sequence[float] = (0.08, 1.0),
                 ratio: Sequence[float] = (3 / 4, 4 / 3), interpolation: str = 'bilinear') -> None:
        self._arguments = size, scale, ratio, interpolation
        self._size = _size(size)
        self._scale, self._ratio = _range('scale', scale), _range('ratio', ratio)
        if not 0 < self._scale[0] <= self._scale[1] <= 1:
            raise ValueError(f'scale must be a range in (0, 1], not {scale!r}')
        self._filter = _filter(interpolation)

    def _add(self, transform: Transform) -> None:
        height, width = self._size
        transform.add_random_resized_crop(width, height, self._scale, self._ratio, self._filter)


class Flip(Step):
    """Exchange left and right of images at random, as torchvision's RandomHorizontalFlip does.

    `Points` move with the image, but keep their order: in a mirrored face, the point of the left
    eye marks what looks like the right eye. For points with a left and a right, such as the joints
    of a body, leave `Flip` out.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> Flip()
    Flip(0.5)
    """

    def __init__(self, p: float = 0.5) -> None:
        self._arguments = (p,)
        self._probability = real('p', p)
        self._random = 0 < self._probability < 1

    def _add(self, transform: Transform) -> None:
        transform.add_mirror(self._probability)
