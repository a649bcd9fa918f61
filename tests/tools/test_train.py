# SPDX-License-Identifier: MIT
"""Levels and dictionaries of the command: import, train, copy, stat."""

import json
import re

import numpy as np
import pytest


@pytest.fixture
def texts(loaderx, folder):
    """An .npy file of records that have words in common; skips the test without zstd."""
    random = np.random.default_rng(0)
    words = random.integers(0, 256, (30, 8)).astype('uint8')
    np.save(folder / 'x.npy', words[random.integers(0, 30, (4000, 25))].reshape(4000, 200))
    np.save(folder / 'probe.npy', np.zeros(1, 'uint8'))
    done = loaderx('import', 'probe', '--npy', 'x=probe.npy', '--compress', 'x=zstd')
    if done.returncode != 0 and b'zstd is not supported' in done.stderr:
        pytest.skip('the library was built without libzstd')
    return 'x=x.npy'


def fields(folder, name):
    return json.loads((folder / name / 'meta.json').read_text())['fields']


def stored(loaderx, name):
    return loaderx.json('stat', name)['fields'][0]['stored_bytes']


def test_levels_are_stored(loaderx, folder, texts):
    loaderx.text('import', 'd', '--npy', texts, '--npy', 'y=x.npy', '--npy', 'z=x.npy',
                 '--compress', 'x=zstd', '--compress', 'y=flate', '--level', 'x=19', '--level', '7')
    assert [field.get('level') for field in fields(folder, 'd')] == [19, 7, None]
    kept = [re.split(r'  +', line)[3] for line in loaderx.text('stat', 'd').splitlines()[4:7]]
    assert kept == ['zstd 19', 'flate 7', 'raw']
    loaderx.text('copy', 'd', 'copy')
    assert [field.get('level') for field in fields(folder, 'copy')] == [19, 7, None]
    assert loaderx.json('verify', 'copy')['intact'] is True


def test_a_dictionary_is_trained_during_an_import(loaderx, folder, texts):
    loaderx.text('import', 'plain', '--npy', texts, '--compress', 'x=zstd')
    loaderx.text('import', 'd', '--npy', texts, '--compress', 'x=zstd', '--dictionary', 'x=2k')
    assert 256 <= (folder / 'd' / 'x.dict').stat().st_size <= 2048
    assert fields(folder, 'd')[0]['train'] == 2048
    got = loaderx.json('stat', 'd', '--speed')['fields'][0]
    assert got['dictionary_bytes'] == (folder / 'd' / 'x.dict').stat().st_size
    assert got['level'] is None and got['bytes_per_second'] > 1000
    assert loaderx.json('stat', 'd')['fields'][0]['bytes_per_second'] is None
    head, line = loaderx.text('stat', 'd', '--speed').splitlines()[3:5]
    assert head.endswith('SPEED') and line.endswith('/s')
    assert stored(loaderx, 'd') < stored(loaderx, 'plain')
    loaderx.text('copy', 'd', 'copy')
    assert stored(loaderx, 'copy') < stored(loaderx, 'd')
    assert loaderx.json('verify', 'copy')['intact'] is True


@pytest.mark.parametrize('codec', ['zstd', 'flate'])
def test_any_number_of_threads_writes_the_same_files(loaderx, folder, texts, codec):
    more = ['--dictionary', 'x=1k'] if codec == 'zstd' else []
    written = []
    for threads in '0', '1', '2', '5':
        loaderx.text('import', threads, '--npy', texts, '--compress', f'x={codec}', *more,
                     '--threads', threads)
        written.append([(path.name, path.read_bytes())
                        for path in sorted((folder / threads).glob('**/*'))
                        if path.suffix in ('.zr', '.dict', '.offset')])
    assert len(written[0]) == 2 + len(more) // 2
    assert all(files == written[0] for files in written)


def test_train(loaderx, folder, texts):
    loaderx.text('import', 'd', '--npy', texts, '--compress', 'x=zstd')
    before = stored(loaderx, 'd')
    assert "field 'x' has a dictionary" in loaderx.text('train', 'd', '--field', 'x')
    loaderx.text('import', 'd', '--append', '--npy', texts)
    assert stored(loaderx, 'd') - before < before
    assert loaderx.json('verify', 'd')['intact'] is True
    assert 'already has a dictionary' in loaderx.fails(2, 'train', 'd', '--field', 'x')
    loaderx.text('import', 'e', '--npy', texts, '--compress', 'x=zstd')
    done = loaderx.json('train', 'e', '--field', 'x', '--from', 'd', '--size', '1k')
    assert (done['path'], done['field']) == ('e', 'x')
    assert (folder / 'e' / 'x.dict').stat().st_size <= 1024


def test_an_import_of_too_few_values_warns(loaderx, folder, texts):
    done = loaderx('import', 'd', '--npy', texts, '--compress', 'x=zstd', '--dictionary', 'x')
    assert done.returncode == 0 and not (folder / 'd' / 'x.dict').exists()
    assert (b"warning: d: field 'x' has no dictionary yet" in done.stderr
            and b'11264000 bytes of values, but this one has appended 800000' in done.stderr)
    assert 'zstd, no dictionary yet  ' in loaderx.text('stat', 'd')
    loaderx.text('train', 'd', '--field', 'x')    # what the warning suggests
    assert 'zstd, dictionary  ' in loaderx.text('stat', 'd')
    loaderx.text('copy', 'd', 'copy')
    assert stored(loaderx, 'copy') < stored(loaderx, 'd') / 2


def test_train_rejects_invalid_calls(loaderx, folder, texts):
    loaderx.text('import', 'd', '--npy', texts, '--npy', 'f=x.npy', '--compress', 'f=flate')
    assert '--field F' in loaderx.fails(2, 'train', 'd')
    assert 'DIR' in loaderx.fails(2, 'train', '--field', 'x')
    assert 'not compressed' in loaderx.fails(2, 'train', 'd', '--field', 'x')
    assert 'no dictionaries' in loaderx.fails(2, 'train', 'd', '--field', 'f')
    assert 'the fields are' in loaderx.fails(2, 'train', 'd', '--field', 'none')
    assert 'up to 16M' in loaderx.fails(2, 'train', 'd', '--field', 'x', '--size', '17M')
