# SPDX-License-Identifier: MIT
"""The installation of a generation: durable new files, and then a new meta.json that names them."""

from . import log as lxlog
from .layout import KINDS, chunk_name, log_name, table_name, table_names, write_meta
from .orphans import Obsolete, remove_orphans, remove_obsolete
from .records import split_rows
from .writer import NoSpace

EARLY = {'LOG': 'logearly', 'table': 'tablesearly', 'chunk': 'chunksearly'}


class Install:
    """From one meta.json to the next. Wherever it is interrupted, one of the two is complete.

    Parameters
    ----------
    writer : Writer
        Its last frame is synced. Operations may be uncommitted, unless chunks or the schema change.
    stem : str, optional
        The stem of a new field.
    """

    def __init__(self, writer, stem=None):
        self.writer = writer
        self.disk = writer.disk
        self.faults = writer.faults
        self.directories = []
        if 'keeporphans' not in self.faults:
            remove_orphans(writer, stem)

    # -- new files -------------------------------------------------------------------------------

    def make(self, kind, directory, name, data):
        file = directory.make_file(name)
        if self.disk.is_full():
            raise NoSpace
        if data:
            file.pwrite(0, data)
        if EARLY[kind] not in self.faults:
            self.sync(file)
        if directory not in self.directories:
            self.directories.append(directory)
        return file

    def make_table(self, field, tables, rows):
        for kind, part in zip(KINDS, split_rows(rows)):
            self.make('table', self.writer.directory, table_name(field, kind, tables), part)

    def make_chunk(self, chunk, data):
        self.make('chunk', self.writer.directory.get('chunk'), chunk_name(chunk), data)

    def make_log(self, frame):
        """Make the log of the next generation; return its frame, with its place."""
        generation = self.writer.meta['generation'] + 1
        data = lxlog.encode(frame, lxlog.log_seed(self.writer.uuid, generation))
        self.make('LOG', self.writer.directory, log_name(generation), data)
        return frame._replace(end=len(data), crc=lxlog.frame_crc(data))

    def sync(self, node):
        """Sync, and poison the writer on failure."""
        self.writer.poisoned = True
        self.writer.sync(node)
        self.writer.poisoned = False

    # -- the replacement of meta.json ------------------------------------------------------------

    def commit(self, meta, frame=None):
        """Replace meta.json durably, and continue with a new log if its frame is given."""
        writer = self.writer
        for directory in self.directories:
            inner = directory is not writer.directory
            if ('chunkentries' if inner else 'entriesearly') not in self.faults:
                self.sync(directory)
        writer.poisoned = True
        before = list(self.disk.locks) if 'gcbefore' in self.faults else None
        write_meta(writer.directory, meta, self.faults)
        self.list_obsolete(meta, frame)
        if 'gcearly' in self.faults:
            remove_obsolete(writer)
        if 'installlost' not in self.faults:
            self.sync(writer.directory)
        writer.poisoned = False
        self.enter(meta, frame)
        remove_obsolete(writer, before)

    def list_obsolete(self, meta, frame):
        """List the files that the new meta.json no longer names, with their first generations."""
        writer, now = self.writer, self.writer.meta['generation']
        stems = {field[2] for field in meta['fields']}
        tables, since = writer.state.tables, writer.since.get('tables', 0)
        if frame:
            self.add_obsolete(writer.directory, log_name(now), now)
        moved = frame is not None and frame.tables != tables
        for field in writer.fields:
            if moved or field.stem not in stems:
                for name in table_names([field], tables):
                    self.add_obsolete(writer.directory, name, since)
        if frame:
            for chunk in set(writer.state.chunks) - set(frame.chunks):
                self.add_obsolete(writer.directory.get('chunk'), chunk_name(chunk),
                          writer.since.get(chunk, 0))
                writer.since.pop(chunk, None)
        if moved:
            writer.since['tables'] = now + 1

    def add_obsolete(self, directory, name, since):
        now = self.writer.meta['generation']
        self.writer.obsolete.append(Obsolete(directory, name, since, now))

    def enter(self, meta, frame):
        writer = self.writer
        if frame and 'oldlog' in self.faults:
            return
        writer.use_meta(meta)
        if frame:
            writer.state = lxlog.replay([frame], self.faults)
            writer.log_dirty = False
