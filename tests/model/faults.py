# SPDX-License-Identifier: MIT
"""What is planted to see whether the model would notice, and the worlds in which runs happen."""

from typing import NamedTuple


class World(NamedTuple):
    """What may happen to a run beside kills and power losses."""

    failing: float      # chance that a sync fails
    evicting: float     # chance that the cache then loses what the sync lost
    detaching: float    # chance that a loss of the cache leaves the boot as it is
    what: str


WORLDS = {
    'power': World(0, 0, 0, 'kills and power losses'),
    'sync': World(.04, 0, 0, 'and syncs that fail; the cache keeps what they lost'),
    'cache': World(.04, .5, .5, 'and caches lost within one boot'),
}


class Fault(NamedTuple):
    world: str
    what: str


FAULTS = {
    # commit
    'nochunksync': Fault('power', 'chunks are not synced in the barrier'),
    'notablesync': Fault('power', 'tables are not synced in the barrier'),
    'nologsync': Fault('power', 'the log is not synced behind a synced frame'),
    'nologbarrier': Fault('power', 'the barrier leaves out the log when unsynced frames precede'),
    'nochunkdirsync': Fault('power', 'the directory of a new chunk is not synced'),
    'framefirst': Fault('power', 'the frame is written before the barrier'),
    'skipempty': Fault('power', 'a synced commit without changes leaves unsynced frames so'),
    'lazytables': Fault('cache', 'unsynced frames take rows from tables that are not synced'),
    'nopoison': Fault('sync', 'a failed sync is simply tried again'),
    # opening
    'nocrc': Fault('power', 'the CRC of frames is not compared'),
    'nocheck': Fault('power', 'the checks of values are not compared'),
    'novoid': Fault('power', 'rows taken into the tables do not void earlier sets'),
    'noboot': Fault('power', 'unsynced frames of another boot are trusted'),
    'norot': Fault('power', 'no synced frame is looked for behind an invalid one'),
    'rotbehind': Fault('power', 'it is looked for behind the invalid frame only, not in its place'),
    'nowriteback': Fault('sync', 'a writer does not write back what it finds'),
    'noreopensync': Fault('power', 'a writer makes nothing durable when it opens'),
    'noverify': Fault('cache', 'a writer does not check the payloads that unsynced frames name'),
    'nocut': Fault('cache', 'a writer does not cut the log at the end of what is valid'),
    'latecut': Fault('cache', 'a writer cuts the log after its opening barrier, not before'),
    'nochain': Fault('cache', 'the CRC of the previous frame is not compared'),
    'noreread': Fault('power', 'a reader takes for rot what it read while the log was written'),
    'norecheck': Fault('power', 'a reader does not read meta.json again under its lock'),
    # create, replace and seal
    'metaearly': Fault('power', 'frame 0 is not durable when meta.json is made'),
    'nocreatesync': Fault('power', 'the directory is not synced before meta.json is made'),
    'noparentsync': Fault('power', "the dataset's parent directory is not synced"),
    'lateparentsync': Fault('power', 'it is synced when meta.json is there already'),
    'noleftsync': Fault('power', 'a directory that is found is not synced before leftovers go'),
    'nometasync': Fault('power', 'meta.json.new is not synced before it is renamed'),
    'removeany': Fault('power', 'a dataset is removed without meta.json going first, for good'),
    'sealearly': Fault('power', 'tables are not durable when meta.json says sealed'),
    'nosealsync': Fault('power', 'new files have no durable entry when meta.json says sealed'),
    'notrimsync': Fault('power', 'trimmed lengths are not durable when meta.json says sealed'),
    'gcearly': Fault('power', 'the old generation goes before the switch is durable'),
    'gcnolock': Fault('power', 'the old generation goes while readers are in it'),
}
