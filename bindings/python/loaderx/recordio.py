# SPDX-License-Identifier: MIT
"""RecordIO files, with the names of ``mxnet.recordio``.

The files are those of MXNet, byte for byte. This module needs neither MXNet nor any other package
than NumPy.
"""

from __future__ import annotations

import numbers
import os
import struct
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._check import UINT64_MAX, boolean, natural
from ._fixed import Fixed
from ._record_files import list_files
from .sources.recordio import RecordIODataset

__all__ = ['IRHeader', 'InputSplit', 'MXIndexedRecordIO', 'MXRecordIO', 'RecordIODataset',
           'Skipped', 'pack', 'pack_img', 'unpack', 'unpack_img']

_Path = Union[str, 'os.PathLike[str]']

_HEAD = struct.Struct('<IfQQ')


class Skipped(Fixed, Tuple[int, int]):
    """What a reader has passed over: the tuple ``(places, bytes)``.

    Attributes
    ----------
    rest : bool
        Whether the last place is damaged or cut compressed data, which cannot be read any further.
        The bytes then do not include what could not be decompressed.
    """

    rest: bool

    def __new__(cls, places: int, size: int, rest: bool) -> Skipped:
        made = super().__new__(cls, (places, size))
        made.rest = rest
        return made

    def __getnewargs__(self) -> Tuple[int, int, bool]:
        return (*self, self.rest)


class MXRecordIO(Fixed):
    """A RecordIO file that is read or written from its beginning to its end.

    A child of ``fork()`` reads the file from its beginning, with a reader of its own.

    Parameters
    ----------
    uri : path
        The file. It may be ``'-'``, a pipe or compressed with gzip or zstd to be read from its
        beginning.
    flag : {'r', 'w', 'a'}
        Whether to read the file, write a new file, which replaces an existing one, or append to a
        file. MXNet does not have ``'a'``. Only regular files can be written.
    skip : bool
        Whether to pass over damage, which `skipped` counts. MXNet does not have this argument.

    Attributes
    ----------
    uri, flag
        The arguments.
    writable, is_open : bool
        Whether the file is written, and whether it is open.

    Raises
    ------
    CorruptError
        The file is damaged, or ends within a record. The next read continues at the next record.

    Examples
    --------
    >>> record = MXRecordIO('a.rec', 'w')
    >>> for i in range(3):
    ...     record.write(b'record %d' % i)
    >>> record.close()
    >>> record = MXRecordIO('a.rec', 'r')
    >>> record.read()
    b'record 0'
    >>> list(record)
    [b'record 1', b'record 2']
    """

    uri: _Path
    flag: str
    is_open: bool = False
    pid: int

    def __init__(self, uri: _Path, flag: str, *, skip: bool = False) -> None:
        if flag not in ('r', 'w', 'a'):
            raise ValueError(f"flag must be 'r', 'w' or 'a', not {flag!r}")
        self.uri, self.flag, self._skip = uri, flag, skip
        self._handle: Any = None
        self.open()

    @property
    def writable(self) -> bool:
        return self.flag != 'r'

    def _index_path(self) -> Optional[_Path]:
        return None

    def open(self) -> None:
        """Open the file, after closing it if it is open; a new file is emptied again."""
        self.close()
        self._handle = (
            _core.RecordioWriter(self.uri, self._index_path(), self.flag == 'a') if self.writable
            else _core.RecordioReader(self.uri, self._skip))
        vars(self).update(pid=os.getpid(), is_open=True)

    def close(self) -> None:
        """Write what is buffered, make the file durable, and close it.

        Raises
        ------
        OSError
            A write failed, now or earlier.
        """
        if not self.is_open:
            return
        vars(self).update(is_open=False)
        handle, self._handle = self._handle, None
        if self.pid == os.getpid() or not self.writable:
            handle.close()

    def reset(self) -> None:
        """Return to the beginning; a file that was opened with ``'w'`` becomes empty."""
        self.open()

    def _check(self, writes: bool) -> Any:
        if not self.is_open:
            raise ValueError(f'{self.uri} is closed')
        if writes != self.writable:
            raise ValueError(f'{self.uri} was opened to {"write" if self.writable else "read"}')
        if self.pid != os.getpid():
            if writes:
                raise RuntimeError(f'{self.uri} was opened by another process, before a fork: '
                                   'write each file in one process')
            self.open()
        return self._handle

    def write(self, buf: Any) -> None:
        """Write a record, of less than 2^29 bytes.

        Parameters
        ----------
        buf : bytes-like object
        """
        self._check(True).write(buf, None)

    def read(self) -> Optional[bytes]:
        """Return the next record, or None at the end."""
        record: Optional[bytes] = self._check(False).read()
        return record

    def skipped(self) -> Skipped:
        """Return the number of damaged places, and of the bytes that were passed over there."""
        return Skipped(*self._check(False).skipped())

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over the records from the current one on."""
        record = self.read()
        while record is not None:
            yield record
            record = self.read()

    def __enter__(self) -> MXRecordIO:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        if self.writable and self.is_open:
            raise TypeError(f'{self.uri} is being written: close it before it is pickled')
        return {**self.__dict__, '_handle': None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        vars(self).update(state, is_open=False)
        if state['is_open']:
            self.open()


class MXIndexedRecordIO(MXRecordIO):
    """A RecordIO file with an index, whose records can be read in any order.

    Parameters
    ----------
    idx_path : path
        The index.
    uri, flag, skip
        See `MXRecordIO`; the file must not be a pipe or compressed.
    key_type : callable
        Converts the text of a key in the index.

    Attributes
    ----------
    keys : list
        The keys, in the order of the index.
    idx : dict
        The offset of each key.

    Examples
    --------
    >>> with MXIndexedRecordIO('a.idx', 'a.rec', 'w') as record:
    ...     for i in range(5):
    ...         record.write_idx(i, b'record %d' % i)
    >>> record = MXIndexedRecordIO('a.idx', 'a.rec', 'r')
    >>> record.keys
    [0, 1, 2, 3, 4]
    >>> record.read_idx(3)
    b'record 3'
    """

    idx_path: _Path
    key_type: Callable[[str], Any]
    idx: Dict[Any, int]
    keys: List[Any]

    def __init__(self, idx_path: _Path, uri: _Path, flag: str,
                 key_type: Callable[[str], Any] = int, *, skip: bool = False) -> None:
        self.idx_path, self.key_type = idx_path, key_type
        super().__init__(uri, flag, skip=skip)

    def _index_path(self) -> Optional[_Path]:
        return self.idx_path

    def open(self) -> None:
        super().open()
        vars(self).update(idx={}, keys=[])
        if self.flag != 'w':
            for text, offset in _core.recordio_index(self.idx_path):
                self._add(self.key_type(text), offset)

    def _add(self, key: Any, offset: int) -> None:
        self.idx[key] = offset
        self.keys.append(key)

    def seek(self, idx: Any) -> None:
        """Move to the record with the key `idx`."""
        self._check(False).seek(self.idx[idx])

    def tell(self) -> int:
        """Return the offset at which the next record will be written."""
        offset: int = self._check(True).tell()
        return offset

    def read_idx(self, idx: Any) -> bytes:
        """Return the record with the key `idx`.

        Raises
        ------
        KeyError
            The index does not have the key.
        """
        self.seek(idx)
        record = self.read()
        if record is None:
            raise ValueError(f'{self.uri} ends before the record with the key {idx!r}: make the '
                             'index again')
        return record

    def write_idx(self, idx: Any, buf: Any) -> None:
        """Write a record with the key `idx`, of which the index has the text.

        Raises
        ------
        ValueError
            The key was written before, or its text cannot be in an index.
        """
        handle = self._check(True)
        key = self.key_type(idx)
        if key in self.idx:
            raise ValueError(f'the key {idx!r} was written before')
        offset = handle.tell()
        handle.write(buf, str(key))
        self._add(key, offset)

    def write(self, buf: Any) -> None:
        """Not possible: a record without a key could not be found.

        Raises
        ------
        TypeError
            Always; use `write_idx`.
        """
        raise TypeError('a record of an indexed file needs a key: use write_idx()')


class InputSplit(Fixed):
    """An iterator over one of several parts of one or more files, as dmlc-core's InputSplit.

    The files are taken as one sequence of bytes, which is cut into parts of equal length. A part
    has the records that begin in it, so every record is in exactly one part. With indexes, parts
    have equal numbers of records.

    A shuffled part has the same records. It is cut into chunks, which are read in a random order,
    each from its beginning to its end; with indexes, each record can be a chunk of its own. The
    order depends only on the part, the numbers of parts and chunks, the seed and the epoch.

    Parameters
    ----------
    uri : str, path or sequence of paths
        The files. In a str, they are separated by ``;``. Of a folder, all files are taken, in the
        order of their names, but not those whose names begin with a dot, and not an index
        ``a.idx`` if there is ``a.rec``.
    part_index, num_parts : int
        The part, and the number of parts.
    skip : bool
        Whether to pass over damage.
    index : str, path or sequence of paths, optional
        The index of each file, in the same form as `uri`; of a folder, not ``a.rec`` if there is
        ``a.idx``. Records that it does not have are not read.
    shuffle : bool
        Whether to shuffle the part. Each `reset` begins another epoch, in another order.
    chunks : int, optional
        The number of chunks, of equal length, if the part is shuffled. With indexes, each record is
        a chunk by default. Few long chunks suit slow disks.
    seed : int
        The seed, from 0 to 2**64 - 1.

    Attributes
    ----------
    files : list
        The files.
    epoch : int
        The epoch, 0 at first.

    Raises
    ------
    ValueError
        A file is not on a file system, such as ``hdfs://``; the part does not exist; the part is to
        be shuffled with neither `chunks` nor `index`; or an index has an offset beyond the end of
        its file.
    CorruptError
        A file is damaged or was cut.

    Examples
    --------
    >>> with MXRecordIO('a.rec', 'w') as record:
    ...     for i in range(4):
    ...         record.write(b'record %d' % i)
    >>> [list(InputSplit('a.rec', part, 3)) for part in range(3)]
    [[b'record 0', b'record 1'], [b'record 2'], [b'record 3']]
    >>> split = InputSplit('a.rec', shuffle=True, chunks=4, seed=1)
    >>> first = list(split)
    >>> split.reset()
    >>> sorted(first) == sorted(split)
    True
    """

    files: List[_Path]
    epoch: int

    def __init__(self, uri: Union[_Path, Iterable[_Path]], part_index: int = 0, num_parts: int = 1,
                 *, skip: bool = False, index: Union[_Path, Iterable[_Path], None] = None,
                 shuffle: bool = False, chunks: Optional[int] = None, seed: int = 0) -> None:
        shuffle = boolean('shuffle', shuffle)
        if chunks is not None and not shuffle:
            raise ValueError('chunks requires shuffle=True')
        if shuffle and chunks is None and index is None:
            raise ValueError('shuffle requires chunks or index')
        # Without an order, the part is one chunk; with UINT64_MAX, each record is one.
        self._chunks = (1 if not shuffle else UINT64_MAX if chunks is None else
                        natural('chunks', chunks, 1))
        self._seed = natural('seed', seed)
        self.files = list_files(uri)
        part_index, num_parts = natural('part_index', part_index), natural('num_parts', num_parts)
        indexes: Dict[str, Any] = {} if index is None else {'indexes': list_files(index, '.idx')}
        self._reader = _core.RecordioReader(self.files, skip, part_index, num_parts, **indexes)
        self.reset(0)

    def reset(self, epoch: Optional[int] = None) -> None:
        """Return to the beginning, and begin an epoch: by default, the next one."""
        epoch = self.epoch + 1 if epoch is None else natural('epoch', epoch)
        self._reader.shuffle(self._chunks, self._seed, epoch)
        vars(self).update(epoch=epoch)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        record = self._reader.read()
        if record is None:
            raise StopIteration
        return record

    def skipped(self) -> Skipped:
        """Return the number of damaged places, and of the bytes that were passed over there."""
        return Skipped(*self._reader.skipped())


class IRHeader(NamedTuple):
    """The header that MXNet puts before an image.

    Attributes
    ----------
    flag : int
        The number of labels, if they are an array; `pack` sets it.
    label : float or array of float32
        The labels.
    id : int
        The number of the image.
    id2 : int
        Usually 0.
    """

    flag: int
    label: Any
    id: int
    id2: int


def pack(header: Any, s: bytes) -> bytes:
    """Return a record: a header, its labels, and the bytes `s`.

    Parameters
    ----------
    header : IRHeader or sequence of its four members
        If `label` is a number, it is the only label; otherwise, it is an array of labels.
    s : bytes

    Examples
    --------
    >>> pack(IRHeader(0, 4.0, 2574, 0), b'image')[-5:]
    b'image'
    >>> unpack(pack(IRHeader(0, [1, 2, 3], 2574, 0), b'image'))
    (IRHeader(flag=3, label=array([1., 2., 3.], dtype=float32), id=2574, id2=0), b'image')
    """
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        return _HEAD.pack(0, header.label, header.id, header.id2) + s
    labels = np.asarray(header.label, np.float32)
    return _HEAD.pack(labels.size, 0, header.id, header.id2) + labels.tobytes() + s


def unpack(s: bytes) -> Tuple[IRHeader, bytes]:
    """Return the header of a record, and the bytes after it.

    Raises
    ------
    ValueError
        The record is too short for the header or its labels.
    """
    if len(s) < _HEAD.size:
        raise ValueError(f"the record has {len(s)} bytes, but MXNet's header has {_HEAD.size}")
    header = IRHeader(*_HEAD.unpack_from(s))
    if header.flag == 0:
        return header, s[_HEAD.size:]
    end = _HEAD.size + 4 * header.flag
    if end > len(s):
        raise ValueError(f"MXNet's header says that {header.flag} labels follow, but the record "
                         f'has only {len(s)} bytes')
    labels = np.frombuffer(s, '<f4', header.flag, _HEAD.size)
    return header._replace(label=labels), s[end:]


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = '.jpg') -> bytes:
    """Return a record: a header, its labels, and an image, which is encoded.

    It needs neither MXNet nor OpenCV, but libloaderx with images. As in MXNet, **colours are blue,
    green and red**, the order of OpenCV. `loaderx.images`, Pillow and torchvision have red first:
    pass ``img[..., ::-1]`` if `img` comes from them.

    Parameters
    ----------
    header : IRHeader or sequence of its four members
        See `pack`.
    img : array of uint8
        The pixels: grey, (height, width) or (height, width, 1), or colours, (height, width, 3).
    quality : int
        The quality of a JPEG, from 1 to 100. A PNG is lossless; for MXNet, this is the level of its
        compression, which `pack_img` chooses itself.
    img_fmt : {'.jpg', '.jpeg', '.png'}
        The format of the image; upper case is allowed.

    Raises
    ------
    ImportError
        libloaderx was installed without images.

    Examples
    --------
    >>> img = np.zeros((4, 6, 3), np.uint8)
    >>> img[:, :, 0] = 255    # blue
    >>> record = pack_img(IRHeader(0, 3.0, 17, 0), img, img_fmt='.png')
    >>> header, same = unpack_img(record)
    >>> header.label, np.array_equal(same, img)
    (3.0, True)
    """
    from . import images
    form = {'.JPG': 'jpeg', '.JPEG': 'jpeg', '.PNG': 'png'}.get(img_fmt.upper())
    if form is None:
        raise ValueError(f"img_fmt must be '.jpg', '.jpeg' or '.png', not {img_fmt!r}; "
                         'loaderx.images.encode() and pack() make other records')
    pixels = np.asarray(img)
    if pixels.ndim == 3:
        pixels = pixels[:, :, ::-1]
    return pack(header, images.encode(pixels, form, quality=None if form == 'png' else quality))


def unpack_img(s: bytes, iscolor: int = -1, *,
               max_pixels: Optional[int] = None) -> Tuple[IRHeader, np.ndarray[Any, Any]]:
    """Return the header of a record, and its image, which is decoded.

    It needs neither MXNet nor OpenCV, but libloaderx with images. As in MXNet, **colours are blue,
    green and red**, the order of OpenCV: ``img[..., ::-1]`` has red first.

    Parameters
    ----------
    s : bytes
        The record.
    iscolor : {-1, 0, 1}
        1: colours, (height, width, 3); 0: grey, (height, width); -1: what the image has. As in
        OpenCV, an image is turned upright as its Exif data says, but not with -1.
    max_pixels : int, optional
        The most pixels of the image, as for `images.decode`.

    Raises
    ------
    CorruptError
        The image is damaged.
    LoaderxError
        The image is not a JPEG, PNG or WebP.
    ImportError
        libloaderx was installed without images.
    ValueError
        The record is too short for the header or its labels; the image has more than `max_pixels`
        pixels; or, with -1, it has alpha or 16 bits, which would get lost.

    Examples
    --------
    >>> record = pack_img((0, [1, 2], 17, 0), np.full((4, 6, 3), 99, np.uint8))
    >>> header, img = unpack_img(record)
    >>> header.label, img.shape
    (array([1., 2.], dtype=float32), (4, 6, 3))
    >>> unpack_img(record, 0)[1].shape
    (4, 6)
    """
    from . import images
    header, data = unpack(s)
    grey = iscolor == 0
    if iscolor == -1:
        info = images.info(data)
        grey = info.channels == 1
        if info.bits == 16 or info.channels in (2, 4) and info.format != 'jpeg':
            raise ValueError('the image has alpha or 16 bits, which loaderx does not decode: pass '
                             'iscolor=1 or 0 to drop them')
    elif iscolor not in (0, 1):
        raise ValueError(f'iscolor must be -1, 0 or 1, not {iscolor!r}')
    img = images.decode(data, mode='L' if grey else 'RGB', exif=iscolor != -1,
                        max_pixels=images.MAX_PIXELS if max_pixels is None else max_pixels)
    return header, img if grey else np.ascontiguousarray(img[:, :, ::-1])
