# SPDX-License-Identifier: MIT
"""Joint frames at the end of a log: which count, for whom, and what is looked at for that.

The goldens have those of other boots that count and that do not; here are the present boot, the
durable state, and what no golden can hold.
"""

import os

import pytest

from common import folder, library, plain_text  # noqa: F401
from compose import BOOT, JOINT, SYNCED, Composer, field
from make_golden import GO, GO_STREAM, OTHER_BOOT, one_joint, value
from zrbase import Corrupt, ZrError, present_boot
from zrecord import Dataset
from zrjoint import JointChunks
from zrlog import JOINT_BYTES_MAX, JOINT_SETS_MAX


def keep(chunk):
    """Lose nothing."""


def lose(chunk):
    """Lose what the joint frame put into the chunk."""
    chunk[16:] = bytes(len(chunk) - 16)


def length(path, **options):
    """Return the length of a dataset in the state of its opening."""
    with Dataset(path, **options) as dataset:
        return dataset.state.length


# The present boot.

@pytest.mark.parametrize("lost, boot, durable, wanted", [
    # Of the present boot, it is not looked at.
    (keep, OTHER_BOOT, False, 3), (keep, OTHER_BOOT, True, 3), (lose, OTHER_BOOT, False, 3),
    (lose, OTHER_BOOT, True, 3),
    (keep, BOOT, False, 3), (keep, BOOT, True, 3), (keep, None, False, 3), (keep, None, True, 3),
    (lose, BOOT, False, 1), (lose, BOOT, True, 1), (lose, None, False, 1), (lose, None, True, 1)])
def test_joint_frame_is_last(folder, lost, boot, durable, wanted):
    new, _ = one_joint(lost)
    new.write(folder / "d")
    assert length(folder / "d", durable=durable, boot=boot) == wanted


def several(*frames, harm=keep):
    """A record in each of these frames, (flags, boot), behind a base; each payload has 12 bytes."""
    new = Composer([field(0, "x")])
    new.frame(0)
    for k, (flags, boot) in enumerate(frames):
        new.frame(k + 1, 0, [0], [(0, k, new.stored(0, k, value(k)))], flags=flags, boot=boot)
    harm(new.chunks[0])
    return new


S, J, U = SYNCED, JOINT, 0


@pytest.mark.parametrize("frames, boot, wanted, durable", [
    # Frames of the present boot before and behind one: those before are settled.
    (((S, BOOT), (U, BOOT), (J, BOOT), (U, BOOT)), BOOT, 4, 3),
    (((S, BOOT), (U, BOOT), (J, BOOT), (U, BOOT)), None, 3, 3),
    (((S, BOOT), (U, BOOT), (J, BOOT), (U, OTHER_BOOT)), BOOT, 3, 3),
    (((S, BOOT), (J, BOOT), (J, BOOT), (S, BOOT), (U, BOOT)), BOOT, 5, 4),
    (((S, BOOT), (J, BOOT), (J, BOOT), (S, BOOT), (U, BOOT)), None, 4, 4),
    # The state ends behind one of another boot.
    (((S, BOOT), (J, OTHER_BOOT), (U, OTHER_BOOT)), BOOT, 2, 2),
    (((S, BOOT), (J, bytes(8))), None, 2, 2)])
def test_frames_around_a_joint_one(folder, frames, boot, wanted, durable):
    several(*frames).write(folder / "d")
    assert length(folder / "d", boot=boot) == wanted
    assert length(folder / "d", boot=boot, durable=True) == durable


def test_settled_joint_frame_is_not_looked_at(folder):
    """What a settled frame lost is damage of a value."""
    new = several((S, BOOT), (J, OTHER_BOOT), (J, OTHER_BOOT))
    new.chunks[0][16:28] = bytes(12)
    new.write(folder / "d")
    with Dataset(folder / "d") as dataset:
        assert dataset.state.length == 3
        error, = dataset.verify()
        assert isinstance(error, Corrupt) and error.record == 1


@pytest.mark.skipif(present_boot() is None, reason="the boot is not known here")
@pytest.mark.parametrize("lost", [keep, lose])
@pytest.mark.parametrize("kind", [J, U])
def test_both_readers_in_the_present_boot(folder, library, lost, kind):
    new = several((S, BOOT), (kind, present_boot()), (J, present_boot()), (U, present_boot()))
    lost(new.chunks[0])
    new.write(folder / "d")
    assert length(folder / "d") == 4
    status, text = library.read(folder / "d")
    assert status == ("LX_OK" if lost is keep else "LX_ERR_CORRUPT")
    assert lost is lose or text == plain_text(folder / "d")


# The durable state: a joint frame of it may be on its way to the disk still.

def test_durable_reader_syncs_the_chunks(folder, monkeypatch):
    new, _ = one_joint(keep)
    new.write(folder / "d")
    synced = []
    sync = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda file: (
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{file}"))), sync(file)))
    assert length(folder / "d", boot=OTHER_BOOT) == 3 and synced == []
    assert length(folder / "d", boot=OTHER_BOOT, durable=True) == 3
    assert synced == ["LOG", "0.zr"]


def test_durable_reader_fails_where_chunks_cannot_be_synced(folder, monkeypatch):
    new, _ = one_joint(keep)
    new.write(folder / "d")
    sync = os.fdatasync

    def refuse(file):
        if os.readlink(f"/proc/self/fd/{file}").endswith(".zr"):
            raise OSError("no sync")
        sync(file)

    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(OSError):
        length(folder / "d", boot=OTHER_BOOT, durable=True)
    assert length(folder / "d", boot=OTHER_BOOT) == 3


def test_frame_that_is_cut_while_it_is_looked_at_does_not_count(folder, monkeypatch):
    new, _ = one_joint(keep)
    new.write(folder / "d")
    look = JointChunks.intact

    def cut(self, frame, before):
        os.truncate(folder / "d" / "LOG", frame.at)
        return look(self, frame, before)

    monkeypatch.setattr(JointChunks, "intact", cut)
    assert length(folder / "d", boot=BOOT) == 1


# What makes a joint frame of another boot count, and what does not.

def composed(change):
    """A joint frame of another boot behind a record of each field; `change` adds its sets."""
    new = Composer([field(0, "x"), field(1, "n", "int16", (2,), align=4),
                    field(2, "z", compress="flate")])
    new.item(1)
    first = [new.stored(0, 0, value(0)), new.entry(1, 0, b"4444"), new.stored(2, 0, value(1))]
    new.frame(0)
    new.frame(1, 0, [0, 1], [(number, 0, words) for number, words in enumerate(first)])
    sets = change(new)
    new.frame(2, 0, [0, 1], sets, flags=JOINT, boot=OTHER_BOOT)
    return new


def words(number, chunk, physical, offset, logical, stored=None):
    """Return what adds a set with these words, its crc right, behind 24 bytes more in chunk 0."""
    def apply(new):
        new.chunks[0] += value(9, 24)
        there = new.chunks.get(chunk, b"")[offset:offset + physical] if stored is None else stored
        return [(number, 1, new._checked(number, 1, (chunk, physical, offset, logical), there))]
    return apply


U32 = 0xFFFFFFFF


def two(new):
    """A payload that is lost, of a set that another one replaces in the same frame."""
    lost = new.stored(0, 1, value(2))
    new.chunks[0][-1] ^= 1
    return [(0, 1, lost), (0, 1, new.entry(0, 1, b"new"))]


def behind_length(new):
    """A payload that is lost, of a set at the length of its frame."""
    lost = new.stored(0, 2, value(2))
    new.chunks[0][-1] ^= 1
    return [(0, 2, lost)]


# 12 bytes from 0 and from 16 of chunk 0 are of the frame before; 24 from 28 are added.
CASES = {
    "no sets": (lambda new: [], True), "new payload": (words(0, 0, 12, 32, 12), True),
    "compressed": (lambda new: [(2, 1, new.stored(2, 1, GO, 0, GO_STREAM))], True),
    "no stream, and the checksum right": (words(2, 0, 12, 32, 13), True),
    "to the end": (words(0, 0, 20, 32, 20), True), "beyond": (words(0, 0, 21, 32, 21), False),
    "far beyond": (words(0, 0, 16, (1 << 64) - 8, 16), False),
    "not aligned": (words(0, 0, 12, 36, 12), False), "no such chunk": (words(0, 7, 4, 0, 4), False),
    "no bytes": (words(2, 0, 0, 32, 12), False), "raw and shorter": (words(0, 0, 9, 32, 10), False),
    "more than the value": (words(2, 0, 12, 32, 11), False),
    "size of a dense field": (words(1, 0, 6, 32, 6), False),
    "inline of 9": (words(0, U32, 9, 0, 9, bytes(9)), False),
    "slot": (words(0, U32, 1, 256, 1, b"\0"), False),
    "wrong checksum": (words(0, 0, 12, 32, 12, bytes(12)), False),
    "wrong checksum of an inline value": (words(0, U32, 2, 9, 2, b"no"), False),
    # Whatever is wrong with it, it lies in what was settled.
    "old, with a wrong checksum": (words(0, 0, 12, 16, 12, bytes(12)), True),
    "old, and not aligned": (words(0, 0, 8, 20, 8), True),
    "partly old, with a wrong checksum": (words(0, 0, 12, 24, 12, bytes(12)), False),
    "chunk 1, which had no bytes": (words(0, 1, 4, 0, 4, b"gone"), False),
    "unknown field": (lambda new: [(7, 1, bytes(range(24)))], True),
    "lost, and replaced": (two, False), "lost, and behind the length": (behind_length, False),
}


@pytest.mark.parametrize("what", CASES)
def test_intact(folder, what):
    change, wanted = CASES[what]
    composed(change).write(folder / "d")
    assert length(folder / "d") == (2 if wanted else 1)


@pytest.mark.parametrize("what", CASES)
def test_both_readers_find_it_intact_or_not(folder, library, what):
    """Where a value that counts cannot be read, both say so."""
    composed(CASES[what][0]).write(folder / "d")
    status, text = library.read(folder / "d")
    try:
        assert (status, text) == ("LX_OK", plain_text(folder / "d"))
    except ZrError:
        assert status == "LX_ERR_CORRUPT"


def grown(new):
    """The first payload of a chunk that had none."""
    return [(0, 1, new.stored(0, 1, value(2), 1))]


@pytest.mark.parametrize("change, wanted", [(grown, 1), (lambda new: [], 2)])
def test_chunk_that_is_absent(folder, change, wanted):
    """A chunk of 0 bytes may be absent, and no other."""
    composed(change).write(folder / "d")
    assert length(folder / "d") == 2
    (folder / "d" / "chunk" / "1.zr").unlink()
    assert length(folder / "d") == wanted


def test_chunk_that_is_shorter_where_no_value_is(folder):
    def grow(new):
        new.chunks[0] += bytes(4)
        return [(0, 1, new.entry(0, 1, b"here"))]

    composed(grow).write(folder / "d")
    chunk = folder / "d" / "chunk" / "0.zr"
    assert length(folder / "d") == 2
    os.truncate(chunk, chunk.stat().st_size - 1)
    assert length(folder / "d") == 1


def test_no_directory_of_chunks(folder):
    new, _ = one_joint(keep)
    new.write(folder / "d")
    (folder / "d" / "chunk").rename(folder / "chunk")
    assert length(folder / "d") == 1


def test_link_in_the_place_of_a_chunk(folder):
    """It is damage, and no loss: opening fails."""
    new, _ = one_joint(keep)
    new.write(folder / "d")
    chunk = folder / "d" / "chunk" / "0.zr"
    chunk.rename(folder / "real")
    chunk.symlink_to(folder / "real")
    with pytest.raises(Corrupt):
        Dataset(folder / "d")


# The limits of rule 9, and the end of the log.

@pytest.mark.parametrize("sets, sizes", [
    (JOINT_SETS_MAX, []), (0, [JOINT_BYTES_MAX]), (0, [JOINT_BYTES_MAX - 1, 1])])
def test_largest_joint_frame(folder, sets, sizes):
    new = Composer([field(0, "x")])
    new.frame(0)
    new.frame(1, 0, range(2), [(0, 0, new.entry(0, 0, b"x"))])
    for chunk, size in enumerate(sizes):
        new.chunks[chunk] += bytes(size)
    new.frame(1, 0, range(len(sizes)), [(0, 1, bytes(24))] * sets, flags=JOINT, boot=OTHER_BOOT)
    new.write(folder / "d")
    with Dataset(folder / "d") as dataset:
        assert dataset.state.epoch == 2


@pytest.mark.parametrize("last, error", [(J, True), (S, True), (U, False)])
def test_rot_before_the_last_frame(folder, last, error):
    new = several((S, BOOT), (U, BOOT), (last, OTHER_BOOT))
    new.log[-2 * 128 + 17] ^= 1
    new.write(folder / "d")
    if error:
        with pytest.raises(Corrupt):
            Dataset(folder / "d")
    else:
        assert length(folder / "d") == 1


def test_joint_frame_that_was_torn(folder):
    """The last frame is no rot, wherever it ends."""
    new = several((S, BOOT), (J, BOOT), (J, BOOT))
    whole = bytes(new.log)
    for end in range(len(whole) - 128, len(whole), 13):
        for rest in (b"", bytes(len(whole) - end), bytes(4096)):
            new.log = bytearray(whole[:end] + rest)
            new.write(folder / f"{end}-{len(rest)}")
            assert length(folder / f"{end}-{len(rest)}") == 2
