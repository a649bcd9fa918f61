# SPDX-License-Identifier: MIT
"""Folders of image files."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np

from .. import _core
from .._paths import absolute
from ..sources.records import SourceRecords

__all__ = ['ImageFolder']

_SUFFIXES = '.jpg', '.jpeg', '.png', '.webp'
_OTHER_IMAGES = '.bmp', '.gif', '.pgm', '.ppm', '.tif', '.tiff'    # torchvision takes most of them


def _folders_in(folder: str, above: Tuple[str, ...] = ()) -> Iterator[str]:
    """Return a folder and those below it; a symbolic link to a folder above it is left out."""
    above = (*above, os.path.realpath(folder))
    if above[-1] not in above[:-1]:
        yield folder
        for entry in os.scandir(folder):
            if entry.is_dir():
                yield from _folders_in(entry.path, above)


def _images_in(folder: str) -> Iterator[str]:
    """Return the images of a folder and of those below it, in the order of torchvision."""
    for place in sorted(_folders_in(folder)):
        for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
            name = entry.name.lower()
            if not name.endswith(_SUFFIXES + _OTHER_IMAGES) or entry.is_dir():
                continue
            if name.endswith(_OTHER_IMAGES):
                raise ValueError(f'{entry.path} cannot be decoded: convert it to JPEG, PNG or '
                                 'WebP, or remove it')
            yield entry.path


class ImageFolder(SourceRecords):
    """The image files of a folder, whose sub-folders are the classes, as torchvision's ImageFolder.

    Classes are numbered in the order of their names; the images of a class are those in its folder
    and below it. Files that are not images are left out.

    A file is opened for each record that is read. For training from many small files, pack them
    into a dataset or a RecordIO file first, which is read several times faster from a disk.

    Parameters
    ----------
    root : path
        The folder.

    Attributes
    ----------
    root : str
        The folder.
    classes : list of str
        The names of the classes.
    class_to_idx : dict
        The number of each class, which is the label of its images.
    samples : list of (str, int)
        The path and the label of each image.

    Raises
    ------
    FileNotFoundError
        The folder has no sub-folders, or one of them has no images.
    ValueError
        An image is of a format that cannot be decoded.

    Examples
    --------
    >>> import pathlib
    >>> from loaderx import images
    >>> png = bytes.fromhex('89504e470d0a1a0a0000000d4948445200000002000000010802000000'
    ...                     '7b40e8dd0000000d4944415478da63f8cfc000440008fe01ff19c06be7'
    ...                     '0000000049454e44ae426082')
    >>> for name in 'cat', 'dog':
    ...     folder = pathlib.Path('pets', name)
    ...     folder.mkdir(parents=True)
    ...     for i in range(5):
    ...         _ = (folder / f'{i}.png').write_bytes(png)
    >>> pets = images.ImageFolder('pets')
    >>> pets.classes, len(pets), pets.samples[5]
    (['cat', 'dog'], 10, ('pets/dog/0.png', 1))
    >>> train = images.ImageDataset(pets, [images.RandomResizedCrop(4)], seed=42)
    >>> batch = next(Loader(train, batch_size=8, order=Shuffle(seed=42)))
    >>> batch['image'].shape, batch['label'].dtype
    ((8, 3, 4, 4), dtype('int64'))
    """

    root: str

    def __init__(self, root: Any) -> None:
        self.root = os.fsdecode(root)
        self._path = absolute(root)
        self.classes: List[str] = sorted(entry.name for entry in os.scandir(self.root)
                                         if entry.is_dir())
        if not self.classes:
            raise FileNotFoundError(f'{self.root} has no sub-folders, which would be the classes')
        self.class_to_idx: Dict[str, int] = {name: i for i, name in enumerate(self.classes)}
        self.samples: List[Tuple[str, int]] = []
        for label, name in enumerate(self.classes):
            folder = os.path.join(self.root, name)
            found = [(path, label) for path in _images_in(folder)]
            if not found:
                raise FileNotFoundError(f'{folder} has no files whose names end with '
                                        f'{", ".join(_SUFFIXES)}')
            self.samples += found
        names = tuple(os.fsencode(os.path.relpath(path, self.root)) for path, _ in self.samples)
        labels = np.array([label for _, label in self.samples], np.int64)
        self._source = _core.source_zip(
            (_core.source_files(root, names), _core.source_array(labels, 'int64')), (None, 'label'))
        self._nameless = False

    @property
    def targets(self) -> List[int]:
        """The label of each image."""
        return [label for _, label in self.samples]

    def _recipe(self) -> Any:
        return ImageFolder, (self._path,)

    def __repr__(self) -> str:
        return f'ImageFolder({self.root!r})'
