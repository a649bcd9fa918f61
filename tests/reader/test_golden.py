# SPDX-License-Identifier: MIT
"""The plain reader and the library read the stored contents of every golden dataset."""

import pytest

import make_golden
import tars
from common import (GOLDENS, NAMES, contents, folder, golden,  # noqa: F401
                    golden_files, library, plain_text)
from compose import BOOT, SYNCED, Composer, edit_meta, field, moved
from zrbase import Corrupt, OutOfRange, Unsupported, crc32c, present_boot
from zrecord import Dataset


def test_crc32c():
    assert crc32c(b"123456789") == crc32c(b"1234", b"", b"56789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_all_goldens_exist():
    assert set(NAMES) == {*make_golden.WRITTEN, *make_golden.CHANGED,
                          *make_golden.COMPOSED}
    assert {path.stem for path in GOLDENS.iterdir()} == set(make_golden.FAMILIES)
    for family, names in make_golden.FAMILIES.items():
        files = tars.read(GOLDENS / f"{family}.tar")
        assert {name.partition("/")[0] for name in files if "/" in name} == set(names)
        assert {name for name in files if "/" not in name} == {f"{name}.txt" for name in names}


TARS = [*GOLDENS.glob("*.tar"), *(GOLDENS.parents[1] / "fuzz" / "corpus").glob("*.tar")]


@pytest.mark.parametrize("path", TARS, ids=lambda path: path.name)
def test_tar_follows_from_its_files(path, folder):
    tars.write(folder / "again.tar", tars.read(path))
    assert (folder / "again.tar").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_golden(name, folder):
    path = golden(name, folder)
    assert plain_text(path) == contents(name)
    with Dataset(path) as dataset:
        assert dataset.verify() == []
        with pytest.raises(OutOfRange):
            dataset.read(dataset.meta.fields[0], dataset.state.length)


@pytest.mark.parametrize("name", NAMES)
def test_library_reads_golden(name, folder, library):
    status, text = library.read(golden(name, folder))
    if name == "zstd-frames" and status == "LX_ERR_UNSUPPORTED":
        pytest.skip("the library was built without libzstd")
    assert (status, text) == ("LX_OK", contents(name))


@pytest.mark.parametrize("name", make_golden.COMPOSED)
def test_composing_gives_the_golden(name, folder):
    """All except the streams, which depend on the zlib version."""
    if name == "streams":
        return
    new, records = make_golden.COMPOSED[name]()
    assert new.text(records) == contents(name)
    assert new.files() == golden_files(name)


@pytest.mark.parametrize("name", ["sealed", "sealed-empty", "sealed-again", "sealed-changed",
                                  "joined"])
def test_sealed_golden_without_its_log(name, folder):
    path = golden(name, folder)
    next(path.glob("LOG*")).unlink()
    assert plain_text(path, log=False) == contents(name)
    with pytest.raises(Corrupt):
        Dataset(path)


def test_log_must_be_read_if_not_sealed(folder):
    with pytest.raises(Unsupported):
        Dataset(golden("rows", folder), log=False)


# The present boot, which no golden can contain.

def present_log(**options):
    """Three records, each in a frame: synced, and two of the present boot that are not."""
    new = Composer([field(0, "x")])
    new.frame(0)
    for k in range(3):
        new.frame(k + 1, 0, [0], [(0, k, new.stored(0, k, make_golden.value(k)))],
                  flags=0 if k else SYNCED, boot=options.get("boot", BOOT))
    return new


@pytest.mark.parametrize("boot, durable, length", [
    (BOOT, False, 3), (BOOT, True, 1), (None, False, 1), (bytes(8), False, 1),
    (b"another!", False, 1)])
def test_boot(folder, boot, durable, length):
    present_log().write(folder / "d")
    with Dataset(folder / "d", durable, boot) as dataset:
        assert dataset.state.length == length


@pytest.mark.skipif(present_boot() is None, reason="the boot is not known here")
def test_present_boot(folder, library):
    new = present_log(boot=present_boot())
    new.write(folder / "d")
    assert plain_text(folder / "d") == library.text(folder / "d")
    assert plain_text(folder / "d").startswith("length 3\n")


# Unsealing while a reader has the dataset open.

def remove_seal(path):
    """Replace meta.json, as a writer does."""
    edit_meta(path, lambda text: text.replace(b'"sealed": true', b'"sealed": false'),
              "meta.json.new")
    (path / "meta.json.new").rename(path / "meta.json")


def test_unsealed_while_a_reader_reads(folder):
    path = golden("sealed-again", folder)
    with Dataset(path) as dataset, Dataset(path) as other:
        remove_seal(path)
        for name in ("x.offset.1", "chunk/8.zr", "chunk/9.zr"):
            with open(path / name, "ab") as file:
                file.write(b"more")
        text = "".join(line + "\n" for line in dataset.dump())
        assert text == contents("sealed-again") and dataset.verify() == []
        (path / "chunk" / "8.zr").write_bytes(b"less")
        assert other.verify()


def test_records_after_an_unsealing(folder, monkeypatch):
    """The dataset is unsealed, and a record appended, between reading meta.json and the log."""
    new, records = make_golden.COMPOSED["sealed-again"]()
    new.write(folder / "d")
    path = folder / "d"
    replay = Dataset._replay

    def late(self, *arguments):
        if self.meta.sealed:
            new.frame(7, 6, [], [(0, 6, new.entry(0, 6, b"new")), (1, 6, bytes(24))], 20)
            (path / "LOG.4").write_bytes(new.log)
            remove_seal(path)
        return replay(self, *arguments)

    monkeypatch.setattr(Dataset, "_replay", late)
    assert plain_text(path) == new.text(records + [{"x": b"new", "n": None}])


def test_record_moved_after_a_field_was_dropped(folder, monkeypatch):
    """A field is dropped, and a record moved without it, between reading meta.json and the log."""
    new = Composer([field(0, "x"), field(1, "y")])
    new.frame(0)
    updates = [(number, k, new.stored(number, k, make_golden.value(2 * k + number)))
            for k in range(2) for number in (0, 1)]
    new.frame(2, 0, [0], updates)
    new.write(folder / "d")
    path = folder / "d"
    del new.meta["fields"][1], new.by_id[1], new.tables[1]
    new.frame(1, 0, [], [(0, 0, moved(updates[2][2], 1, 0))])
    replay = Dataset._replay

    def late(self, *arguments):
        new.write(folder / "later")
        for name in ("LOG", "meta.json"):
            (folder / "later" / name).rename(path / name)
        monkeypatch.setattr(Dataset, "_replay", replay)
        return replay(self, *arguments)

    monkeypatch.setattr(Dataset, "_replay", late)
    assert plain_text(path) == new.text([{"x": make_golden.value(2)}])
