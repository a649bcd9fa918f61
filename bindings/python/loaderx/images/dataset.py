# SPDX-License-Identifier: MIT
"""Datasets of encoded images that become tensors."""

from __future__ import annotations

import functools
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from .._check import natural
from .._images import Transform
from ..sources.concat import Parted, readable
from ..sources.places import in_data_loader
from ..sources.records import Records, Seed
from ..sources.source import check_seeds, core_of, located, seeds_of
from .decoding import MAX_PIXELS
from .effects import RandomErasing
from .steps import Step
from .targets import Target
from .tensors import TensorStep, set_tensor

__all__ = ['ImageDataset']


def _checked(steps: Sequence[Step]) -> Tuple[Step, ...]:
    if isinstance(steps, Step):
        raise TypeError(f'steps must be a list of steps: pass [{steps!r}]')
    made = tuple(steps)
    for step in made:
        if not isinstance(step, Step):
            raise TypeError(f'steps must be steps of loaderx.images, such as Resize(256), not '
                            f'{type(step).__name__}')
    stages = [2 if isinstance(step, RandomErasing) else int(isinstance(step, TensorStep))
              for step in made]
    if stages != sorted(stages) or stages.count(1) > 1:
        raise ValueError('Normalize or SubtractMean must be the last step: only RandomErasing can '
                         'follow it, and only another RandomErasing can follow that')
    return made


def _checked_targets(targets: Optional[Mapping[str, Target]]) -> Dict[str, Target]:
    if not isinstance(targets, (Mapping, type(None))):
        raise TypeError("targets must be a dict by field, such as {'mask': Mask()}, not "
                        f'{type(targets).__name__}')
    made = dict(targets or {})
    for name, target in made.items():
        if not isinstance(target, Target):
            raise TypeError(f'targets[{name!r}] must be a Mask, Boxes or Points, not '
                            f'{type(target).__name__}')
    return made


class ImageDataset(Parted):
    """A dataset whose images are decoded and augmented while they are read.

    The threads of a `Loader` do the work, and write into the batch. Random choices depend only on
    the seed, the epoch and the position in the order: the pixels are the same for any number of
    threads and ranks and after a resume, and an image that occurs several times is changed
    differently each time. Records that are read without a loader are changed as in epoch 0, at
    positions equal to their indices.

    In a DataLoader of `loaderx.torch`, the number that torch draws for each pass is the epoch,
    changed by the rank of a DistributedSampler: each pass and each rank makes other choices, and a
    resumed pass the same. A `collate_fn`, or a dataset of your own that reads one record of this
    dataset for each of its own, gets the same pixels.

    In torch's own DataLoader, and where an iterable dataset reads records, there is no such number.
    In workers, each read is an epoch of its own, which depends on the seed of the worker. Without
    workers, each batch is one, which depends on the seed of torch. Such a pass cannot be resumed.

    Without workers, torch's own DataLoader does not show that it reads if it reads one record at a
    time, for a dataset of your own or with ``batch_size=None``. These records, and those that an
    iterable dataset reads without workers, are changed as in epoch 0, in each pass. Use workers or,
    for a dataset that is not iterable, the DataLoader of `loaderx.torch`.

    Parameters
    ----------
    dataset : Dataset, path, table or dataset of loaderx
        The dataset with the encoded images.
    steps : sequence of steps
        What to do with each image, such as ``[RandomResizedCrop(224), Flip(), Normalize(...)]``.
        All images must get the same size.
    field : str
        The field with the encoded images: byte strings of JPEG, PNG or WebP files.
    seed : int, optional
        The seed of the random choices; None: 0. If a record comes from several `ImageDataset`
        objects with random steps, such as two views of an image, give each a seed of its own, or
        the same one to all for the same choices: equal seeds by default are an error.
    mode : {'RGB', 'L'}
        Colours or grey.
    dtype : dtype or 'bfloat16', optional
        The type of the pixels: uint8, int8, float16, bfloat16 or float32. By default, it is float32
        after `Normalize` or `SubtractMean`, and otherwise uint8. Without these, floats are from 0
        to 1, and int8 are from -128 to 127.
    layout : {'CHW', 'HWC'}
        The order of the axes: channels first, as in torch, or last.
    targets : dict, optional
        The fields that change with the images, by name: each is a `Mask`, `Boxes` or `Points`. The
        steps that crop, resize, mirror, pad and rotate an image also act on them, with the same
        random choices.
    max_pixels : int
        The most pixels that an image or a mask may have in its file; the default is that of
        `decode`. Reading one that has more raises ValueError, whatever `on_damage` says: it may be
        good.

    Notes
    -----
    An image that cannot be decoded is a damaged record: ``Loader(on_damage=...)`` decides whether
    it is an error, left out, or replaced by zeros. The same is true of a mask, of a mask whose size
    is not that of its image, and of coordinates that are not finite. A record without an image or
    one of the targets has none of them.

    A `Loader` reads each batch of a live dataset from one snapshot. A record that is read by its
    index may have boxes or points of a newer snapshot than its image, if their number varies; use
    ``dataset.pin()``.

    Examples
    --------
    >>> from loaderx import images
    >>> png = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
    ...                     '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
    ...                     '0000000049454e44ae426082')
    >>> writer = create('photos', {'image': Field('image'), 'label': Field('int64')})
    >>> with writer:
    ...     writer.extend({'image': [png] * 10, 'label': np.arange(10)})
    0
    >>> train = images.ImageDataset('photos', [images.Resize((4, 4)), images.Flip()], seed=1)
    >>> loader = Loader(train, batch_size=8, order=Shuffle(seed=42))
    >>> next(loader)['image'].shape
    (8, 3, 4, 4)

    Two views of each image. In a dict, the names precede those of the fields, so that no two are
    equal; `fields` selects:

    >>> steps = [images.RandomResizedCrop(4), images.Flip()]
    >>> views = {name: images.ImageDataset('photos', steps, seed=i) for i, name in enumerate('ab')}
    >>> loader = Loader(views, fields=['a.image', 'b.image', 'a.label'], batch_size=8)
    >>> {name: values.shape for name, values in next(loader).items()}
    {'a.image': (8, 3, 4, 4), 'b.image': (8, 3, 4, 4), 'a.label': (8,)}

    Boxes that are mirrored together with the images, whose width is 2. Their number varies, so they
    come as a `Ragged`:

    >>> writer = create('scenes', {'image': Field('image'), 'boxes': Field('float32', (None, 4))})
    >>> with writer:
    ...     writer.extend({'image': [png] * 2, 'boxes': [np.float32([[0, 0, 0.5, 1]] * n)
    ...                                                  for n in (1, 3)]})
    0
    >>> train = images.ImageDataset('scenes', [images.Resize((4, 4)), images.Flip(1)],
    ...                             targets={'boxes': images.Boxes('xyxy')})
    >>> batch = next(Loader(train, batch_size=2))
    >>> batch['boxes'][0].tolist(), [len(boxes) for boxes in batch['boxes']]
    ([[3.0, 0.0, 4.0, 4.0]], [1, 3])
    """

    dataset: Any
    _follows_mxnet = False    # whether steps reproduce those of MXNet instead of torchvision's
    _part: Any = None    # the dataset, for reading fields that vary in length

    def __init__(self, dataset: Any, steps: Sequence[Step], *, field: str = 'image',
                 seed: Optional[int] = None, mode: str = 'RGB', dtype: Any = None,
                 layout: str = 'CHW', targets: Optional[Mapping[str, Target]] = None,
                 max_pixels: int = MAX_PIXELS) -> None:
        if mode not in ('RGB', 'L'):
            raise ValueError(f"mode must be 'RGB' or 'L', not {mode!r}")
        self.dataset, self._located, self._steps = dataset, located(dataset), _checked(steps)
        seed = None if seed is None else natural('seed', seed)
        self._more: Dict[str, Any] = {'field': field, 'seed': seed, 'mode': mode, 'dtype': dtype,
                                      'layout': layout, 'targets': _checked_targets(targets),
                                      'max_pixels': natural('max_pixels', max_pixels)}
        check_seeds([seeds_of(dataset), self._own_seed()], ['dataset', 'the ImageDataset over it'])
        transform = Transform(seed or 0, mode == 'L', self._follows_mxnet, max_pixels)
        for step in self._steps:
            step._add(transform)
        last = next((step for step in self._steps if isinstance(step, TensorStep)), None)
        set_tensor(transform, last, mode, dtype, layout)
        for name, target in self._more['targets'].items():
            target._add(transform, name)
        core, _ = core_of(dataset, 'dataset')
        names = [column[0] for column in core.columns]
        if field not in names:
            raise KeyError(f'field {field!r} not found: the source has {", ".join(names)}; field= '
                           'names the one with the images')
        self._source = transform.apply(core, field)
        self._nameless = False

    def _get(self, name: str, key: Any) -> Any:
        targets = self._more['targets']
        if targets and (name in targets or name == self._more['field']) and in_data_loader():
            raise ValueError(
                f'in a DataLoader, the image and its targets must be read together, because each '
                f'read makes other random choices: read dataset[{key!r}] instead of '
                f'dataset[{name!r}][{key!r}]')
        return super()._get(name, key)

    def _parts_of(self, places: Any) -> Iterable[Tuple[Any, Any, Any]]:
        if self._part is None:
            self._part = readable(self._located)
        yield self._part, np.arange(len(places)), places

    def _sizes(self, name: str, key: Any) -> Any:
        inputs = self._more['field'], *self._more['targets']
        if name not in inputs:
            return super()._sizes(name, key)
        sizes = {one: super(ImageDataset, self)._sizes(one, key) for one in inputs}
        present = np.all([found >= 0 for found in sizes.values()], axis=0)
        made = sizes[name] if self.fields[name].varies else Records._sizes(self, name, key)
        return np.where(present, made, -1)

    def _own_seed(self) -> Set[Seed]:
        seed = self._more['seed']
        random = any(step._random for step in self._steps)
        return {(seed or 0, seed is not None)} if random else set()

    def _seeds(self) -> Set[Seed]:
        return seeds_of(self.dataset) | self._own_seed()

    def _recipe(self) -> Any:
        return functools.partial(type(self), **self._more), (self._located, self._steps)

    def __repr__(self) -> str:
        return f'ImageDataset({self.dataset!r}, {list(self._steps)!r})'
