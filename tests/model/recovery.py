# SPDX-License-Identifier: MIT
"""Opening for writing: what the log says is made durable before anything is built on it."""

from . import log as lxlog
from .layout import KINDS
from .leftovers import find_old, remove_leftovers, remove_old
from .records import Damage, read_row


def recover(writer):
    """Read the log, keep what is whole, write it back, cut the rest, and sync, in this order.

    A sync may have failed in the process before: what it should have written is in the cache alone,
    clean, and no later sync would write it. So the writer writes it back, byte for byte. What the
    cache itself has lost shows in the checks of the payloads, and ends the log. Old files go last:
    the switch that made them old may not have been durable before.
    """
    faults, log = writer.faults, writer.log_file()
    frames = lxlog.scan(log.pread(), writer.seed, writer.disk.boot, faults)
    frames = keep_whole(writer, frames)
    writer.state = lxlog.replay(frames, faults)
    if 'nowriteback' not in faults:
        write_back(writer, frames)
    if not {'nocut', 'latecut'} & faults:
        log.truncate(writer.state.at)
    remove_leftovers(writer)
    writer.old = list(find_old(writer))
    if 'gcopening' in faults:
        remove_old(writer)
    writer.log_dirty = True
    if 'noreopensync' not in faults:
        writer.barrier(all_directories=True)
    if 'latecut' in faults:
        log.truncate(writer.state.at)
    remove_old(writer)


def keep_whole(writer, frames):
    """The frames up to the first unsynced one that names something which is no more."""
    if 'noverify' in writer.faults:
        return frames
    first = lxlog.last_synced(frames) + 1
    writer.state = lxlog.replay(frames[:first], writer.faults)
    for k in range(first, len(frames)):
        rows = writer.state.rows
        writer.state.apply(frames[k], writer.faults)
        try:
            verify_frame(writer, frames[k], rows)
        except Damage as damage:
            writer.disk.note('the log ends before epoch', frames[k].epoch, damage)
            return frames[:k]
    return frames


def verify_frame(writer, frame, rows):
    """Check what a frame names: bytes of its chunks, and the values in its sets and new rows."""
    for chunk, (_, used) in frame.chunks.items():
        if writer.chunk(chunk).size < used:
            raise Damage(f'chunk {chunk} ends before byte {used}')
    known = {field.id for field in writer.fields}
    named = [(field, index, row) for field, index, row in frame.sets if field in known]
    named += [(field.id, index, writer.table_row(field, index))
              for index in range(rows, frame.rows) for field in writer.fields]
    for field, index, row in named:
        read_row(row, writer.uuid, field, index, writer.read_chunk)


def write_back(writer, frames):
    """Rewrite the log from the last synced frame on, and what the frames behind that name."""
    last = lxlog.last_synced(frames)
    old, new = lxlog.replay(frames[:last + 1], writer.faults), writer.state
    rewrite(writer, writer.log_file(), frames[last - 1].end if last else 0, new.at)
    for chunk, (_, used) in new.chunks.items():
        begin = old.chunks.get(chunk, (0, 0))[1]
        if used > begin:
            rewrite(writer, writer.chunk(chunk), begin, used)
    if new.rows > old.rows:
        for field in writer.fields:
            for kind, size in KINDS.items():
                rewrite(writer, writer.table(field, kind), size * old.rows, size * new.rows)


def rewrite(writer, file, begin, end):
    file.pwrite(begin, file.pread(begin, end - begin))
    writer.mark_dirty(file)

