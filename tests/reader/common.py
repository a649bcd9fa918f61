# SPDX-License-Identifier: MIT
"""The common part of the tests of the second reader."""

import os
import pathlib
import select
import shutil
import subprocess
import tempfile

import pytest

import tars
from zrecord import Dataset

# Bounds every run of a program; sanitizers make them ten times slower.
TIMEOUT = 120
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("top_builddir", ".")).resolve()
GOLDENS = HERE.parent / "data" / "zrecord"
FILES = {name: data for path in GOLDENS.glob("*.tar") for name, data in tars.read(path).items()}
NAMES = sorted(name[:-4] for name in FILES if "/" not in name)


def program(name):
    """Return the path of a program of the build; skip the test if it does not exist."""
    path = BUILD / "tests" / "reader" / name
    if not path.exists():
        pytest.skip(f"{path} is not built: run by make check, or set top_builddir")
    return path


def copy(source, target):
    """Copy a dataset."""
    shutil.copytree(source, target)
    return target


def golden_files(name):
    """Return the files of a golden, by their paths in it."""
    return {path[len(name) + 1:]: data for path, data in FILES.items()
            if path.startswith(f"{name}/")}


def golden(name, folder, to=None):
    """Unpack a golden in a folder, as `to` or by its name; return its path there."""
    target = folder / (to or name)
    (target / "chunk").mkdir(parents=True)
    for path, data in golden_files(name).items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(data)
    return target


def contents(name):
    """Return the canonical form of a golden, which was written when it was made."""
    return FILES[f"{name}.txt"].decode("ascii")


def plain_text(path, **options):
    """Return the canonical form of a dataset as the plain reader sees it."""
    with Dataset(path, **options) as dataset:
        return "".join(line + "\n" for line in dataset.dump())


class Library:
    """The library's reader, in a process that reads one dataset after another."""

    def __init__(self, *options):
        self.process = subprocess.Popen([program("dump-dataset"), *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

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
        """Return the contents; reading must succeed."""
        status, text = self.read(path)
        assert status == "LX_OK", text
        return text

    def close(self):
        """End the process, which must exit with 0."""
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(TIMEOUT) == 0


@pytest.fixture(scope="module")
def library():
    """The library's reader."""
    reader = Library()
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def library_changes():
    """The library's reader, which returns numbers of changes instead of the contents."""
    reader = Library("--changes")
    yield reader
    reader.close()


@pytest.fixture
def folder():
    """An empty folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="loaderx-reader-") as path:
        yield pathlib.Path(path)
