# SPDX-License-Identifier: MIT
"""Zstandard payloads: section 6.4.

The form of a frame is checked here, from RFC 8878 alone; libzstd only decompresses it.
"""

import ctypes
import ctypes.util

from zrbase import Unsupported

MAGIC = (0xFD2FB528).to_bytes(4, "little")
DICTIONARY_MAGIC = (0xEC30A437).to_bytes(4, "little")
ZSTD_FACTOR = 32768
ID_BYTES = (0, 1, 2, 4)
RAW, RLE, RESERVED = 0, 1, 3


def _library():
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise Unsupported("no zstd here")
    library = ctypes.CDLL(name)
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    library.ZSTD_freeDCtx.argtypes = [ctypes.c_void_p]
    library.ZSTD_decompress_usingDict.restype = ctypes.c_size_t
    library.ZSTD_decompress_usingDict.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
        ctypes.c_char_p, ctypes.c_size_t]
    return library


class Frame:
    """The header of a frame, if all of its bytes are one frame that the format allows.

    Attributes
    ----------
    valid : bool
        Whether they are.
    size : int
        Frame_Content_Size.
    dictionary : int
        Dictionary_ID; 0 if it is absent.
    """

    def __init__(self, stored):
        self.size = self.dictionary = 0
        self.valid = stored[:4] == MAGIC and len(stored) > 4 and self._parse(stored)

    def _parse(self, stored):
        descriptor = stored[4]
        single = descriptor >> 5 & 1
        content_bytes = (single, 2, 4, 8)[descriptor >> 6]
        id_at = 5 + (1 - single)
        content_at = id_at + ID_BYTES[descriptor & 3]
        end = content_at + content_bytes
        if descriptor & 0x0C or not content_bytes or end > len(stored):
            return False
        self.dictionary = int.from_bytes(stored[id_at:content_at], "little")
        self.size = int.from_bytes(stored[content_at:end], "little")
        self.size += 256 if content_bytes == 2 else 0
        return self._end_of_blocks(stored, end) == len(stored)

    @staticmethod
    def _end_of_blocks(stored, at):
        last = False
        while not last:
            if at + 3 > len(stored):
                return None
            header = int.from_bytes(stored[at:at + 3], "little")
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            if kind == RESERVED:
                return None
            at += 3 + (1 if kind == RLE else size)
        return at


def is_dictionary(data):
    """Whether bytes begin like a dictionary with an id."""
    return len(data) >= 8 and data[:4] == DICTIONARY_MAGIC and any(data[4:8])


def decompress(stored, size, read_dictionary):
    """Return the `size` bytes of a frame, or None if it is not one.

    Parameters
    ----------
    stored : bytes
        The payload.
    size : int
        The logical length.
    read_dictionary : callable
        Returns the bytes of the field's dictionary, or None; called only if the frame needs it.
    """
    frame = Frame(stored)
    if size > ZSTD_FACTOR * len(stored) or not frame.valid or frame.size != size:
        return None
    dictionary = b""
    if frame.dictionary:
        dictionary = read_dictionary()
        if dictionary is None or dictionary[4:8] != frame.dictionary.to_bytes(4, "little"):
            return None
    library = _library()
    context = library.ZSTD_createDCtx()
    value = ctypes.create_string_buffer(size)
    done = library.ZSTD_decompress_usingDict(context, value, size, stored, len(stored),
                                             dictionary, len(dictionary))
    library.ZSTD_freeDCtx(context)
    return value.raw if done == size else None
