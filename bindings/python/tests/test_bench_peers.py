# SPDX-License-Identifier: MIT
"""tests/bench/bench-peers.py runs, and compares what the packages return."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(os.environ.get('top_srcdir', pathlib.Path(__file__).resolve().parents[3]))
SCRIPT = TOP / 'tests' / 'bench' / 'bench-peers.py'


def run(out, *arguments):
    if not SCRIPT.exists():
        pytest.skip('the benchmark was not found: set top_srcdir')
    subprocess.run([sys.executable, SCRIPT, '--out', out, '--rounds', '1', *arguments],
                   check=True, timeout=120, env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
    report = json.loads((out / 'performance-peers.json').read_text())
    assert [path.name for path in out.iterdir()] == ['performance-peers.json']
    return report


def test_numpy_and_loaderx_return_the_same_records(tmp_path):
    report = run(tmp_path, '--peers', 'numpy,loaderx', '--rows', 'one-array,append-4k')
    assert not report['missing']
    assert [group['name'] for group in report['groups']] == ['one-array', 'append-4k']
    for group in report['groups']:
        assert [case['name'] for case in group['cases']] == ['NumPy', 'loaderx']
        assert all(len(case['round_seconds']) == 1 for case in group['cases'])


def test_a_peer_without_its_package_is_reported(tmp_path):
    report = run(tmp_path, '--peers', 'loaderx,original', '--rows', 'one-scalar')
    assert report['missing'] == {'loaderx 2.8': 'its folder was not named: --original'}
    assert [case['name'] for case in report['groups'][0]['cases']] == ['loaderx']
