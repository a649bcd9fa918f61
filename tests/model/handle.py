# SPDX-License-Identifier: MIT
"""What a writer and a reader have in common: the state, the files, and how a value is found."""

from . import log as lxlog
from .layout import KINDS, Field, chunk_name, dataset_directory, log_name, table_name
from .records import LOST, MISSING, Damage, crc, read_row


class Handle:
    """An open dataset: the state it is at, and its files, opened when they are first needed."""

    def __init__(self, disk):
        self.disk = disk
        self.faults = disk.faults
        self.directory = dataset_directory(disk)
        self.meta = None
        self.uuid = b''
        self.fields = []
        self.state = lxlog.State()
        self.files = {}

    def use_meta(self, meta):
        self.meta = meta
        self.uuid = bytes.fromhex(meta['uuid'])
        self.fields = [Field(*field) for field in meta['fields']]

    @property
    def seed(self):
        return lxlog.log_seed(self.uuid, self.meta['generation'])

    def log_file(self):
        return self.file(self.directory, log_name(self.meta['generation']))

    def table(self, field, kind):
        return self.file(self.directory, table_name(field, kind, self.state.tables))

    def chunk(self, chunk):
        return self.file(self.directory.get('chunk'), chunk_name(chunk))

    def file(self, directory, name):
        if name not in self.files:
            file = directory.get(name)
            if file is None:
                raise Damage(f'{name} is not there')
            self.files[name] = file
        return self.files[name]

    def table_row(self, field, index):
        row = b''.join(self.table(field, kind).pread(size * index, size)
                       for kind, size in KINDS.items())
        if len(row) != sum(KINDS.values()):
            raise Damage(f'{field.stem}: table ends before record {index}')
        return row

    def row(self, field, index):
        """The entry of one value: its set, or the table's, or missing."""
        row = self.state.sets.get((field.id, index))
        if row is None:
            row = self.table_row(field, index) if index < self.state.rows else MISSING
        return row

    def live_sets(self):
        """The live sets of the schema's fields: those of dropped ones are skipped."""
        known = {field.id for field in self.fields}
        return {key: row for key, row in self.state.sets.items() if key[0] in known}

    def read_chunk(self, chunk, offset, size):
        if offset + size > self.state.chunks.get(chunk, (0, 0))[1]:
            raise Damage(f'entry beyond what is committed of chunk {chunk}')
        return self.chunk(chunk).pread(offset, size)

    def value(self, field, index):
        """The value, or LOST if it is damaged: others are read all the same."""
        row = self.row(field, index)
        try:
            return read_row(row, self.uuid, field.id, index, self.read_chunk,
                            'nocheck' not in self.faults)
        except Damage:
            return LOST

    def content(self, short=False):
        """The names of the fields, and every record of the state as a tuple of values.

        All of what is committed must be there, also where nothing refers to it. With `short`,
        chunks may be shorter, or absent.
        """
        for chunk, (_, used) in self.state.chunks.items():
            if not short and self.chunk(chunk).size < used:
                raise Damage(f'chunk {chunk} ends before byte {used}')
        if self.state.rows:
            for field in self.fields:
                self.table_row(field, self.state.rows - 1)
        names = tuple(field.name for field in self.fields)
        return names, tuple(tuple(self.value(field, index) for field in self.fields)
                            for index in range(self.state.length))

    def check_sealed(self):
        """What opening and verifying a sealed dataset demand of its files."""
        state, meta = self.state, self.meta
        sets = self.live_sets()
        if not state.synced or sets or not state.length == state.rows == meta['length']:
            raise Damage('sealed: the log is not that of a sealed dataset')
        for field in self.fields:
            for kind, size in KINDS.items():
                file = self.table(field, kind)
                listed = meta['tables'][table_name(field, kind, state.tables)]
                if not file.size == listed['bytes'] == size * state.length:
                    raise Damage(f'sealed: {file.name} has another size')
                if crc(file.pread()) != listed['crc']:
                    raise Damage(f'sealed: {file.name} has another CRC')
        for chunk, (_, used) in state.chunks.items():
            if self.chunk(chunk).size != used:
                raise Damage(f'sealed: chunk {chunk} has another size')
