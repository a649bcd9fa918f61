# SPDX-License-Identifier: MIT
"""Scenarios of old files, and of readers that are not where the writer is."""

from .disk import Crash
from .generations import fold, rebalance, restart
from .history import Wrong
from .job import delete
from .records import Damage
from .scene import Stage, at_step, kill_at
from .schema import add_field, drop_field
from .seal import seal, unseal
from .session import finish

IMAGE, LABEL = 0, 1     # positions of the fields


def nothing():
    pass


def with_rows(faults):
    """x, y and z in the tables."""
    stage = Stage(faults)
    stage.append('z', bulk=True, synced=True)
    return stage


def a_reader_just_before_the_switch(faults):
    """It opens when all is ready for the switch."""
    stage = with_rows(faults)
    readers = []
    at_step(stage.disk, 'rename', 'meta.json.new', lambda: readers.append(stage.reader()))
    stage.renew(fold)
    stage.expect('xyz', reader=readers[0])


def a_switch_that_an_opening_finds(faults):
    """meta.json is switched, and its writer died before that was durable; so does the next one."""
    stage = with_rows(faults)
    for action, skip in ((lambda: stage.renew(restart), 1), (stage.open_writer, 0)):
        kill_at(stage.disk, 'sync directory', 'dataset', skip)
        try:
            action()
        except Crash:
            pass
    stage.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' not in what)
    stage.expect('xyz')


def tables_of_two_generations(faults):
    """Tables stay at a restart: readers of both generations are in them, and none has opened them.
    """
    stage = with_rows(faults)
    reader = stage.reader()
    stage.renew(restart)
    stage.renew(fold)
    stage.expect('xyz', reader=reader)


def tables_of_another_session(faults):
    """A writer finds old tables, and cannot know since when they were in use."""
    stage = with_rows(faults)
    reader = stage.reader()
    stage.renew(restart)
    stage.renew(fold)
    stage.open_writer()
    stage.expect('xyz', reader=reader)


def tables_of_a_dropped_field(faults):
    """A reader of the present generation has the schema with it."""
    stage = with_rows(faults)
    reader = stage.reader()
    drop_field(stage.writer, IMAGE, nothing)
    stage.open_writer()
    stage.expect('xyz', reader=reader)


def a_field_dropped_and_made_again(faults):
    """A reader has the tables of the first still to open."""
    stage = with_rows(faults)
    reader = stage.reader()
    drop_field(stage.writer, IMAGE, nothing)
    add_field(stage.writer, 'image', nothing)
    if reader.content() != stage.current.freeze():
        raise Wrong('a pinned reader sees its state change')


def a_field_that_was_never_added(faults):
    """Its tables wait for a reader to go; meanwhile it is added, with tables of these names."""
    stage = with_rows(faults)
    reader = stage.reader()
    kill_at(stage.disk, 'rename', 'meta.json.new')
    try:
        add_field(stage.writer, 'a', nothing)
    except Crash:
        pass
    stage.open_writer()
    add_field(stage.writer, 'a', nothing)
    reader.close()
    stage.renew(restart)
    stage.expect('xyz')


def a_field_beside_rows_without_records(faults):
    """After deletes there are more rows than records."""
    stage = with_rows(faults)
    delete(stage.writer, stage.current, 0)
    add_field(stage.writer, 'a', nothing)
    stage.expect('zy')


def a_drop_under_a_refresh(faults):
    """A frame after the drop moves a record, and no longer that field: they must not be mixed."""
    stage = with_rows(faults)
    reader = stage.reader()
    steps = reader.refresh()
    next(steps)
    drop_field(stage.writer, IMAGE, nothing)
    delete(stage.writer, stage.current, 0)
    stage.commit()
    names, records = finish(steps).content()
    if names == ('image', 'label') and any(image[:1] != label for image, label in records):
        raise Wrong(f'a mixed record in {records}')


def a_drop_under_an_opening(faults):
    """The field is gone when the reader has its lock, and its tables with it."""
    stage = with_rows(faults)
    reader = stage.new_reader()
    steps = reader.open()
    next(steps)
    drop_field(stage.writer, IMAGE, nothing)
    finish(steps)
    stage.expect('xyz', reader=reader)


def a_view_of_an_older_state(faults):
    """Its reader has continued, twice; the view has yet to open its tables."""
    stage = with_rows(faults)
    reader = stage.reader()
    view = reader.pin()
    stage.renew(fold)
    finish(reader.refresh())
    reader.close()
    stage.renew(fold)
    stage.expect('xyz', reader=view)


def chunks_without_records(faults):
    """A rebalance leaves no chunk; an old one is there for a reader, and its id is taken forever.
    """
    stage = Stage(faults)
    stage.put('a')
    stage.commit(synced=True)
    reader = stage.reader()
    delete(stage.writer, stage.current, 2)
    stage.renew(rebalance)
    stage.open_writer()
    stage.expect('xya', reader=reader)


def a_rotten_payload(faults):
    """It must not get a new check, which would be right."""
    stage = Stage(faults)
    stage.put('a')
    stage.commit(synced=True)
    stage.writer.chunk(0).cache[7] ^= 1
    try:
        stage.renew(rebalance)
    except Damage:
        return
    stage.expect(None)


def a_chunk_rolled_back(faults):
    """It was made, and nothing in it was committed when leftovers were removed."""
    stage = with_rows(faults)
    stage.put('a')
    stage.writer.mark()
    stage.writer.stages.place(stage.writer.stages.lanes[0])
    stage.writer.rollback()
    stage.current.records.pop()
    add_field(stage.writer, 'a', nothing)
    stage.writer.append((b'b' * 300, b'b', None))
    stage.commit()
    stage.expect('xyzb')


def an_unseal_under_an_opening(faults):
    """A reader has read the log, and compares the files when they are longer already."""
    stage = with_rows(faults)
    stage.renew(seal)
    reader = stage.new_reader()
    steps = reader.open()
    for _ in range(6):
        next(steps)
    unseal(stage.disk)
    stage.open_writer()
    stage.append('a', bulk=True)
    finish(steps)
    stage.expect('xyza', reader=reader)


SCENARIOS = (
    a_reader_just_before_the_switch, a_switch_that_an_opening_finds, tables_of_two_generations,
    tables_of_another_session, tables_of_a_dropped_field, a_field_dropped_and_made_again,
    a_field_that_was_never_added, a_field_beside_rows_without_records, a_drop_under_a_refresh,
    a_drop_under_an_opening, a_view_of_an_older_state, chunks_without_records, a_rotten_payload,
    a_chunk_rolled_back, an_unseal_under_an_opening)
