# SPDX-License-Identifier: MIT
"""What the tests of the second reader have in common."""

import os
import pathlib
import select
import subprocess
import tempfile

import pytest

from zrecord import Dataset

# Bounds every run of a program; sanitizers make them ten times slower.
TIMEOUT = 120
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("top_builddir", ".")).resolve()
GOLDENS = HERE.parent / "data" / "zrecord"
NAMES = sorted(path.stem for path in GOLDENS.glob("*.txt"))


def program(name):
    """Return the path of a program that the build has made; without it the test is skipped."""
    path = BUILD / "tests" / "reader" / name
    if not path.exists():
        pytest.skip(f"{path} is not built: run by make check, or set top_builddir")
    return path


def copy(source, target):
    """Copy a dataset; the copy can be written to, and has a chunk directory, which git drops."""
    (target / "chunk").mkdir(parents=True)
    for path in source.rglob("*"):
        if path.is_file():
            (target / path.relative_to(source)).write_bytes(path.read_bytes())
    return target


def golden(name, folder):
    """Copy a golden to a folder; return its path there."""
    return copy(GOLDENS / name, folder / name)


def contents(name):
    """Return the canonical form of a golden, as it was written down when it was made."""
    return (GOLDENS / f"{name}.txt").read_text("ascii")


def plain_text(path, **options):
    """Return the canonical form of a dataset as the plain reader sees it."""
    with Dataset(path, **options) as dataset:
        return "".join(line + "\n" for line in dataset.dump())


class Library:
    """The library's reader, in a process that is asked for one dataset after another."""

    def __init__(self):
        self.process = subprocess.Popen([program("dump-dataset")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def read(self, path):
        """Return the name of the status, and the contents or the error, of a dataset."""
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], TIMEOUT)[0]:
            self.process.kill()
        head = self.process.stdout.readline().split()
        assert len(head) == 2, f"the library's reader ended: {self.process.wait(TIMEOUT)}"
        return head[1].decode(), self.process.stdout.read(int(head[0])).decode()

    def text(self, path):
        """Return the contents; it has to succeed."""
        status, text = self.read(path)
        assert status == "LX_OK", text
        return text

    def close(self):
        """End the process, which must end well."""
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(TIMEOUT) == 0


@pytest.fixture(scope="module")
def library():
    """The library's reader."""
    reader = Library()
    yield reader
    reader.close()


@pytest.fixture
def folder():
    """An empty folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="loaderx-reader-") as path:
        yield pathlib.Path(path)
