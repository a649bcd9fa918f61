# SPDX-License-Identifier: MIT
"""What the parameters of MXNet's ImageRecordIter do with images."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .._check import finite, natural, number
from ..loader import Loader
from .colors import ColorJitter, Lighting
from .dataset import ImageDataset
from .geometry import Pad, RandomRotation
from .mean_image import load_mean_image, save_mean_image
from .steps import CenterCrop, Flip, RandomCrop, RandomResizedCrop, Resize, Step
from .tensors import SubtractMean

__all__ = ['Augmentation', 'Colors', 'MXNetImages', 'Pipeline', 'refuse_others']

# Parameters of MXNet that have one value here, and why they have no other.
_ONLY: Dict[str, Tuple[Any, str]] = {
    'aug_seq': ('aug_default', 'there are no other augmenters'),
    'device_id': (0, 'batches are in memory of the CPU'),
    'inter_method': (1, 'images are resized bilinearly'),
    'max_crop_size': (-1, 'use random_resized_crop'),
    'max_img_size': (1e10, 'all images get the size in data_shape'),
    'max_random_scale': (1, 'use random_resized_crop'),
    'max_shear_ratio': (0, 'no step shears images'),
    'mean_a': (0, 'images have 1 or 3 channels'),
    'min_crop_size': (-1, 'use random_resized_crop'),
    'min_img_size': (0, 'all images get the size in data_shape'),
    'min_random_scale': (1, 'use random_resized_crop'),
    'random_h': (0, 'no step changes colours as HSL'),
    'random_l': (0, 'no step changes colours as HSL'),
    'random_s': (0, 'no step changes colours as HSL'),
    'rotate': (-1, 'use max_rotate_angle'),
    'shuffle_chunk_seed': (0, 'shuffle=True shuffles all records'),
    'shuffle_chunk_size': (0, 'shuffle=True shuffles all records'),
    'std_a': (1, 'images have 1 or 3 channels'),
}


def refuse_others(parameters: Dict[str, Any]) -> None:
    """Raise an error for a parameter that MXNet does not have, or with an unsupported value."""
    for name, value in parameters.items():
        if name not in _ONLY:
            raise TypeError(f'ImageRecordIter has no parameter {name!r}')
        only, reason = _ONLY[name]
        if value != only:
            raise ValueError(f'{name}={value!r} is not supported: {reason}')


class MXNetImages(ImageDataset):
    """An `ImageDataset` whose steps reproduce those of MXNet."""

    _follows_mxnet = True


class _Values(SubtractMean):
    """Also change the contrast and the light of images at random."""

    def __init__(self, mean: Any, scale: Sequence[float], contrast: float, light: float) -> None:
        super().__init__(mean, scale)
        self._contrast, self._light = contrast, light


class Augmentation(NamedTuple):
    """The parameters for the steps that change images."""

    resize: int = -1
    rand_crop: bool = False
    random_resized_crop: bool = False
    min_random_area: float = 1.0
    max_random_area: float = 1.0
    min_aspect_ratio: Optional[float] = None
    max_aspect_ratio: float = 0.0
    max_rotate_angle: float = 0.0
    pad: int = 0
    fill_value: int = 255
    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    pca_noise: float = 0.0
    mirror: bool = False
    rand_mirror: bool = False

    @property
    def flip(self) -> float:
        """The probability with which left and right are exchanged."""
        if self.mirror and self.rand_mirror:
            raise ValueError('mirror and rand_mirror are mutually exclusive')
        return 1.0 if self.mirror else 0.5 if self.rand_mirror else 0.0

    def make_steps(self, channels: int, height: int, width: int) -> List[Step]:
        fill = natural('fill_value', self.fill_value, 0, 255)
        steps: List[Step] = []
        if self.resize != -1:
            steps.append(Resize(natural('resize', self.resize, 1, 2**20)))
        if self.max_rotate_angle:
            steps.append(RandomRotation(number('max_rotate_angle', self.max_rotate_angle),
                                        'bilinear', fill))
        if self.pad:
            steps.append(Pad(natural('pad', self.pad, 0, 2**20), fill))
        if fill != 255 and not (self.max_rotate_angle or self.pad):
            raise ValueError('fill_value requires pad or max_rotate_angle')
        steps.append(self._make_crop(height, width))
        return steps + self._make_jitters(channels)

    def _make_crop(self, height: int, width: int) -> Step:
        if not self.random_resized_crop:
            self._check_only_crops()
            return (RandomCrop if self.rand_crop else CenterCrop)((height, width))
        if self.rand_crop:
            raise ValueError('rand_crop and random_resized_crop are mutually exclusive')
        most = number('max_aspect_ratio', self.max_aspect_ratio)
        ratio = (1 - most, 1 + most) if self.min_aspect_ratio is None else (
            self.min_aspect_ratio, most)
        area = (number('min_random_area', self.min_random_area),
                number('max_random_area', self.max_random_area))
        if not 0 < area[0] <= area[1] <= 1:
            raise ValueError('min_random_area and max_random_area must be a range in (0, 1], not '
                             f'{area}')
        return RandomResizedCrop((height, width), area, ratio)

    def _make_jitters(self, channels: int) -> List[Step]:
        if channels == 1 and (self.saturation or self.pca_noise):
            name = 'saturation' if self.saturation else 'pca_noise'
            raise ValueError(f'{name} has no effect with grey images')
        jitters = self.brightness, self.contrast, self.saturation
        steps: List[Step] = [ColorJitter(*jitters)] if any(jitters) else []
        if self.pca_noise:
            steps.append(Lighting(number('pca_noise', self.pca_noise)))
        return steps

    def _check_only_crops(self) -> None:
        for name in 'min_random_area', 'max_random_area', 'min_aspect_ratio', 'max_aspect_ratio':
            if getattr(self, name) != self._field_defaults[name]:
                raise ValueError(f'{name} requires random_resized_crop=True')


class Colors(NamedTuple):
    """The parameters for the values of pixels."""

    mean_img: Any = ''
    mean_r: float = 0.0
    mean_g: float = 0.0
    mean_b: float = 0.0
    std_r: float = 1.0
    std_g: float = 1.0
    std_b: float = 1.0
    scale: float = 1.0
    max_random_contrast: float = 0.0
    max_random_illumination: float = 0.0

    def check(self, dtype: str, channels: int) -> None:
        """Raise an error for a wrong value, or one that MXNet silently ignores."""
        unused = {'uint8': self._fields, 'int8': self._fields[4:], 'float32': ()}[dtype]
        for name, value in self._asdict().items():
            if name != 'mean_img':
                finite(name, value)
            if name.startswith('std') and not value > 0:
                raise ValueError(f'{name} must be greater than 0, not {value}')
            if value == self._field_defaults[name]:
                continue
            if name in unused:
                raise ValueError(f"{name} has no effect with dtype='{dtype}'")
            if channels == 1 and name[-2:] in ('_g', '_b'):
                raise ValueError(f'{name} has no effect with grey images')
            if self.mean_img and name.startswith('mean_') and name != 'mean_img':
                raise ValueError(f'mean_img and {name} are mutually exclusive')

    def step(self, dtype: str, channels: int, mean: Any) -> Step:
        """Return the step that makes tensors; `mean` is the mean image, if there is one."""
        if mean is None:
            mean = self[1:1 + channels]
        if dtype == 'int8':    # as C rounds
            mean = np.copysign(np.floor(np.abs(np.float64(mean)) + 0.5), mean)
        with np.errstate(all='ignore'):    # in float32, as MXNet
            factors = np.float32(self.scale) / np.array(self[4:4 + channels], np.float32)
        if not np.isfinite(factors).all():
            raise ValueError('scale / std must be finite as float32')
        return _Values(mean, factors.tolist(), abs(self.max_random_contrast),
                       abs(self.max_random_illumination))


class Pipeline:
    """What happens to the images of records.

    Attributes
    ----------
    dtype : str
        The type of the pixels.
    shape : tuple of int
        The channels, the height and the width.
    """

    def __init__(self, augmentation: Augmentation, colors: Colors, dtype: Any, data_shape: Any,
                 threads: int, seed: int, max_pixels: int) -> None:
        self.dtype = np.dtype(np.float32 if dtype is None else dtype).name
        if self.dtype not in ('float32', 'uint8', 'int8'):
            raise ValueError(f"dtype must be 'float32', 'uint8' or 'int8', not {dtype!r}")
        sides = data_shape if np.iterable(data_shape) and not isinstance(data_shape, str) else ()
        self.shape = tuple(natural('data_shape', side, 1, 2**20) for side in sides)
        if len(self.shape) != 3 or self.shape[0] not in (1, 3):
            raise ValueError('data_shape must be (channels, height, width), and channels 1 or 3, '
                             f'not {data_shape!r}')
        colors.check(self.dtype, self.shape[0])
        self._steps, self._flip = augmentation.make_steps(*self.shape), augmentation.flip
        self._colors, self._threads, self._seed = colors, threads, seed
        self._max_pixels = max_pixels

    def apply(self, part: Any, records: Any) -> MXNetImages:
        """Return a dataset of tensors; a mean image is that of all records."""
        mean = self._get_mean_image(records) if self._colors.mean_img else None
        flips = [Flip(self._flip)] if self._flip else []
        values = self._colors.step(self.dtype, self.shape[0], mean)
        return self._make(part, self.dtype, [*flips, values])

    def _make(self, records: Any, dtype: str, more: Sequence[Step] = ()) -> MXNetImages:
        return MXNetImages(records, [*self._steps, *more], seed=self._seed,
                           mode='L' if self.shape[0] == 1 else 'RGB', dtype=dtype,
                           max_pixels=self._max_pixels)

    def _get_mean_image(self, records: Any) -> np.ndarray[Any, Any]:
        """Read the mean image; if it does not exist, make it from all records."""
        path = os.fsdecode(self._colors.mean_img)
        if os.path.exists(path):
            return load_mean_image(path, self.shape)
        total = np.zeros(self.shape, np.int64)
        for batch in Loader(self._make(records, 'uint8'), fields=['image'], batch_size=32, rank=0,
                            world=1, threads=self._threads):
            total += batch['image'].sum(axis=0, dtype=np.int64)
        mean = total.astype(np.float32) * (np.float32(1) / np.float32(len(records)))
        save_mean_image(path, mean)
        return mean
