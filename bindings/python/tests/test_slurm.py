# SPDX-License-Identifier: MIT
"""The example of a SLURM array, doc/examples/slurm, with a `sbatch` that runs the jobs at once."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')

TOP = pathlib.Path(os.environ.get('top_srcdir', pathlib.Path(__file__).resolve().parents[3]))
EXAMPLE = TOP / 'doc' / 'examples' / 'slurm'

# Runs the jobs of an array in the opposite order, and the second one twice, as after a failure of
# its node.
SBATCH = """#!/bin/sh
set -eu
case $* in
*--dependency=afterok:17\\ *)
    shift
    exec "$@" ;;
esac
count=$((${2#--array=0-} + 1))
shift 2
for id in $(seq $((count - 1)) -1 0) 1; do
    SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_COUNT=$count "$@" >&2
done
echo 17
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs submit.sh."""
    if not EXAMPLE.exists():
        pytest.skip('examples not found: set top_srcdir')
    tools = pathlib.Path(os.environ.get('top_builddir', '.')).resolve() / 'tools' / 'loaderx'
    command = shutil.which('loaderx') or shutil.which(tools)
    if command is None:
        pytest.skip('the command loaderx is not in PATH')
    programs = tmp_path / 'bin'
    programs.mkdir()
    for name, text in (('sbatch', SBATCH), ('loaderx', f'#!/bin/sh\nexec {command} "$@"\n'),
                       ('python3', f'#!/bin/sh\nexec {sys.executable} "$@"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (tmp_path / 'work').mkdir()
    environment = {**os.environ, 'PATH': f'{programs}:{os.environ["PATH"]}', 'JOBS': '3'}

    def submit(*arguments):
        return subprocess.run([EXAMPLE / 'submit.sh', *arguments], cwd=tmp_path / 'work',
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120)

    return submit


def test_an_array_writes_a_dataset(run, tmp_path):
    files = []
    for i in range(9):
        files.append(tmp_path / f'{i}.txt')
        files[-1].write_text(''.join(f'text {i}, line {k}: ä\n' for k in range(i)))
    done = run(f'file://{tmp_path}/all', *files)
    assert done.returncode == 0, done.stdout
    ds = lx.open(tmp_path / 'all')
    assert ds['text'][:] == [f'text {i}, line {k}: ä' for i in range(9) for k in range(i)]
    ds.verify(progress=False)
    assert len(os.listdir(tmp_path / 'all' / 'part')) == 3 + 1


def test_an_array_that_fails_publishes_nothing(run, tmp_path):
    (tmp_path / 'one.txt').write_text('a line\n')
    done = run(f'file://{tmp_path}/all', *[tmp_path / 'one.txt'] * 3, tmp_path / 'none.txt')
    assert done.returncode != 0 and 'none.txt' in done.stdout
    assert not (tmp_path / 'all' / 'meta.json').exists()


def test_without_arguments_or_slurm_there_is_a_line_of_usage(run, tmp_path):
    for arguments in [], ['url', 'names', 'file']:
        done = subprocess.run([sys.executable, EXAMPLE / 'share.py', *arguments], cwd=tmp_path,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1
        assert done.stderr.startswith('usage: share.py URL') and done.stderr.count('\n') == 1
