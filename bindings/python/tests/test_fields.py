# SPDX-License-Identifier: MIT
"""Adding, dropping and renaming fields; checkpoint and rebalance; sealing."""

import threading
from concurrent.futures import ThreadPoolExecutor, TimeoutError

import numpy as np
import pytest

import loaderx as lx
from processes import run_script

FIELDS = {'x': lx.Field('int64'), 'text': lx.Field(bytes)}
N = 50


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'dataset'
    with lx.create(path, FIELDS) as writer:
        writer.extend(x=range(N), text=[b'text %d' % i for i in range(N)])
    return path


def texts(path):
    with lx.open(path) as dataset:
        return dataset['text'][:]


# ---- fields


def test_an_added_field_is_missing_until_it_is_written(path):
    with lx.open(path, mode='r+') as writer:
        writer.add_field('score', lx.Field('float32'))
        assert list(writer.fields) == ['x', 'text', 'score']
        assert writer.fields['score'] == lx.Field('float32')
        writer[3] = {'score': 0.5}
        writer.append(x=N, text=b'new', score=1)
        with pytest.raises(TypeError, match='score'):
            writer.append(x=N, text=b'new')
    with lx.open(path) as dataset:
        assert list(dataset.fields) == ['x', 'text', 'score'] and len(dataset) == N + 1
        assert dataset['score'].present().tolist() == [i in (3, N) for i in range(N + 1)]
        assert dataset['score'].filled(-1)[[3, 4, N]].tolist() == [0.5, -1, 1]
        assert dataset[0]['score'] is None
        dataset.verify()


def test_a_field_of_every_kind_can_be_added(path):
    fields = {'a': lx.Field('complex64', (2, 3)), 'b': lx.Field(bytes, compress='flate'),
              'c': lx.Field('bool', 7)}
    writer = lx.open(path, mode='r+')
    for name, field in fields.items():
        writer.add_field(name, field)
    writer[:] = {'a': np.ones((N, 2, 3), np.complex64), 'b': b'same' * 50,
                 'c': np.zeros(7, bool)}
    writer.close()
    with lx.open(path) as dataset:
        assert dict(dataset.fields) == {**FIELDS, **fields}
        assert dataset[7]['b'] == b'same' * 50 and dataset['a'][7].sum() == 6


def test_drops_a_field(path):
    with lx.open(path, mode='r+') as writer:
        writer.drop_field('x')
        assert list(writer.fields) == ['text']
        writer.append(text=b'more')
        with pytest.raises(KeyError, match='x'):
            writer.append(x=1, text=b'')
        with pytest.raises(ValueError, match='only'):
            writer.drop_field('text')
    assert texts(path)[-1] == b'more'
    with lx.open(path, mode='r+') as writer:
        writer.add_field('x', lx.Field('uint8'))
    with lx.open(path) as dataset:
        assert not dataset['x'].present().any() and dataset.fields['x'].dtype == np.uint8


def test_renames_a_field(path):
    with lx.open(path, mode='r+') as writer:
        writer.rename_field('text', to='caption')
        writer.append(x=1, caption=b'new')
        assert list(writer.fields) == ['x', 'caption']
    with lx.open(path) as dataset:
        assert dataset['caption'][[0, -1]] == [b'text 0', b'new']


@pytest.mark.parametrize('call, error, named', [
    (lambda w: w.add_field('x', lx.Field('u1')), ValueError, 'x'),
    (lambda w: w.add_field('', lx.Field('u1')), ValueError, 'name'),
    (lambda w: w.add_field('a/b', lx.Field('u1')), ValueError, 'a/b'),
    (lambda w: w.add_field(3, lx.Field('u1')), TypeError, 'name'),
    (lambda w: w.add_field('y\0', lx.Field('u1')), ValueError, r"name of a field .* 'y\\x00'"),
    (lambda w: w.add_field('y\udc80', lx.Field('u1')), ValueError, r"name of a field .*\\udc80"),
    (lambda w: w.add_field('y', 'u1'), TypeError, 'field'),
    (lambda w: w.add_field('y'), TypeError, 'field'),
    (lambda w: w.drop_field('y'), KeyError, 'y'),
    (lambda w: w.drop_field(3), TypeError, 'name'),
    (lambda w: w.drop_field('x\0'), ValueError, 'name'),
    (lambda w: w.drop_field('x\udc80'), ValueError, 'name'),
    (lambda w: w.rename_field('y', 'z'), KeyError, 'y'),
    (lambda w: w.rename_field('x', 'text'), ValueError, 'text'),
    (lambda w: w.rename_field('x', '.'), ValueError, 'name'),
    (lambda w: w.rename_field('x', 3), TypeError, 'to'),
    (lambda w: w.rename_field('x\0', 'z'), ValueError, 'name'),
    (lambda w: w.rename_field('x', 'z\0'), ValueError, 'to'),
    (lambda w: w.rename_field('x'), TypeError, 'to'),
    (lambda w: w.rebalance(progress=3), TypeError, 'progress'),
])
def test_rejects_invalid_changes_by_name(path, call, error, named):
    writer = lx.open(path, mode='r+')
    with pytest.raises(error, match=named):
        call(writer)
    assert dict(writer.fields) == FIELDS
    writer.append(x=1, text=b'')
    writer.close()
    with lx.open(path) as dataset:
        assert dict(dataset.fields) == FIELDS and len(dataset) == N + 1


def test_mode_a_changes_no_fields(path):
    with lx.open(path, mode='a') as writer:
        for change in (lambda: writer.add_field('y', lx.Field('u1')),
                       lambda: writer.drop_field('x'), lambda: writer.rename_field('x', 'y')):
            with pytest.raises(lx.LoaderxError, match=r'r\+'):
                change()


def test_a_block_commits_before_its_fields_change(path):
    with pytest.raises(ZeroDivisionError):
        with lx.open(path, mode='r+') as writer:
            writer[0] = {'x': 100}
            writer.add_field('y', lx.Field('u1'))
            writer[0] = {'x': 200, 'y': 1}
            1 / 0
    with lx.open(path) as dataset:
        assert list(dataset.fields) == ['x', 'text', 'y']
        assert dataset['x'][0] == 100 and dataset[0]['y'] is None


def test_a_rejected_field_leaves_the_block_unchanged(path):
    with lx.open(path, mode='r+') as writer:
        writer[0] = {'x': 100}
        with pytest.raises(ValueError):
            writer.add_field('x', lx.Field('u1'))
        writer[1] = {'x': 101}
        with pytest.raises(lx.LoaderxError, match='with-block'):
            writer.commit()
    with lx.open(path) as dataset:
        assert dataset['x'][:2].tolist() == [100, 101]


def test_a_reader_keeps_its_fields(path):
    with lx.open(path) as dataset:
        views = dataset.views([0], fields=['text'])
        with lx.open(path, mode='r+') as writer:
            writer.add_field('y', lx.Field('u1'))
            writer.rename_field('x', 'number')
        with lx.open(path, mode='r+') as writer:
            writer[0] = {'number': 100}
        assert dataset['x'][0] == 0
        dataset.refresh()
        assert dataset['x'][0] == 100 and list(dataset.fields) == ['x', 'text']
        with lx.open(path, mode='r+') as writer:
            writer.drop_field('text')
            writer.append(number=7, y=1)
        with pytest.raises(lx.LoaderxError, match='text') as caught:
            dataset.refresh()
        assert caught.value.status == 'LX_ERR_STATE'
        assert dataset['text'][1] == b'text 1' and len(dataset) == N
        assert bytes(views['text'][0]) == b'text 0'


def test_fields_change_while_threads_append(path):
    """Each append has exactly the current fields, or is rejected."""
    writer = lx.open(path, mode='r+')
    stop = threading.Event()
    refused, failures = [], []

    def work():
        while not stop.is_set():
            values = {name: None for name in writer.fields}
            values.update(x=np.arange(3)[1:2].sum(), text=b'a')
            try:
                writer.append(values)
                writer.extend({name: [value] for name, value in values.items()})
                writer[-1] = values
            except (lx.LoaderxError, TypeError, KeyError) as error:
                refused.append(error)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(15):
        writer.add_field(f'f{i}', lx.Field('float64', 3))
        if i % 3:
            writer.drop_field(f'f{i}')
    stop.set()
    for thread in threads:
        thread.join(60)
    length = len(writer)
    writer.close()
    assert not failures
    with lx.open(path) as dataset:
        assert len(dataset) == length and len(dataset.fields) == 7
        dataset.verify()


# ---- checkpoint, rebalance


def test_checkpoint_moves_updates_from_the_log_to_the_tables(path):
    with lx.open(path, mode='r+') as writer:
        for i in range(20):
            writer[i] = {'x': -i}
    with lx.open(path) as dataset:
        assert dataset.stat()['log_entries'] >= 20
    with lx.open(path, mode='r+') as writer:
        writer[20] = {'x': -20}
        assert writer.checkpoint() is None
    with lx.open(path) as dataset:
        assert dataset.stat()['log_entries'] == 0
        assert dataset['x'][:].tolist() == [*range(0, -21, -1), *range(21, N)]


def test_a_new_dataset_has_no_dead_bytes(tmp_path):
    """Padding between values is not dead: a rebalance writes it again."""
    fields = {'text': lx.Field(bytes), 'vector': lx.Field('float64', 3)}
    with lx.create(tmp_path / 'd', fields) as w:
        for i in range(1000):
            w.append(text=b'x' * (9 + i % 7), vector=[i] * 3)
    with lx.open(tmp_path / 'd') as dataset:
        stat = dataset.stat()
        assert stat['live_bytes'] < stat['chunk_bytes'] and stat['dead_bytes'] == 0
        assert all(chunk['dead_bytes'] == 0 for chunk in stat['chunks'])
    with lx.open(tmp_path / 'd', mode='a') as w:
        result = w.rebalance()
    assert result['bytes_before'] == result['bytes_after'] == stat['chunk_bytes']


def test_rebalance_frees_dead_bytes(tmp_path):
    path = tmp_path / 'd'
    with lx.create(path, {'v': lx.Field('uint8', 1000)}, chunk_records=20) as writer:
        writer.extend(v=np.zeros((100, 1000), np.uint8))
    with lx.open(path, mode='r+') as writer:
        writer[:] = {'v': np.arange(100, dtype=np.uint8)[:, None].repeat(1000, 1)}
        writer.truncate(50)
    reader = lx.open(path)
    before = reader.stat()
    assert before['dead_bytes'] >= 150_000 and before['live_ratio'] < 0.3
    assert sum(chunk['dead_bytes'] for chunk in before['chunks']) == before['dead_bytes']
    seen = []
    with lx.open(path, mode='a') as writer:
        result = writer.rebalance(progress=lambda done, total: seen.append((done, total)))
        writer.append(v=np.full(1000, 50, np.uint8))
    assert result['live_ratio_before'] < 0.3 and result['live_ratio_after'] == 1
    assert result['utilisation_before'] < result['utilisation_after'] <= 1
    assert result['records'] == result['payloads'] == 50 and result['bytes_after'] == 50_000
    assert result['chunks_before'] > result['chunks_after'] == 3
    assert seen and seen[-1] == (50, 50)
    assert reader['v'][:][:, 0].tolist() == list(range(50))
    assert reader.refresh() and len(reader) == 51
    assert reader['v'][:][:, 7].tolist() == list(range(51))
    assert reader.stat()['dead_bytes'] == 0


def test_rebalance_says_which_deleted_bytes_a_reader_keeps(tmp_path):
    path, secret = tmp_path / 'd', b'a secret that must go'
    with lx.create(path, {'text': lx.Field('bytes')}) as writer:
        writer.extend(text=[b'x' * 30, secret, b'y' * 30])

    def files_with_secret():
        return [file for file in path.rglob('*')
                if file.is_file() and secret in file.read_bytes()]

    reader = lx.open(path)
    with lx.open(path, mode='r+') as writer:
        writer.delete(1)
    with lx.open(path, mode='r+') as writer:
        assert writer.rebalance()['kept_files'] > 0
    assert files_with_secret() and lx.open(path).stat()['leftover_bytes'] >= len(secret)
    assert lx.open(path).verify()['leftover_bytes'] >= len(secret)
    with lx.open(path, mode='r+') as writer, ThreadPoolExecutor() as pool:
        waiting = pool.submit(writer.rebalance, wait=True)
        with pytest.raises(TimeoutError):
            waiting.result(0.3)
        reader.close()
        assert waiting.result(30)['kept_files'] == 0 and not files_with_secret()
    with lx.open(path) as dataset:
        assert dataset['text'][:] == [b'x' * 30, b'y' * 30]
        assert dataset.stat()['leftover_bytes'] == 0


def test_exceptions_of_progress_end_a_rebalance(path):
    def stop(done, total):
        raise ZeroDivisionError('enough')

    writer = lx.open(path, mode='r+')
    with pytest.raises(ZeroDivisionError, match='enough'):
        writer.rebalance(progress=stop)
    writer[0] = {'x': 5}
    writer.close()
    with lx.open(path) as dataset:
        assert dataset['x'][0] == 5 and dataset.verify()['records'] == N


def test_use_of_the_writer_in_progress_is_an_error(path):
    run_script(f"""
    writer = lx.open({str(path)!r}, mode='r+')
    for use in (lambda: len(writer), writer.close, writer.commit, lambda: writer.append(x=1),
                writer.checkpoint, lambda: writer.rebalance()):
        try:
            writer.rebalance(progress=lambda done, total: use())
        except lx.LoaderxError as error:
            assert 'progress' in str(error), error
        except TypeError:
            assert use is not writer.close
        else:
            raise AssertionError(use)
    writer.close()
    """)


def test_ctrl_c_ends_a_rebalance(path):
    run_script(f"""
    path = {str(path.parent / 'big')!r}
    with lx.create(path, {{'v': lx.Field('uint8', 1000)}}) as writer:
        writer.extend(v=np.zeros((20000, 1000), np.uint8))
    writer = lx.open(path, mode='r+')
    def stop(done, total):
        os.kill(os.getpid(), signal.SIGINT)
    try:
        writer.rebalance(progress=stop)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError
    writer.close()
    assert lx.open(path).verify()['records'] == 20000
    """)


# ---- the seal


def test_rejects_writes_after_a_seal_in_a_block(path):
    with lx.open(path, mode='r+') as writer:
        writer[0] = {'x': 9}
        writer.seal()
        with pytest.raises(lx.LoaderxError, match='seal'):
            writer[0] = {'x': 10}
    with lx.open(path) as reader:
        assert reader.identity['sealed'] and reader['x'][0] == 9
    lx.unseal(path)
    with pytest.raises(ZeroDivisionError):
        with lx.open(path, mode='r+') as writer:
            writer[0] = {'x': 11}
            writer.seal()
            1 / 0
    with lx.open(path) as reader:    # the seal has committed
        assert reader.identity['sealed'] and reader['x'][0] == 11


def test_unseals(path):
    writer = lx.open(path, mode='r+')
    writer[0] = {'x': 9}
    writer.seal()
    writer.close()
    reader = lx.open(path)
    assert reader.identity['sealed'] and reader['x'][0] == 9
    lx.unseal(path)
    lx.unseal(path)
    with lx.open(path, mode='r+') as writer:
        with pytest.raises(BlockingIOError, match='process'):
            lx.unseal(path)
        writer[0] = {'x': 10}
        writer.append(x=N, text=b'more')
    assert reader['x'][0] == 9 and reader.refresh()
    assert not reader.identity['sealed'] and reader['x'][[0, N]].tolist() == [10, N]
    with pytest.raises(FileNotFoundError):
        lx.unseal(path.parent / 'no')
    with pytest.raises(TypeError, match='path'):
        lx.unseal(3)


def test_a_block_undoes_what_followed_a_call_that_commits(tmp_path):
    path = tmp_path / 'd'
    lx.create(path, {'x': lx.Field('int64')}).close()
    with pytest.raises(ZeroDivisionError), lx.open(path, 'r+') as writer:
        writer.append(x=1)
        writer.add_field('y', lx.Field('int64'))
        writer.append(x=2, y=2)
        raise ZeroDivisionError
    assert lx.open(path)['x'][:].tolist() == [1] and 'y' in lx.open(path).fields
