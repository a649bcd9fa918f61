# SPDX-License-Identifier: MIT
"""Scenarios of obsolete files, and of readers of other generations than the writer's."""

from .disk import Crash
from .generations import checkpoint, rebalance, rotate
from .history import Violation
from .job import delete
from .records import Damage
from .scenario import Dataset, at_step, kill_at
from .schema import add_field, drop_field
from .seal import seal, unseal
from .session import finish

IMAGE, LABEL = 0, 1     # positions of the fields


def nothing():
    pass


def with_rows(faults):
    """x, y and z in the tables."""
    dataset = Dataset(faults)
    dataset.append('z', bulk=True, synced=True)
    return dataset


def a_reader_just_before_an_installation(faults):
    """A reader opens just before meta.json is replaced."""
    dataset = with_rows(faults)
    readers = []
    at_step(dataset.disk, 'rename', 'meta.json.new', lambda: readers.append(dataset.reader()))
    dataset.renew(checkpoint)
    dataset.expect('xyz', reader=readers[0])


def an_installation_found_at_opening(faults):
    """Two writers in a row die after the rename of meta.json and before it is durable."""
    dataset = with_rows(faults)
    for action, skip in ((lambda: dataset.renew(rotate), 1), (dataset.open_writer, 0)):
        kill_at(dataset.disk, 'sync directory', 'dataset', skip)
        try:
            action()
        except Crash:
            pass
    dataset.disk.power_loss(lambda name, offset, what: (
        offset is not None or 'meta.json' not in what))
    dataset.expect('xyz')


def tables_of_two_generations(faults):
    """Tables stay at a log rotation, and readers of both generations have not opened them yet."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    dataset.renew(rotate)
    dataset.renew(checkpoint)
    dataset.expect('xyz', reader=reader)


def tables_of_another_session(faults):
    """A writer finds obsolete tables, and does not know their first generation."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    dataset.renew(rotate)
    dataset.renew(checkpoint)
    dataset.open_writer()
    dataset.expect('xyz', reader=reader)


def tables_of_a_dropped_field(faults):
    """A reader of the present generation has a schema with the field."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    drop_field(dataset.writer, IMAGE, nothing)
    dataset.open_writer()
    dataset.expect('xyz', reader=reader)


def a_field_dropped_and_added_again(faults):
    """A reader has not yet opened the tables of the dropped field."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    drop_field(dataset.writer, IMAGE, nothing)
    add_field(dataset.writer, 'image', nothing)
    if reader.content() != dataset.current.freeze():
        raise Violation('the snapshot of a pinned reader changes')


def a_field_that_was_never_added(faults):
    """Its tables wait for a reader to close; meanwhile a field gets tables of the same names."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    kill_at(dataset.disk, 'rename', 'meta.json.new')
    try:
        add_field(dataset.writer, 'a', nothing)
    except Crash:
        pass
    dataset.open_writer()
    add_field(dataset.writer, 'a', nothing)
    reader.close()
    dataset.renew(rotate)
    dataset.expect('xyz')


def a_field_added_after_deletes(faults):
    """After deletes there are more rows than records."""
    dataset = with_rows(faults)
    delete(dataset.writer, dataset.current, 0)
    add_field(dataset.writer, 'a', nothing)
    dataset.expect('zy')


def a_drop_during_a_refresh(faults):
    """A frame after the drop moves a record without the field: a reader must not mix the two."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    steps = reader.refresh()
    next(steps)
    drop_field(dataset.writer, IMAGE, nothing)
    delete(dataset.writer, dataset.current, 0)
    dataset.commit()
    names, records = finish(steps).content()
    if names == ('image', 'label') and any(image[:1] != label for image, label in records):
        raise Violation(f'a mixed record in {records}')


def a_drop_during_an_opening(faults):
    """The field and its tables are removed before the reader has its lock."""
    dataset = with_rows(faults)
    reader = dataset.new_reader()
    steps = reader.open()
    next(steps)
    drop_field(dataset.writer, IMAGE, nothing)
    finish(steps)
    dataset.expect('xyz', reader=reader)


def a_view_of_an_older_snapshot(faults):
    """Its reader has refreshed twice, and the view has not yet opened its tables."""
    dataset = with_rows(faults)
    reader = dataset.reader()
    view = reader.pin()
    dataset.renew(checkpoint)
    finish(reader.refresh())
    reader.close()
    dataset.renew(checkpoint)
    dataset.expect('xyz', reader=view)


def chunks_without_records(faults):
    """A rebalance leaves no chunk; an obsolete one stays for a reader, and its id is never reused.
    """
    dataset = Dataset(faults)
    dataset.put('a')
    dataset.commit(synced=True)
    reader = dataset.reader()
    delete(dataset.writer, dataset.current, 2)
    dataset.renew(rebalance)
    dataset.open_writer()
    dataset.expect('xya', reader=reader)


def a_damaged_payload(faults):
    """A rebalance must not give it a new, valid checksum."""
    dataset = Dataset(faults)
    dataset.put('a')
    dataset.commit(synced=True)
    dataset.writer.chunk(0).cache[7] ^= 1
    try:
        dataset.renew(rebalance)
    except Damage:
        return
    dataset.expect(None)


def a_chunk_rolled_back(faults):
    """A chunk without committed payloads is not an orphan while a flush task uses it."""
    dataset = with_rows(faults)
    dataset.put('a')
    dataset.writer.mark()
    dataset.writer.buffers.flush(dataset.writer.buffers.tasks[0])
    dataset.writer.rollback()
    dataset.current.records.pop()
    add_field(dataset.writer, 'a', nothing)
    dataset.writer.append((b'b' * 300, b'b', None))
    dataset.commit()
    dataset.expect('xyzb')


def an_unseal_during_an_opening(faults):
    """A reader has read the log, and compares the files after they have grown."""
    dataset = with_rows(faults)
    dataset.renew(seal)
    reader = dataset.new_reader()
    steps = reader.open()
    for _ in range(6):
        next(steps)
    unseal(dataset.disk)
    dataset.open_writer()
    dataset.append('a', bulk=True)
    finish(steps)
    dataset.expect('xyza', reader=reader)


SCENARIOS = (
    a_reader_just_before_an_installation, an_installation_found_at_opening,
    tables_of_two_generations, tables_of_another_session, tables_of_a_dropped_field,
    a_field_dropped_and_added_again,
    a_field_that_was_never_added, a_field_added_after_deletes, a_drop_during_a_refresh,
    a_drop_during_an_opening, a_view_of_an_older_snapshot, chunks_without_records, a_damaged_payload,
    a_chunk_rolled_back, an_unseal_during_an_opening)
