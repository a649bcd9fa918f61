# SPDX-License-Identifier: MIT
"""Sealing, in place or with a new generation, and unsealing."""

from . import log as lxlog
from .generations import make_checkpoint, next_meta
from .handle import Handle
from .layout import KINDS, dataset_directory, read_meta, table_name, table_names, write_meta
from .orphans import find_obsolete, remove_obsolete
from .records import crc
from .install import Install


def seal(writer, begun):
    """Commit, truncate the files to the sizes in the new meta.json, and install that.

    Wherever it is interrupted, the dataset is as before or sealed.
    """
    # Always write a frame: updates of earlier frames move to the tables, too.
    writer.commit(bulk=True, synced=True, always=True)
    begun()
    install, state = Install(writer), writer.state
    meta, frame, tables = dict(writer.meta, length=state.length), None, state.tables
    if writer.live_updates() or state.rows > state.length:
        frame = make_checkpoint(install)
        meta, tables = next_meta(writer, writer.meta['complete']), tables + 1
    trim(install, tables)
    install.directories = [writer.directory, writer.directory.get('chunk')]
    meta['tables'] = list_tables(writer, tables)
    if 'sealcomplete' not in writer.faults:
        meta['complete'] = writer.full_fields()
    install.commit(dict(meta, sealed=True), frame)


def trim(install, tables):
    """Truncate tables and chunks to the sizes of the sealed snapshot, durably.

    No snapshot of this log names the truncated bytes: rows and chunk bytes never decrease within a
    log, and rows beyond the length are removed by a checkpoint.
    """
    writer, files = install.writer, []
    for field in writer.fields:
        for kind, size in KINDS.items():
            file = writer.directory.get(table_name(field, kind, tables))
            files.append((file, size * writer.state.length))
    files += [(writer.chunk(chunk), used) for chunk, (_, used) in writer.state.chunks.items()]
    for file, size in files:
        if 'notrimsync' in writer.faults:
            install.sync(file)
        file.truncate(size)
        if not {'sealearly', 'notrimsync'} & writer.faults:
            install.sync(file)


def list_tables(writer, tables):
    names = table_names(writer.fields, tables)
    contents = {name: writer.directory.get(name).pread() for name in names}
    return {name: {'bytes': len(data), 'crc': crc(data)} for name, data in contents.items()}


class Sealed(Handle):
    """A sealed dataset, opened by the process that holds the writer's lock."""

    def __init__(self, disk):
        super().__init__(disk)
        self.use_meta(read_meta(self.directory)[0])
        frames = lxlog.scan(self.log_file().pread(), self.seed, disk.boot, disk.faults)
        self.state = lxlog.replay(frames, disk.faults)
        self.obsolete = []


def seal_again(disk):
    """Seal a sealed dataset: make meta.json durable, and remove files that readers have released.

    The directory is synced before any removal: the process that renamed meta.json may have died
    before its sync, and only the obsolete files would survive a power loss.
    """
    sealed = Sealed(disk)
    sealed.directory.sync()
    sealed.obsolete = list(find_obsolete(sealed))
    remove_obsolete(sealed)


def unseal(disk):
    """Remove the sealed flag. Everything else stays, for readers and for the next writer."""
    directory = dataset_directory(disk)
    meta, _ = read_meta(directory)
    meta = dict(meta, sealed=False)
    del meta['tables']
    write_meta(directory, meta, disk.faults)
    if 'installlost' not in disk.faults:
        directory.sync()
