# SPDX-License-Identifier: MIT
"""Creation of a dataset, also over the files of an interrupted one, and removal before that."""

from . import log as lxlog
from .layout import (FIELDS, NoDataset, dataset_directory, log_name, make_fresh, table_names,
                     write_meta)


class Exists(Exception):
    """A dataset exists already."""


def create(disk, replace=False):
    """Make an empty dataset.

    Wherever it is interrupted, either meta.json is absent, and creation may be tried again, or the
    dataset is complete and empty: every file and entry is durable before meta.json is visible.
    """
    faults = disk.faults
    directory = make_dataset_directory(disk)
    if directory.get('meta.json'):
        if not replace:
            raise Exists
        remove(directory, faults)
    uuid = bytes(disk.rng.randrange(256) for _ in range(16))
    chunk = directory.get('chunk') or directory.make_directory('chunk')
    for name in chunk.names():
        chunk.unlink(name)
    for name in table_names(FIELDS, 0):
        make_fresh(directory, name)
    log = make_fresh(directory, log_name(0))
    log.pwrite(0, lxlog.encode(lxlog.snapshot_frame(disk.boot, lxlog.State(), 0, 0, {}),
                               lxlog.log_seed(uuid, 0)))
    if 'metaearly' not in faults:
        log.sync()
    if 'nocreatesync' not in faults:
        directory.sync()
    meta = {'uuid': uuid.hex(), 'generation': 0, 'sealed': False, 'length': 0,
            'next_field': len(FIELDS), 'fields': FIELDS, 'complete': [field.id for field in FIELDS]}
    write_meta(directory, meta, faults)
    directory.sync()
    if 'lateparentsync' in faults:
        disk.home.sync()


def make_dataset_directory(disk):
    """Find or make the directory, durable before anything is in it.

    The parent is synced even if the directory exists: the process that made it may have died before
    its sync. The absence of meta.json must be durable before any other file is removed: an earlier
    removal may have been interrupted before it was durable.
    """
    try:
        directory = dataset_directory(disk)
        if 'noexistingsync' not in disk.faults:
            directory.sync()
    except NoDataset:
        directory = disk.home.make_directory('dataset')
    if not {'noparentsync', 'lateparentsync'} & disk.faults:
        disk.home.sync()
    return directory


def remove(directory, faults):
    """Remove a dataset: first meta.json, durably; then the files that it names."""
    directory.unlink('meta.json')
    if 'removeany' not in faults:
        directory.sync()
    for name in directory.names():
        if name != 'chunk':
            directory.unlink(name)
    chunk = directory.get('chunk')
    for name in chunk.names():
        chunk.unlink(name)
