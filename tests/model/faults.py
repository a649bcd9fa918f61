# SPDX-License-Identifier: MIT
"""The planted faults, which the model must find, and the worlds in which runs happen."""

from typing import NamedTuple


class World(NamedTuple):
    """The events of a run other than kills and power losses."""

    failing: float      # chance that a sync fails
    evicting: float     # chance that the cache then drops the data, too
    detaching: float    # chance that a loss of the cache keeps the boot
    description: str


WORLDS = {
    'power': World(0, 0, 0, 'kills and power losses'),
    'sync': World(.04, 0, 0, 'and syncs that fail; the cache keeps the data'),
    'cache': World(.04, .5, .5, 'and caches lost within one boot'),
}


class Fault(NamedTuple):
    world: str
    description: str


FAULTS = {
    # commit
    'nochunksync': Fault('power', 'chunks are not synced before the frame'),
    'notablesync': Fault('power', 'tables are not synced before the frame'),
    'nologsync': Fault('power', 'the log is not synced after a synced frame'),
    'nologbefore': Fault('power', 'unsynced frames are not synced before a synced one'),
    'onetask': Fault('power', 'the chunk of one flush task is not synced before the frame'),
    'dirtylate': Fault('power', 'data written during the data sync counts as synced'),
    'bufferitems': Fault('power', 'chunk items include flushed buffers after the commit'),
    'sharedchunk': Fault('power', 'two flush tasks continue the same chunk'),
    'nochunkdirsync': Fault('power', 'the directory of a new chunk is not synced'),
    'framefirst': Fault('power', 'the frame is written before the data is synced'),
    'skipempty': Fault('power', 'a synced commit without changes leaves earlier frames unsynced'),
    'lazytables': Fault('cache', 'an unsynced frame takes rows from tables that are not synced'),
    'oldrow': Fault('power', 'a row is as appended, and the frame lacks the later update'),
    'showthrough': Fault('power', 'an appended record has no updates for its missing values'),
    'nomarker': Fault('power', 'a frame has no marker for missing values in rows that it moves'),
    'nopoison': Fault('sync', 'a failed sync is retried'),
    # opening
    'nocrc': Fault('power', 'the CRC of frames is not compared'),
    'nocheck': Fault('power', 'the checksums of values are not compared'),
    'novoid': Fault('power', 'rows appended to the tables do not void earlier updates'),
    'voidlate': Fault('power', 'rows appended to the tables void updates of the same frame, too'),
    'noboot': Fault('power', 'unsynced frames of another boot are valid'),
    'norot': Fault('power', 'every invalid frame counts as torn'),
    'rotafter': Fault('power', 'the search for complete frames starts after the invalid one'),
    'rotsynced': Fault('power', 'the search for complete frames ignores unsynced ones'),
    'rotlast': Fault('power', 'an invalid frame with its trailer counts as torn'),
    'durablelog': Fault('power', 'a durable reader does not sync the log'),
    'nowriteback': Fault('sync', 'a writer does not write back the unsynced data that it finds'),
    'noreopensync': Fault('power', 'a writer syncs nothing when it opens'),
    'dropunsynced': Fault('power', 'a writer drops the frames of its boot that are not synced'),
    'nofill': Fault('cache', 'a writer does not extend chunks that lost their ends'),
    'notruncate': Fault('power', 'a writer does not truncate the log after the last valid frame'),
    'nochain': Fault('cache', 'the CRC of the previous frame is not compared'),
    'noreread': Fault('power', 'a reader reports damage without reading the log again'),
    'norecheck': Fault('power', 'a reader does not read meta.json again under its lock'),
    'oldschema': Fault('power', 'a reader keeps the schema that it read before it had the lock'),
    'metabefore': Fault('power', 'a reader compares meta.json before it reads the log, not after'),
    'nosealrecheck': Fault('power', 'a reader reports damage after an unseal during its opening'),
    'viewnolock': Fault('power', 'a view of an older snapshot holds no lock'),
    # create, replace and seal
    'metaearly': Fault('power', 'frame 0 is not durable when meta.json is created'),
    'nocreatesync': Fault('power', 'the directory is not synced before meta.json is created'),
    'noparentsync': Fault('power', "the dataset's parent directory is not synced"),
    'lateparentsync': Fault('power', 'the parent directory is synced after meta.json is created'),
    'noexistingsync': Fault('power', 'an existing directory is not synced before removals'),
    'nometasync': Fault('power', 'meta.json.new is not synced before it is renamed'),
    'removeany': Fault('power', 'a dataset is removed before the removal of meta.json is durable'),
    'sealearly': Fault('power', 'tables are not durable when meta.json becomes sealed'),
    'sealcomplete': Fault('power', 'a seal does not look which fields lack values'),
    'notrimsync': Fault('power', 'truncated sizes are not durable when meta.json becomes sealed'),
    # new generations
    'installunsynced': Fault('power', 'no synced commit precedes a new generation'),
    'schemaearly': Fault('power', 'no synced commit precedes a change of the schema'),
    'logearly': Fault('power', 'a new log is not durable when meta.json names it'),
    'tablesearly': Fault('power', 'new tables are not durable when meta.json names them'),
    'chunksearly': Fault('power', 'new chunks are not durable when meta.json names them'),
    'entriesearly': Fault('power', 'directory entries of new files are not durable by then'),
    'chunkentries': Fault('power', 'directory entries of new chunks are not durable by then'),
    'installlost': Fault('power', 'commits follow an installation that is not durable'),
    'oldlog': Fault('power', 'commits continue in the old log'),
    'snapshotnoupdates': Fault('power', 'a snapshot frame has no updates'),
    'snapshotnochunks': Fault('power', 'a snapshot frame has no chunks'),
    'checkpointforgets': Fault('power', 'a checkpoint ignores the updates of its first commit'),
    'nextfalls': Fault('power', 'the next chunk id decreases at an installation'),
    'copyblind': Fault('power', 'a rebalance does not verify the payloads that it copies'),
    'reusechunk': Fault('power', 'a rebalance reuses chunk ids'),
    'staychunk': Fault('power', 'after a rebalance, payloads are written to old chunks'),
    'taskchunkgone': Fault('power', 'a chunk of a running flush task is removed as an orphan'),
    'keeporphans': Fault('power', 'orphans are not removed before their names are used'),
    'staycomplete': Fault('power', 'a log rotation forgets which fields lack values'),
    'addcomplete': Fault('power', 'a new field counts as complete although there are records'),
    'addshort': Fault('power', 'tables of a new field have length rows, not rows'),
    'stemreuse': Fault('power', 'a new field has the stem of a dropped one'),
    # removal of obsolete files
    'gcearly': Fault('power', 'obsolete files are removed before the installation is durable'),
    'gcopening': Fault('power', 'an opening removes obsolete files before its data sync'),
    'gcnolock': Fault('power', 'obsolete files are removed while readers use them'),
    'gcbefore': Fault('power', 'the check for readers precedes the installation'),
    'gclast': Fault('power', 'only the last generation of a file is checked for readers'),
    'gcfound': Fault('power', 'files found at opening count as of one generation'),
    'gcdropped': Fault('power', 'files of a dropped field count as of older generations'),
    'oldnames': Fault('power', 'an obsolete file is removed although its name is in use again'),
}
