# SPDX-License-Identifier: MIT
"""Opening for writing: the valid part of the log becomes durable before any new commit."""

from . import log as lxlog
from .layout import KINDS, chunk_name
from .orphans import find_obsolete, remove_orphans, remove_obsolete


def recover(writer):
    """Read the log, write back its valid part, truncate the rest, and sync, in this order.

    A sync of the previous process may have failed: its data is then only in the cache, and clean,
    so no later sync would write it. The writer writes it again, byte for byte. Data that the cache
    lost fails the checksums of values. Obsolete files are removed last: the installation that made
    them obsolete may not have been durable before.
    """
    faults, log = writer.faults, writer.log_file()
    frames = lxlog.scan(log.pread(), writer.seed, writer.disk.boot, faults)
    if 'dropunsynced' in faults:
        frames = frames[:lxlog.last_synced(frames) + 1]
    writer.state = lxlog.replay(frames, faults)
    if 'nowriteback' not in faults:
        write_back(writer, frames)
    if 'notruncate' not in faults:
        log.truncate(writer.state.at)
    remove_orphans(writer)
    writer.obsolete = list(find_obsolete(writer))
    if 'gcopening' in faults:
        remove_obsolete(writer)
    writer.log_dirty = True
    if 'noreopensync' not in faults:
        writer.sync_data(all_directories=True)
    remove_obsolete(writer)


def write_back(writer, frames):
    """Rewrite the log from the last synced frame on, and the data of the later frames."""
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
    """Rewrite these bytes, which no synced frame names; zeros take the place of a lost end.

    Otherwise the chunk would be too short for its other values.
    """
    directory, name = writer.directory.get('chunk'), chunk_name(chunk)
    file = directory.get(name) or directory.make_file(name)
    if file.size < end and 'nofill' not in writer.faults:
        file.truncate(end)
    rewrite(writer, file, begin, min(end, file.size))


def rewrite(writer, file, begin, end):
    file.pwrite(begin, file.pread(begin, end - begin))
    writer.mark_dirty(file)

