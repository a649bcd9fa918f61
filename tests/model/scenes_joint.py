# SPDX-License-Identifier: MIT
"""Scenarios of joint frames, which are synced side by side with what they name."""

from .disk import Crash, SyncFailed
from .history import Wrong
from .job import append, modify
from .scene import Stage, at_step, kill_at
from .session import finish

CHUNK = '0.zr'


def keep_all(name, offset, what):
    return True


def keep_none(name, offset, what):
    return False


def lose_payloads(name, offset, what):
    """Chunks get their lengths, and zeros."""
    return not (name == CHUNK and what is not None)


def lose_chunks(name, offset, what):
    return name != CHUNK


def with_chunk(faults):
    """x, y and a; the image of a lies in a chunk."""
    stage = Stage(faults)
    stage.put('a')
    stage.commit(synced=True)
    return stage


def commit_killed(stage, kind='sync', name=CHUNK):
    """A joint frame is written, and the process killed before this sync."""
    kill_at(stage.disk, kind, name)
    try:
        stage.commit(synced=True, joint=True)
    except Crash:
        pass


def a_joint_payload_lost(faults):
    """Its frame reached the medium."""
    stage = with_chunk(faults)
    stage.put('b')
    commit_killed(stage)
    stage.disk.power_loss(lose_payloads)
    stage.expect('xya')
    stage.open_writer()
    stage.append('c', synced=True)
    stage.expect('xyac')


def a_joint_chunk_too_short(faults):
    """No value of the frame lies in the bytes that it adds: theirs was changed again."""
    stage = with_chunk(faults)
    for image in (b'b' * 300, b'b'):
        modify(stage.writer, stage.current, 2, 0, image)
    modify(stage.writer, stage.current, 2, 1, b'b')
    commit_killed(stage)
    stage.disk.power_loss(lose_chunks)
    stage.expect('xya')


def commits_behind_a_joint_one(faults):
    """It is of the boot before, and they are of this one, unsynced: a kill takes none of them back.
    """
    stage = with_chunk(faults)
    stage.put('b')
    stage.commit(synced=True, joint=True)
    stage.disk.power_loss(keep_none)
    stage.open_writer()
    stage.append('c')
    stage.append('d')
    stage.expect('xyabcd')
    stage.open_writer()
    stage.expect('xyabcd')


def a_joint_frame_cut_under_a_reader(faults):
    """A reader has read the log; the same job places the same payload, and has not committed it."""
    stage = with_chunk(faults)
    stage.put('b')
    commit_killed(stage)
    stage.disk.power_loss(lose_payloads)
    reader = stage.new_reader()
    steps = reader.open()
    for _ in range(5):
        next(steps)
    stage.open_writer()
    stage.put('b')
    stage.place()
    finish(steps)
    stage.expect('xya', reader=reader)


def a_joint_frame_back_again(faults):
    """Its cut is lost, and its payload, which had been lost, was placed by the same job."""
    stage = with_chunk(faults)
    stage.put('b')
    commit_killed(stage)
    stage.disk.power_loss(lose_payloads)
    stage.open_writer(lazy=True)
    stage.put('b')
    stage.place()
    stage.disk.power_loss(lambda name, offset, what: not (name == 'LOG' and what is None))
    stage.expect('xya')


def join_another(stage):
    """What precedes is not durable, and a joint frame must not settle it."""
    append(stage.writer, stage.current, (b'c', b'c'))
    commit_killed(stage)
    stage.disk.power_loss(lose_payloads)
    stage.expect('xya')


def a_joint_frame_behind_an_unsynced_one(faults):
    """The payload of that is still to be synced."""
    stage = with_chunk(faults)
    stage.put('b')
    stage.commit()
    join_another(stage)


def a_joint_frame_comes_first(faults):
    """Another writer of this boot was killed before the syncs of its own joint frame."""
    stage = with_chunk(faults)
    stage.put('b')
    commit_killed(stage)
    stage.open_writer(lazy=True)
    join_another(stage)


def a_joint_frame_behind_an_old_tail(faults):
    """It settles an unsynced frame; cut off in another boot, it does so no more."""
    stage = with_chunk(faults)
    stage.append('b')
    stage.open_writer()
    stage.put('c')
    commit_killed(stage)
    stage.disk.power_loss(lose_payloads)
    shown = stage.reader().content()
    stage.open_writer()
    if stage.reader().content() != shown:
        raise Wrong('an opening takes back what readers saw')


def a_joint_sync_that_failed(faults):
    """The next writer shows the commit, durably: it writes back what the cache alone has."""
    stage = with_chunk(faults)
    stage.put('b')

    def fail():
        stage.disk.failing = 1

    at_step(stage.disk, 'sync', CHUNK, fail)
    try:
        stage.commit(synced=True, joint=True)
    except SyncFailed:
        stage.disk.failing = 0
    stage.open_writer()
    stage.disk.power_loss(keep_all)
    stage.expect('xyab')


def look_and_lose(stage):
    """What a durable reader showed is there after a loss of all that is not synced."""
    shown = stage.reader(durable=True).content()
    stage.disk.power_loss(keep_none)
    if stage.reader().content() != shown:
        raise Wrong('what a durable reader showed is taken back')


def a_durable_reader(faults):
    """It looks at a frame whose syncs are still to come."""
    stage = with_chunk(faults)
    stage.put('b')
    commit_killed(stage)
    look_and_lose(stage)


def a_durable_reader_and_a_new_chunk(faults):
    """It syncs chunks and not their directory: a joint frame names none that is new."""
    stage = Stage(faults)
    stage.put('a')
    commit_killed(stage, 'sync directory', 'chunk')
    look_and_lose(stage)


SCENARIOS = (
    a_joint_payload_lost, a_joint_chunk_too_short, commits_behind_a_joint_one,
    a_joint_frame_cut_under_a_reader, a_joint_frame_back_again,
    a_joint_frame_behind_an_unsynced_one, a_joint_frame_comes_first,
    a_joint_frame_behind_an_old_tail, a_joint_sync_that_failed,
    a_durable_reader, a_durable_reader_and_a_new_chunk)
