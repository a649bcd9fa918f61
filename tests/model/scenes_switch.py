# SPDX-License-Identifier: MIT
"""Scenarios of creation, of sealing, and of the switch from one generation to the next."""

from .create import create
from .disk import Crash, Disk
from .history import Wrong
from .job import modify
from .reader import Reader
from .scene import Stage, Steady, kill_at
from .seal import seal
from .session import finish


def fold(stage):
    """Seal what has a set below the rows: it takes a new generation."""
    stage.append('z', bulk=True, synced=True)
    modify(stage.writer, stage.current, 0, 1, b'w')
    seal(stage.writer, lambda: None)


def a_switch_under_an_opening_reader(faults):
    """The generation goes between a reader's look at meta.json and its lock."""
    stage = Stage(faults)
    reader = Reader(stage.disk)
    steps = reader.open()
    next(steps)
    fold(stage)
    finish(steps)
    stage.expect('wyz', reader=reader)


def a_switch_under_a_pinned_reader(faults):
    """A reader in the old generation has not yet opened its tables."""
    stage = Stage(faults)
    stage.append('a', bulk=True, synced=True)
    reader = stage.reader()
    fold(stage)
    stage.expect('xya', reader=reader)


def a_switch_that_is_lost(faults):
    """meta.json is switched in the cache; the power fails before that, and after old files went."""
    stage = Stage(faults)
    kill_at(stage.disk, 'unlink', 'image.check')
    try:
        fold(stage)
    except Crash:
        pass
    stage.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' not in what)
    stage.expect('xyz', 'wyz')


def a_switch_to_what_is_not_there(faults):
    """The switch of meta.json is on the medium, the new generation's entries are not."""
    stage = Stage(faults)
    kill_at(stage.disk, 'sync directory', 'dataset', skip=0 if 'entriesearly' in faults else 1)
    try:
        fold(stage)
    except Crash:
        pass
    stage.disk.power_loss(lambda name, offset, what: offset is not None or 'meta.json' in what)
    stage.expect('wyz')


def a_half_made_directory(faults):
    """Creation dies when meta.json is in its place; its entry stays, those of the rest do not."""
    disk = Disk(Steady(1), faults)
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
        raise Wrong('not empty')


SCENARIOS = (
    a_switch_under_an_opening_reader, a_switch_under_a_pinned_reader, a_switch_that_is_lost,
    a_switch_to_what_is_not_there, a_half_made_directory)
