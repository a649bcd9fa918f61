# SPDX-License-Identifier: MIT
"""Random operations of a writer and readers, compared with lists of dicts.

The short form is part of the tests; ``LOADERX_PROPERTY_EXAMPLES=5000`` selects the long one.
"""

import copy
import os
import shutil
import tempfile

# No example database: the directory of the tests may be read-only.
os.environ.setdefault('HYPOTHESIS_STORAGE_DIRECTORY',
                      os.path.join(tempfile.gettempdir(), f'hypothesis-{os.getuid()}'))

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import loaderx as lx

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', '25'))

# A file system in memory; other tests cover crashes.
MEMORY = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None

KINDS = [lx.Field('int8'), lx.Field('int64'), lx.Field('uint16', (2, 3)), lx.Field(bytes),
         lx.Field(bytes, compress='flate'), lx.Field('float32', 40, compress='flate')]


def values_of(field):
    """Return a strategy for the values of a field; None is missing."""
    if field.dtype is bytes:
        filled = st.builds(lambda part, times: part * times, st.binary(max_size=12),
                           st.integers(0, 60))
        return st.none() | filled
    small = st.integers(0, 100).map(lambda n: np.full(field.shape, n, field.dtype))
    return st.none() | small


def same(got, wanted):
    if got is None or wanted is None:
        return got is wanted
    if isinstance(wanted, bytes):
        return got == wanted
    return np.shape(got) == np.shape(wanted) and np.array_equal(got, wanted)


class Fields:
    """The fields of a snapshot: names, and numbers that survive renames."""

    def __init__(self, names):
        self.numbers = names    # name: number
        self.kinds = {}         # number: Field

    def add(self, name, number, kind):
        self.numbers[name] = number
        self.kinds[number] = kind

    def named(self, record):
        return {name: record[number] for name, number in self.numbers.items()}


class Reader:
    """A Dataset and its expected snapshot."""

    def __init__(self, dataset, records, numbers):
        self.dataset = dataset
        self.records = records
        self.numbers = dict(numbers)

    def shows_dropped(self, fields):
        return not set(self.numbers.values()) <= set(fields.kinds)

    def check(self, indices=None):
        dataset, records = self.dataset, self.records
        assert len(dataset) == len(records) and list(dataset.fields) == list(self.numbers)
        indices = range(len(records)) if indices is None else indices
        for index in indices:
            record = dataset[index]
            for name, number in self.numbers.items():
                assert same(record[name], records[index].get(number)), (index, name)
        for name, number in self.numbers.items():
            present = dataset[name].present(list(indices))
            column = self.column(dataset[name], list(indices), present)
            for place, index in enumerate(indices):
                wanted = records[index].get(number)
                assert present[place] == (wanted is not None)
                assert same(column[place], wanted) or (wanted is None and
                                                       not np.any(column[place]))

    @staticmethod
    def column(column, indices, present):
        """Return values of a column, of which no array has missing ones."""
        if column.field.varies:
            return column[indices]
        if not present.all():
            with pytest.raises(ValueError, match='the value is missing'):
                column[indices]
            assert not np.any(column.filled('mask')[indices].mask != ~present.reshape(
                -1, *[1] * (column.ndim - 1)))
        return column.filled('zeros')[indices]


class Store(RuleBasedStateMachine):
    """The committed and the pending records are lists of dicts, by field number."""

    @initialize(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
                records=st.sampled_from([3, 10, 1000]))
    def create(self, kinds, records):
        self.folder = tempfile.mkdtemp(dir=MEMORY)
        self.path = os.path.join(self.folder, 'd')
        self.fields, self.next_number = Fields({}), 0
        for kind in kinds:
            self.note_field(kind)
        described = {name: self.fields.kinds[n] for name, n in self.fields.numbers.items()}
        self.writer = lx.create(self.path, described, durability='none', chunk_records=records,
                                chunk_bytes=4096)
        self.committed, self.pending = [], []
        self.sealed = False
        self.readers = []

    def teardown(self):
        if not hasattr(self, 'folder'):
            return
        for reader in self.readers:
            reader.dataset.close()
        if self.writer is not None:
            self.writer.close()
        shutil.rmtree(self.folder)

    def note_field(self, kind):
        name = f'f{self.next_number}'
        self.fields.add(name, self.next_number, kind)
        self.next_number += 1
        return name

    def commits(self):
        self.committed = self.pending
        self.pending = copy.copy(self.committed)

    def draw_record(self, data, some=False):
        """Draw values for all fields, or for some of them, by number."""
        numbers = list(self.fields.kinds)
        if some:
            numbers = data.draw(st.lists(st.sampled_from(numbers), unique=True))
        return {number: data.draw(values_of(self.fields.kinds[number])) for number in numbers}

    def draw_named(self, data, some=False):
        values = self.draw_record(data, some)
        names = {number: name for name, number in self.fields.numbers.items()}
        return values, {names[number]: value for number, value in values.items()}

    # ---- operations of the writer

    def append(self, data):
        values, named = self.draw_named(data)
        assert self.writer.append(named) == len(self.pending)
        self.pending.append(values)

    def extend(self, data):
        rows = [self.draw_named(data) for _ in range(data.draw(st.integers(1, 12)))]
        columns = {name: [named[name] for _, named in rows] for name in rows[0][1]}
        assert self.writer.extend(columns) == len(self.pending)
        self.pending.extend(values for values, _ in rows)

    def modify(self, data):
        if self.pending:
            index = data.draw(st.integers(-len(self.pending), len(self.pending) - 1))
            values, named = self.draw_named(data, some=True)
            self.writer[index] = named
            self.pending[index] = {**self.pending[index], **values}

    def modify_several(self, data):
        if self.pending:
            indices = data.draw(st.lists(st.integers(0, len(self.pending) - 1), max_size=8))
            values, named = self.draw_named(data, some=True)
            self.writer[indices] = {name: [value] * len(indices) for name, value in named.items()}
            for index in indices:
                self.pending[index] = {**self.pending[index], **values}

    def delete(self, data):
        if self.pending:
            index = data.draw(st.integers(0, len(self.pending) - 1))
            last = len(self.pending) - 1
            assert self.writer.delete(index) == (None if index == last else last)
            self.pending[index] = self.pending[last]
            self.pending.pop()

    def delete_several(self, data):
        if self.pending:
            indices = data.draw(st.sets(st.integers(0, len(self.pending) - 1), max_size=6))
            moved = self.writer.delete(sorted(indices))
            kept = list(self.pending)
            for before, now in moved.tolist():
                kept[now] = self.pending[before]
            gone = len(self.pending) - len(indices)
            assert {before for before, _ in moved.tolist()} == set(
                range(gone, len(self.pending))) - indices
            self.pending = kept[:gone]

    def truncate(self, data):
        length = data.draw(st.integers(0, len(self.pending)))
        self.writer.truncate(length)
        del self.pending[length:]

    CALLS = ['append', 'extend', 'extend', 'modify', 'modify', 'modify_several', 'delete',
             'delete_several', 'truncate']

    @precondition(lambda self: self.writer is not None)
    @rule(data=st.data(), calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=6))
    def ask(self, data, calls):
        for call in calls:
            getattr(self, call)(data)
        assert len(self.writer) == len(self.pending)

    @precondition(lambda self: self.writer is not None)
    @rule(data=st.data(), wait=st.booleans())
    def commit(self, data, wait):
        if wait:
            self.writer.commit()
            self.commits()
            return
        ticket = self.writer.commit(wait=False)
        self.commits()
        self.append(data)
        if data.draw(st.booleans()):
            self.writer.rollback()
            self.pending = list(self.committed)
        ticket.wait()

    @precondition(lambda self: self.writer is not None)
    @rule()
    def roll_back(self):
        self.writer.rollback()
        self.pending = list(self.committed)

    @precondition(lambda self: self.writer is None and not self.sealed)
    @rule(data=st.data(), calls=st.lists(st.sampled_from(CALLS), max_size=6),
          fails=st.booleans())
    def block(self, data, calls, fails):
        try:
            with lx.open(self.path, mode='r+', durability='none') as self.writer:
                for call in calls:
                    getattr(self, call)(data)
                if fails:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            self.pending = list(self.committed)
        self.commits()
        self.writer = None

    @precondition(lambda self: self.writer is not None)
    @rule(job=st.sampled_from(['add', 'drop', 'rename', 'checkpoint', 'rebalance']), data=st.data())
    def rebuild(self, job, data):
        name = data.draw(st.sampled_from(list(self.fields.numbers)))
        if job == 'add':
            kind = data.draw(st.sampled_from(KINDS))
            self.fields = copy.deepcopy(self.fields)
            self.writer.add_field(self.note_field(kind), kind)
        elif job == 'drop' and len(self.fields.numbers) > 1:
            self.fields = copy.deepcopy(self.fields)
            self.writer.drop_field(name)
            del self.fields.kinds[self.fields.numbers.pop(name)]
        elif job == 'rename':
            self.fields = copy.deepcopy(self.fields)
            to = f'{name}x'
            self.writer.rename_field(name, to)
            self.fields.numbers = {to if old == name else old: number
                                   for old, number in self.fields.numbers.items()}
        elif job == 'rebalance':
            self.writer.commit()
            with lx.open(self.path) as dataset:
                stat = dataset.stat()
            result = self.writer.rebalance()
            assert stat['dead_bytes'] == max(stat['chunk_bytes'] - result['bytes_after'], 0)
            assert result['records'] == len(self.pending) and result['live_ratio_after'] > 0
        else:
            self.writer.checkpoint()
        self.commits()
        assert list(self.writer.fields) == list(self.fields.numbers)

    # ---- opening and closing

    @precondition(lambda self: self.writer is not None)
    @rule(seal=st.booleans())
    def close(self, seal):
        if seal:
            self.writer.seal()
            self.sealed = True
        self.writer.close()
        self.commits()
        self.writer = None

    @precondition(lambda self: self.writer is None and not self.sealed)
    @rule(durability=st.sampled_from(['full', 'periodic', 'none']))
    def open(self, durability):
        self.writer = lx.open(self.path, mode='r+', durability=durability)
        assert len(self.writer) == len(self.committed)
        assert dict(self.writer.fields) == {name: self.fields.kinds[number]
                                            for name, number in self.fields.numbers.items()}
        with pytest.raises(BlockingIOError):
            lx.open(self.path, mode='a')

    @precondition(lambda self: self.sealed)
    @rule()
    def unseal(self):
        with pytest.raises(lx.LoaderxError, match='seal'):
            lx.open(self.path, mode='r+')
        lx.unseal(self.path)
        self.sealed = False

    # ---- readers

    @rule(live=st.booleans(), verify=st.sampled_from(['first', 'always']))
    def read(self, live, verify):
        if len(self.readers) == 4:
            self.readers.pop(0).dataset.close()
        self.readers.append(Reader(lx.open(self.path, live=live, verify=verify), self.committed,
                                   self.fields.numbers))

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def pin(self, data):
        reader = data.draw(st.sampled_from(self.readers))
        if reader.dataset.live and reader.shows_dropped(self.fields):
            return
        records = self.committed if reader.dataset.live else reader.records
        self.readers.append(Reader(reader.dataset.pin(), records, reader.numbers))
        if len(self.readers) > 4:
            self.readers.pop(0).dataset.close()

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def refresh(self, data):
        reader = data.draw(st.sampled_from(self.readers))
        if reader.shows_dropped(self.fields):
            with pytest.raises(lx.LoaderxError) as caught:
                reader.dataset.refresh()
            assert caught.value.status == 'LX_ERR_STATE'
        else:
            reader.dataset.refresh()
            reader.records = self.committed
            assert reader.dataset.wait(len(self.committed), timeout=0) == len(self.committed)

    @rule()
    def look_closely(self):
        """Check everything with a new reader, with verify, and in copies."""
        with lx.open(self.path) as dataset:
            Reader(dataset, self.committed, self.fields.numbers).check()
            assert dataset.verify()['records'] == len(self.committed)
            stat = dataset.stat()
            assert stat['length'] == len(self.committed)
            assert stat['live_bytes'] + stat['dead_bytes'] <= stat['chunk_bytes']
            assert not dataset.probe(slice(None)).any()
            for name, make in [('backup', dataset.backup), ('copy', lambda p: lx.copy(dataset, p))]:
                made = os.path.join(self.folder, name)
                make(made)
                with lx.open(made) as other:
                    Reader(other, self.committed, self.fields.numbers).check()
                shutil.rmtree(made)

    @invariant()
    def readers_show_their_states(self):
        for reader in getattr(self, 'readers', ()):
            if reader.dataset.live:
                if reader.shows_dropped(self.fields):
                    with pytest.raises(lx.LoaderxError):
                        reader.dataset.gather([])
                    continue
                reader.records = self.committed
            count = len(reader.records)
            reader.check([0, count // 3, count - 1] if count else [])


Store.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=30, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.filter_too_much])
TestStore = Store.TestCase
