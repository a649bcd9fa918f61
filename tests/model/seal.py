# SPDX-License-Identifier: MIT
"""Sealing: a plain directory that any language maps; in place, or by a new generation."""

from . import log as lxlog
from .handle import Handle
from .layout import (FIELDS, KINDS, dataset_directory, log_name, make_fresh, read_meta, table_name,
                     table_names, write_meta)
from .records import crc, split_rows


def seal(writer):
    """Commit, bring the files to the lengths that meta.json will give, and switch meta.json.

    Whatever stops it, the old state stands, or the sealed one does.
    """
    writer.changed = True       # always a frame: sets of earlier ones move to the tables, too
    writer.commit(bulk=True, synced=True)
    remove_leftovers(writer.directory, writer.meta, writer.state)
    state = writer.state
    fold = bool(state.sets) or state.rows > state.length
    meta = dict(writer.meta, sealed=True, length=state.length)
    if fold:
        meta['generation'] += 1
        make_generation(writer, meta['generation'])
    trim(writer, state.tables + fold)
    if 'nosealsync' not in writer.faults:
        writer.directory.sync()
    meta['tables'] = list_tables(writer, state.tables + fold)
    write_meta(writer.directory, meta, writer.faults)
    finish(writer.disk, writer.directory, meta, state.tables + fold)


def make_generation(writer, generation):
    """Tables with the sets applied, and a log of one base frame, beside the old ones."""
    state = writer.state
    for field in range(len(FIELDS)):
        parts = split_rows(writer.row(field, index) for index in range(state.length))
        for kind, part in zip(KINDS, parts):
            file = make_fresh(writer.directory, table_name(field, kind, state.tables + 1))
            file.pwrite(0, part)
    frame = lxlog.Frame(
        epoch=0, length=state.length, rows=state.length, previous=0,
        flags=lxlog.BASE | lxlog.SYNCED, boot=writer.disk.boot, tables=state.tables + 1,
        next_chunk=state.next_chunk, chunks=dict(state.chunks), sets=[])
    log = make_fresh(writer.directory, log_name(generation))
    log.pwrite(0, lxlog.encode(frame, lxlog.log_seed(writer.uuid, generation)))
    log.sync()


def trim(writer, tables):
    """Cut tables and chunks to what the sealed state has, durably.

    Nothing that a state of this log names is cut: rows and chunk bytes never fall within a log,
    and tables with rows beyond the length are not trimmed but folded.
    """
    files = []
    for field in range(len(FIELDS)):
        for kind, size in KINDS.items():
            file = writer.directory.get(table_name(field, kind, tables))
            files.append((file, size * writer.state.length))
    files += [(writer.chunk(chunk), used) for chunk, (_, used) in writer.state.chunks.items()]
    for file, size in files:
        if 'notrimsync' in writer.faults:
            file.sync()
        file.truncate(size)
        if not {'sealearly', 'notrimsync'} & writer.faults:
            file.sync()


def list_tables(writer, tables):
    contents = {name: writer.directory.get(name).pread() for name in table_names(tables)}
    return {name: {'bytes': len(data), 'crc': crc(data)} for name, data in contents.items()}


def finish(disk, directory, meta, tables):
    """Make the switch durable, and only then remove what the old generation was."""
    if 'gcearly' not in disk.faults:
        directory.sync()
    old_readers = any(generation < meta['generation'] for generation in disk.locks)
    if not old_readers or 'gcnolock' in disk.faults:
        keep = {'meta.json', 'chunk', log_name(meta['generation']), *table_names(tables)}
        for name in directory.names():
            if name not in keep:
                directory.unlink(name)
    if 'gcearly' in disk.faults:
        directory.sync()


def remove_leftovers(directory, meta, state):
    """What an interrupted try at the next generation left."""
    keep = {'meta.json', 'chunk', log_name(meta['generation']), *table_names(state.tables)}
    for name in directory.names():
        if name not in keep:
            directory.unlink(name)


def seal_again(disk):
    """Sealing what is sealed: makes the switch durable, and takes away what readers held up before.

    The directory is synced before anything is removed: the process that renamed meta.json may
    have died before it did, and then the old files are all that a power loss would leave.
    """
    directory = dataset_directory(disk)
    meta, _ = read_meta(directory)
    handle = Handle(disk)
    handle.use_meta(meta)
    frames = lxlog.scan(handle.log_file().pread(), handle.seed, disk.boot, disk.faults)
    finish(disk, directory, meta, frames[-1].tables)
