# SPDX-License-Identifier: MIT
"""Fields with zstd: levels, dictionaries, and what a library without the codec does."""

import numpy as np
import pytest

import loaderx as lx

COMPRESSED, SHORT = b'long enough to become shorter ' * 20, b'short'
WORDS = b'the record of values stored chunk table reader writer snapshot frame log'.split()


def texts(count, seed=0):
    random = np.random.default_rng(seed)
    return [b' '.join(WORDS[k] for k in random.integers(0, len(WORDS), 40)) for _ in range(count)]


@pytest.fixture(scope='module')
def has_zstd(tmp_path_factory):
    path = tmp_path_factory.mktemp('probe') / 'd'
    try:
        lx.create(path, {'text': lx.Field(bytes, compress='zstd')}).close()
    except lx.LoaderxError as error:
        assert error.status == 'LX_ERR_UNSUPPORTED' and 'zstd' in str(error)
        return False
    return True


@pytest.fixture
def zstd(has_zstd):
    if not has_zstd:
        pytest.skip('the library was built without libzstd')


def stored(path, field=0):
    with lx.open(path) as dataset:
        return dataset.stat()['fields'][field]['stored_bytes']


def test_values_come_back(zstd, tmp_path):
    fields = {'text': lx.Field(bytes, compress='zstd', level=9),
              'grid': lx.Field('int32', (50,), compress='zstd'),
              'flate': lx.Field('int32', (50,), compress='flate')}
    grid = np.repeat(np.arange(4, dtype='int32'), 50).reshape(4, 50)
    with lx.create(tmp_path / 'd', fields) as writer:
        assert dict(writer.fields) == fields
        writer.extend(text=[COMPRESSED, SHORT, None, b''], grid=grid, flate=grid)
    with lx.open(tmp_path / 'd') as dataset:
        assert dict(dataset.fields) == fields
        assert repr(dataset.fields['text']) == "Field(bytes, compress='zstd', level=9)"
        assert list(dataset['text'][:]) == [COMPRESSED, SHORT, None, b'']
        assert (dataset.gather([3, 0, 1])['grid'] == grid[[3, 0, 1]]).all()
        assert (dataset['flate'][:] == grid).all()
        assert dataset.stat()['fields'][0]['compressed'] == 1
        assert not dataset.verify()['damages']
    lx.copy(tmp_path / 'd', tmp_path / 'copy')
    with lx.open(tmp_path / 'copy') as dataset:
        assert dict(dataset.fields) == fields
        assert dataset[0]['text'] == COMPRESSED


def test_each_field_has_its_level(zstd, tmp_path):
    values = texts(300)
    levels = {'fast': 1, 'small': 19}
    with lx.create(tmp_path / 'd', {name: lx.Field(bytes, compress='zstd', level=level)
                                    for name, level in levels.items()}, level=5) as writer:
        writer.extend({name: values for name in levels})
    assert stored(tmp_path / 'd', 1) < stored(tmp_path / 'd', 0)
    with lx.open(tmp_path / 'd', 'r+') as writer:
        writer.set_compression('fast', level=3)
        assert writer.fields['fast'] == lx.Field(bytes, compress='zstd', level=3)
        writer.add_field('more', lx.Field(bytes, compress='flate', level=9))
        with pytest.raises(KeyError):
            writer.set_compression('none', level=3)
        with pytest.raises(ValueError, match='1 to 22'):
            writer.set_compression('fast', level=23)
    with lx.open(tmp_path / 'd') as dataset:
        assert [field.level for field in dataset.fields.values()] == [3, 19, 9]


def test_a_dictionary_is_trained_while_records_are_appended(zstd, tmp_path):
    values = texts(3000)
    for name, dictionary in (('without', None), ('with', 2048)):
        with lx.create(tmp_path / name, {'text': lx.Field(bytes, compress='zstd',
                                                          dictionary=dictionary)}) as writer:
            writer.extend(text=values)
    assert (tmp_path / 'with' / 'text.dict').stat().st_size <= 2048
    assert stored(tmp_path / 'with') < 0.8 * stored(tmp_path / 'without')
    with lx.open(tmp_path / 'with') as dataset:
        assert dataset.fields['text'].dictionary == 2048
        assert list(dataset['text'][:]) == values
    # A copy has a dictionary of its own from the first record on.
    lx.copy(tmp_path / 'with', tmp_path / 'copy')
    assert stored(tmp_path / 'copy') < stored(tmp_path / 'with')
    with lx.open(tmp_path / 'copy') as dataset:
        assert list(dataset['text'][:]) == values
        assert not dataset.verify()['damages']


def test_a_dictionary_can_be_trained_later(zstd, tmp_path):
    path, values = tmp_path / 'd', texts(1500)
    with lx.create(path, {'text': lx.Field(bytes, compress='zstd')}) as writer:
        writer.extend(text=values)
    before = stored(path)
    with lx.open(path) as dataset:
        writer = lx.open(path, 'r+')
        writer.train_dictionary('text')
        assert writer.fields['text'] == lx.Field(bytes, compress='zstd', dictionary='train')
        writer.extend(text=values)
        writer.commit()
        dataset.refresh()
        assert list(dataset['text'][:]) == values * 2
        with pytest.raises(lx.LoaderxError, match='already has a dictionary') as caught:
            writer.train_dictionary('text', dataset)
        assert caught.value.status == 'LX_ERR_STATE'
        with pytest.raises(lx.LoaderxError, match='cannot be changed'):
            writer.set_compression('text', dictionary=4096)
        writer.close()
    assert stored(path) - before < 0.8 * before


def test_a_dictionary_can_be_trained_within_a_block(zstd, tmp_path):
    values = texts(1500)
    with lx.create(tmp_path / 'd', {'text': lx.Field(bytes, compress='zstd')}) as writer:
        writer.extend(text=values)
        writer.train_dictionary('text')
        writer.extend(text=values)
    assert (tmp_path / 'd' / 'text.dict').exists()
    with lx.open(tmp_path / 'd') as dataset:
        assert list(dataset['text'][:]) == values * 2


def test_too_few_values_for_a_dictionary(zstd, tmp_path):
    with lx.create(tmp_path / 'd', {'text': lx.Field(bytes, compress='zstd',
                                                     dictionary='train')}) as writer:
        writer.extend(text=[COMPRESSED] * 2)
        with pytest.raises(lx.LoaderxError, match='too few') as caught:
            writer.train_dictionary('text')
        assert caught.value.status == 'LX_ERR_STATE'
    lx.copy(tmp_path / 'd', tmp_path / 'copy')
    with lx.open(tmp_path / 'copy') as dataset:
        assert list(dataset['text'][:]) == [COMPRESSED] * 2


def test_a_lost_dictionary_is_damage(zstd, tmp_path):
    path, values = tmp_path / 'd', texts(1500)
    with lx.create(path, {'text': lx.Field(bytes, compress='zstd', dictionary=1024)}) as writer:
        writer.extend(text=values)
    (path / 'text.dict').rename(tmp_path / 'text.dict')
    with lx.open(path) as dataset:
        assert dataset['text'][0] == values[0]    # stored before the dictionary was trained
        with pytest.raises(lx.CorruptError, match='text.dict'):
            dataset['text'][1499]
    (tmp_path / 'text.dict').rename(path / 'text.dict')
    with lx.open(path) as dataset:
        assert dataset['text'][1499] == values[1499]


def test_field_arguments():
    field = lx.Field(bytes, compress='zstd', level=22, dictionary='train')
    assert (field.level, field.dictionary) == (22, 110 << 10)
    assert repr(field) == "Field(bytes, compress='zstd', level=22, dictionary='train')"
    assert field == lx.Field(bytes, compress='zstd', level=22, dictionary=110 << 10)
    assert field != lx.Field(bytes, compress='zstd', level=21, dictionary='train')
    assert field != lx.Field(bytes, compress='zstd', level=22)
    assert 'dictionary=1024' in repr(lx.Field(bytes, compress='zstd', dictionary=1024))
    assert lx.Field(bytes, compress='zstd').level is None


@pytest.mark.parametrize('arguments, error, message', [
    ({'level': 3}, ValueError, 'level requires'),
    ({'compress': 'flate', 'level': 10}, ValueError, 'from 1 to 9'),
    ({'compress': 'zstd', 'level': 0}, ValueError, 'from 1 to 22'),
    ({'compress': 'zstd', 'level': 'high'}, TypeError, 'level'),
    ({'compress': 'zstd', 'level': True}, TypeError, 'level'),
    ({'compress': 'flate', 'dictionary': 'train'}, ValueError, "requires compress='zstd'"),
    ({'compress': 'zstd', 'dictionary': 'yes'}, ValueError, "'train'"),
    ({'compress': 'zstd', 'dictionary': 0}, ValueError, 'from 1 to 16777216'),
    ({'compress': 'zstd', 'dictionary': 2.5}, TypeError, "'train' or an int")])
def test_invalid_field_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        lx.Field(bytes, **arguments)


def test_a_library_without_the_codec(has_zstd, tmp_path):
    if has_zstd:
        pytest.skip('the library was built with libzstd')
    path = tmp_path / 'd'
    with lx.create(path, {'text': lx.Field(bytes, compress='flate')}) as writer:
        writer.extend(text=[COMPRESSED, SHORT])
    meta = (path / 'meta.json').read_text()
    (path / 'meta.json').write_text(meta.replace('"flate"', '"zstd"'))
    lx.repair(path, apply=True)    # updates the checksum
    with lx.open(path) as dataset:
        assert dataset.fields['text'] == lx.Field(bytes, compress='zstd')
        assert dataset['text'][1] == SHORT
        with pytest.raises(lx.LoaderxError, match='zstd') as caught:
            dataset['text'][0]
        assert caught.value.status == 'LX_ERR_UNSUPPORTED'
        assert (caught.value.field, caught.value.record) == ('text', 0)
    with lx.open(path, mode='r+') as writer:
        with pytest.raises(lx.LoaderxError, match='zstd'):
            writer.add_field('more', lx.Field(bytes, compress='zstd'))
    with pytest.raises(lx.LoaderxError, match='zstd'):
        lx.copy(path, tmp_path / 'new')
    assert not (tmp_path / 'new').exists()
