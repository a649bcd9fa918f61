# SPDX-License-Identifier: MIT
"""The common part of writer and reader: the snapshot, the files, and the lookup of values."""

from . import log as lxlog
from .layout import KINDS, Field, chunk_name, dataset_directory, log_name, table_name
from .records import LOST, MISSING, Damage, crc, read_row


class Handle:
    """An open dataset: its snapshot, and its files, which are opened at first use."""

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
                raise Damage(f'{name} not found')
            self.files[name] = file
        return self.files[name]

    def table_row(self, field, index):
        row = b''.join(self.table(field, kind).pread(size * index, size)
                       for kind, size in KINDS.items())
        if len(row) != sum(KINDS.values()):
            raise Damage(f'{field.stem}: table ends before record {index}')
        return row

    def row(self, field, index):
        """The entry of one value: its update, or the row of the table, or missing."""
        row = self.state.updates.get((field.id, index))
        if row is None:
            row = self.table_row(field, index) if index < self.state.rows else MISSING
        return row

    def live_updates(self):
        """The live updates of the fields of the schema, without those of dropped fields."""
        known = {field.id for field in self.fields}
        return {key: row for key, row in self.state.updates.items() if key[0] in known}

    def full_fields(self):
        """The ids of the fields of which no value is missing."""
        return [field.id for field in self.fields
                if all(self.row(field, index) != MISSING for index in range(self.state.length))]

    def complete_fields(self):
        """The ids of the fields of which no value is missing, as far as meta.json and log tell."""
        lacking = () if self.meta['sealed'] else self.state.lacking
        return [number for number in self.meta['complete'] if number not in lacking]

    def read_chunk(self, chunk, offset, size):
        if offset + size > self.state.chunks.get(chunk, (0, 0))[1]:
            raise Damage(f'entry beyond the committed end of chunk {chunk}')
        return self.chunk(chunk).pread(offset, size)

    def value(self, field, index):
        """The value, or LOST if it is damaged; other values stay readable."""
        row = self.row(field, index)
        try:
            return read_row(row, self.uuid, field.id, index, self.read_chunk,
                            'nocheck' not in self.faults)
        except Damage:
            return LOST

    def content(self, short=False):
        """The names of the fields, and every record of the snapshot as a tuple of values.

        All committed data must be present, even if no entry refers to it. With `short`, chunks may
        be shorter, or absent.
        """
        for chunk, (_, used) in self.state.chunks.items():
            if not short and self.chunk(chunk).size < used:
                raise Damage(f'chunk {chunk} ends before byte {used}')
        if self.state.rows:
            for field in self.fields:
                self.table_row(field, self.state.rows - 1)
        names = tuple(field.name for field in self.fields)
        complete = self.complete_fields()
        records = tuple(tuple(self.value(field, index) for field in self.fields)
                        for index in range(self.state.length))
        for position, field in enumerate(self.fields):
            if field.id in complete and any(record[position] is None for record in records):
                raise Damage(f'{field.stem}: complete, but a value is missing')
        return names, records

    def check_sealed(self):
        """Check the files as opening and verifying a sealed dataset do."""
        state, meta = self.state, self.meta
        updates = self.live_updates()
        if not state.synced or updates or not state.length == state.rows == meta['length']:
            raise Damage('sealed: the log has updates or unsynced frames, or another length')
        for field in self.fields:
            for kind, size in KINDS.items():
                file = self.table(field, kind)
                listed = meta['tables'][table_name(field, kind, state.tables)]
                if not file.size == listed['bytes'] == size * state.length:
                    raise Damage(f'sealed: size of {file.name} differs from meta.json')
                if crc(file.pread()) != listed['crc']:
                    raise Damage(f'sealed: CRC of {file.name} differs from meta.json')
        for chunk, (_, used) in state.chunks.items():
            if self.chunk(chunk).size != used:
                raise Damage(f'sealed: size of chunk {chunk} differs from the log')
