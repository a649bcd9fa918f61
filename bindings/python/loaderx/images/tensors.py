# SPDX-License-Identifier: MIT
"""The last steps of an `ImageDataset`: how pixels become the elements of a tensor."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Set, Tuple, Union

import numpy as np

from .._check import finite, real
from .._images import Transform
from .._logging import log
from .steps import Step

__all__ = ['Normalize', 'SubtractMean', 'TensorStep', 'set_tensor']


# Pixels from 0 to 1 would differ by a tenth at most.
_MAX_STD = 10

_warned: Set[Any] = set()


def _warn_of_range(mean: Tuple[float, ...], std: Tuple[float, ...]) -> None:
    """Warn once of numbers that are not of values from 0 to 1."""
    if (mean, std) in _warned or not all(std):    # a step with a std of 0 is refused later
        return
    _warned.add((mean, std))
    ranges = ', '.join(f'{-m / s:.4g} to {(1 - m) / s:.4g}' for m, s in zip(mean, std))
    log(f'Normalize({mean}, {std}) is for values from 0 to 1, so the channels become {ranges}: if '
        'the numbers are of values from 0 to 255, divide both by 255', True)


class TensorStep(Step):
    """The base class of steps that say how pixels become elements."""

    def _add(self, transform: Transform) -> None:
        """Do nothing: `set_tensor` calls `_set_tensor`."""

    def _set_tensor(self, transform: Transform, dtype: str, layout: str, mode: str) -> None:
        raise NotImplementedError

    def _check_channels(self, count: int, mode: str) -> None:
        channels = 1 if mode == 'L' else 3
        if count != channels:
            raise ValueError(f'{type(self).__name__} has {count} numbers, but the mode {mode!r} '
                             f'has {channels} channels')


class Normalize(TensorStep):
    """Subtract means and divide by standard deviations, after a division by 255.

    The result is that of torchvision's ToTensor and Normalize, bit for bit. It must be the last
    step; only `RandomErasing` can follow.

    Parameters
    ----------
    mean, std : sequence of float
        A number for each channel, for values from 0 to 1. A warning tells if they are of values
        from 0 to 255, which would make all pixels nearly equal.

    Examples
    --------
    >>> Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    """

    mean: Tuple[float, ...]
    std: Tuple[float, ...]

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean = tuple(real('mean', number) for number in mean)
        self.std = tuple(real('std', number) for number in std)
        self._arguments = self.mean, self.std
        if len(self.mean) not in (1, 3) or len(self.std) != len(self.mean):
            raise ValueError('mean and std must have 3 numbers each, or 1 for grey images')
        if any(mean > 1 or std >= _MAX_STD for mean, std in zip(self.mean, self.std)):
            _warn_of_range(self.mean, self.std)

    def _set_tensor(self, transform: Transform, dtype: str, layout: str, mode: str) -> None:
        self._check_channels(len(self.mean), mode)
        transform.set_tensor(dtype, layout == 'HWC', 255.0, _three(self.mean), _three(self.std))


class SubtractMean(TensorStep):
    """Subtract a mean image, or a mean for each channel, and multiply by a scale.

    Pixels are from 0 to 255. The result is that of MXNet's ImageRecordIter, bit for bit. A mean
    image is subtracted before `Flip` exchanges left and right, wherever the steps are. The step
    must be the last one; only `RandomErasing` can follow.

    Parameters
    ----------
    mean : sequence of float, or array
        A number for each channel; or an image of float32, with the shape of the tensors.
    scale : float, or sequence of float
        The number to multiply by after that; of each channel, or of all.

    Notes
    -----
    States of a `Loader` have a checksum of the mean image: a state that was saved with another one
    is refused.

    Examples
    --------
    >>> SubtractMean((123.68, 116.779, 103.939), 1 / 58)
    SubtractMean((123.68, 116.779, 103.939), 0.017241379310344827)
    >>> SubtractMean(np.full((3, 224, 224), 120, np.float32))
    SubtractMean(<float32 of shape (3, 224, 224)>, 1.0)
    """

    _contrast, _light = 0.0, 0.0    # how much random factors differ from 1, and random additions

    def __init__(self, mean: Union[Sequence[float], np.ndarray[Any, Any]],
                 scale: Union[float, Sequence[float], np.ndarray[Any, Any]] = 1.0) -> None:
        self._image: Optional[np.ndarray[Any, np.dtype[np.float32]]] = None
        self._mean: Tuple[float, ...] = ()
        if np.ndim(mean) == 3:
            image = np.asarray(mean)
            if image.dtype.kind not in 'iuf':
                raise TypeError(f'mean must be an image of float32, not {image.dtype}')
            with np.errstate(over='ignore'):    # the transform refuses what becomes infinite
                self._image = np.array(image, np.float32, order='C')
        else:
            if np.ndim(mean) != 1:
                raise TypeError('mean must be a sequence of numbers or an image, not '
                                f'{type(mean).__name__} with {np.ndim(mean)} axes')
            self._mean = tuple(finite('mean', number) for number in mean)
            if len(self._mean) not in (1, 3):
                raise ValueError('mean must have 3 numbers, 1 for grey images, or be an image')
        scales = scale if isinstance(scale, (Sequence, np.ndarray)) else (scale,)
        self._scale = tuple(finite('scale', number) for number in scales)
        if len(self._scale) not in (1, 3):
            raise ValueError(f'scale must be a number or one for each channel, not {scale!r}')
        self._arguments = self._mean, scale

    def _set_tensor(self, transform: Transform, dtype: str, layout: str, mode: str) -> None:
        if self._image is None:
            self._check_channels(len(self._mean), mode)
        transform.set_scaled_tensor(dtype, layout == 'HWC', _three(self._mean or (0.0,)),
                                    _three(self._scale))
        if self._image is not None:
            shape = self._image.shape
            channels, height, width = shape if layout == 'CHW' else (shape[2], *shape[:2])
            transform.set_mean_image(channels, width, height, self._image)
        if self._contrast or self._light:
            transform.set_exposure(self._contrast, self._light)

    def __repr__(self) -> str:
        if self._image is None:
            return super().__repr__()
        return f'SubtractMean(<float32 of shape {self._image.shape}>, {self._arguments[1]!r})'


def _three(numbers: Tuple[float, ...]) -> Tuple[float, ...]:
    return (numbers * 3)[:3]


def set_tensor(transform: Transform, last: Optional[TensorStep], mode: str, dtype: Any,
               layout: str) -> None:
    """Set how pixels become the elements of a tensor: as the last step says, if there is one."""
    if layout not in ('CHW', 'HWC'):
        raise ValueError(f"layout must be 'CHW' or 'HWC', not {layout!r}")
    if dtype is None:
        dtype = np.uint8 if last is None else np.float32
    name = np.dtype(dtype).name if dtype != 'bfloat16' else dtype
    if last is not None:
        last._set_tensor(transform, name, layout, mode)
        return
    divisor = 255.0 if name in ('float16', 'float32', 'bfloat16') else 1.0
    mean = 128.0 if name == 'int8' else 0.0
    transform.set_tensor(name, layout == 'HWC', divisor, (mean,) * 3, (1.0,) * 3)
