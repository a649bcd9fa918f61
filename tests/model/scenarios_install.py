# SPDX-License-Identifier: MIT
"""Scenarios of creation, of sealing, and of the installation of a generation."""

from .create import create
from .disk import Crash, Disk
from .history import Violation
from .job import modify
from .reader import Reader
from .scenario import Dataset, FixedRandom, kill_at
from .seal import seal
from .session import finish


def seal_by_checkpoint(dataset):
    """Seal a dataset with updates of rows, which makes a new generation."""
    dataset.append('z', bulk=True, synced=True)
    modify(dataset.writer, dataset.current, 0, 1, b'w')
    seal(dataset.writer, lambda: None)


def an_installation_during_an_opening(faults):
    """The generation ends after a reader has read meta.json and before it has the lock."""
    dataset = Dataset(faults)
    reader = Reader(dataset.disk)
    steps = reader.open()
    next(steps)
    seal_by_checkpoint(dataset)
    finish(steps)
    dataset.expect('wyz', reader=reader)


def an_installation_under_a_pinned_reader(faults):
    """A reader of the old generation has not yet opened its tables."""
    dataset = Dataset(faults)
    dataset.append('a', bulk=True, synced=True)
    reader = dataset.reader()
    seal_by_checkpoint(dataset)
    dataset.expect('xya', reader=reader)


def a_lost_installation(faults):
    """Power fails after obsolete files were removed and before the new meta.json is durable."""
    dataset = Dataset(faults)
    kill_at(dataset.disk, 'unlink', 'image.check')
    try:
        seal_by_checkpoint(dataset)
    except Crash:
        pass
    dataset.disk.power_loss(lambda name, offset, what: (
        offset is not None or 'meta.json' not in what))
    dataset.expect('xyz', 'wyz')


def an_installation_without_its_files(faults):
    """The new meta.json is on the medium, but the entries of the new files are not."""
    dataset = Dataset(faults)
    kill_at(dataset.disk, 'sync directory', 'dataset', skip=0 if 'entriesearly' in faults else 1)
    try:
        seal_by_checkpoint(dataset)
    except Crash:
        pass
    dataset.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' in what)
    dataset.expect('wyz')


def a_half_made_directory(faults):
    """Creation is killed after the rename; only the entry of meta.json survives the power loss."""
    disk = Disk(FixedRandom(1), faults)
    kill_at(disk, 'sync directory', 'dataset', skip=0 if 'nocreatesync' in faults else 1)
    try:
        create(disk)
    except Crash:
        pass
    disk.power_loss(lambda name, offset, what: (
        offset is not None or name != 'dataset' or 'meta.json' in what))
    reader = Reader(disk)
    finish(reader.open())
    if reader.content()[1]:
        raise Violation('not empty')


SCENARIOS = (
    an_installation_during_an_opening, an_installation_under_a_pinned_reader, a_lost_installation,
    an_installation_without_its_files, a_half_made_directory)
