# SPDX-License-Identifier: MIT
"""The classes of errors, and the attributes of the module."""

import errno
import os
import pickle
import re

import pytest

import loaderx as lx


def test_classes():
    assert issubclass(lx.CorruptError, lx.LoaderxError)
    assert not issubclass(lx.LoaderxError, (OSError, ValueError))


def test_rejects_unknown_attributes():
    error = lx.LoaderxError('text')
    for name in ('status', 'field', 'record', 'path', 'offset', 'errno', 'message'):
        assert getattr(error, name) is None
    assert str(error) == 'text'
    assert str(pickle.loads(pickle.dumps(error))) == 'text'


def test_an_os_error_has_its_number_and_file(tmp_path):
    with pytest.raises(OSError) as caught:
        lx.open(tmp_path / 'no')
    assert caught.value.errno == errno.ENOENT and 'no' in caught.value.filename
    with lx.create(tmp_path / 'd', {'x': lx.Field('u1')}):
        with pytest.raises(OSError) as caught:
            lx.open(tmp_path / 'd', 'a')
    assert caught.value.errno == errno.EAGAIN and isinstance(caught.value, BlockingIOError)


def test_accepts_a_path_that_is_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b'/\xff'
    with pytest.raises(FileNotFoundError):
        lx.open(path)
    lx.create(path, {'x': lx.Field('u1')}).close()
    with lx.open(path) as dataset:
        assert os.fsencode(dataset.path) == path
        repr(dataset)
    with pytest.raises(lx.LoaderxError, match='closed'):
        len(dataset)


@pytest.mark.parametrize('empty', ['', b''])
def test_an_empty_path_is_not_found(tmp_path, empty):
    lx.create(tmp_path / 'd', {'x': lx.Field('u1')}).close()
    with lx.open(tmp_path / 'd') as dataset:
        for call in (lx.open, lx.repair, lx.unseal, lx.Loader, lambda path: lx.open(path, 'a'),
                     lambda path: lx.copy(path, tmp_path / 'x'),
                     lambda path: lx.copy(dataset, path), lambda path: dataset.export('x', path),
                     lambda path: lx.create(path, dataset.fields), dataset.backup):
            with pytest.raises(FileNotFoundError, match='empty') as caught:
                call(empty)
            assert caught.value.errno == errno.ENOENT
        with pytest.raises(KeyError):
            dataset['']
    with lx.open(tmp_path / 'd', 'r+') as writer:
        for name in ('', 'no'):
            with pytest.raises(KeyError):
                writer.drop_field(name)
    assert os.listdir(tmp_path) == ['d']


@pytest.mark.parametrize('wrong, what', [('n\0', 'not contain NUL'), (b'n\0', 'not contain NUL'),
                                         ('n\ud800', 'encoded')])
def test_rejects_impossible_paths(wrong, what):
    for call, name in ((lx.open, 'path'), (lx.repair, 'path'), (lx.Loader, 'source')):
        with pytest.raises(ValueError, match=f'{name} must .*{what}') as caught:
            call(wrong)
        assert type(caught.value) is ValueError


def test_reports_other_than_directories(tmp_path):
    (tmp_path / 'file').write_text('mine')
    for path in (tmp_path / 'file', tmp_path / 'file' / 'below'):
        for call in (lx.open, lambda path: lx.open(path, 'a'), lx.repair, lx.unseal,
                     lambda path: lx.copy(path, tmp_path / 'x')):
            with pytest.raises(NotADirectoryError) as caught:
                call(path)
            assert caught.value.errno == errno.ENOTDIR and 'file' in caught.value.filename
    with pytest.raises(FileNotFoundError, match='meta.json'):
        lx.open(tmp_path)
    assert os.listdir(tmp_path) == ['file']


def test_versions():
    assert re.fullmatch(r'\d+\.\d+\.\d+.*', lx.__version__)
    assert re.fullmatch(r'\d+\.\d+\.\d+.*', lx.library_version)


def test_exported_names_exist_and_are_documented():
    assert sorted(lx.__all__) == sorted(set(lx.__all__))
    for name in lx.__all__:
        thing = getattr(lx, name)
        assert isinstance(thing, str) or thing.__doc__, name
    for kind in (lx.Dataset, lx.Writer, lx.Executor, lx.Column, lx.Views, lx.Field):
        for name in dir(kind):
            if not name.startswith('_'):
                assert getattr(kind, name).__doc__, f'{kind.__name__}.{name}'
