# SPDX-License-Identifier: MIT
"""What the parameters of MXNet's ImageRecordIter do with images."""

from __future__ import annotations

import math
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .._check import finite, natural, number
from ..batch import Batch
from ..loader import Loader, generator
from .colors import ColorJitter, Lighting
from .dataset import ImageDataset
from .geometry import Pad, RandomRotation
from .mean_image import load_mean_image, save_mean_image
from .steps import CenterCrop, Flip, Normalize, RandomCrop, RandomResizedCrop, Resize, Step

__all__ = ['Augmentation', 'Colors', 'Finish', 'MXNetImages', 'Pipeline', 'refuse_others']

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


class _Subtract(Normalize):
    """Subtract means from bytes, which are not divided by 255."""

    _divisor = 1.0

    def __init__(self, mean: Tuple[float, ...]) -> None:
        super().__init__(mean, (1.0,) * len(mean))


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
        return RandomResizedCrop((height, width), (self.min_random_area, self.max_random_area),
                                 ratio)

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

    def subtraction(self, dtype: str, channels: int) -> Step:
        """Return the step that subtracts the means, and does nothing with means of 0."""
        means = self[1:1 + channels]
        if dtype == 'int8':    # as C rounds
            means = tuple(math.copysign(math.floor(abs(mean) + 0.5), mean) for mean in means)
        return _Subtract(means)

    def finish(self, dtype: str, channels: int, mean: Any, mirror: float) -> Optional[Finish]:
        """Return what remains to be done with batches, if anything does."""
        std = np.array(self[4:4 + channels], np.float32).reshape(channels, 1, 1)
        with np.errstate(all='ignore'):
            if not np.isfinite(np.float32(self.scale) / std).all():
                raise ValueError('scale / std must be finite as float32')
        jitter = np.array([self.max_random_contrast, self.max_random_illumination], np.float32)
        made = Finish(dtype, mean, mirror, np.float32(self.scale), std, jitter)
        return made if made.is_needed else None


class Finish:
    """Computes what steps do not: ``(pixels - mean image) * scale / std``, as MXNet rounds it.

    Images are mirrored after the subtraction of a mean image.
    """

    def __init__(self, dtype: str, mean: Any, mirror: float, scale: Any, std: Any,
                 jitter: Any) -> None:
        self._mean, self._mirror, self._scale, self._std = mean, mirror, scale, std
        self._jitter = jitter if jitter.any() else None    # most contrast, most illumination
        self._factor = scale / std
        if mean is not None and dtype == 'int8':
            self._mean = np.copysign(np.floor(np.abs(mean) + 0.5), mean).astype(np.int16)

    @property
    def is_random(self) -> bool:
        return self._jitter is not None or 0 < self._mirror < 1

    @property
    def is_needed(self) -> bool:
        return (self.is_random or self._mean is not None or self._mirror == 1
                or bool((self._factor != 1).any()))

    def __call__(self, batch: Batch) -> Batch:
        images = batch['image']
        draws = np.zeros((len(images), 3), np.float32)
        if self.is_random:
            for row, key in zip(draws, batch.pop('keys')):
                row[:] = generator(key).random(3, np.float32)
        if self._mean is not None:
            images = self._subtract(images)
        if self._jitter is not None:
            contrast, light = ((draws[:, :2] * self._jitter * 2 - self._jitter + (1, 0))
                               * self._scale).T.reshape(2, -1, 1, 1, 1).astype(np.float32)
            images *= contrast / self._std
            images += light / self._std
        elif (self._factor != 1).any():
            images *= self._factor
        mirrored = np.flatnonzero(draws[:, 2] < self._mirror)
        if len(mirrored):
            images[mirrored] = images[mirrored, :, :, ::-1]
        batch['image'] = images
        return batch

    def _subtract(self, images: Any) -> Any:
        if images.dtype == np.float32:
            return np.subtract(images, self._mean, out=images)
        return np.clip(images - self._mean, -128, 127).astype(np.int8)


class Pipeline:
    """What happens to the images of records.

    Attributes
    ----------
    dtype : str
        The type of the pixels.
    shape : tuple of int
        The channels, the height and the width.
    keys : int
        The seed of the keys of records, from which `Finish` draws.
    """

    def __init__(self, augmentation: Augmentation, colors: Colors, dtype: Any, data_shape: Any,
                 threads: int, seed: int) -> None:
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
        # The steps draw with the seed itself; these numbers must be others.
        self.keys = seed ^ 1 << 63

    def apply(self, part: Any, records: Any) -> Tuple[MXNetImages, Optional[Finish]]:
        """Return a dataset of tensors, and what remains to be done with batches of it."""
        channels = self.shape[0]
        if self._colors.mean_img:
            mean = self._get_mean_image(self._colors.mean_img, records)
            finish = self._colors.finish(self.dtype, channels, mean, self._flip)
            return self._make(part, 'uint8' if self.dtype == 'int8' else self.dtype), finish
        flips = [Flip(self._flip)] if self._flip else []
        steps = [*flips, self._colors.subtraction(self.dtype, channels)]
        return (self._make(part, self.dtype, steps),
                self._colors.finish(self.dtype, channels, None, 0.0))

    def _make(self, records: Any, dtype: str, more: Sequence[Step] = ()) -> MXNetImages:
        channels = self.shape[0]
        return MXNetImages(records, [*self._steps, *(more or [_Subtract((0.0,) * channels)])],
                           seed=self._seed, mode='L' if channels == 1 else 'RGB', dtype=dtype)

    def _get_mean_image(self, path: Any, records: Any) -> np.ndarray[Any, Any]:
        """Read the mean image; if it does not exist, make it from all records."""
        path = os.fsdecode(path)
        if os.path.exists(path):
            return load_mean_image(path, self.shape)
        total = np.zeros(self.shape, np.int64)
        for batch in Loader(self._make(records, 'uint8'), fields=['image'], batch_size=32, rank=0,
                            world=1, threads=self._threads):
            total += batch['image'].sum(axis=0, dtype=np.int64)
        mean = total.astype(np.float32) * (np.float32(1) / np.float32(len(records)))
        save_mean_image(path, mean)
        return mean
