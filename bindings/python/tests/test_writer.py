# SPDX-License-Identifier: MIT
"""Writers: appending, transactions, and rejected calls."""

import gc
import os
import threading
import warnings

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

FIELDS = {'x': lx.Field('int64'), 'text': lx.Field(bytes)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'dataset'


def texts(path):
    with lx.open(path) as dataset:
        return dataset['text'][:]


# ---- appending


def test_append_and_extend_return_indices(path):
    with lx.create(path, FIELDS) as writer:
        assert writer.append(x=1, text=b'a') == 0
        assert writer.append({'text': b'b', 'x': 2}) == 1
        assert writer.extend(x=[3, 4], text=[b'c', b'd']) == 2
        assert writer.extend({'x': [], 'text': []}) == 4
        assert len(writer) == 4
    assert texts(path) == [b'a', b'b', b'c', b'd']


def test_a_commit_without_a_block_makes_changes_visible(path):
    writer = lx.create(path, FIELDS)
    reader = lx.open(path)
    writer.append(x=1, text=b'a')
    assert len(reader) == 0 and reader.refresh() is False
    writer.commit()
    assert len(reader) == 0 and reader.refresh() is True and len(reader) == 1
    writer.append(x=2, text=b'b')
    writer.close()
    assert reader.refresh() and reader['x'][:].tolist() == [1, 2]


def test_appends_after_reopening(path):
    with lx.create(path, FIELDS) as writer:
        writer.append(x=1, text=b'a')
    with lx.open(path, mode='a') as writer:
        assert len(writer) == 1
        assert writer.append(x=2, text=b'b') == 1
    assert texts(path) == [b'a', b'b']


def test_rollback_undoes_uncommitted_calls(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1, text=b'a')
    writer.commit()
    writer.append(x=2, text=b'b')
    writer.rollback()
    assert len(writer) == 1
    writer.append(x=3, text=b'c')
    writer.close()
    assert texts(path) == [b'a', b'c']


@pytest.mark.parametrize('durability', ['full', 'periodic', 'none'])
def test_every_durability(path, durability):
    with lx.create(path, FIELDS, durability=durability, level=1) as writer:
        writer.append(x=1, text=b'a')
        writer.sync()
    assert texts(path) == [b'a']


def test_small_chunks(path):
    with lx.create(path, {'x': lx.Field('uint8', 100)}, chunk_records=10,
                   chunk_bytes=4096) as writer:
        writer.extend(x=np.full((95, 100), 7, np.uint8))
    with lx.open(path) as dataset:
        stat = dataset.stat()
        assert len(stat['chunks']) == 10 and stat['chunk_records'] == 10
        assert (dataset['x'][:] == 7).all()


def test_uses_an_executor_of_the_caller(path):
    with lx.Executor(writers=1) as executor:
        with lx.create(path, FIELDS, executor=executor) as writer:
            writer.extend(x=np.arange(10000), text=[b'x' * 100] * 10000)
        assert executor.stats()['write']['tasks'] > 0
    assert len(texts(path)) == 10000


def test_fields_path_and_repr(path):
    writer = lx.create(path, FIELDS)
    assert dict(writer.fields) == FIELDS and list(writer.fields) == ['x', 'text']
    assert writer.path == str(path)
    assert repr(writer) == f'<loaderx.Writer of {str(path)!r}, 0 records>'
    assert not writer.closed
    writer.close()
    assert writer.closed and 'closed' in repr(writer)
    assert dict(writer.fields) == FIELDS


@pytest.mark.parametrize('form', [os.fspath, os.fsencode, lambda path: path])
def test_forms_of_a_path(path, form):
    with lx.create(form(path), FIELDS) as writer:
        writer.append(x=1, text=None)
    with lx.open(form(path)) as dataset:
        assert len(dataset) == 1 and dataset.path == str(path)


# ---- the with-block


def test_a_block_is_one_transaction(path):
    with lx.create(path, FIELDS) as writer:
        reader = lx.open(path)
        for i in range(100):
            writer.append(x=i, text=b'')
        assert reader.refresh() is False
    assert writer.closed
    assert reader.refresh() is True and len(reader) == 100


def test_a_block_without_changes_commits_nothing(path):
    with lx.create(path, FIELDS, durability='none'):
        pass
    writer, reader = lx.open(path, 'a', durability='none'), lx.open(path)
    writer.append(x=1, text=b'')
    writer.commit()
    assert reader.refresh() is True and len(reader) == 1
    writer.sync()
    assert reader.refresh() is False and len(reader) == 1
    writer.close()
    assert reader.refresh() is False


def test_an_exception_leaves_a_new_dataset_empty(path):
    with pytest.raises(ZeroDivisionError):
        with lx.create(path, FIELDS) as writer:
            writer.append(x=1, text=b'')
            raise ZeroDivisionError
    with lx.open(path) as dataset:
        assert len(dataset) == 0
    with pytest.raises(FileExistsError):
        lx.create(path, FIELDS)
    with lx.create(path, FIELDS, replace=True) as writer:
        writer.append(x=2, text=b'')
    assert lx.open(path)['x'][:].tolist() == [2]


@pytest.mark.parametrize('error', [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_undoes_the_block(path, error):
    with lx.create(path, FIELDS) as writer:
        writer.append(x=1, text=b'kept')
    with pytest.raises(error):
        with lx.open(path, mode='a') as writer:
            writer.extend(x=np.arange(1000), text=[b'lost'] * 1000)
            raise error
    assert writer.closed
    assert texts(path) == [b'kept']
    with lx.open(path, mode='a') as writer:
        assert writer.append(x=2, text=b'next') == 1


def test_keeps_records_appended_before_the_block(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1, text=b'before')
    with pytest.raises(ZeroDivisionError):
        with writer:
            writer.append(x=2, text=b'within')
            1 / 0
    assert texts(path) == [b'before']


@pytest.mark.parametrize('method', ['commit', 'rollback', 'close', '__enter__'])
def test_rejects_commit_and_close_within_a_block(path, method):
    with lx.create(path, FIELDS) as writer:
        writer.append(x=1, text=b'a')
        with pytest.raises(lx.LoaderxError, match='with-block'):
            getattr(writer, method)()
        writer.append(x=2, text=b'b')
    assert texts(path) == [b'a', b'b']


# ---- rejected calls


def test_rejects_a_second_writer(path):
    with lx.create(path, FIELDS):
        with pytest.raises(BlockingIOError) as caught:
            lx.open(path, mode='a')
        assert caught.value.filename is not None
    lx.open(path, mode='a').close()


def test_rejects_appends_to_a_sealed_dataset(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1, text=b'a')
    writer.seal()
    with pytest.raises(lx.LoaderxError, match='sealed'):
        writer.append(x=2, text=b'b')
    writer.close()
    with pytest.raises(lx.LoaderxError, match='sealed') as caught:
        lx.open(path, mode='a')
    assert caught.value.status == 'LX_ERR_STATE'
    with lx.open(path) as dataset:
        assert dataset.identity['sealed'] is True and dataset.verify()['records'] == 1


def test_does_not_overwrite_existing_files(path):
    lx.create(path, FIELDS).close()
    with pytest.raises(FileExistsError, match='pass replace=True to replace it'):
        lx.create(path, FIELDS)
    (path.parent / 'file').write_text('')
    with pytest.raises(OSError):
        lx.create(path.parent / 'file', FIELDS)


def test_replaces_a_dataset_only_on_request(path):
    for at in (path, str(path), os.fsencode(path)):    # the first time, there is nothing to replace
        with lx.create(at, {'y': lx.Field('float32')}, replace=True, durability='full') as writer:
            writer.append(y=7)
    path.chmod(0o750)
    (path.parent / 'link').symlink_to(path.name)
    old = lx.open(path)
    uuid = old.uuid
    with pytest.raises(BlockingIOError, match='read'):
        lx.create(path, FIELDS, replace=True)
    old.close()
    with lx.create(path.parent / 'link', FIELDS, replace=True, chunk_records=5) as writer:
        writer.append(x=1, text=b'new')
    with lx.open(path) as dataset:
        assert list(dataset.fields) == list(FIELDS) and len(dataset) == 1 and dataset.uuid != uuid
    assert path.stat().st_mode & 0o777 == 0o750
    assert sorted(entry.name for entry in path.parent.iterdir()) == [path.name, 'link']


@pytest.mark.parametrize('options, error', [
    ({'fields': {}}, ValueError), ({'level': 99}, ValueError), ({'durability': 'some'}, ValueError),
    ({'replace': 1}, TypeError), ({'chunk_records': -1}, ValueError),
], ids=repr)
def test_invalid_arguments_replace_nothing(path, options, error):
    with lx.create(path, FIELDS) as writer:
        writer.append(x=1, text=b'kept')
    with pytest.raises(error):
        lx.create(path, **{'fields': FIELDS, 'replace': True, **options})
    assert lx.open(path)['text'][:] == [b'kept']
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_replaces_nothing_but_datasets(path):
    path.mkdir()
    (path / 'mine').write_text('mine')
    with pytest.raises(FileExistsError):
        lx.create(path, FIELDS, replace=True)
    (path / 'mine').rename(path.parent / 'mine')
    lx.create(path, FIELDS).close()
    (path.parent / 'mine').rename(path / 'mine')
    with pytest.raises(FileExistsError, match="'mine' does not belong"):
        lx.create(path, FIELDS, replace=True)
    assert (path / 'mine').exists() and len(lx.open(path)) == 0
    with pytest.raises(TypeError, match='path'):
        lx.create(3, FIELDS, replace=True)


def test_reports_a_directory_that_cannot_be_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        lx.create(tmp_path / 'no' / 'where', FIELDS)


@pytest.mark.skipif(os.geteuid() == 0, reason='root may write everywhere')
def test_reports_a_directory_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            lx.create(tmp_path / 'd', FIELDS)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize('values, error, named', [
    ({'x': 1}, TypeError, 'text'),
    ({'x': 1, 'text': b'', 'more': 1}, KeyError, 'more'),
    ({'x': 1, 'texts': b''}, KeyError, 'texts'),
    ({}, TypeError, 'x'),
    ({'x': 1, 'text': b'', 3: 4}, TypeError, 'name'),
])
@pytest.mark.parametrize('method', ['append', 'extend'])
def test_rejects_records_that_do_not_match(path, method, values, error, named):
    if method == 'extend':
        values = {name: [value] for name, value in values.items()}
    with lx.create(path, FIELDS) as writer:
        with pytest.raises(error, match=named):
            getattr(writer, method)(values)
        assert len(writer) == 0


@pytest.mark.parametrize('method', ['append', 'extend'])
def test_rejects_other_invalid_arguments(path, method):
    with lx.create(path, FIELDS) as writer:
        function = getattr(writer, method)
        for arguments, named in [((3,), {}), (({'x': 1}, {}), {}), (({'x': 1},), {'text': b''})]:
            with pytest.raises(TypeError, match=method):
                function(*arguments, **named)


def test_rejects_columns_of_different_lengths(path):
    with lx.create(path, FIELDS) as writer:
        with pytest.raises(ValueError, match="'text' has 1 records, .* 2"):
            writer.extend(x=[1, 2], text=[b''])
        with pytest.raises(ValueError, match='None'):
            writer.extend(x=None, text=None)
        writer.extend(x=None, text=[b'a', b'b'])
        assert len(writer) == 2


@pytest.mark.parametrize('options, error, named', [
    ({'durability': 'some'}, ValueError, 'durability'),
    ({'durability': 3}, TypeError, 'durability'),
    ({'level': 0}, ValueError, 'level'),
    ({'level': 'x'}, TypeError, 'level'),
    ({'level': True}, TypeError, 'level'),
    ({'chunk_records': 0}, ValueError, 'chunk_records'),
    ({'chunk_bytes': 100}, ValueError, 'chunk_bytes'),
    ({'chunk_bytes': 2.5}, TypeError, 'chunk_bytes'),
    ({'executor': 3}, TypeError, 'executor'),
])
def test_rejects_invalid_options_by_name(path, options, error, named):
    with pytest.raises(error, match=named):
        lx.create(path, FIELDS, **options)
    assert not path.exists()


@pytest.mark.parametrize('fields, error, named', [
    ({}, ValueError, 'fields'),
    ([('x', 1)], TypeError, 'fields'),
    ({'x': 'uint8'}, TypeError, "'x'"),
    ({3: lx.Field('u1')}, TypeError, '3'),
    ({'': lx.Field('u1')}, ValueError, 'name'),
    ({'.hidden': lx.Field('u1')}, ValueError, 'hidden'),
    ({'a/b': lx.Field('u1')}, ValueError, 'a/b'),
    ({'a\0': lx.Field('u1')}, ValueError, 'name of a field .* NUL'),
    ({'a\udc80': lx.Field('u1')}, ValueError, 'name of a field .* surrogates'),
    ({'n' * 65: lx.Field('u1')}, ValueError, 'name'),
    ({'big': lx.Field('u1', (2 ** 20, 2 ** 20))}, ValueError, 'big'),
])
def test_rejects_invalid_fields(path, fields, error, named):
    with pytest.raises(error, match=named):
        lx.create(path, fields)
    assert not path.exists()


def test_rejects_invalid_paths(tmp_path):
    with pytest.raises(TypeError, match='path'):
        lx.create(3.5, FIELDS)
    with pytest.raises(ValueError, match='path'):
        lx.create('a\0b', FIELDS)


def test_reports_a_closed_executor(path):
    executor = lx.Executor()
    executor.close()
    with pytest.raises(lx.LoaderxError, match='executor'):
        lx.create(path, FIELDS, executor=executor)


# ---- closing


def test_reports_use_after_close(path):
    writer = lx.create(path, FIELDS)
    writer.close()
    writer.close()
    for function in (lambda: writer.append(x=1, text=b''), lambda: writer.extend(x=[], text=[]),
                     writer.commit, writer.sync, writer.seal, writer.rollback, writer.__enter__,
                     lambda: len(writer)):
        with pytest.raises(lx.LoaderxError, match='closed'):
            function()


def test_a_writer_that_is_dropped_commits_and_warns(path):
    writer = lx.create(path, FIELDS)
    writer.append(x=1, text=b'a')
    with pytest.warns(ResourceWarning, match='not closed'):
        del writer
        gc.collect()
    assert texts(path) == [b'a']


def test_half_built_writers_are_silent(path):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for arguments in [(), (path,), (path, 3), (path, {'x': 3})]:
            with pytest.raises((TypeError, OSError)):
                lx.Writer(*arguments)
        with pytest.raises(TypeError):
            lx.create(path, FIELDS, wrong=1)
        gc.collect()


def test_rejects_pickling(path):
    import pickle
    with lx.create(path, FIELDS) as writer:
        with pytest.raises(TypeError, match='pickle'):
            pickle.dumps(writer)


def test_threads_append_and_one_closes(path):
    writer = lx.create(path, {'x': lx.Field('int64')}, durability='none')
    done, refused = [], []

    def work(first):
        for i in range(first, first + 3000):
            try:
                done.append((writer.append(x=i), i))
            except lx.LoaderxError as error:
                refused.append(str(error))
                return

    threads = [threading.Thread(target=work, args=(t * 3000,)) for t in range(4)]
    for thread in threads:
        thread.start()
    while len(done) < 500:
        pass
    writer.close()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert all('closed' in text for text in refused)
    with lx.open(path) as dataset:
        stored = dataset['x'][:]
    assert len(stored) == len(done) and all(stored[index] == x for index, x in done)


def test_use_in_a_child_of_fork_is_an_error(tmp_path):
    run_script(f"""
    path = {str(tmp_path / 'd')!r}
    writer = lx.create(path, {{'x': lx.Field('int64')}})
    writer.append(x=1)
    child = os.fork()
    if child == 0:
        for function in (lambda: writer.append(x=2), writer.commit, writer.close):
            try:
                function()
            except lx.LoaderxError as error:
                assert error.status in ('LX_ERR_FORKED', 'LX_ERR_STATE'), error.status
            else:
                os._exit(1)
        del writer
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    writer.append(x=3)
    writer.close()
    assert lx.open(path)['x'][:].tolist() == [1, 3]
    """)


def test_a_full_disk_is_an_os_error_and_can_be_rolled_back(tmp_path):
    out = run_script(f"""
    import errno, resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = {str(tmp_path / 'd')!r}
    writer = lx.create(path, {{'x': lx.Field('uint8', 1 << 16)}})
    block = np.ones((10, 1 << 16), np.uint8)
    writer.extend(x=block)
    writer.commit()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    try:
        for i in range(20):
            writer.extend(x=block)
        writer.commit()
    except OSError as error:
        print(error.errno == errno.EFBIG)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.rollback()
    writer.extend(x=block)
    writer.close()
    print(len(lx.open(path)))
    """)
    assert out.split() == ['True', '20']
