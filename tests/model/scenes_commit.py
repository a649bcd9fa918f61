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


def a_frame_lost_before_another(faults):
    """The log loses an unsynced commit, not the next one: that shows that there was one."""
    stage = Stage(faults)
    first = stage.append('a')
    stage.append('b')
    stage.disk.detach(lose_log(*first))
    must_refuse(stage)


def rot_of_the_last_frame(faults):
    """It was written to its end in this boot: to cut it off would lose a commit without a word."""
    stage = Stage(faults)
    begin, _ = stage.append('a')
    stage.writer.log_file().cache[begin + 17] ^= 1
    must_refuse(stage)


def must_refuse(stage):
    stage.expect(None)
    try:
        stage.open_writer()
    except Damage:
        return
    raise Wrong('a writer opens a log that lost a commit')


def a_payload_lost(faults):
    """A payload is lost, its commit and the next one are not."""
    stage = Stage(faults)
    append(stage.writer, stage.current, (b'a' * 50, b'a'))
    stage.commit()
    stage.append('b')
    stage.disk.detach(lambda name, offset, what: not (name.endswith('.zr') and what is not None))
    stage.open_writer()
    stage.expect('xyAb')
    stage.append('c', synced=True)
    stage.disk.power_loss(lambda name, offset, what: False)
    stage.expect('xyAbc')


def a_chunk_lost(faults):
    """The end of a chunk is lost, or all of it: the values that were there are, and no others."""
    for name in ('.zr', 'chunk'):
        stage = Stage(faults)
        stage.put('a')
        stage.commit(synced=name == '.zr')
        stage.put('b')
        stage.commit()
        stage.disk.detach(lambda file, offset, what, lost=name: not file.endswith(lost))
        stage.open_writer()
        stage.expect('xyaB' if name == '.zr' else 'xyAB')


def a_torn_frame_over_old_ones(faults):
    """Frames that a loss of power has made void are cut off: what is written there is torn then."""
    stage = Stage(faults)
    for name in 'ab':
        stage.append(name)
    stage.disk.power_loss(lambda name, offset, what: True)
    stage.open_writer()
    log = stage.writer.log_file()
    before = log.pread()
    begin, end = stage.append('c')
    log.cache[begin + 80:] = before[begin + 80:]    # it was killed in the middle
    stage.expect('xy')


def a_write_the_medium_lost(faults):
    """An old frame comes back: the medium acknowledged the write over it, and never did it.

    The frame is whole, of the right epoch and at the right place, and a synced one follows it. Only
    the chain shows that the two are of different histories, in the next boot, too.
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
    stage.disk.power_loss(lambda name, offset, what: True)
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


def a_durable_reader_before_the_sync(faults):
    """It shows a synced frame whose sync is not over, and a loss of power leaves what it showed."""
    stage = Stage(faults)

    def look():
        stage.expect('xya', reader=stage.reader(durable=True))
        raise Crash

    at_step(stage.disk, 'sync', 'LOG', look)
    try:
        stage.append('a', synced=True)
    except Crash:
        pass
    stage.disk.power_loss(lambda name, offset, what: False)
    stage.expect('xya')


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
    a_frame_lost_before_another, rot_of_the_last_frame, a_payload_lost, a_chunk_lost,
    a_torn_frame_over_old_ones, a_write_the_medium_lost, rows_lost, an_unsynced_frame_lost,
    a_log_written_while_it_is_read, a_durable_reader_before_the_sync,
    a_stage_placed_during_the_barrier, a_stage_behind_the_commit)
