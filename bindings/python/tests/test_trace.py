# SPDX-License-Identifier: MIT
"""Loader.trace: what is recorded, when it ends, and when its file is written."""

import json
import os

import numpy as np
import pytest

import loaderx
from processes import run_script


def make(**options):
    return loaderx.Loader(np.zeros((40, 8)), **{'batch_size': 10, **options})


def spans_of(path, name):
    with open(path) as file:
        trace = json.load(file)
    assert trace['otherData'] == {'dropped': 0}
    return [event for event in trace['traceEvents'] if name in (None, event['name'])]


def records_of(path, name='read'):
    return sum(span['args']['records'] for span in spans_of(path, name))


@pytest.mark.parametrize('threads', [0, 2])
def test_spans_of_a_pass(tmp_path, threads):
    loader = make(threads=threads, transform=lambda batch: batch)
    with loader.trace(tmp_path / 'x.json') as trace:
        assert 'to be written' in repr(trace)
        batches = list(loader)
    assert len(batches) == 4 and 'to be written' not in repr(trace)
    for name in 'read', 'transform', 'wait', 'consumer':
        assert records_of(tmp_path / 'x.json', name) == 40, name
    assert {span['args']['position'] for span in spans_of(tmp_path / 'x.json', 'consumer')} \
        == {0, 10, 20, 30}
    assert len(spans_of(tmp_path / 'x.json', 'batches of loader 0')) >= 4
    assert os.listdir(tmp_path) == ['x.json']


def test_begins_and_ends_within_a_pass(tmp_path):
    loader = make(threads=0)
    for i, _ in enumerate(loader):
        if i == 0:
            trace = loader.trace(tmp_path / 'x.json')
        if i == 2:
            trace.close()
            trace.close()    # has no effect
    assert records_of(tmp_path / 'x.json') == 20


def test_passes_at_the_same_time_are_in_one_trace(tmp_path):
    loader = make(threads=0)
    with loader.trace(tmp_path / 'x.json'):
        pairs = list(zip(loader, loader))
        loader.seek(20)
        rest = list(loader)
    assert (len(pairs), len(rest)) == (4, 2)
    spans = spans_of(tmp_path / 'x.json', 'wait')
    assert sum(span['args']['records'] for span in spans) == 100
    assert {span['args']['loader'] for span in spans} == {0, 1}
    assert not any(overlap(spans_of(tmp_path / 'x.json', None)))


def overlap(spans):
    """Yields whether spans of a track that follow each other overlap without nesting."""
    open_ends = {}
    for span in sorted((span for span in spans if span['ph'] == 'X'),
                       key=lambda span: (span['ts'], -span['dur'])):
        ends = open_ends.setdefault(span['tid'], [])
        while ends and ends[-1] <= span['ts']:
            ends.pop()
        end = span['ts'] + span['dur']
        yield bool(ends) and end > ends[-1] + 0.0015    # times are rounded to nanoseconds
        ends.append(end)


def test_closing_the_loader_writes_the_file(tmp_path):
    loader = make()
    loader.trace(tmp_path / 'x.json')
    next(loader)
    assert not os.listdir(tmp_path)
    loader.close()
    assert records_of(tmp_path / 'x.json', 'wait') == 10
    with pytest.raises(loaderx.LoaderxError, match='the loader is closed'):
        loader.trace(tmp_path / 'y.json')


def test_an_exception_does_not_lose_the_trace(tmp_path):
    with pytest.raises(ZeroDivisionError), make() as loader, loader.trace(tmp_path / 'x.json'):
        next(loader)
        1 / 0
    assert records_of(tmp_path / 'x.json', 'wait') == 10


def test_one_at_a_time(tmp_path):
    loader = make()
    with loader.trace(tmp_path / 'x.json'):
        with pytest.raises(loaderx.LoaderxError, match='traced already.*x.json') as caught:
            loader.trace(tmp_path / 'y.json')
        assert caught.value.status == 'LX_ERR_STATE'
    with loader.trace(tmp_path / 'y.json'):
        pass
    assert spans_of(tmp_path / 'y.json', 'wait') == []


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loader = make()
    with pytest.raises(FileNotFoundError, match='does not exist'):
        loader.trace('absent/x.json')
    os.mkdir('folder')
    with pytest.raises(TypeError):
        loader.trace(7)
    with loader.trace(b'x.json'):    # relative to the folder in which it began
        monkeypatch.chdir('folder')
        next(loader)
    assert os.listdir(tmp_path / 'folder') == []
    monkeypatch.chdir(tmp_path)
    os.rmdir('folder')
    trace = loader.trace('folder')
    next(loader)
    os.mkdir('folder')
    with pytest.raises(FileExistsError):
        trace.close()
    with pytest.raises(FileExistsError):
        make().trace(tmp_path / 'folder')
    os.rmdir(tmp_path / 'folder')
    trace.close()    # can be repeated
    assert records_of(tmp_path / 'folder', 'wait') == 10


def test_an_existing_file_keeps_its_permissions(tmp_path):
    path = tmp_path / 'x.json'
    path.touch()
    path.chmod(0o640)
    with make().trace(path):
        pass
    assert path.stat().st_mode & 0o777 == 0o640 and path.stat().st_size > 0


def test_a_transform_cannot_begin_it(tmp_path):
    def transform(batch):
        loader.trace(tmp_path / 'x.json')

    loader = make(transform=transform)
    with pytest.raises(loaderx.LoaderxError, match='transform'):
        next(loader)


def test_fork(tmp_path):
    run_script(f"""
        import warnings
        warnings.simplefilter('ignore', DeprecationWarning)    # of fork(), since CPython 3.12
        os.chdir({str(tmp_path)!r})
        loader = lx.Loader(np.zeros((40, 8)), batch_size=10)
        trace = loader.trace('x.json')
        next(loader)
        child = os.fork()
        if child == 0:
            try:
                trace.close()
                os._exit(1)
            except lx.LoaderxError as error:
                assert error.status == 'LX_ERR_FORKED'
            loader.close()
            with lx.Loader(np.zeros((40, 8)), batch_size=10) as own, own.trace('y.json'):
                assert len(list(own)) == 4
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert os.listdir() == ['y.json']
        trace.close()
        os.remove('x.json')
        try:
            with loader.trace('x.json'):
                next(loader)
                child = os.fork()
                if child == 0:
                    sys.exit(3)
        except SystemExit as error:
            os._exit(error.code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        os.remove('x.json')
        loader.trace('x.json')
        next(loader)
        loader.close()
        """, silent=True)
    assert records_of(tmp_path / 'y.json') == 40
    assert records_of(tmp_path / 'x.json', 'wait') == 10
