# SPDX-License-Identifier: MIT
"""loaderx split: splits records into sets, for example for training and validation."""

import json
import os
import stat

import numpy as np
import pytest

TWO = ['--fractions', 'train=.9,validation=0.1']


def split(loaderx, folder, *arguments):
    """The indices of each set, by its name."""
    report = loaderx.json('split', *arguments, '--out', '.')
    sets = {one['name']: np.load(folder / one['path']) for one in report['sets']}
    assert [one['records'] for one in report['sets']] == [len(found) for found in sets.values()]
    return sets


def test_each_record_is_in_one_set(loaderx, folder):
    sets = split(loaderx, folder, '--length', 10_000, '--fractions', 'a=0.8,b=0.15,c=0.05')
    assert list(sets) == ['a', 'b', 'c']
    assert sorted(np.concatenate(list(sets.values())).tolist()) == list(range(10_000))
    for found, share in zip(sets.values(), [0.8, 0.15, 0.05]):
        assert found.dtype == np.uint64 and np.all(np.diff(found.astype(int)) > 0)
        assert abs(len(found) - 10_000 * share) < 5 * np.sqrt(10_000 * share)


def test_the_order_of_the_names_does_not_matter(loaderx, folder):
    some = split(loaderx, folder, '--length', 1000, '--fractions', 'train=0.9,test=0.1')
    others = split(loaderx, folder, '--length', 1000, '--fractions', 'test=0.1,train=0.9')
    assert list(some['test']) == list(others['test'])
    old = split(loaderx, folder, '--length', 1000, '--fractions', 'train=0.9,test=0.1',
                '--formula', 1)
    assert list(old['test']) != list(some['test'])
    assert 'from 1 to 2' in loaderx.fails(2, 'split', '--length', 5, *TWO, '--formula', 3)


def test_copy_takes_the_files(loaderx, folder, images):
    sets = split(loaderx, folder, '--length', 20, '--fractions', 'a=0.5,b=0.5')
    for name in 'a', 'b':
        loaderx.text('copy', 'images', f'of-{name}', '--indices', f'{name}.npy')
        labels = [int(loaderx.text('get', f'of-{name}', i, '--field', 'label'))
                  for i in range(len(sets[name]))]
        assert labels == list(sets[name])


def test_more_records_move_no_record(loaderx, folder):
    before = split(loaderx, folder, '--length', 500, *TWO, '--seed', 3)
    after = split(loaderx, folder, '--length', 2000, *TWO, '--seed', 3)
    for name, found in before.items():
        assert after[name][after[name] < 500].tolist() == found.tolist()
    other = split(loaderx, folder, '--length', 500, *TWO, '--seed', 4)
    assert other['validation'].tolist() != before['validation'].tolist()


def test_keeps_equal_keys_in_one_split(loaderx, folder):
    keys = np.random.default_rng(1).integers(-50, 50, 5000)
    np.save(folder / 'k.npy', keys)
    sets = split(loaderx, folder, '--keys', 'k.npy', '--fractions', 'a=0.5,b=0.5')
    assert len(sets['a']) and not set(keys[sets['a']]) & set(keys[sets['b']])
    np.save(folder / 'k.npy', np.arange(300))
    sets = split(loaderx, folder, '--keys', 'k.npy', '--length', 300, *TWO)
    plain = split(loaderx, folder, '--length', 300, *TWO)
    assert {name: found.tolist() for name, found in sets.items()} \
        == {name: found.tolist() for name, found in plain.items()}


@pytest.mark.parametrize('count', [1, 3, 7, 10, 49])
def test_fractions_that_sum_to_about_1_cover_all(loaderx, count):
    fractions = ','.join(f'{i}={1 / count:.12g}' for i in range(count))
    report = loaderx.json('split', '--length', 5000, '--fractions', fractions)
    assert sum(one['records'] for one in report['sets']) == 5000


def test_less_than_all(loaderx, folder):
    sets = split(loaderx, folder, '--length', 1000, '--fractions', 'a=0.25,none=0')
    assert 100 < len(sets['a']) < 400 and len(sets['none']) == 0
    assert len(split(loaderx, folder, '--length', 0, '--fractions', 'a=1')['a']) == 0


def test_the_table(loaderx):
    report = loaderx.json('split', '--length', 60000, *TWO, '--seed', 42)
    train, validation = (one['records'] for one in report['sets'])
    assert report == {'length': 60000, 'seed': 42, 'formula': 2, 'sets': [
        {'name': 'train', 'fraction': 0.9, 'records': train, 'path': None},
        {'name': 'validation', 'fraction': 0.1, 'records': validation, 'path': None}]}
    assert loaderx.text('split', '--length', 60000, *TWO, '--seed', 42).split() == [
        'set', 'fraction', 'records', 'share', 'train', '0.9', str(train),
        f'{train / 600:.2f}%', 'validation', '0.1', str(validation), f'{validation / 600:.2f}%']
    assert loaderx.text('split', '--length', 0, '--fractions', 'a=1').split()[4:] \
        == ['a', '1', '0', '-']


def test_the_files_are_those_of_a_subset(loaderx, folder):
    sets = split(loaderx, folder, '--length', 300, *TWO)
    got = loaderx.text('sample', '--subset', 'validation.npy', '--count', len(sets['validation']))
    assert [int(line) for line in got.split()] == sets['validation'].tolist()


def test_replaces_files_atomically(loaderx, folder):
    (folder / 'sets').mkdir()
    (folder / 'sets' / 'train.npy').write_text('old')
    loaderx.text('split', '--length', 300, *TWO, '--out', 'sets')
    assert sorted(os.listdir(folder / 'sets')) == ['train.npy', 'validation.npy']
    assert len(np.load(folder / 'sets' / 'train.npy')) > 200
    mask = os.umask(0)
    os.umask(mask)
    for path in (folder / 'sets').iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert 'nowhere/train.npy' in loaderx.fails(2, 'split', '--length', 300, *TWO, '--out',
                                                'nowhere')
    (folder / 'sets' / 'train.npy').unlink()
    (folder / 'sets' / 'train.npy').mkdir()
    assert 'sets/train.npy' in loaderx.fails(2, 'split', '--length', 300, *TWO, '--out', 'sets')
    assert sorted(os.listdir(folder / 'sets')) == ['train.npy', 'validation.npy']


def test_names_in_json(loaderx):
    text = loaderx.text('split', '--length', 5, '--fractions', 'a "b"=0.5,ä=c=.5', '--json')
    assert [one['name'] for one in json.loads(text)['sets']] == ['a "b"', 'ä=c']


@pytest.mark.parametrize('arguments, message', [
    (TWO, '--length or --keys is missing'),
    (['--length', '5'], '--fractions is missing'),
    (['--length', '-5', *TWO], "--length: '-5' is not a number"),
    (['--length', 2**64 - 1, *TWO], 'is not a number from 0 to 1099511627776'),
    (['--length', '5', '--fractions', ''], "'' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=1,'], "'' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', '0.5'], "'0.5' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=x'], "'a=x' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=-0.5'], "'a=-0.5' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=nan'], "'a=nan' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=0.5x'], "'a=0.5x' is invalid: use NAME=F"),
    (['--length', '5', '--fractions', 'a=1.5'], 'use NAME=F, where F is from 0 to 1'),
    (['--length', '5', '--fractions', 'a=.5,b=.6'], '--fractions: the sum is 1.1'),
    (['--length', '5', '--fractions', 'a=.5,a=.5'], "--fractions: set 'a' is given twice"),
    (['--length', '5', '--fractions', '=.5'], '--fractions: the name of a set is empty'),
    (['--length', '5', '--fractions', '../a=.5'], '--fractions: a name must not contain slashes'),
    (['--length', '5', '--fractions', 'a\n=.5'], 'must not contain slashes or control characters'),
    (['--length', '5', *TWO, '--out', ''], '--out is empty'),
    (['--length', '4', '--keys', 'k.npy', *TWO], '--length 4 is not the number of keys in k.npy'),
    (['--keys', 'no.npy', *TWO], 'no.npy'),
])
def test_rejects_invalid_options(loaderx, folder, arguments, message):
    np.save(folder / 'k.npy', np.arange(5))
    assert message in loaderx.fails(2, 'split', *arguments)


def test_rejects_invalid_keys(loaderx, folder):
    np.save(folder / 'k.npy', np.zeros(5))
    line = loaderx.fails(1, 'split', '--keys', 'k.npy', *TWO)
    assert 'k.npy: the elements are float64, but keys must be' in line
