# SPDX-License-Identifier: MIT
"""Errors, CRC-32C, and files: the basis of the other modules of the plain reader."""

import errno
import fcntl
import os
import stat
import struct

U32 = 0xFFFFFFFF
BOOT_ID = "/proc/sys/kernel/random/boot_id"
READER_LOCKS = 8192


# Errors: the classes of section 13.

class ZrError(Exception):
    """An error and its location.

    Parameters
    ----------
    what : str
        The description.
    file : str, optional
        The path of the file within the dataset.
    field : str, optional
        The name of the field.
    record : int, optional
        The index of the record.
    offset : int, optional
        The offset in the file, in bytes.
    """

    def __init__(self, what, file=None, field=None, record=None, offset=None):
        self.what = what
        self.file = file
        self.field = field
        self.record = record
        self.offset = offset
        places = (("file", file), ("field", field), ("record", record), ("offset", offset))
        known = ", ".join(f"{name} {place}" for name, place in places if place is not None)
        super().__init__(f"{what} ({known})" if known else what)


class Absent(ZrError):
    """The dataset does not exist."""


class Unsupported(ZrError):
    """The dataset, or a value, needs a feature that this reader lacks."""


class Corrupt(ZrError):
    """The files are in a state that no correct writer leaves."""


class OutOfRange(ZrError, IndexError):
    """The requested record or field does not exist."""


# CRC-32C: section 2.2.

def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_TABLE = _crc_table()


def crc32c(*parts):
    """Return the CRC-32C of the parts, as if they were one string."""
    table = _TABLE
    crc = U32
    for part in parts:
        for byte in part:
            crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ U32


def le32(number):
    """Return the 4 bytes of a u32."""
    return struct.pack("<I", number)


def le64(number):
    """Return the 8 bytes of a u64."""
    return struct.pack("<Q", number)


def present_boot():
    """Return the 8 bytes of the present boot, or None if it is unknown: section 8.7."""
    try:
        with open(BOOT_ID, encoding="ascii") as file:
            boot = bytes.fromhex(file.read().replace("-", "")[:16])
    except (OSError, ValueError):
        return None
    return boot if len(boot) == 8 and any(boot) else None


# Files: sections 3.4 to 3.6.

def _open_at(folder, name, path, flags):
    """Open a file of the dataset; a link or a special file is damage, and never blocks."""
    try:
        return os.open(name, flags | os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK,
                       dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENOTDIR):
            raise Corrupt("the path is a link or a special file", file=path) from error
        raise


class File:
    """A regular file of a dataset, open for reading.

    Parameters
    ----------
    folder : int
        The descriptor of the directory that holds it.
    name : str
        Its name in that directory.
    path : str, optional
        Its path within the dataset, for messages.

    Raises
    ------
    FileNotFoundError
        The file does not exist.
    Corrupt
        It is not a regular file.
    """

    def __init__(self, folder, name, path=None):
        self.path = path or name
        self.fd = _open_at(folder, name, self.path, 0)
        status = os.fstat(self.fd)
        self.identity = (status.st_dev, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise Corrupt("not a regular file", file=self.path)

    def size(self):
        """Return the present size in bytes."""
        return os.fstat(self.fd).st_size

    def read(self, offset, size):
        """Return `size` bytes at `offset`; a shorter file is damaged."""
        parts = []
        while size > 0:
            part = os.pread(self.fd, min(size, 1 << 20), offset)
            if not part:
                raise Corrupt(f"the file ends {size} bytes too early", file=self.path,
                              offset=offset)
            parts.append(part)
            offset += len(part)
            size -= len(part)
        return b"".join(parts)

    def read_some(self, limit):
        """Return the file from its beginning to its end, at most `limit` bytes of it."""
        parts = []
        done = 0
        while done < limit:
            part = os.pread(self.fd, min(1 << 20, limit - done), done)
            if not part:
                break
            parts.append(part)
            done += len(part)
        return b"".join(parts)

    def close(self):
        """Close the descriptor; a second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def open_folder(folder, name, path):
    """Open a directory below the dataset and return its descriptor."""
    return _open_at(folder, name, path, os.O_DIRECTORY)


def lock_generation(folder, generation):
    """Take the shared lock of a reader of `generation`: section 3.4.

    Returns
    -------
    File or None
        The LOCK file that holds the lock, or None if the dataset has none.
    """
    while True:
        try:
            lock = File(folder, "LOCK")
        except FileNotFoundError:
            return None
        if os.fstatvfs(lock.fd).f_flag & os.ST_RDONLY:
            lock.close()
            return None
        flock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, READER_LOCKS + generation, 1, 0)
        try:
            fcntl.fcntl(lock.fd, fcntl.F_OFD_SETLK, flock)
            status = os.stat("LOCK", dir_fd=folder, follow_symlinks=False)
            if (status.st_dev, status.st_ino) == lock.identity:
                return lock
        except FileNotFoundError:
            pass
        except BaseException:
            lock.close()
            raise
        lock.close()
