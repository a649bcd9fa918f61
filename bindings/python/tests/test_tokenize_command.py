# SPDX-License-Identifier: MIT
"""The command ``python -m loaderx.tokenize``."""

import contextlib
import errno
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')

from tokenizing import ids_of, make_texts, read_ds, read_megatron, train

TEXTS = make_texts(400, 9)
COMMAND = [sys.executable, '-m', 'loaderx.tokenize']
BOUND = 120    # in seconds; generous for what takes a moment


@pytest.fixture
def folder(tmp_path, monkeypatch):
    train().save(str(tmp_path / 'tokenizer.json'))
    (tmp_path / 'texts.jsonl').write_text(''.join(json.dumps({'text': text}) + '\n'
                                                  for text in TEXTS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, status=0):
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=BOUND)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_writes_and_reports(folder):
    expected = ids_of(train(), TEXTS, [0])
    output = run('--tokenizer', 'tokenizer.json', '-o', 'x.bin', '--append-eod', '<|endoftext|>',
               'texts.jsonl')
    tokens = sum(map(len, expected))
    assert output.startswith(f'x.bin, x.idx: {tokens:,} tokens of uint16 in {len(expected):,} docum')
    assert read_megatron(folder / 'x') == expected
    report = json.loads(run('--tokenizer', '.', '-o', 'x.ds', '--eos', '0', '--json',
                            '--processes', '2', 'texts.jsonl'))
    assert report['tokens'] == tokens and report['documents'] == len(expected)
    assert report['files'] == ['x.ds', 'x.ds.index', 'x.ds.metadata']
    assert report['tokens_per_second'] > 0
    assert read_ds(folder / 'x.ds') == expected


def test_help_has_examples(folder):
    output = run('--help')
    assert 'examples:' in output and '--tokenizer tokenizer.json' in output


@pytest.mark.parametrize('arguments, status, message', [
    (['-o', 'x.bin', 'none.txt'], 1, 'loaderx.tokenize: none.txt: No such file'),
    (['-o', 'x', 'texts.jsonl'], 2, "loaderx.tokenize: format must be given: the name 'x'"),
    (['-o', 'x.bin', '--eos', 'none', 'texts.jsonl'], 2, "no token 'none'"),
    (['-o', 'x.bin', '--key', 'body', 'texts.jsonl'], 1, "texts.jsonl, line 1, offset 0: key"),
    (['-o', 'x.bin', '--key', 'a', '--lines', 'texts.jsonl'], 2, 'not allowed with argument'),
    (['-o', 'none/x.bin', 'texts.jsonl'], 1, 'none/x.idx: No such file'),
    (['-o', 'there.bin', 'texts.jsonl'], 1, 'there.bin: the file exists'),
    (['-o', 'x.bin', '--tokenizer', 'texts.jsonl', 'texts.jsonl'], 1, 'cannot read this tokenizer'),
])
def test_reports_errors_in_one_line(folder, arguments, status, message):
    (folder / 'there.bin').write_text('mine')
    there = sorted(os.listdir(folder))
    output = run('--tokenizer', 'tokenizer.json', *arguments, status=status)
    assert message in output and 'Traceback' not in output
    assert sorted(os.listdir(folder)) == there


@pytest.mark.parametrize('arguments, status', [
    ([], 1), (['--key', 'text'], 0), (['--whole'], 0), (['--lines'], 0)])
def test_json_lines_in_a_pipe(folder, arguments, status):
    """Their form is known only when they are read: they are not taken for text."""
    lines = (folder / 'texts.jsonl').read_bytes()
    done = subprocess.run([*COMMAND, '--tokenizer', 'tokenizer.json', '-o', 'x.bin', '--processes',
                           '0', *arguments, '/dev/stdin'], input=lines, capture_output=True,
                          timeout=BOUND)
    assert done.returncode == status, done.stderr
    if status != 0:
        assert b"the pipe has JSON lines: set key='text' (--key text)" in done.stderr
    elif arguments == ['--key', 'text']:
        assert read_megatron(folder / 'x') == ids_of(train(), TEXTS)


def begin(folder):
    """Start a run that waits for input from a pipe; return the write end of the pipe, too."""
    os.mkfifo(folder / 'pipe.jsonl')
    there = sorted(os.listdir(folder))
    process = subprocess.Popen([*COMMAND, '--tokenizer', 'tokenizer.json', '-o', 'x.bin',
                                '--processes', '2', 'texts.jsonl', 'pipe.jsonl'],
                               stderr=subprocess.PIPE, text=True)
    watch = threading.Timer(BOUND, process.kill)    # a write must not wait forever
    watch.daemon = True
    watch.start()
    pipe = open_pipe(folder / 'pipe.jsonl')
    line = json.dumps({'text': ' '.join(TEXTS)}) + '\n'
    for _ in range(40):    # more than a block, so that processes start
        pipe.write(line)
    pipe.flush()
    deadline = time.monotonic() + BOUND
    while not children(process.pid) and time.monotonic() < deadline:
        time.sleep(.01)
    assert sorted(os.listdir(folder)) != there    # incomplete files
    return process, pipe, there


def open_pipe(path):
    """Write to a pipe once it has a reader."""
    deadline = time.monotonic() + BOUND
    while True:
        try:
            number = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO and time.monotonic() < deadline
            time.sleep(.02)
            continue
        os.set_blocking(number, True)
        return os.fdopen(number, 'w')


def children(pid):
    """The processes that this process started, whatever else runs on this machine."""
    found = []
    for path in pathlib.Path(f'/proc/{pid}/task').glob('*/children'):
        with contextlib.suppress(OSError):    # the thread has ended
            found += map(int, path.read_text().split())
    return found


@pytest.mark.parametrize('number, status', [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                            (signal.SIGHUP, 129)])
def test_a_stopped_run_leaves_no_files(folder, number, status):
    process, pipe, there = begin(folder)
    workers = children(process.pid)
    process.send_signal(number)
    try:
        process.wait(BOUND / 4)
    except subprocess.TimeoutExpired:    # Python forgets a signal just before it begins to read
        process.send_signal(number)
    output = process.communicate(timeout=BOUND)[1]    # ends with the workers, which have stderr, too
    pipe.close()
    assert process.returncode == status and 'Traceback' not in output
    assert sorted(os.listdir(folder)) == there
    assert workers


def test_continues_under_nohup(folder):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)    # inherited by a child
    try:
        process, pipe, there = begin(folder)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    pipe.close()
    process.communicate(timeout=BOUND)
    assert process.returncode == 0
    assert sorted(os.listdir(folder)) == sorted([*there, 'x.bin', 'x.idx'])


def test_reports_a_killed_process(folder):
    process, pipe, there = begin(folder)
    for worker in children(process.pid):
        os.kill(worker, signal.SIGKILL)
    try:
        line = json.dumps({'text': ' '.join(TEXTS)}) + '\n'
        for _ in range(1000):
            pipe.write(line)
        pipe.close()
    except BrokenPipeError:
        pass
    output = process.communicate(timeout=BOUND)[1]
    assert process.returncode == 1 and 'was killed by signal 9: if memory ran out' in output
    assert sorted(os.listdir(folder)) == there


def test_processes_end_with_their_parent(folder):
    process, pipe, _ = begin(folder)
    workers = children(process.pid)
    process.kill()
    process.communicate(timeout=BOUND)    # ends with the workers, which have stderr, too
    pipe.close()
    assert workers


def test_names_the_library_to_install(folder):
    script = ("import sys; sys.modules['tokenizers'] = None\n"
              'import loaderx.tokenize.__main__ as command\n'
              "sys.exit(command.main(['--tokenizer', 'tokenizer.json', '-o', 'x.bin', 'x']))")
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          timeout=BOUND)
    assert done.returncode == 2
    assert 'needs the tokenizers library: pip install tokenizers' in done.stderr
