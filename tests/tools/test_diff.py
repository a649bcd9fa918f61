# SPDX-License-Identifier: MIT
"""loaderx diff."""

import json

import numpy as np
import pytest


@pytest.fixture
def make(loaderx, folder):
    """A function that imports arrays as the fields of a dataset."""
    def make(name, *options, **arrays):
        words = []
        for field, array in arrays.items():
            np.save(folder / 'x.npy', np.asarray(array))
            path = folder / f'{name}-{field}.npy'
            (folder / 'x.npy').rename(path)
            words += ['--npy', f'{field}={path}']
        loaderx.text('import', name, *words, *options)
    return make


X = np.arange(3000, dtype='int64').reshape(1000, 3)
Y = np.arange(1000, dtype='float32')


def diff(loaderx, *arguments):
    done = loaderx('diff', *arguments)
    assert done.stderr == b''
    return done.returncode, done.stdout.decode()


def test_the_same(loaderx, make):
    make('a', x=X, y=Y)
    make('b', '--compress', 'x=flate', '--chunk-records', '100', '--seal', x=X, y=Y)
    assert diff(loaderx, 'a', 'b') == (
        0, 'a and b have the same 1000 records, fields and card\n')
    assert diff(loaderx, 'a', 'b', '-q', '--threads', '2') == (0, '')
    assert loaderx.json('diff', 'a', 'b')['same'] is True


def test_values(loaderx, make):
    make('a', x=X, y=Y)
    changed = X.copy()
    changed[100::50, 1] += 1
    make('b', x=changed, y=np.where(Y == 999, -1, Y).astype('float32'))
    assert diff(loaderx, 'a', 'b') == (
        1, "field 'x' differs in 18 of 1000 records: 100 150 200 250 300 350 400 450 ...\n"
           "field 'y' differs in 1 of 1000 records: 999\n")
    done = loaderx('diff', 'a', 'b', '--json', '-q')
    assert done.returncode == 1
    got = json.loads(done.stdout)
    assert got['same'] is False and got['same_order'] is True
    form = {'dtype': 'int64', 'shape': [3]}
    assert got['fields'][0] == {'name': 'x', 'a': form, 'b': form, 'records': 18,
                                'first': list(range(100, 500, 50))}
    assert got['fields'][1]['first'] == [999]


def test_fields_lengths_and_cards(loaderx, make):
    make('a', x=X, y=Y, old=Y, z=Y)
    make('b', z=Y[:900], x=X[:900].astype('int32'), new=Y[:900], y=Y[:900])
    loaderx.text('card', 'a', '-q', '--set', 'license=MIT', '--set', 'source=a')
    loaderx.text('card', 'b', '-q', '--set', 'license=BSD', '--set', 'tokenizer=b')
    assert diff(loaderx, 'a', 'b') == (1, '''\
a has 1000 records, and b has 900
the fields are in a different order
field 'x' is int64 (3,) in a, and int32 (3,) in b
field 'old' is only in a
field 'new' is only in b
the entry 'license' of the card differs
the entry 'source' of the card is only in a
the entry 'tokenizer' of the card is only in b
''')
    loaderx.text('copy', 'a', 'c', '-q')
    assert diff(loaderx, 'a', 'c', '-q') == (0, '')
    loaderx.text('card', 'c', '-q', '--remove', 'source')
    assert diff(loaderx, 'a', 'c') == (1, "the entry 'source' of the card is only in a\n")


def test_types_without_a_shape(loaderx, folder):
    (folder / 'text').write_text('one\n')
    (folder / 'number').write_text('text\n1\n')
    loaderx.text('import', 'a', '-q', '--format', 'lines', 'text')
    loaderx.text('import', 'b', '-q', '--format', 'lines', 'text', '--field', 'text=bytes')
    loaderx.text('import', 'c', '-q', '--format', 'csv', 'number')
    assert diff(loaderx, 'a', 'b') == (1, "field 'text' is str in a, and bytes in b\n")
    assert diff(loaderx, 'c', 'b') == (1, "field 'text' is int64 in c, and bytes in b\n")


def test_trouble(loaderx, folder, make):
    make('a', x=X)
    loaderx.text('copy', 'a', 'b', '-q')
    with open(folder / 'b' / 'chunk' / '0.zr', 'r+b') as file:
        file.write(b'damage')
    for arguments in (['a', 'b'], ['a'], [], ['a', 'none'], ['a', 'a', 'a'], ['a', 'a', '--no']):
        done = loaderx('diff', *arguments)
        assert done.returncode == 2 and done.stdout == b'' and done.stderr
    assert loaderx('diff', '--help').returncode == 0
