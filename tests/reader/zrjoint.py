# SPDX-License-Identifier: MIT
"""The last joint frame of a log, and what it names: section 8.10 of the format."""

import os
from contextlib import closing

from zrbase import Corrupt
from zrlog import JOINT_BYTES_MAX
from zrvalue import NOTHING, Entry


class JointChunks:
    """The chunks of a dataset, as the state behind a joint frame wants them.

    They are opened for this alone: where the frame does not count, nothing stays open that was
    held to numbers of it.

    Parameters
    ----------
    open_chunk : callable
        Given an id, opens the chunk as a `File`; raises FileNotFoundError where there is none.
    fields : list of Field
        The schema.
    uuid : bytes
        The uuid of the dataset.
    """

    def __init__(self, open_chunk, fields, uuid):
        self._open = open_chunk
        self._fields = {field.id: field for field in fields}
        self._uuid = uuid
        self._left = 0

    def _size(self, chunk):
        with closing(self._open(chunk)) as file:
            return file.size()

    def _read(self, chunk, offset, size):
        with closing(self._open(chunk)) as file:
            return file.read(offset, size)

    def intact(self, frame, before):
        """Whether all that the frame names is there.

        What cannot be opened or read for another reason than that it is absent or too short is no
        answer, and raises.

        Parameters
        ----------
        frame : Frame
            The first frame behind the settled ones.
        before : dict
            (records, bytes) of each chunk of the settled state, by id.
        """
        try:
            # A chunk of 0 bytes may be absent: section 3.5.
            if any(size and self._size(chunk) < size for chunk, _, size in frame.chunks):
                return False
        except FileNotFoundError:
            return False
        chunks = {**before, **{chunk: (records, size) for chunk, records, size in frame.chunks}}
        self._left = JOINT_BYTES_MAX
        return all(self._set_intact(item, before, chunks) for item in frame.sets)

    def _set_intact(self, item, before, chunks):
        number, _, index, words = item
        field = self._fields.get(number)
        if field is None or words == NOTHING:
            return True
        entry = Entry(field, index, words)
        if not entry.inline and entry.chunk in before:
            if entry.offset + entry.physical <= before[entry.chunk][1]:
                return True
            if entry.offset < before[entry.chunk][1]:
                return False
        self._left -= 0 if entry.inline else entry.physical
        if self._left < 0:
            return False
        try:
            entry.check(chunks)
            entry.stored(self._uuid, self._read)
        except (Corrupt, FileNotFoundError):
            return False
        return True

    def sync(self, frame):
        """Sync the chunks of the frame."""
        for chunk, _, size in frame.chunks:
            if size:
                with closing(self._open(chunk)) as file:
                    os.fdatasync(file.fd)
