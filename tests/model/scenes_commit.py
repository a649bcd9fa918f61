# SPDX-License-Identifier: MIT
"""Scenarios of commit and recovery.

`nocut` and `nochain` have theirs here: see doc/commit-model.md for why nothing less will do.
"""

from .disk import Crash
from .history import Wrong
from .job import append
from .layout import dataset_directory
from .reader import Reader
from .records import Damage
from .scene import Stage, at_step, kill_at, lose_log
from .session import finish


def the_same_job_again(faults):
    """The log loses an unsynced commit, not the one behind it; the job that made both starts again.

    It makes its first commit again, in the same boot and so byte for byte: chain and epoch fit
    the frame that stood behind it. Only the cut has taken that away.
    """
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    stage.disk.detach(lose_log(*first))
    stage.open_writer()
    stage.append('a')
    stage.expect('xya')


def the_cut_lost(faults):
    """As before, and the next detachment loses the cut: it must be durable before a frame is."""
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    stage.disk.detach(lose_log(*first))
    stage.open_writer()
    stage.append('a')
    stage.disk.detach(lambda name, offset, what: not (name == 'LOG' and what is None))
    stage.expect('xya')


def a_payload_lost(faults):
    """Frames are whole, a payload is not: the log ends before them, yet they chain to the rest."""
    stage = Stage(faults)
    append(stage.writer, stage.current, (b'a' * 50, b'a'))
    stage.commit()
    stage.append('b')
    stage.disk.detach(lambda name, offset, what: not (name.endswith('.zr') and what is not None))
    stage.open_writer()
    stage.expect('xy')
    stage.append('c', synced=True)
    stage.expect('xyc')


def a_reader_over_a_cut(faults):
    """A failed sync loses commits that a reader saw; the writer makes others of the same sizes.

    The reader's position is then the end of a frame of another history, and the epoch fits. Only
    the chain tells; the reader may say that it is lost, but not put the new commit on top of the
    old ones.
    """
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    reader = stage.reader()
    stage.expect('xyab', reader=reader)
    reader.log_file().lose(lose_log(*first))
    stage.open_writer()
    for name, synced in (('c', False), ('d', False), ('e', True)):
        stage.append(name, synced=synced)
    try:
        finish(reader.refresh())
    except Damage:
        return
    stage.expect('xycde', reader=reader)


def a_write_the_medium_lost(faults):
    """An old frame comes back: the medium acknowledged the write over it, and never did it.

    The frame is whole, of the right epoch and at the right place, and a synced one stands behind
    it. Only the chain tells that the two are of different histories.
    """
    stage = Stage(faults)
    begin, end = stage.append('a')
    stage.disk.power_loss(lambda name, offset, what: True)
    log = dataset_directory(stage.disk).get('LOG')
    old = log.pread(begin, end - begin)
    stage.open_writer()
    stage.append('c', synced=True)
    stage.append('d', synced=True)
    log.cache[begin:end] = log.durable[begin:end] = old
    stage.expect(None)


def rows_lost(faults):
    """Rows of zeros read as missing values, so no frame may take rows that are not durable."""
    stage = Stage(faults)
    stage.append('a', bulk=True)
    stage.disk.detach(lambda name, offset, what: 'image.' not in name or what is None)
    stage.open_writer()
    records = [(name * 8, name) for name in (b'x', b'y', b'a')]
    if stage.current.records not in (records, records[:2]):
        raise Wrong(f'{stage.current.records}')


def an_unsynced_frame_lost(faults):
    """A synced frame behind one that never reached the medium would look like rot."""
    stage = Stage(faults)
    first = stage.append('a')
    kill_at(stage.disk, 'sync', 'LOG', skip=0 if 'nologbarrier' in faults else 1)
    try:
        stage.append('b', synced=True)
    except Crash:
        pass
    stage.disk.power_loss(lose_log(*first))
    stage.expect('xy', 'xya', 'xyab')


def a_log_written_while_it_is_read(faults):
    """A reader has read a torn end when the writer cuts it and commits: that is not rot."""
    stage = Stage(faults)
    begin, end = stage.append('a')
    stage.disk.power_loss(lose_log(begin, begin + 16))
    reader = Reader(stage.disk)
    steps = reader.open()
    for _ in range(4):
        next(steps)
    stage.open_writer()
    stage.append('c', synced=True)
    stage.append('d', synced=True)
    finish(steps)
    stage.expect('xycd', 'xy', reader=reader)


def prepare_stages(faults):
    """Two stages in one chunk, the second placed when a barrier has synced that already."""
    stage = Stage(faults)
    stage.append('a')       # unsynced, so that the barrier ends with the log
    stage.put('b')
    mark = stage.writer.mark()
    stage.put('c')
    stage.writer.mark()
    lane = stage.writer.stages.lanes[0]
    at_step(stage.disk, 'sync', 'LOG', lambda: stage.writer.stages.place(lane))
    stage.writer.commit(mark)
    return stage


def a_stage_placed_during_the_barrier(faults):
    """It is dirty when the barrier is over."""
    stage = prepare_stages(faults)
    stage.writer.commit()
    stage.disk.power_loss(lambda name, offset, what: False)
    stage.expect('xyabc')


def a_stage_behind_the_commit(faults):
    """It is no part of what is committed, and may be lost."""
    stage = prepare_stages(faults)
    stage.disk.power_loss(lambda name, offset, what: False)
    stage.expect('xyab')


SCENARIOS = (
    the_same_job_again, the_cut_lost, a_payload_lost, a_reader_over_a_cut,
    a_write_the_medium_lost, rows_lost, an_unsynced_frame_lost,
    a_log_written_while_it_is_read, a_stage_placed_during_the_barrier, a_stage_behind_the_commit)
