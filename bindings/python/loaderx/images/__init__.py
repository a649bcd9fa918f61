# SPDX-License-Identifier: MIT
"""Images: decoding and encoding, and datasets of encoded images that are augmented while a model
trains.

The steps have the names of torchvision's transforms where they do the same.

This package needs libloaderx-image, which is part of libloaderx if it was built with libjpeg-turbo,
libpng and libwebp.
"""

from .._installation import explain

try:
    from .._images import Image as _Image    # noqa: F401
except ModuleNotFoundError as error:
    if error.name != 'loaderx._images':
        raise
    raise ImportError('libloaderx was installed without images: install libjpeg-turbo, libpng and '
                      'libwebp, then build and install libloaderx and its Python package '
                      'again') from None
except ImportError as error:
    raise explain(error) from None

from .colors import ColorJitter, Lighting, RandomGrayscale
from .dataset import ImageDataset
from .decoding import MAX_PIXELS, ImageInfo, decode, info
from .effects import GaussianBlur, RandomErasing
from .encoding import encode, write_sheet
from .folder import ImageFolder
from .geometry import Pad, RandomRotation
from .record_iter import DataBatch, DataDesc, ImageRecordIter
from .steps import CenterCrop, Flip, RandomCrop, RandomResizedCrop, Resize
from .targets import Boxes, Mask, Points
from .tensors import Normalize, SubtractMean

__all__ = [
    'Boxes',
    'CenterCrop',
    'ColorJitter',
    'DataBatch',
    'DataDesc',
    'Flip',
    'GaussianBlur',
    'ImageDataset',
    'ImageFolder',
    'ImageInfo',
    'ImageRecordIter',
    'Lighting',
    'MAX_PIXELS',
    'Mask',
    'Normalize',
    'Pad',
    'Points',
    'RandomCrop',
    'RandomErasing',
    'RandomGrayscale',
    'RandomResizedCrop',
    'RandomRotation',
    'Resize',
    'SubtractMean',
    'decode',
    'encode',
    'info',
    'write_sheet',
]
