# SPDX-License-Identifier: MIT
"""What changes with the images of an `ImageDataset`: masks, boxes and points."""

from __future__ import annotations

from .._check import natural
from .._fixed import Fixed
from .._images import Transform

__all__ = ['Boxes', 'Mask', 'Points', 'Target']

# The formats of boxes, in the order of the library's.
_FORMATS = 'xyxy', 'xywh', 'cxcywh'


class Target(Fixed):
    """The base class of what changes with images."""

    def _add(self, transform: Transform, field: str) -> None:
        raise NotImplementedError


class Mask(Target):
    """A field of masks, in which each pixel has a class.

    The values are PNG files of the size of their images: with a palette, of which the indices are
    the classes, as in PASCAL VOC, or grey with at most 8 bits. They become uint8 arrays of shape
    (height, width), with the classes that ``numpy.array(PIL.Image.open(file))`` has. Steps that
    move pixels choose the nearest one, so that no class is mixed from others.

    Parameters
    ----------
    fill : int
        The class of the pixels that `Pad` and `RandomRotation` add. Many losses ignore the class
        255.

    Examples
    --------
    >>> from loaderx import images
    >>> images.Mask(fill=255)
    Mask(fill=255)
    """

    def __init__(self, fill: int = 0) -> None:
        self._fill = natural('fill', fill, 0, 255)

    def _add(self, transform: Transform, field: str) -> None:
        transform.add_mask(field, self._fill)

    def __repr__(self) -> str:
        return f'Mask(fill={self._fill})'


class Boxes(Target):
    """A field of boxes: float32 or float64 of shape (n, 4), where n may vary.

    After each step, a box is the smallest one around the moved box, clamped to the image, as in
    ``torchvision.transforms.v2``. The number of boxes does not change: one that the image no longer
    shows has no area.

    Parameters
    ----------
    format : {'xyxy', 'xywh', 'cxcywh'}
        What the numbers are: left, top, right, bottom; left, top, width, height, as in COCO; or the
        centre, width and height. They are pixels of the image, turned as its Exif data says.

    Examples
    --------
    Drop the boxes without an area, and their labels:

    >>> boxes, labels = np.array([[0, 0, 5, 9], [0, 3, 0, 7.0]]), np.array([8, 4])
    >>> shown = (boxes[:, 2:] > boxes[:, :2]).all(1)
    >>> boxes[shown].tolist(), labels[shown].tolist()
    ([[0.0, 0.0, 5.0, 9.0]], [8])
    """

    def __init__(self, format: str = 'xyxy') -> None:
        if format not in _FORMATS:
            raise ValueError(f'format must be one of {", ".join(map(repr, _FORMATS))}, not '
                             f'{format!r}')
        self._format = format

    def _add(self, transform: Transform, field: str) -> None:
        transform.add_boxes(field, _FORMATS.index(self._format))

    def __repr__(self) -> str:
        return f'Boxes({self._format!r})'


class Points(Target):
    """A field of points (x, y): float32 or float64 of shape (n, 2), where n may vary.

    Points are moved but not clamped, so they may leave the image. Coordinates reach from 0 to the
    width or height, like those of boxes, so the centre of the first pixel is at 0.5. To keypoints
    that are numbers of pixels, add 0.5 before they are stored, and subtract it from the result.

    Points keep their order when `Flip` exchanges left and right: in a mirrored face, the point of
    the left eye marks what looks like the right eye. For points with a left and a right, leave
    `Flip` out.

    Examples
    --------
    >>> from loaderx import images
    >>> images.Points()
    Points()
    """

    def _add(self, transform: Transform, field: str) -> None:
        transform.add_points(field)

    def __repr__(self) -> str:
        return 'Points()'
