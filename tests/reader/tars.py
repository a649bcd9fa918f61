# SPDX-License-Identifier: MIT
"""Files in a tar: the goldens, and the corpora of the fuzzers.

The same files give the same tar, byte by byte: sorted, uncompressed, without users and times.
"""

import io
import tarfile


def read(path):
    """Return the files of a tar, by their names; an absent tar has no files."""
    if not path.exists():
        return {}
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def write(path, files):
    """Write files into a tar."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
