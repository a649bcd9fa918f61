# SPDX-License-Identifier: MIT
"""The classes of errors, and what the module says of itself."""

import errno
import os
import pickle
import re

import pytest

import loaderx as lx


def test_classes():
    assert issubclass(lx.CorruptError, lx.LoaderxError)
    assert not issubclass(lx.LoaderxError, (OSError, ValueError))


def test_attributes_are_none_where_nothing_is_known():
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


def test_a_path_that_is_no_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b'/\xff'
    with pytest.raises(FileNotFoundError):
        lx.open(path)
    lx.create(path, {'x': lx.Field('u1')}).close()
    with lx.open(path) as dataset:
        assert os.fsencode(dataset.path) == path
        repr(dataset)
    with pytest.raises(lx.LoaderxError, match='closed'):
        len(dataset)


def test_versions():
    assert re.fullmatch(r'\d+\.\d+\.\d+.*', lx.__version__)
    assert re.fullmatch(r'\d+\.\d+\.\d+.*', lx.library_version)


def test_what_is_exported_is_there_and_documented():
    assert sorted(lx.__all__) == sorted(set(lx.__all__))
    for name in lx.__all__:
        thing = getattr(lx, name)
        assert isinstance(thing, str) or thing.__doc__, name
    for kind in (lx.Dataset, lx.Writer, lx.Executor, lx.Column, lx.Views, lx.Field):
        for name in dir(kind):
            if not name.startswith('_'):
                assert getattr(kind, name).__doc__, f'{kind.__name__}.{name}'
