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
    'onelane': Fault('power', "one lane's chunk is not synced in the barrier"),
    'dirtylate': Fault('power', 'what is written during the barrier counts as synced by it'),
    'stageitems': Fault('power', 'chunk items end with what is placed, not with what is committed'),
    'sharedchunk': Fault('power', 'two lanes take up the same chunk'),
    'nochunkdirsync': Fault('power', 'the directory of a new chunk is not synced'),
    'framefirst': Fault('power', 'the frame is written before the barrier'),
    'skipempty': Fault('power', 'a synced commit without changes leaves unsynced frames so'),
    'lazytables': Fault('cache', 'unsynced frames take rows from tables that are not synced'),
    'oldrow': Fault('power', 'a row is as it was appended, and the frame has no set over it'),
    'showthrough': Fault('power', 'an appended record has no sets for its missing values'),
    'nopoison': Fault('sync', 'a failed sync is simply tried again'),
    # opening
    'nocrc': Fault('power', 'the CRC of frames is not compared'),
    'nocheck': Fault('power', 'the checks of values are not compared'),
    'novoid': Fault('power', 'rows taken into the tables do not void earlier sets'),
    'voidlate': Fault('power', 'they void the sets of the same frame, too'),
    'noboot': Fault('power', 'unsynced frames of another boot are trusted'),
    'norot': Fault('power', 'an invalid frame is a torn end, whatever it was'),
    'rotbehind': Fault('power', 'whole frames are looked for after the invalid one, not in its place'),
    'rotsynced': Fault('power', 'of these, only synced ones are looked for'),
    'rotlast': Fault('power', 'an invalid frame is torn though it was written to its end'),
    'durablelog': Fault('power', 'a durable reader does not sync the log'),
    'nowriteback': Fault('sync', 'a writer does not write back what it finds'),
    'noreopensync': Fault('power', 'a writer makes nothing durable when it opens'),
    'dropunsynced': Fault('power', 'a writer drops the frames of its boot that are not synced'),
    'nofill': Fault('cache', 'a writer leaves chunks as short as a loss has made them'),
    'nocut': Fault('power', 'a writer does not cut the log at the end of the state'),
    'nochain': Fault('cache', 'the CRC of the previous frame is not compared'),
    'noreread': Fault('power', 'a reader takes for rot what it read while the log was written'),
    'norecheck': Fault('power', 'a reader does not read meta.json again under its lock'),
    'oldschema': Fault('power', 'it reads it, and keeps the schema that it had read before'),
    'metabefore': Fault('power', 'it looks at meta.json before it reads the log, not behind'),
    'nosealrecheck': Fault('power', 'it takes for damage what was unsealed while it was opening'),
    'viewnolock': Fault('power', 'a view of an older state holds no lock'),
    # create, replace and seal
    'metaearly': Fault('power', 'frame 0 is not durable when meta.json is made'),
    'nocreatesync': Fault('power', 'the directory is not synced before meta.json is made'),
    'noparentsync': Fault('power', "the dataset's parent directory is not synced"),
    'lateparentsync': Fault('power', 'it is synced when meta.json is there already'),
    'noleftsync': Fault('power', 'a directory that is found is not synced before leftovers go'),
    'nometasync': Fault('power', 'meta.json.new is not synced before it is renamed'),
    'removeany': Fault('power', 'a dataset is removed without meta.json going first, for good'),
    'sealearly': Fault('power', 'tables are not durable when meta.json says sealed'),
    'notrimsync': Fault('power', 'trimmed lengths are not durable when meta.json says sealed'),
    # switches
    'switchunsynced': Fault('power', 'no synced commit precedes a new generation'),
    'schemaearly': Fault('power', 'nor a change of the schema'),
    'logearly': Fault('power', 'a new log is not durable when meta.json names it'),
    'tablesearly': Fault('power', 'new tables are not durable then'),
    'chunksearly': Fault('power', 'new chunks are not durable then'),
    'entriesearly': Fault('power', 'new files have no durable entry then'),
    'chunkentries': Fault('power', 'new chunks have no durable entry then'),
    'switchlost': Fault('power', 'commits follow a switch that is not durable'),
    'oldlog': Fault('power', 'commits go on in the old log'),
    'basenosets': Fault('power', 'a base frame has no sets'),
    'basenochunks': Fault('power', 'a base frame has only the chunks that have grown'),
    'foldforgets': Fault('power', 'a fold forgets the sets of the commit at its beginning'),
    'nextfalls': Fault('power', 'the next chunk id falls across a switch'),
    'copyblind': Fault('power', 'a rebalance does not verify what it copies'),
    'reusechunk': Fault('power', 'a rebalance uses ids of chunks again'),
    'staychunk': Fault('power', 'after a rebalance, payloads go on into old chunks'),
    'lanegone': Fault('power', 'a lane writes on in a chunk that was removed as a leftover'),
    'keepleft': Fault('power', 'leftovers are not removed before files of their names are made'),
    'addshort': Fault('power', 'tables of a new field are as long as the dataset, not as rows'),
    'stemreuse': Fault('power', 'a new field has the stem of a dropped one'),
    # removal of old files
    'gcearly': Fault('power', 'old files go before the switch is durable'),
    'gcopening': Fault('power', 'an opening removes old files before its barrier'),
    'gcnolock': Fault('power', 'old files go while readers are in them'),
    'gcbefore': Fault('power', 'readers are looked for before the switch, not after it'),
    'gclast': Fault('power', 'only the last generation that used them is asked for'),
    'gcfound': Fault('power', 'files that were found are taken for those of one generation'),
    'gcdropped': Fault('power', "a dropped field's are taken for those of older generations"),
    'oldnames': Fault('power', 'a file goes by its name that has been made anew'),
}
