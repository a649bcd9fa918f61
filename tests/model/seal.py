# SPDX-License-Identifier: MIT
"""Sealing, in place or by a new generation, and unsealing.

What is sealed is a plain directory that any language maps.
"""

from . import log as lxlog
from .generations import make_folded, next_meta
from .handle import Handle
from .layout import KINDS, dataset_directory, read_meta, table_name, table_names, write_meta
from .leftovers import find_old, remove_old
from .records import crc
from .switch import Switch


def seal(writer, begun):
    """Commit, bring the files to the lengths that meta.json will give, and switch meta.json.

    Whatever stops it, the old state stands, or the sealed one does.
    """
    # Always a frame: sets of earlier ones move to the tables, too.
    writer.commit(bulk=True, synced=True, always=True)
    begun()
    switch, state = Switch(writer), writer.state
    meta, frame, tables = dict(writer.meta, length=state.length), None, state.tables
    if writer.live_sets() or state.rows > state.length:
        frame = make_folded(switch)
        meta, tables = next_meta(writer), tables + 1
    trim(switch, tables)
    switch.directories = [writer.directory, writer.directory.get('chunk')]
    meta['tables'] = list_tables(writer, tables)
    switch.commit(dict(meta, sealed=True), frame)


def trim(switch, tables):
    """Cut tables and chunks to what the sealed state has, durably.

    Nothing that a state of this log names is cut: rows and chunk bytes never fall within a log,
    and tables with rows beyond the length are not trimmed but folded.
    """
    writer, files = switch.writer, []
    for field in writer.fields:
        for kind, size in KINDS.items():
            file = writer.directory.get(table_name(field, kind, tables))
            files.append((file, size * writer.state.length))
    files += [(writer.chunk(chunk), used) for chunk, (_, used) in writer.state.chunks.items()]
    for file, size in files:
        if 'notrimsync' in writer.faults:
            switch.sync(file)
        file.truncate(size)
        if not {'sealearly', 'notrimsync'} & writer.faults:
            switch.sync(file)


def list_tables(writer, tables):
    names = table_names(writer.fields, tables)
    contents = {name: writer.directory.get(name).pread() for name in names}
    return {name: {'bytes': len(data), 'crc': crc(data)} for name, data in contents.items()}


class Sealed(Handle):
    """A sealed dataset, opened by whichever process holds the writer's lock."""

    def __init__(self, disk):
        super().__init__(disk)
        self.use_meta(read_meta(self.directory)[0])
        frames = lxlog.scan(self.log_file().pread(), self.seed, disk.boot, disk.faults)
        self.state = lxlog.replay(frames, disk.faults)
        self.old = []


def seal_again(disk):
    """Sealing what is sealed: makes the switch durable, and takes away what readers held up before.

    The directory is synced before anything is removed: the process that renamed meta.json may
    have died before it did, and then the old files are all that a power loss would leave.
    """
    sealed = Sealed(disk)
    sealed.directory.sync()
    sealed.old = list(find_old(sealed))
    remove_old(sealed)


def unseal(disk):
    """Take the word away. All else stays, for readers of the sealed dataset and for the writer."""
    directory = dataset_directory(disk)
    meta, _ = read_meta(directory)
    meta = dict(meta, sealed=False)
    del meta['tables']
    write_meta(directory, meta, disk.faults)
    if 'switchlost' not in disk.faults:
        directory.sync()
