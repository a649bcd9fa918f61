# SPDX-License-Identifier: MIT
"""Folders of image files."""

from __future__ import annotations

import functools
import os
from collections import Counter
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np

from .. import _core
from .._check import boolean
from .._logging import log
from .._paths import absolute
from ..sources.records import SourceRecords

__all__ = ['ImageFolder']

# tools/image-list-scan.c has the same ones, and takes the same files.
_SUFFIXES = '.jpg', '.jpeg', '.jpe', '.jfif', '.png', '.webp'
_OTHER_IMAGES = ('.avif', '.bmp', '.gif', '.heic', '.heif', '.j2k', '.jp2', '.jpx', '.jxl', '.pbm',
                 '.pgm', '.pnm', '.ppm', '.tif', '.tiff')    # torchvision takes most of them


class _Listing:
    """Lists folders, and counts the names and files that it leaves out or cannot take."""

    def __init__(self, hidden: bool) -> None:
        self._hidden = hidden
        self.left_out = 0
        self.not_images: List[str] = []
        self.refused: List[str] = []

    def names(self, folder: str) -> List[os.DirEntry[str]]:
        """Return what is in a folder, in the order of the bytes of the names."""
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
        kept = [entry for entry in entries if self._hidden or not entry.name.startswith('.')]
        self.left_out += len(entries) - len(kept)
        return kept

    def images(self, folder: str) -> Iterator[str]:
        """Return the images of a folder and of those below it, in the order of torchvision."""
        for _, entries in sorted(self._folders(folder), key=lambda each: each[0]):
            for entry in entries:
                if entry.is_dir():
                    continue
                name = entry.name.lower()
                if name.endswith(_OTHER_IMAGES) and not _begins_as_image(entry):
                    self.refused.append(entry.path)
                elif name.endswith(_SUFFIXES + _OTHER_IMAGES) or _begins_as_image(entry):
                    yield entry.path
                else:
                    self.not_images.append(entry.path)

    def _folders(self, folder: str, above: Tuple[str, ...] = ()) \
            -> Iterator[Tuple[str, List[os.DirEntry[str]]]]:
        """Return a folder and those below it, with their entries.

        A symbolic link to a folder above it is left out.
        """
        above = (*above, os.path.realpath(folder))
        if above[-1] not in above[:-1]:
            entries = self.names(folder)
            yield folder, entries
            for entry in entries:
                if entry.is_dir():
                    yield from self._folders(entry.path, above)


def _begins_as_image(entry: os.DirEntry[str]) -> bool:
    """Return whether a file is an image that can be decoded, whatever its name."""
    try:
        if not entry.is_file():
            return False
        with open(entry.path, 'rb') as file:
            head = file.read(12)
    except OSError:
        return False
    return (head.startswith((b'\xff\xd8\xff', b'\x89PNG\r\n\x1a\n'))
            or (head.startswith(b'RIFF') and head[8:] == b'WEBP'))


def _count(paths: List[str]) -> str:
    """Return the numbers of files by extension, such as '.bmp 2, .tif 1'."""
    counts = Counter(os.path.splitext(path)[1].lower() or 'none' for path in paths)
    return ', '.join(f'{suffix} {count}' for suffix, count in sorted(counts.items()))


class ImageFolder(SourceRecords):
    """The image files of a folder, whose sub-folders are the classes, as torchvision's ImageFolder.

    Each sub-folder is a class, even if it has no images, as is a link to a folder. Classes are
    numbered in the order of the bytes of their names; the images of a class are those in its folder
    and below it. Names that begin with a dot are left out, such as ``.ipynb_checkpoints``, and a
    warning says how many, unless `hidden` is set. `import_folder` and ``loaderx pack`` number the
    classes of a folder in the same way.

    As for ``loaderx pack``, images are the files whose names have the extension of an image format,
    in any case, and those that begin as a JPEG, PNG or WebP file, whatever their names. Files that
    are not images, or are in no sub-folder, are left out, and a warning counts them by extension.

    A file is opened for each record that is read. For training from many small files, pack them
    into a dataset or a RecordIO file first, which is read several times faster from a disk.

    Parameters
    ----------
    root : path
        The folder.
    hidden : bool, optional
        Whether to take names that begin with a dot, too, as torchvision does.

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
        The folder has no sub-folders, or they have no images.
    ValueError
        Images are of formats that cannot be decoded; the error counts them by extension.

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
    classes: List[str]
    class_to_idx: Dict[str, int]
    samples: List[Tuple[str, int]]

    def __init__(self, root: Any, *, hidden: bool = False) -> None:
        self.root = os.fsdecode(root)
        self._path = absolute(root)
        self._hidden = boolean('hidden', hidden)
        listing = _Listing(hidden)
        entries = listing.names(self.root)
        self.classes = [entry.name for entry in entries if entry.is_dir()]
        outside = [entry.path for entry in entries if not entry.is_dir()]
        if not self.classes:
            raise FileNotFoundError(f'{self.root} has no sub-folders, which would be the classes')
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [(path, label) for label, name in enumerate(self.classes)
                        for path in listing.images(os.path.join(self.root, name))]
        if listing.refused:
            raise ValueError(f'{listing.refused[0]} cannot be decoded: convert such images to '
                             f'JPEG, PNG or WebP, or remove them ({_count(listing.refused)})')
        if not self.samples:
            raise FileNotFoundError(f'the sub-folders of {self.root} have no images: no files '
                                    f'whose names end with {", ".join(_SUFFIXES)}')
        empty = sorted(set(range(len(self.classes))).difference(self.targets))
        if empty:
            log(f'classes without images in {self.root}: {len(empty)}, such as '
                f'{self.classes[empty[0]]!r}', True)
        if listing.left_out:
            log(f'names that begin with a dot were left out of {self.root}: {listing.left_out}',
                True)
        for kind, paths in (('no images', listing.not_images), ('in no sub-folder', outside)):
            if paths:
                log(f'files that are {kind} were left out of {self.root}: {_count(paths)}', True)
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
        return functools.partial(ImageFolder, hidden=self._hidden), (self._path,)

    def __repr__(self) -> str:
        return f'ImageFolder({self.root!r})'
