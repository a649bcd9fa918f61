# SPDX-License-Identifier: MIT
"""The switch: new files next to the old ones, durable, and then the one step that names them."""

from . import log as lxlog
from .layout import KINDS, chunk_name, log_name, table_name, table_names, write_meta
from .leftovers import Old, remove_leftovers, remove_old
from .records import split_rows
from .writer import NoSpace

EARLY = {'LOG': 'logearly', 'table': 'tablesearly', 'chunk': 'chunksearly'}


class Switch:
    """From one meta.json to the next. Whatever stops it, the old one stands, or the new one does.

    Parameters
    ----------
    writer : Writer
        Its last frame is a synced one. Operations may wait to be committed, unless chunks or the
        schema are going to be others.
    stem : str, optional
        That of a new field.
    """

    def __init__(self, writer, stem=None):
        self.writer = writer
        self.disk = writer.disk
        self.faults = writer.faults
        self.directories = []
        if 'keepleft' not in self.faults:
            remove_leftovers(writer, stem)

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
        """The log of the next generation; its frame, with its place."""
        generation = self.writer.meta['generation'] + 1
        data = lxlog.encode(frame, lxlog.log_seed(self.writer.uuid, generation))
        self.make('LOG', self.writer.directory, log_name(generation), data)
        return frame._replace(end=len(data), crc=lxlog.frame_crc(data))

    def sync(self, node):
        """A sync that fails is for good; the files are not named yet, but their directory is."""
        self.writer.poisoned = True
        self.writer.sync(node)
        self.writer.poisoned = False

    # -- the one step ----------------------------------------------------------------------------

    def commit(self, meta, frame=None):
        """Put `meta` in its place, durably; with the frame of a new log go over to that."""
        writer = self.writer
        for directory in self.directories:
            inner = directory is not writer.directory
            if ('chunkentries' if inner else 'entriesearly') not in self.faults:
                self.sync(directory)
        writer.poisoned = True
        before = list(self.disk.locks) if 'gcbefore' in self.faults else None
        write_meta(writer.directory, meta, self.faults)
        self.retire(meta, frame)
        if 'gcearly' in self.faults:
            remove_old(writer)
        if 'switchlost' not in self.faults:
            self.sync(writer.directory)
        writer.poisoned = False
        self.enter(meta, frame)
        remove_old(writer, before)

    def retire(self, meta, frame):
        """Note the files that the new meta.json no longer names, and since when it was so."""
        writer, now = self.writer, self.writer.meta['generation']
        stems = {field[2] for field in meta['fields']}
        tables, since = writer.state.tables, writer.since.get('tables', 0)
        if frame:
            self.note(writer.directory, log_name(now), now)
        moved = frame is not None and frame.tables != tables
        for field in writer.fields:
            if moved or field.stem not in stems:
                for name in table_names([field], tables):
                    self.note(writer.directory, name, since)
        if frame:
            for chunk in set(writer.state.chunks) - set(frame.chunks):
                self.note(writer.directory.get('chunk'), chunk_name(chunk),
                          writer.since.get(chunk, 0))
                writer.since.pop(chunk, None)
        if moved:
            writer.since['tables'] = now + 1

    def note(self, directory, name, since):
        self.writer.old.append(Old(directory, name, since, self.writer.meta['generation']))

    def enter(self, meta, frame):
        writer = self.writer
        if frame and 'oldlog' in self.faults:
            return
        writer.use_meta(meta)
        if frame:
            writer.state = lxlog.replay([frame], self.faults)
            writer.log_dirty = False
