# SPDX-License-Identifier: MIT
"""loaderx checkpoint: changes go to the tables, once."""

import subprocess

from conftest import BUILD, TIMEOUT


def test_moves_appended_records_to_the_tables(loaderx, images):
    """Small commits leave their entries in the log, also without changes."""
    assert loaderx.json('stat', 'images')['log_entries'] == 40
    assert loaderx.text('checkpoint', 'images') == 'images: checkpointed, 20 records\n'
    assert loaderx.json('stat', 'images')['log_entries'] == 0


def test_a_second_checkpoint_changes_nothing(loaderx, images):
    assert loaderx.json('checkpoint', 'images')['changed'] is True
    assert loaderx.text('checkpoint', 'images') == 'images: nothing to checkpoint, 20 records\n'
    done = loaderx.json('checkpoint', 'images')
    assert done == {'path': 'images', 'length': 20, 'generation': 0, 'changed': False}
    assert loaderx.text('checkpoint', 'images', '-q') == ''


def test_moves_updates_to_the_tables(loaderx, folder, varied):
    subprocess.run([BUILD / 'tests' / 'tools' / 'make-dataset', 'varied', 'change'], cwd=folder,
                   check=True, timeout=TIMEOUT)
    before = loaderx.json('stat', 'varied')
    assert before['length'] == 3 and before['log_entries'] > 0
    done = loaderx.json('checkpoint', 'varied')
    assert (done['length'], done['changed']) == (3, True)
    after = loaderx.json('stat', 'varied')
    assert after['log_entries'] == 0 and after['generation'] == done['generation'] > 0
    assert loaderx.text('get', 'varied', '0', '--field', 'number') == '2.5\n'
    assert loaderx.text('verify', 'varied', '-q') == ''
    assert loaderx.text('checkpoint', 'varied').startswith('varied: nothing to checkpoint')


def test_rejects_a_sealed_dataset(loaderx, images):
    loaderx.text('seal', 'images')
    assert "'loaderx unseal'" in loaderx.fails(2, 'checkpoint', 'images')


def test_warns_of_bytes_truncated_from_the_log(loaderx, folder, images):
    """An interrupted commit: the beginning of its frame, followed by zeros."""
    with open(folder / 'images' / 'LOG', 'ab') as log:
        log.write(b'LXLF' + bytes(range(1, 61)) + bytes(100))
    done = loaderx('checkpoint', 'images')
    assert done.returncode == 0
    assert done.stderr.decode() == ('loaderx: warning: images: truncated the log by 64 bytes: a commit was '
                                    'interrupted while it was being written\n')
    assert loaderx.text('verify', 'images', '-q') == ''
