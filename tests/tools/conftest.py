# SPDX-License-Identifier: MIT
"""Shared fixtures of the tests of the command: the command itself, and a working folder."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import numpy as np
import pytest

from arrays import values, write_idx
from image_files import png

# Bounds every run of the command; sanitizers make them ten times slower.
TIMEOUT = 120


BUILD = pathlib.Path(os.environ.get('top_builddir', '.')).resolve()
CONFIG = (BUILD / 'config.h').read_text()
IMAGES = 'define HAVE_IMAGES 1' in CONFIG
HTTP = 'define HAVE_CURL 1' in CONFIG


def find_command():
    """The command under test, as a path."""
    return os.environ.get('LOADERX') or str(BUILD / 'tools' / 'loaderx')


# Whether ThreadSanitizer checks the command: it takes several times the memory, and writes a file
# before main() begins.
CHECKS_THREADS = b'__tsan_init' in pathlib.Path(find_command()).read_bytes()


def take_signals():
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)


class Loaderx:
    """Runs the command in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.command = find_command()

    def __call__(self, *arguments, **options):
        """Runs it to its end."""
        return subprocess.run([self.command, *map(str, arguments)], cwd=self.folder,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                              stdout=options.pop('stdout', subprocess.PIPE),
                              stderr=subprocess.PIPE, **options)

    def start(self, *arguments, **options):
        """Starts it; the caller waits. It handles signals, which a background job would ignore."""
        return subprocess.Popen([self.command, *map(str, arguments)], cwd=self.folder,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=options.pop('stderr', subprocess.PIPE),
                                preexec_fn=take_signals, **options)

    def kill_after(self, delay, *arguments):
        """Starts it and kills it after `delay` seconds, unless it has succeeded by then.

        The status tells, not what it prints: under ASan, a helper of the leak check may outlive
        the kill and complain.
        """
        job = self.start(*arguments)
        time.sleep(delay)
        job.kill()
        errors = job.communicate(timeout=60)[1]
        assert job.returncode in (0, -signal.SIGKILL), errors

    def text(self, *arguments):
        """Returns its output; it must succeed without output on standard error."""
        done = self(*arguments)
        assert (done.returncode, done.stderr) == (0, b''), done
        return done.stdout.decode()

    def json(self, *arguments):
        """Returns its output with --json, parsed."""
        return json.loads(self.text(*arguments, '--json'))

    def fails(self, status, *arguments, **options):
        """It must fail with this status and one line of the usual form; return the line."""
        done = self(*arguments, **options)
        assert done.returncode == status, done
        line = done.stderr.decode().splitlines()[0]
        assert line.startswith(f'loaderx {arguments[0]}: '), done
        return line


def make_folder():
    """An empty folder, which is removed after the tests that use it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix='loaderx-tools-'))
    yield path
    shutil.rmtree(path)


folder = pytest.fixture(make_folder)
module_folder = pytest.fixture(make_folder, scope='module')


@pytest.fixture
def loaderx(folder):
    """The command, run in the folder."""
    return Loaderx(folder)


@pytest.fixture(scope='module')
def module_loaderx(module_folder):
    """The command, run in a folder that all tests of a module share."""
    return Loaderx(module_folder)


@pytest.fixture
def images(folder, loaderx):
    """A dataset `images` of 20 records: data, 4 by 3 pixels, and label; and the two arrays."""
    data, label = values('uint8', (20, 4, 3)), np.arange(20, dtype='uint8')
    loaderx.text('import', 'images', '--idx', 'data=' + write_idx(folder / 'data', data),
                 '--idx', 'label=' + write_idx(folder / 'label', label))
    return data, label


@pytest.fixture
def varied(folder):
    """A dataset `varied` of four records: text, of any length, empty or missing, and number."""
    subprocess.run([BUILD / 'tests' / 'tools' / 'make-dataset', 'varied'], cwd=folder, check=True,
                   timeout=TIMEOUT)


@pytest.fixture
def photos(folder):
    """A folder of 60 images in three of four classes; return their bytes."""
    files = {}
    for number in range(60):
        name = f'{"abc"[number % 3]}/{"deep/" if number % 7 == 0 else ""}{number:02}.png'
        files[name] = png(number, 4 + number)
    for name, data in files.items():
        path = folder / 'photos' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / 'photos' / 'd').mkdir()
    return dict(sorted(files.items()))


@pytest.fixture
def many(folder):
    """A list of 20000 images in 50 files; return its lines."""
    for number in range(50):
        (folder / f'{number}.png').write_bytes(png(number, 60, 50))
    lines = [f'{i * 7919 % 30011}\t{i % 10}\t{i % 50}.png\n' for i in range(20000)]
    (folder / 'many.lst').write_text(''.join(lines))
    return lines
