# SPDX-License-Identifier: MIT
"""Opening for writing: what the log says is made durable before anything is built on it."""

from . import log as lxlog
from .layout import KINDS
from .leftovers import find_old, remove_leftovers, remove_old
from .records import Damage


def recover(writer):
    """Read the log, keep what is whole, write it back, cut the rest, and sync, in this order.

    A sync may have failed in the process before: what it should have written is in the cache alone,
    clean, and no later sync would write it. So the writer writes it back, byte for byte. What the
    cache itself has lost shows in the checks of the payloads, and ends the log.

    The cut of whole frames is durable before a payload is placed: with payloads of the same values
    in the same places, they would be whole again.
    """
    faults, log = writer.faults, writer.log_file()
    valid = lxlog.scan(log.pread(), writer.seed, faults)
    settled = lxlog.count_settled(valid, faults)
    frames = valid[:writer.count(valid)]
    if 'jointopen' in faults and frames[-1].joint:
        settled = len(frames)
    frames = keep_whole(writer, frames, settled)
    writer.state = lxlog.replay(frames, faults)
    if 'nowriteback' not in faults:
        write_back(writer, frames, settled)
    if not {'nocut', 'latecut'} & faults:
        log.truncate(writer.state.at)
        if len(frames) < len(valid) and 'lazycut' not in faults:
            writer.sync(log)
    remove_leftovers(writer)
    writer.old = list(find_old(writer))
    if 'gcopening' in faults:
        remove_old(writer)
    writer.log_dirty = True


def complete(writer):
    """The barrier of the opening, before the first frame.

    Old files go last: the switch that made them old may not have been durable before.
    """
    if 'noreopensync' not in writer.faults:
        writer.barrier(all_directories=True)
    if 'latecut' in writer.faults:
        writer.log_file().truncate(writer.state.at)
    writer.complete = True
    remove_old(writer)


def keep_whole(writer, frames, settled):
    """The frames up to the first that is not settled and names something which is no more."""
    if 'noverify' in writer.faults:
        return frames
    writer.state = lxlog.replay(frames[:settled], writer.faults)
    chunks = dict(writer.state.chunks)
    for k in range(settled, len(frames)):
        rows = writer.state.rows
        writer.state.apply(frames[k], writer.faults)
        try:
            writer.verify(frames[k], chunks, rows)
        except Damage as damage:
            writer.disk.note('the log ends before epoch', frames[k].epoch, damage)
            return frames[:k]
    return frames


def write_back(writer, frames, settled):
    """Rewrite the log from the last synced or joint frame on, and what those not settled name."""
    last = lxlog.last_marking(frames)
    old, new = lxlog.replay(frames[:settled], writer.faults), writer.state
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

