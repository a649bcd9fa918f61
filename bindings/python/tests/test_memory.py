# SPDX-License-Identifier: MIT
"""Memory: arrays keep their data alive, and unused memory is released."""

import contextlib
import gc
import os
import sys
import threading

import numpy as np
import pytest

import loaderx as lx
from places import is_in_memory
from processes import run_script

N = 64
DATA = np.random.default_rng(5).integers(0, 256, (N, 4096), np.uint8)
TEXTS = [None if i % 5 == 0 else bytes([i]) * (i + 9) for i in range(N)]


@pytest.fixture
def path(tmp_path):
    with lx.create(tmp_path / 'd', {'data': lx.Field('uint8', 4096), 'text': lx.Field(bytes),
                                    'label': lx.Field('int64'),
                                    'packed': lx.Field('uint8', 4096, compress='flate')},
                   chunk_records=16) as writer:
        writer.extend(data=DATA, text=TEXTS, label=np.arange(N), packed=np.zeros_like(DATA))
    return tmp_path / 'd'


FIELDS = ['data', 'text', 'label']


# ---- views


def test_views_equal_gathered_copies(path):
    with lx.open(path) as dataset, dataset.views([3, -1, 0, 3], fields=FIELDS) as views:
        assert list(views) == FIELDS
        for i, record in zip([3, N - 1, 0, 3], views['data']):
            assert np.array_equal(record, DATA[i]) and record.dtype == np.uint8
        assert [None if text is None else bytes(text) for text in views['text']] \
            == [TEXTS[i] for i in [3, N - 1, 0, 3]]
        assert [int(label) for label in views['label']] == [3, N - 1, 0, 3]


def test_views_are_read_only(path):
    with lx.open(path) as dataset, dataset.views([3], fields=FIELDS) as views:
        record = views['data'][0]
        assert not record.flags.writeable and not record.flags.owndata
        with pytest.raises(ValueError):
            record[0] = 1
        with pytest.raises(ValueError):
            record.setflags(write=True)
        with pytest.raises((TypeError, BufferError)):
            views['text'][0][0] = 1
        with pytest.raises((TypeError, BufferError)):
            memoryview(record.base)[0] = 1


def test_views_held_after_the_block_keep_their_memory(path):
    dataset = lx.open(path)
    with dataset.views(range(N), fields=FIELDS) as views:
        records, texts = views['data'], views['text']
        part = views['data'][7][100:200]
    assert views == {}
    dataset.close()
    del dataset, views
    gc.collect()
    assert all(np.array_equal(record, DATA[i]) for i, record in enumerate(records))
    del records
    gc.collect()
    assert np.array_equal(part, DATA[7][100:200])
    assert [None if text is None else bytes(text) for text in texts] == TEXTS
    base = part
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    del part
    gc.collect()
    assert bytes(base) == DATA[7].tobytes()    # the memory object itself


def test_views_outlive_refreshing_and_growth(path):
    dataset = lx.open(path)
    held = dataset.views([0, N - 1], fields=['data'])
    for _ in range(3):
        with lx.open(path, mode='a') as writer:
            writer.extend(data=DATA, text=TEXTS, label=np.arange(N), packed=DATA)
        assert dataset.refresh()
    dataset.close()
    assert np.array_equal(held['data'][0], DATA[0])
    assert np.array_equal(held['data'][1], DATA[N - 1])


def test_rejects_views_of_compressed_records(path):
    with lx.open(path) as dataset:
        with pytest.raises(lx.LoaderxError, match='packed') as caught:
            dataset.views([0])
        assert caught.value.status == 'LX_ERR_UNSUPPORTED'


def test_any_thread_can_release_views(path):
    dataset = lx.open(path)
    views = [dataset.views(range(N), fields=['data']) for _ in range(8)]
    dataset.close()
    threads = [threading.Thread(target=view.clear) for view in views]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(view == {} for view in views)


# ---- returned arrays stay valid


def test_arrays_outlive_the_dataset(path):
    dataset = lx.open(path)
    array, record, out = dataset['data'][:], dataset[3], np.empty((N, 4096), np.uint8)
    dataset.gather(range(N), out={'data': out})
    dataset.close()
    del dataset
    gc.collect()
    assert np.array_equal(array, DATA) and np.array_equal(out, DATA)
    assert np.array_equal(record['data'], DATA[3]) and record['text'] == TEXTS[3]


def test_a_column_keeps_its_dataset(path):
    column = lx.open(path)['label']
    gc.collect()
    assert column[3] == 3


def test_exits_in_the_middle_of_all_calls(path):
    run_script(f"""
    dataset = lx.open({str(path)!r})
    views = dataset.views([1, 2], fields=['data'])
    writer = lx.open({str(path)!r}, mode='a')
    executor = lx.Executor()
    sys.modules['keep'] = (dataset, views, writer, executor)
    """)


# ---- nothing leaks


def growth(work):
    """Return the growth of resident memory over many rounds, after some that fill the caches."""
    def resident():
        with open('/proc/self/statm') as file:
            return int(file.read().split()[1]) * 4096
    for _ in range(200):
        work()
    gc.collect()
    before = resident()
    for _ in range(2000):
        work()
    gc.collect()
    return resident() - before


def catch(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except error:
        return
    raise AssertionError('nothing was raised')


def test_reading_leaks_nothing(path):
    dataset = lx.open(path)
    indices = np.arange(N)
    out = {'data': np.empty((N, 4096), np.uint8)}
    mask = indices % 2 == 0

    def work():
        dataset.gather(indices, fields=FIELDS, out=out)
        dataset['text'][:], dataset['data'][mask], dataset['label'][[1, 2]], dataset[3]
        dataset['text'].present()
        with dataset.views(indices, fields=['data']):
            pass
        dataset.views([1], fields=FIELDS)
        catch(IndexError, dataset.gather, [0, N], FIELDS, out)
        catch(TypeError, dataset.gather, [0.5])
        catch(ValueError, dataset.gather, [0], ['data'], out)
        catch(KeyError, dataset.gather, [0], ['nix'])
        catch(lx.LoaderxError, dataset.views, [0])

    # one list of N strings of bytes, or array of 4 KiB, a round would be 10 MB
    assert growth(work) < 4 << 20


def test_opening_and_writing_leak_nothing(path, tmp_path):
    writer = lx.create(tmp_path / 'w', {'x': lx.Field('int64', 100), 'text': lx.Field(bytes)},
                       durability='none')
    values, swapped = np.ones((5, 100), np.int64), np.ones((5, 100), '>i8')
    texts = [bytes(1000), None, b'', b'a', bytearray(100)]

    def work():
        lx.open(path).close()
        lx.open(path)
        catch(FileNotFoundError, lx.open, tmp_path / 'no')
        catch(BlockingIOError, lx.open, tmp_path / 'w', mode='a')
        catch(FileExistsError, lx.create, path, {'x': lx.Field('u1')})
        writer.extend(x=values, text=texts)
        writer.extend(x=swapped, text=texts)
        writer.append(x=values[0], text=b'')
        catch(ValueError, writer.extend, x=values, text=[b'a'])
        catch(TypeError, writer.extend, x=values, text=texts + [3])
        catch(KeyError, writer.append, x=values, text=None, y=3)
        writer.rollback()
        with lx.Executor(readers=0) as executor:
            executor.stats()

    assert growth(work) < 8 << 20
    writer.close()


def test_reference_counts_stay(path):
    dataset = lx.open(path)
    out = np.empty((N, 4096), np.uint8)
    things = [dataset, out, out.dtype, None, 'data', dataset.fields, DATA[0]]

    def work():
        dataset.gather(range(N), fields=['data'], out={'data': out})
        dataset['data'][3], dataset['text'][0], dataset[0], dataset.stat(), dataset.identity
        dataset.views([3], fields=FIELDS)
        dataset.verify(progress=print if False else None)

    for _ in range(10):
        work()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(100):
        work()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert all(b <= a + 20 for a, b in zip(before, after)), (before, after)


# ---- files larger than memory


def _limited(path, limit):
    try:
        with open(path, 'w') as file:
            file.write(str(limit))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def memory_group(limit):
    """A control group that limits the memory of its processes, including the page cache."""
    for folder, name in (('/sys/fs/cgroup/memory', 'memory.limit_in_bytes'),
                         ('/sys/fs/cgroup', 'memory.max')):
        group = os.path.join(folder, f'loaderx-{os.getpid()}')
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            if _limited(os.path.join(group, name), limit):
                yield group
                return
        finally:
            os.rmdir(group)
    pytest.skip('no control group of memory can be made here')


def test_reads_an_epoch_of_tokens_larger_than_memory(tmp_path):
    path = tmp_path / 'tokens.bin'
    path.touch()
    os.truncate(path, 512 << 20)    # a hole needs no disk space, but memory like any other file
    if is_in_memory(path):
        pytest.skip('files are in memory here')
    with memory_group(96 << 20) as group:
        run_script(f"""
            def used(kind):
                with open('/proc/self/status') as file:
                    return next(int(line.split()[1]) << 10 for line in file if kind in line)
            with open('{group}/cgroup.procs', 'w') as file:
                file.write(str(os.getpid()))
            samples = lx.TokenDataset(lx.Tokens({str(path)!r}, 'uint16'), 4096)
            order = lx.Shuffle(n=len(samples), seed=1)
            before, count = used('RssAnon'), 0
            for batch in lx.Loader(samples, batch_size=64, order=order, threads=2, epochs=1):
                count += len(batch['tokens'])
                assert used('VmRSS') < 192 << 20
            assert count >= len(samples) > 65000
            assert used('RssAnon') < before + (16 << 20)
        """)
