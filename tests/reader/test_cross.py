# SPDX-License-Identifier: MIT
"""The plain reader reads random datasets of the library's writer.

`make-golden random SEED` makes one of another form for each seed: schema, sizes, commits,
durability, chunks, and its final state, which may be a removed seal. It stores the input of its
writer, which both readers must return. `make-changed random SEED` makes one that was changed by all
operations of a writer.
"""

import json
import struct
import subprocess
import sys
import time

import pytest

from common import (BUILD, HERE, NAMES, TIMEOUT, contents, folder, golden,  # noqa: F401
                    library, library_changes, plain_text, program)
from compose import Composer, field
from zrbase import Absent
from zrecord import Dataset

SEEDS = range(20)


def command():
    """Return the path of the loaderx command; where it is not built, the test is skipped."""
    path = BUILD / "tools" / "loaderx"
    if not path.exists():
        pytest.skip("the command is not built")
    return path


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("maker", ["make-golden", "make-changed"])
def test_random(maker, seed, folder, library):
    subprocess.run([program(maker), "random", str(seed), folder / "d"], check=True,
                   timeout=TIMEOUT)
    wanted = (folder / "d.txt").read_text("ascii")
    assert library.text(folder / "d") == wanted
    assert plain_text(folder / "d") == wanted
    # Closing syncs everything.
    assert plain_text(folder / "d", durable=True) == wanted
    with Dataset(folder / "d") as dataset:
        for one in filter(dataset.is_complete, dataset.meta.fields):
            assert f" {one.name} missing" not in wanted


def changes_text(path):
    """Return the number of changes of each field."""
    with Dataset(path) as dataset:
        return "".join(f"{one.name} {dataset.changes(one)}\n" for one in dataset.meta.fields)


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_of_changes(seed, folder, library_changes):
    """Both count the same, and a rebalance, a seal and a recovery do not change the numbers."""
    path = folder / "d"
    subprocess.run([program("make-changed"), "random", str(seed), path], check=True,
                   timeout=TIMEOUT)
    before = changes_text(path)
    assert library_changes.text(path) == before
    for words in (["rebalance", "-q", path], ["seal", path],
                  ["repair", path, "--into", folder / "new"]):
        subprocess.run([command(), *words], check=True, timeout=TIMEOUT, stdout=subprocess.PIPE)
        assert changes_text(path) == library_changes.text(path) == before
    assert changes_text(folder / "new") == library_changes.text(folder / "new") == before


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_changes_of_goldens(name, folder, library_changes):
    path = golden(name, folder)
    assert library_changes.text(path) == changes_text(path)


@pytest.mark.parametrize("seed", range(100, 106))
def test_follows_the_writer(seed, folder):
    """Whenever the dataset is read while it is written, it has the first of its records."""
    writer = subprocess.Popen([program("make-golden"), "random", str(seed), folder / "d"])
    seen = []
    ended = False
    deadline = time.monotonic() + TIMEOUT
    while not ended:
        if time.monotonic() > deadline:
            writer.kill()
        ended = writer.poll() is not None
        try:
            seen.append(plain_text(folder / "d").splitlines())
        except Absent:
            assert not seen
    assert writer.wait(TIMEOUT) == 0
    wanted = (folder / "d.txt").read_text("ascii").splitlines()
    for lines in seen:
        assert lines[1:] == wanted[1:len(lines)]
    lengths = [int(lines[0].split()[1]) for lines in seen]
    assert lengths == sorted(lengths) and seen[-1] == wanted


@pytest.mark.parametrize("options", [(), ("--compress", "x=flate"), ("--chunk-records", "7"),
                                     ("--seal",)])
def test_imported_array(folder, options):
    """An array of (50, 3, 8) items of uint16, as NumPy saves it."""
    head = repr({"descr": "<u2", "fortran_order": False, "shape": (50, 3, 8)}).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    items = bytes(k * k // 7 & 0xFF for k in range(50 * 48))
    (folder / "x.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + items)
    subprocess.run([command(), "import", "d", "--npy", "x=x.npy", "-q", *options], check=True,
                   cwd=folder, timeout=TIMEOUT)
    with Dataset(folder / "d") as dataset:
        one = dataset.field("x")
        assert (one.dtype, one.shape, dataset.state.length) == ("uint16", (3, 8), 50)
        assert b"".join(dataset.read(one, k) for k in range(50)) == items
        assert dataset.meta.sealed == ("--seal" in options) and dataset.verify() == []


def test_command_prints_the_same_bytes(folder):
    path = golden("rows", folder)
    with Dataset(path) as dataset:
        for one in dataset.meta.fields:
            read = {k: dataset.read(one, k) for k in range(dataset.state.length)}
            there = {k: what for k, what in read.items() if what is not None}
            shown = subprocess.run([command(), "get", path, *map(str, there), "--field", one.name,
                                    "--raw"], check=True, timeout=TIMEOUT,
                                   stdout=subprocess.PIPE).stdout
            assert shown == b"".join(there.values())
        done = subprocess.run([command(), "verify", path], timeout=TIMEOUT, stdout=subprocess.PIPE)
        assert done.returncode == 0 and dataset.verify() == []


CARDS = [{}, {"license": "MIT"}, {"source": "\u00e4\n\x7f\U0001f600", "description": ""},
         {f"k{i}": "x" for i in range(64)}, {"a": "x" * 65535}]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("maker", ["make-golden", "make-changed"])
def test_digests(maker, seed, folder):
    """Both compute the same digest, and a copy that is stored in another way has it, too."""
    path = folder / "d"
    subprocess.run([program(maker), "random", str(seed), path], check=True, timeout=TIMEOUT)
    subprocess.run([command(), "copy", path, folder / "copy", "-q", "--seal"], check=True,
                   timeout=TIMEOUT)
    for one in path, folder / "copy":
        shown = subprocess.run([command(), "digest", one], check=True, timeout=TIMEOUT,
                               stdout=subprocess.PIPE).stdout.decode()
        with Dataset(path) as dataset:
            assert shown == f"{dataset.digest():016x}  {one}\n"


def run_card(path, *options):
    """Run `loaderx card`; return the card that it prints."""
    shown = subprocess.run([command(), "card", path, "--json", *options], check=True,
                           timeout=TIMEOUT, stdout=subprocess.PIPE).stdout
    return json.loads(shown)["card"]


@pytest.mark.parametrize("card", CARDS)
def test_cards(card, folder):
    """The library reads a composed card, and the plain reader one that the library set."""
    for name, written in ("composed", card), ("set", {}):
        new = Composer([field(0, "x")], meta={"card": written})
        new.frame(0)
        new.write(folder / name)
    assert run_card(folder / "composed") == card
    assert run_card(folder / "set", *(f"--set={key}={text}" for key, text in card.items())) == card
    for name in "composed", "set":
        with Dataset(folder / name) as dataset:
            assert dataset.meta.card == card


@pytest.mark.parametrize("dtype, value, valid", [
    ("str", "gr\u00fc\u00df".encode(), True), ("str", b"gr\xfc\xdf", False), ("str", b"", True),
    ("str", b"\xed\xa0\x80", False), ("json", b"[1, {}]", True), ("json", b"[1, {]", False),
    ("json", b"", False), ("json", b"NaN", False), ("json", b"[" * 512 + b"]" * 512, True),
    ("json", b"[" * 513 + b"]" * 513, False), ("image", b"\xff\xd8\xff", True)])
@pytest.mark.parametrize("compress", ["raw", "flate"])
def test_verification_checks_the_content(folder, dtype, value, valid, compress):
    new = Composer([field(0, "x", dtype, compress=compress)])
    new.frame(0)
    words = new.stored(0, 0, value) if len(value) > 8 else new.entry(0, 0, value)
    new.frame(1, 0, sorted(new.chunks), [(0, 0, words)])
    new.write(folder / "d")
    assert plain_text(folder / "d") == new.text([{"x": value}])    # a reader need not check it
    with Dataset(folder / "d") as dataset:
        assert (dataset.verify() == []) == valid
    done = subprocess.run([command(), "verify", folder / "d"], timeout=TIMEOUT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode == 0) == valid
    assert valid or b"at byte" in done.stdout + done.stderr


def run(*arguments):
    """Run the plain reader as a command."""
    return subprocess.run([sys.executable, HERE / "zrecord.py", *map(str, arguments)],
                          timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_plain_reader_as_a_command(folder):
    path = golden("replayed", folder)
    assert run(path, "--dump").stdout.decode() == contents("replayed")
    with Dataset(path) as dataset:
        wanted = f"length  3\nfield   x bytes [] raw\ndigest  {dataset.digest():016x}\n"
        assert run(path).stdout.decode() == wanted
        assert run(path, "--get", "x", 1).stdout == dataset.read(dataset.field("x"), 1)
    assert run(path, "--verify").returncode == 0
    assert run(path, "--get", "x", 3).returncode == 1
    (path / "chunk" / "0.zr").write_bytes(bytes(100))
    assert run(path, "--verify").returncode == 1
    failed = run(path)
    assert failed.returncode == 1 and b"field x, record 0, offset 32" in failed.stderr
