# SPDX-License-Identifier: MIT
"""Creation of a dataset, also over what an earlier try left, and removal of one to be replaced."""

from . import log as lxlog
from .layout import (FIELDS, NoDataset, dataset_directory, log_name, make_fresh, table_names,
                     write_meta)


class Exists(Exception):
    """There is a dataset already."""


def create(disk, replace=False):
    """Make an empty dataset.

    Whatever stops it, either there is no meta.json, and creation may be tried again, or there is
    a whole, empty dataset: every file and every entry is durable before meta.json can be seen.
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
    log.pwrite(0, lxlog.encode(lxlog.base_frame(disk.boot, lxlog.State(), 0, 0, {}),
                               lxlog.log_seed(uuid, 0)))
    if 'metaearly' not in faults:
        log.sync()
    if 'nocreatesync' not in faults:
        directory.sync()
    meta = {'uuid': uuid.hex(), 'generation': 0, 'sealed': False, 'length': 0,
            'next_field': len(FIELDS), 'fields': FIELDS}
    write_meta(directory, meta, faults)
    directory.sync()
    if 'lateparentsync' in faults:
        disk.home.sync()


def make_dataset_directory(disk):
    """The directory, durable before anything is in it.

    The parent is synced also when the directory is found: the one that made it may have died
    before it did. And what is found empty of meta.json must stay so before anything else in it
    goes: a removal may have died before it was durable.
    """
    try:
        directory = dataset_directory(disk)
        if 'noleftsync' not in disk.faults:
            directory.sync()
    except NoDataset:
        directory = disk.home.make_directory('dataset')
    if not {'noparentsync', 'lateparentsync'} & disk.faults:
        disk.home.sync()
    return directory


def remove(directory, faults):
    """Take a dataset away: first meta.json, for good; then what it names."""
    directory.unlink('meta.json')
    if 'removeany' not in faults:
        directory.sync()
    for name in directory.names():
        if name != 'chunk':
            directory.unlink(name)
    chunk = directory.get('chunk')
    for name in chunk.names():
        chunk.unlink(name)
