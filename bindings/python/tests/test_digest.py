# SPDX-License-Identifier: MIT
"""The digest of the contents of a dataset, and the differences between two."""

import numpy as np
import pytest

import loaderx as lx


@pytest.fixture
def path(tmp_path):
    fields = {'x': lx.Field('float32', 3), 'text': lx.Field(bytes, compress='flate')}
    with lx.create(tmp_path / 'd', fields, card={'license': 'MIT'}) as w:
        w.extend(x=np.random.rand(1000, 3).astype('float32'),
                 text=[b'x' * i for i in range(1000)])
    return tmp_path / 'd'


def test_digest(path, tmp_path):
    digest = lx.open(path).digest()
    assert len(digest) == 16 and int(digest, 16) != 0
    lx.copy(path, tmp_path / 'copy', chunk_records=7)
    with lx.open(tmp_path / 'copy', 'r+') as w:
        w.set_card({'license': None})
        w[5] = {'text': b'other'}
        w[5] = {'text': b'xxxxx'}
    assert lx.open(tmp_path / 'copy', executor=lx.Executor(readers=2)).digest() == digest
    assert lx.open(path, access='pread').digest() == digest
    with lx.open(tmp_path / 'copy', 'r+') as w:
        w[5] = {'text': b'xxxxy'}
    assert lx.open(tmp_path / 'copy').digest() != digest


def test_progress_and_damage(path):
    seen = []
    lx.open(path).digest(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)

    def stop(done, total):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        lx.open(path).digest(progress=stop)
    with open(path / 'chunk' / '0.zr', 'r+b') as file:
        file.write(b'damage')
    with pytest.raises(lx.CorruptError):
        lx.open(path, on_damage='zeros').digest()


# ---- diff


def test_diff_of_equal_datasets(path, tmp_path):
    lx.copy(path, tmp_path / 'copy', chunk_records=7)
    seen = []
    difference = lx.open(path).diff(lx.open(tmp_path / 'copy', live=True),
                                    progress=lambda *step: seen.append(step))
    same = {'records': 0, 'first': []}
    text = lx.Field(bytes, compress='flate')
    assert difference == {
        'same': True, 'lengths': (1000, 1000), 'same_order': True, 'card': {},
        'fields': {'x': {'a': lx.Field('float32', 3), 'b': lx.Field('float32', 3), **same},
                   'text': {'a': text, 'b': text, **same}}}
    assert seen[-1] == (1000, 1000)


def test_diff_finds_everything_that_differs(path, tmp_path):
    lx.copy(path, tmp_path / 'b')
    with lx.open(tmp_path / 'b', 'r+') as w:
        w.set_card({'license': 'BSD', 'source': 'here'})
    with lx.open(tmp_path / 'b', 'r+') as w:
        w[range(10, 30)] = {'text': [b'other'] * 20}
        w.append(x=[1, 2, 3], text=None)
    a, b = lx.open(path), lx.open(tmp_path / 'b')
    difference = a.diff(b)
    assert not difference['same'] and difference['lengths'] == (1000, 1001)
    assert difference['card'] == {'license': ('MIT', 'BSD'), 'source': (None, 'here')}
    assert difference['fields']['x']['records'] == 0
    assert difference['fields']['text']['records'] == 20
    assert difference['fields']['text']['first'] == list(range(10, 18))


def test_diff_of_other_fields(path, tmp_path):
    with lx.create(tmp_path / 'b', {'text': lx.Field(str), 'more': lx.Field('int8'),
                                    'x': lx.Field('float32', 3)}) as w:
        w.extend(text=['a'], more=[1], x=[[1, 2, 3]])
    difference = lx.open(path).diff(lx.open(tmp_path / 'b'))
    assert not difference['same_order'] and difference['fields']['x']['records'] == 1
    assert difference['fields']['text'] == {
        'a': lx.Field(bytes, compress='flate'), 'b': lx.Field(str), 'records': None, 'first': []}
    assert difference['fields']['more']['a'] is None
    with pytest.raises(TypeError, match='other must be a Dataset, not PosixPath'):
        lx.open(path).diff(tmp_path / 'b')
    with pytest.raises(TypeError):
        lx.open(path)._diff(lx.open(path), ((0, 0),), None)
    for pair in ((5, 0), (-1, 0)):
        with pytest.raises(ValueError):
            lx.open(path)._diff(lx.open(path), [pair], None)
    closed = lx.open(path)
    closed.close()
    with pytest.raises(lx.LoaderxError, match='closed'):
        lx.open(path).diff(closed)
