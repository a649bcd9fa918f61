# SPDX-License-Identifier: MIT
"""MXNet's ImageRecordIter, over the library's own loader."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .._check import boolean, natural
from .._fixed import Fixed
from .._logging import log
from ..errors import CorruptError
from ..loader import Loader
from ..orders import Order, Repeat, Sequential, Shuffle
from .decoding import MAX_PIXELS
from .mxnet_steps import Augmentation, Colors, Pipeline, refuse_others
from .record_files import LabelList, open_part, open_records

__all__ = ['DataBatch', 'DataDesc', 'ImageRecordIter']


class DataDesc(Fixed, NamedTuple('DataDesc', [('name', str), ('shape', Tuple[int, ...])])):
    """The name and the shape of an array in batches; ``dtype`` and ``layout`` describe it, too."""

    dtype: np.dtype[Any]
    layout: str = 'NCHW'

    def __new__(cls, name: str, shape: Tuple[int, ...], dtype: Any) -> DataDesc:
        made = super().__new__(cls, name, shape)
        made.dtype = np.dtype(dtype)
        return made


@dataclass(eq=False, repr=False)
class DataBatch:
    """A batch of `ImageRecordIter`.

    Attributes
    ----------
    data : list
        One array: the images.
    label : list
        One array: the labels.
    pad : int
        How many images at the end are not part of the pass.
    index : array of uint64
        The ids of the images.
    """

    data: List[np.ndarray[Any, Any]]
    label: List[np.ndarray[Any, Any]]
    pad: int
    index: np.ndarray[Any, np.dtype[np.uint64]]

    def __repr__(self) -> str:
        return (f'DataBatch: data shapes: {[one.shape for one in self.data]} '
                f'label shapes: {[one.shape for one in self.label]}')


class ImageRecordIter(Fixed):
    """Batches of augmented images from RecordIO files, as ``mx.io.ImageRecordIter`` returns them.

    Parameters have the names, meanings and defaults of MXNet 1.9. One that is not supported raises
    an error that names it, unless it has its default value. What is not random is the same as in
    MXNet, bit for bit, but the values of images that are resized may differ by 1. Random choices
    have the same ranges, but come from other numbers. doc/from-mxnet.md lists the differences.

    A pass ends with StopIteration, and `reset` begins the next one. A ``for`` loop after the end of
    a pass does it itself. Arrays are NumPy arrays, which the caller owns.

    Parameters
    ----------
    path_imgrec : path or sequence of paths
        The files. In a str, they are separated by ``;``. Of a folder, all files are taken, but not
        indexes.
    path_imgidx : path or sequence of paths, optional
        Their indexes, which `loaderx recordio index` makes; by default, the files with the suffix
        ``.idx``. A file without one is read to find its records, which takes as long as reading it
        once. All records can be shuffled.
    path_imglist : path, optional
        A list of lines with an id, labels and a path, whose labels replace those in the records.
        The id is that in the header of a record.
    label_width : int
        The number of labels of each image. Records must have as many, unless there is a list.
    data_shape : (int, int, int)
        Channels (3, or 1 for grey images), height and width.
    batch_size : int
        The number of images in a batch.
    shuffle : bool
        Whether to shuffle all records of the part, differently in each pass.
    seed : int
        The seed of the order and, unless `seed_aug` is given, of all other random choices.
    seed_aug : int, optional
        The seed of the other random choices.
    num_parts, part_index : int
        The number of parts, and the one to read. Each record is in one part.
    preprocess_threads : int
        The number of threads that prepare batches, but not more than there are CPUs.
    prefetch_buffer : int
        How many batches are prepared in advance.
    round_batch : bool
        Whether the last batch of a pass is filled with the first images of the next pass, which
        then begins after them. Otherwise, it is filled with zeros.
    dtype : {'float32', 'uint8', 'int8'}, optional
        The type of the images; None: float32. Floats are not divided by 255. With uint8, values do
        not change; with int8, only the mean is subtracted, rounded, and values beyond the range
        become its ends.
    ctx : {'cpu', 'gpu'}, optional
        Where batches are used; for both, they are in memory of the CPU, as MXNet's are.
    verbose : bool
        Whether the logger ``loaderx`` gets a message with the number of records.
    resize : int
        The length that the shorter side of each image gets before it is cropped; -1: not resized.
    rand_crop : bool
        Whether images are cropped at a random place, not in the middle. An image that is smaller
        than `data_shape` is enlarged before.
    random_resized_crop : bool
        Whether a random part of each image is resized to `data_shape`.
    min_random_area, max_random_area : float
        The area of that part, as a fraction of the image.
    min_aspect_ratio, max_aspect_ratio : float
        The ratio of its width to its height. If the least ratio is None, ratios are from
        ``1 - max_aspect_ratio`` to ``1 + max_aspect_ratio``.
    max_rotate_angle : float
        The largest angle, in degrees, by which images are rotated at random before they are
        cropped.
    pad : int
        How many pixels are added to each side before images are cropped.
    fill_value : int
        The value of these pixels, and of the corners of rotated images.
    brightness, contrast, saturation : float
        How much random factors differ from 1 at most, as for `ColorJitter`.
    pca_noise : float
        The standard deviation of `Lighting`.
    mirror, rand_mirror : bool
        Whether left and right of all images, or of half of them at random, are exchanged.
    mean_img : path, optional
        A file of ``mx.nd.save`` with an image to subtract, of shape `data_shape`. If it does not
        exist, it is made: it is the mean of all images after the crop.
    mean_r, mean_g, mean_b : float
        The means to subtract; of grey images, `mean_r`.
    std_r, std_g, std_b : float
        The numbers to divide by after that.
    scale : float
        The number to multiply by after that.
    max_random_contrast, max_random_illumination : float
        The images are then multiplied by a random number that differs from 1 by at most the first,
        and a random number of at most the second, before `scale` and the division, is added.
    data_name, label_name : str
        The names in `provide_data` and `provide_label`.
    max_pixels : int
        The most pixels of an image, as for `ImageDataset`; MXNet has no such parameter.

    Attributes
    ----------
    provide_data, provide_label : list of DataDesc
        The names and shapes of what batches contain.
    batch_size : int
        The argument.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid or not supported, or has no effect; the message names it.
    FileNotFoundError
        A file or an index does not exist.
    CorruptError
        From `next`, or where a mean image is made: a record or an image is damaged, or a record
        has another number of labels.

    Examples
    --------
    The example of MXNet's documentation, with records that are made first:

    >>> from loaderx import images, recordio
    >>> png = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
    ...                     '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
    ...                     '0000000049454e44ae426082')
    >>> with recordio.MXIndexedRecordIO('sample.idx', 'sample.rec', 'w') as file:
    ...     for i in range(10):
    ...         file.write_idx(i, recordio.pack(recordio.IRHeader(0, i % 3, i, 0), png))
    >>> data_iter = images.ImageRecordIter(
    ...     path_imgrec="./sample.rec", # The target record file.
    ...     data_shape=(3, 227, 227), # 227x227 region will be cropped from the original image.
    ...     batch_size=4, # Number of items per batch.
    ...     resize=256 # Resize the shorter edge to 256 before cropping.
    ...     )
    >>> batch = data_iter.next() # first batch.
    >>> batch.data[0].shape, batch.label[0]
    ((4, 3, 227, 227), array([0., 1., 2., 0.], dtype=float32))
    >>> data_iter.reset() # To restart the iterator from the beginning.
    >>> [batch.pad for batch in data_iter]
    [0, 0, 2]
    """

    _batch: Optional[DataBatch] = None    # the last one

    batch_size: int
    provide_data: List[DataDesc]
    provide_label: List[DataDesc]

    def __init__(self, *, path_imgrec: Any, data_shape: Sequence[int], batch_size: int,
                 path_imgidx: Any = '', path_imglist: Any = '', label_width: int = 1,
                 shuffle: bool = False, seed: int = 0, seed_aug: Optional[int] = None,
                 num_parts: int = 1, part_index: int = 0, preprocess_threads: int = 4,
                 prefetch_buffer: int = 4, round_batch: bool = True, dtype: Any = None,
                 ctx: str = 'gpu', verbose: bool = True, resize: int = -1, rand_crop: bool = False,
                 random_resized_crop: bool = False, min_random_area: float = 1.0,
                 max_random_area: float = 1.0, min_aspect_ratio: Optional[float] = None,
                 max_aspect_ratio: float = 0.0, max_rotate_angle: float = 0.0, pad: int = 0,
                 fill_value: int = 255, brightness: float = 0.0, contrast: float = 0.0,
                 saturation: float = 0.0, pca_noise: float = 0.0, mirror: bool = False,
                 rand_mirror: bool = False, mean_img: Any = '', mean_r: float = 0.0,
                 mean_g: float = 0.0, mean_b: float = 0.0, std_r: float = 1.0, std_g: float = 1.0,
                 std_b: float = 1.0, scale: float = 1.0, max_random_contrast: float = 0.0,
                 max_random_illumination: float = 0.0, data_name: str = 'data',
                 label_name: str = 'softmax_label', max_pixels: int = MAX_PIXELS,
                 **others: Any) -> None:
        refuse_others(others)
        if ctx not in ('cpu', 'gpu'):
            raise ValueError(f"ctx must be 'cpu' or 'gpu', not {ctx!r}")
        self.batch_size = natural('batch_size', batch_size, 1)
        seed = natural('seed', seed)
        threads = min(natural('preprocess_threads', preprocess_threads, 1),
                      len(os.sched_getaffinity(0)), 64)
        label_width = natural('label_width', label_width, 1, 2**20)
        augmentation = Augmentation(
            resize, boolean('rand_crop', rand_crop),
            boolean('random_resized_crop', random_resized_crop), min_random_area, max_random_area,
            min_aspect_ratio, max_aspect_ratio, max_rotate_angle, pad, fill_value, brightness,
            contrast, saturation, pca_noise, boolean('mirror', mirror),
            boolean('rand_mirror', rand_mirror))
        colors = Colors(mean_img, mean_r, mean_g, mean_b, std_r, std_g, std_b, scale,
                        max_random_contrast, max_random_illumination)
        pipeline = Pipeline(augmentation, colors, dtype, data_shape, threads,
                            seed if seed_aug is None else natural('seed_aug', seed_aug),
                            max_pixels)
        self._list = LabelList(path_imglist, label_width) if path_imglist else None
        records = open_records(path_imgrec, path_imgidx, 0 if path_imglist else label_width)
        part = open_part(records, part_index, num_parts)
        images = pipeline.apply(part, records)
        self._length = self._end = len(part)
        shape = (self.batch_size, *pipeline.shape)
        labels = (self.batch_size, label_width) if label_width > 1 else (self.batch_size,)
        self.provide_data = [DataDesc(data_name, shape, pipeline.dtype)]
        self.provide_label = [DataDesc(label_name, labels, np.float32)]
        order: Order = Sequential(n=self._length)
        if boolean('shuffle', shuffle):
            order = Shuffle(n=self._length, seed=seed)
        if boolean('round_batch', round_batch):    # batches continue in the next epoch
            order = Repeat(order, 2**62 // self._length)
        # Each record also has labels, an id, an index and a position; arrays are aligned.
        size = int(np.prod(shape)) * np.dtype(pipeline.dtype).itemsize
        size += self.batch_size * (4 * label_width + 24) + 4096
        self._loader = Loader(
            images, batch_size=self.batch_size, order=order, epochs=None, rank=0, world=1,
            threads=threads, prefetch_bytes=natural('prefetch_buffer', prefetch_buffer) * size)
        if boolean('verbose', verbose):
            log(f'{path_imgrec}: {self._length} of {len(records)} records, {threads} threads',
                False)

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises
        ------
        StopIteration
            The pass has ended.
        """
        if self._loader.tell() >= self._end:
            raise StopIteration
        batch = next(self._loader)
        index = batch['id'].view(np.uint64)
        label = batch['label'] if self._list is None else self._list.find(index)
        pad = max(self._loader.tell() - self._end, self.batch_size - len(index))
        data, label, index = (
            _filled(array, self.batch_size) for array in (batch['image'], label, index))
        self._batch = DataBatch([data], [label], pad, index)
        return self._batch

    def reset(self) -> None:
        """Begin the next pass; do nothing if this one is at its first image.

        If a pass is left before its end, the next one begins with the first image of the next
        epoch. Otherwise, with `round_batch`, it begins after the images that the last batch has.
        """
        position = self._loader.tell()
        if self._end - self._length < position < self._end:
            position = self._end
            self._loader.seek(position)
        self._end = (position // self._length + 1) * self._length

    def __iter__(self) -> ImageRecordIter:
        if self._loader.tell() >= self._end:
            self.reset()
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> bool:
        """Move to the next batch; return whether there is one."""
        try:
            self.next()
        except StopIteration:
            return False
        return True

    def getdata(self) -> np.ndarray[Any, Any]:
        """Return the images of the last batch."""
        return self._current().data[0]

    def getlabel(self) -> np.ndarray[Any, Any]:
        """Return the labels of the last batch."""
        return self._current().label[0]

    def getpad(self) -> int:
        """Return how many images at the end of the last batch are not part of the pass."""
        return self._current().pad

    def getindex(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the ids of the images of the last batch."""
        return self._current().index

    def _current(self) -> DataBatch:
        if self._batch is None:
            raise ValueError('there is no batch yet: call next() or iter_next()')
        return self._batch

    def state_dict(self) -> Dict[str, Any]:
        """Return the position as a small JSON-compatible dict, as `Loader.state_dict` does."""
        return {'ended': self._loader.tell() >= self._end, 'loader': self._loader.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue at the position in a saved state, with the same batches.

        A loop or `next` then returns the rest of that pass, but `reset` leaves it: call `reset`
        only after the loop.

        Raises
        ------
        ValueError
            The state belongs to other files or parameters; the message names the difference.
        CorruptError
            It is not a state of `state_dict`.
        """
        try:
            ended, loader = state['ended'], state['loader']
        except (KeyError, TypeError):
            raise CorruptError('the state is not one of ImageRecordIter.state_dict()') from None
        self._loader.load_state_dict(loader)
        position = self._loader.tell()
        self._end = position if ended else (position // self._length + 1) * self._length

    def __repr__(self) -> str:
        return f'<ImageRecordIter of {self._length} records, {self.provide_data[0]}>'


def _filled(array: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Return an array with zeros after its rows."""
    if len(array) == size:
        return array
    made = np.zeros((size, *array.shape[1:]), array.dtype)
    made[:len(array)] = array
    return made
