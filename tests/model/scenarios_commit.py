# SPDX-License-Identifier: MIT
"""Scenarios of commit and recovery.

Only scenarios find `notruncate` and `nochain`; doc/commit-model.md has the reasons.
"""

from .disk import Crash
from .history import Violation
from .job import append
from .layout import dataset_directory
from .reader import Reader
from .records import Damage
from .scenario import Dataset, at_step, kill_at, lose_log
from .session import finish


def a_frame_lost_before_another(faults):
    """The log loses an unsynced commit but not the next one, which proves the loss."""
    dataset = Dataset(faults)
    first = dataset.append('a')
    dataset.append('b')
    dataset.disk.detach(lose_log(*first))
    must_reject(dataset)


def rot_of_the_last_frame(faults):
    """The frame was completed in this boot: truncating it would silently lose a commit."""
    dataset = Dataset(faults)
    begin, _ = dataset.append('a')
    dataset.writer.log_file().cache[begin + 17] ^= 1
    must_reject(dataset)


def must_reject(dataset):
    dataset.expect(None)
    try:
        dataset.open_writer()
    except Damage:
        return
    raise Violation('a writer opens a log that lost a commit')


def a_payload_lost(faults):
    """A payload is lost, but its commit and the next one are not."""
    dataset = Dataset(faults)
    append(dataset.writer, dataset.current, (b'a' * 50, b'a'))
    dataset.commit()
    dataset.append('b')
    dataset.disk.detach(lambda name, offset, what: not (name.endswith('.zr') and what is not None))
    dataset.open_writer()
    dataset.expect('xyAb')
    dataset.append('c', synced=True)
    dataset.disk.power_loss(lambda name, offset, what: False)
    dataset.expect('xyAbc')


def a_chunk_lost(faults):
    """The end of a chunk is lost, or all of it: only the values in that range are lost."""
    for name in ('.zr', 'chunk'):
        dataset = Dataset(faults)
        dataset.put('a')
        dataset.commit(synced=name == '.zr')
        dataset.put('b')
        dataset.commit()
        dataset.disk.detach(lambda file, offset, what, lost=name: not file.endswith(lost))
        dataset.open_writer()
        dataset.expect('xyaB' if name == '.zr' else 'xyAB')


def a_torn_frame_over_old_ones(faults):
    """A frame is torn over frames that a power loss made void: those must have been truncated."""
    dataset = Dataset(faults)
    for name in 'ab':
        dataset.append(name)
    dataset.disk.power_loss(lambda name, offset, what: True)
    dataset.open_writer()
    log = dataset.writer.log_file()
    before = log.pread()
    begin, end = dataset.append('c')
    log.cache[begin + 80:] = before[begin + 80:]    # the write was interrupted
    dataset.expect('xy')


def a_write_that_the_medium_lost(faults):
    """An old frame comes back: the medium acknowledged the write over it, but never performed it.

    The frame is complete, has the right sequence number and place, and a synced frame follows it.
    Only the chain of CRCs shows that the two are of different histories, also in the next boot.
    """
    dataset = Dataset(faults)
    begin, end = dataset.append('a')
    dataset.disk.power_loss(lambda name, offset, what: True)
    log = dataset_directory(dataset.disk).get('LOG')
    old = log.pread(begin, end - begin)
    dataset.open_writer()
    dataset.append('c', synced=True)
    dataset.append('d', synced=True)
    log.cache[begin:end] = log.durable[begin:end] = old
    dataset.expect(None)
    dataset.disk.power_loss(lambda name, offset, what: True)
    dataset.expect(None)


def rows_lost(faults):
    """Rows of zeros read as missing values, so no frame may name rows that are not durable."""
    dataset = Dataset(faults)
    dataset.append('a', bulk=True)
    dataset.disk.detach(lambda name, offset, what: 'image.' not in name or what is None)
    dataset.open_writer()
    records = [(name * 8, name) for name in (b'x', b'y', b'a')]
    if dataset.current.records not in (records, records[:2]):
        raise Violation(f'{dataset.current.records}')


def an_unsynced_frame_lost(faults):
    """A synced frame after one that never reached the medium would look like damage."""
    dataset = Dataset(faults)
    first = dataset.append('a')
    kill_at(dataset.disk, 'sync', 'LOG', skip=0 if 'nologbefore' in faults else 1)
    try:
        dataset.append('b', synced=True)
    except Crash:
        pass
    dataset.disk.power_loss(lose_log(*first))
    dataset.expect('xy', 'xya', 'xyab')


def a_log_written_during_a_read(faults):
    """The writer truncates a torn end and commits while a reader reads: that is not damage."""
    dataset = Dataset(faults)
    begin, end = dataset.append('a')
    dataset.disk.power_loss(lose_log(begin, begin + 16))
    reader = Reader(dataset.disk)
    steps = reader.open()
    for _ in range(4):
        next(steps)
    dataset.open_writer()
    dataset.append('c', synced=True)
    dataset.append('d', synced=True)
    finish(steps)
    dataset.expect('xycd', 'xy', reader=reader)


def a_durable_reader_before_the_sync(faults):
    """A durable reader shows a synced frame before its sync is complete, and power fails."""
    dataset = Dataset(faults)

    def look():
        dataset.expect('xya', reader=dataset.reader(durable=True))
        raise Crash

    at_step(dataset.disk, 'sync', 'LOG', look)
    try:
        dataset.append('a', synced=True)
    except Crash:
        pass
    dataset.disk.power_loss(lambda name, offset, what: False)
    dataset.expect('xya')


def prepare_buffers(faults):
    """Two buffers in one chunk; the second is flushed after the data sync of that chunk."""
    dataset = Dataset(faults)
    dataset.append('a')       # unsynced, so that the data sync ends with the log
    dataset.put('b')
    mark = dataset.writer.mark()
    dataset.put('c')
    dataset.writer.mark()
    flush_task = dataset.writer.buffers.tasks[0]
    at_step(dataset.disk, 'sync', 'LOG', lambda: dataset.writer.buffers.flush(flush_task))
    dataset.writer.commit(mark)
    return dataset


def a_buffer_flushed_during_the_data_sync(faults):
    """The chunk is dirty after the data sync."""
    dataset = prepare_buffers(faults)
    dataset.writer.commit()
    dataset.disk.power_loss(lambda name, offset, what: False)
    dataset.expect('xyabc')


def a_buffer_flushed_after_the_commit(faults):
    """The buffer is not part of the commit, and may be lost."""
    dataset = prepare_buffers(faults)
    dataset.disk.power_loss(lambda name, offset, what: False)
    dataset.expect('xyab')


SCENARIOS = (
    a_frame_lost_before_another, rot_of_the_last_frame, a_payload_lost, a_chunk_lost,
    a_torn_frame_over_old_ones, a_write_that_the_medium_lost, rows_lost, an_unsynced_frame_lost,
    a_log_written_during_a_read, a_durable_reader_before_the_sync,
    a_buffer_flushed_during_the_data_sync, a_buffer_flushed_after_the_commit)
