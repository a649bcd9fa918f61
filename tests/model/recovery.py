# SPDX-License-Identifier: MIT
"""Opening for writing: what the log says is made durable before anything is built on it."""

from . import log as lxlog
from .layout import KINDS, chunk_name
from .leftovers import find_old, remove_leftovers, remove_old


def recover(writer):
    """Read the log, write back what counts, cut the rest, and sync, in this order.

    A sync may have failed in the process before: what it should have written is in the cache alone,
    clean, and no later sync would write it. So the writer writes it back, byte for byte. What the
    cache itself has lost shows in the checks of the values, now and later. Old files go last: the
    switch that made them old may not have been durable before.
    """
    faults, log = writer.faults, writer.log_file()
    frames = lxlog.scan(log.pread(), writer.seed, writer.disk.boot, faults)
    if 'dropunsynced' in faults:
        frames = frames[:lxlog.last_synced(frames) + 1]
    writer.state = lxlog.replay(frames, faults)
    if 'nowriteback' not in faults:
        write_back(writer, frames)
    if 'nocut' not in faults:
        log.truncate(writer.state.at)
    remove_leftovers(writer)
    writer.old = list(find_old(writer))
    if 'gcopening' in faults:
        remove_old(writer)
    writer.log_dirty = True
    if 'noreopensync' not in faults:
        writer.barrier(all_directories=True)
    remove_old(writer)


def write_back(writer, frames):
    """Rewrite the log from the last synced frame on, and what the frames after that name."""
    last = lxlog.last_synced(frames)
    old, new = lxlog.replay(frames[:last + 1], writer.faults), writer.state
    rewrite(writer, writer.log_file(), frames[last - 1].end if last else 0, new.at)
    for chunk, (_, used) in new.chunks.items():
        begin = old.chunks.get(chunk, (0, 0))[1]
        if used > begin:
            rewrite_chunk(writer, chunk, begin, used)
    if new.rows > old.rows:
        for field in writer.fields:
            for kind, size in KINDS.items():
                rewrite(writer, writer.table(field, kind), size * old.rows, size * new.rows)


def rewrite_chunk(writer, chunk, begin, end):
    """Rewrite these bytes, which no synced frame has named; zeros take the place of lost ones.

    Else the chunk would be too short for its other values.
    """
    directory, name = writer.directory.get('chunk'), chunk_name(chunk)
    file = directory.get(name) or directory.make_file(name)
    if file.size < end and 'nofill' not in writer.faults:
        file.truncate(end)
    rewrite(writer, file, begin, min(end, file.size))


def rewrite(writer, file, begin, end):
    file.pwrite(begin, file.pread(begin, end - begin))
    writer.mark_dirty(file)

