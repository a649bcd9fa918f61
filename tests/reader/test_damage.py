# SPDX-License-Identifier: MIT
"""With any bit of a dataset flipped, and any file truncated, no reader returns a wrong byte.

Both read each damaged dataset. They must agree: the same contents, or an error of both. Contents
must be right: those of the dataset, or of an earlier commit if the log lost its end.
"""

import random

import pytest

from common import NAMES, copy, folder, golden, library, plain_text  # noqa: F401
from compose import SYNCED, Composer, field
from make_golden import value
from zrbase import Corrupt, ZrError, present_boot
from zrecord import Dataset
from zrlog import HEADER

# Damages of each file of each dataset: all of a small file, a sample of the others.
SAMPLE = 40
SEED = 20240607


def earlier(path):
    """Return the contents of each commit up to the last, by logs that end earlier."""
    log = next(path.glob("LOG*"))
    whole = log.read_bytes()
    ends = []
    at = 0
    while at + 72 <= len(whole) and whole[at:at + 4] == b"LXLF":
        at += HEADER.unpack_from(whole, at)[1]
        ends.append(at)
    states = []
    for end in ends:
        log.write_bytes(whole[:end])
        try:
            states.append(plain_text(path))
        except ZrError:
            assert end < len(whole)
    log.write_bytes(whole)
    return states


def outcomes(path, library):
    """Return the contents that both read, or None for errors, which must be of the same class."""
    status, text = library.read(path)
    assert status in ("LX_OK", "LX_ERR_CORRUPT", "LX_ERR_UNSUPPORTED", "LX_ERR_NOT_FOUND"), text
    try:
        plain = plain_text(path)
    except ZrError:
        plain = None
    assert plain == (text if status == "LX_OK" else None), (status, text)
    return plain


def damages(data, generator):
    """Yield damaged contents of a file: a bit flipped, its end removed, a part zero."""
    bits = range(8 * len(data))
    for bit in bits if len(bits) <= SAMPLE else generator.sample(bits, SAMPLE):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", changed
    ends = range(len(data))
    for end in ends if len(ends) <= SAMPLE // 2 else generator.sample(ends, SAMPLE // 2):
        yield f"cut at {end}", data[:end]
        yield f"zeros from {end}", data[:end] + bytes(len(data) - end)


def try_all(path, library, generator):
    """Apply each damage to each file of a dataset, one at a time."""
    right = earlier(path)
    assert outcomes(path, library) in right
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        data = file.read_bytes()
        for what, changed in damages(data, generator):
            file.write_bytes(changed)
            seen = outcomes(path, library)
            where = f"{file.name}: {what}"
            assert seen is None or seen in right, where
            assert seen is None or file.name != "meta.json", where
            if not file.name.startswith("LOG"):
                assert seen is None or seen == right[-1], where
        file.write_bytes(data)
    assert outcomes(path, library) == right[-1]


def tiny():
    """A dataset with rows and updates, all kinds of values, and three commits."""
    new = Composer([field(0, "x", "uint8", (3, 4), align=4), field(1, "n", "int16", (), align=2),
                    field(2, "z", compress="flate")])
    stream = b"\x4b\xcf\xd7\x51\x40\x60\x45\x00"
    new.frame(0)
    for k, words in enumerate((new.stored(0, 0, value(0)), new.entry(1, 0, b"ab"),
                               new.stored(2, 0, b"go, go, go, go!", 0, stream))):
        new.tables[k].append(words)
    new.frame(1, 1, [0])
    new.frame(2, 1, [0], [(0, 1, new.stored(0, 1, value(1))), (1, 1, bytes(24)),
                          (2, 1, new.entry(2, 1, b""))])
    new.frame(3, 1, [1], [(0, 2, new.stored(0, 2, value(2), 1)), (1, 2, new.entry(1, 2, b"cd")),
                          (2, 2, new.entry(2, 2, b"inline"))])
    return new


def test_each_bit_of_a_tiny_dataset(folder, library):
    new = tiny()
    new.write(folder / "d")
    path = folder / "d"
    right = earlier(path)
    for name, data in new.files().items():
        for bit in range(0, 8 * len(data), 1 if len(data) < 100 else 7):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            (path / name).write_bytes(changed)
            seen = outcomes(path, library)
            assert seen is None or seen in right[0 if name == "LOG" else -1:], (name, bit)
        (path / name).write_bytes(data)
    assert outcomes(path, library) == right[-1]


def unsynced(folder):
    """Write a dataset of this boot with two unsynced commits; return their places in the log."""
    new = Composer([field(0, "x")])
    new.frame(0)
    places = []
    for k, flags in enumerate((SYNCED, 0, 0)):
        places.append(len(new.log))
        new.frame(k + 1, 0, [0], [(0, k, new.stored(0, k, value(k)))], flags=flags,
                  boot=present_boot())
    new.write(folder / "d")
    return new, places[1:]


@pytest.mark.skipif(present_boot() is None, reason="the present boot is not known")
def test_each_bit_of_commits_that_are_not_synced(folder, library):
    """Frames that this boot completed must not be lost silently."""
    new, (first, last) = unsynced(folder)
    path, right = folder / "d", earlier(folder / "d")
    # The size and the boot of the last frame.
    hidden = {*range(last, last + 8), *range(last + 32, last + 40), *range(last + 48, last + 56)}
    for bit in range(8 * first, 8 * len(new.log)):
        changed = bytearray(new.log)
        changed[bit // 8] ^= 1 << bit % 8
        (path / "LOG").write_bytes(changed)
        seen = outcomes(path, library)
        assert (seen is None) == (bit // 8 not in hidden), bit
        assert seen is None or seen == right[-2], bit


@pytest.mark.skipif(present_boot() is None, reason="the present boot is not known")
def test_an_interrupted_commit(folder, library):
    """The frame ends with the file, or with zeros that were there before it."""
    new, (_, last) = unsynced(folder)
    path, right = folder / "d", earlier(folder / "d")
    for end in range(last, len(new.log), 4):
        for zeros in (0, len(new.log) - end, 4096):
            (path / "LOG").write_bytes(new.log[:end] + bytes(zeros))
            assert outcomes(path, library) == right[-2], (end, zeros)


@pytest.mark.parametrize("name", ["one-field", "replayed", "moved", "sealed-again", "boots"])
def test_golden_with_damage(name, folder, library):
    assert name in NAMES
    try_all(golden(name, folder), library, random.Random(SEED))


def test_two_files_of_two_datasets(folder, library):
    """Files of another dataset of the same form are detected."""
    for k, uuid in enumerate(("00112233-4455-6677-8899-aabbccddeeff",
                              "ffeeddcc-bbaa-9988-7766-554433221100")):
        new = tiny()
        other = Composer(new.meta["fields"], meta={"uuid": uuid})
        other.frame(0)
        other.tables = {number: [other.stored(number, 0, value(k + number), 0)]
                        if number != 1 else [other.entry(1, 0, bytes([k, 9]))]
                        for number in (0, 1, 2)}
        other.frame(1, 1, [0])
        other.write(folder / str(k))
    for file in ("LOG", "chunk/0.zr", "x.offset", "x.check", "n.offset", "z.check"):
        path = copy(folder / "0", folder / file.replace("/", "-"))
        (path / file).write_bytes((folder / "1" / file).read_bytes())
        seen = outcomes(path, library)
        assert seen is None or seen == plain_text(folder / "0"), file


def test_verification_finds_each_bit_of_a_payload(folder):
    """The place of a damage is reported: field, record, file, offset."""
    new = tiny()
    new.write(folder / "d")
    chunk = folder / "d" / "chunk" / "0.zr"
    data = bytearray(chunk.read_bytes())
    data[17] ^= 4
    chunk.write_bytes(data)
    with Dataset(folder / "d") as dataset:
        error, = dataset.verify()
    assert (error.field, error.record, error.file, error.offset) == ("z", 0, "chunk/0.zr", 16)


def test_a_row_of_zeros_in_a_complete_field_is_damage(folder, library):
    """No value of the field is missing, so the row was lost."""
    new = Composer([field(0, "n", "int16", (), align=2, complete=True),
                    field(1, "m", "int16", (), align=2)])
    new.frame(0)
    for number in range(2):
        new.tables[number] += [new.entry(number, 0, b"ab"), bytes(24)]
    new.frame(2, 2)
    new.write(folder / "d")
    with Dataset(folder / "d") as dataset:
        error, = dataset.verify()
        with pytest.raises(Corrupt):
            dataset.read(dataset.field("n"), 1)
        assert dataset.read(dataset.field("m"), 1) is None
    assert (error.field, error.record, error.offset) == ("n", 1, 16)
    assert library.read(folder / "d")[0] == "LX_ERR_CORRUPT"
