# SPDX-License-Identifier: MIT
"""loaderx pack: signals, kills, full disks and --resume."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import CHECKS_THREADS, IMAGES
from image_files import names, png, read


def processor_time(pid):
    """The seconds that a process has used, which other processes do not lengthen much."""
    with open(f'/proc/{pid}/stat') as file:
        times = file.read().rpartition(')')[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf('SC_CLK_TCK')


@pytest.mark.parametrize('cut', [1, 4, 1000])
def test_continues_after_kill(loaderx, folder, many, cut):
    loaderx.text('pack', 'many.lst', 'whole.rec')
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1)
    while not any(path.stat().st_size > 1 << 20 for path in folder.glob('x.rec.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.kill()
    running.communicate(timeout=60)
    unfinished, = folder.glob('x.rec.pack-*')
    os.truncate(unfinished, unfinished.stat().st_size - cut)
    assert not (folder / 'x.rec').exists() and not (folder / 'x.idx').exists()
    assert f'{unfinished.name} is what an interrupted pack has left: --resume' in loaderx.fails(
        2, 'pack', 'many.lst', 'x.rec')
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--resume')
    assert report['resumed'] > 20 and report['resumed'] + report['packed'] == 20000
    for end in 'rec', 'idx':
        assert (folder / f'x.{end}').read_bytes() == (folder / f'whole.{end}').read_bytes()
    assert not list(folder.glob('*.pack-*'))
    assert 'x.rec exists: --force' in loaderx.fails(2, 'pack', 'many.lst', 'x.rec', '--resume')


def test_signal(loaderx, folder, many):
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--chunks', 3, '--threads', 1)
    while not list(folder.glob('x_1.rec.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGTERM)
    printed = running.communicate(timeout=60)[1]
    assert b'stopped by signal: Terminated; continue with --resume' in printed
    assert running.returncode == 128 + signal.SIGTERM and not list(folder.glob('x*.rec'))
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--chunks', 3, '--resume')
    assert report['resumed'] >= 6666 and report['resumed'] + report['packed'] == 20000
    loaderx.text('pack', 'many.lst', 'y.rec', '--chunks', 3)
    for number in range(3):
        assert ((folder / f'x_{number}.rec').read_bytes() ==
                (folder / f'y_{number}.rec').read_bytes())


@pytest.mark.skipif(not IMAGES, reason='libloaderx-image was not built')
def test_images_made_before_a_signal_are_kept(loaderx, folder):
    """The first 5 are small; the others of their block take seconds."""
    for number in range(45):
        (folder / f'{number}.png').write_bytes(png(number, *([9, 9] if number < 5 else [800, 700])))
    (folder / 'a.lst').write_text(''.join(f'{i}\t0\t{i}.png\n' for i in range(45)))
    pack = ['pack', 'a.lst', 'a.rec', '--encoding', 'webp-lossless', '--threads', 1]
    running = loaderx.start(*pack)
    while not list(folder.glob('a.rec.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    begun = processor_time(running.pid)
    while processor_time(running.pid) < begun + .3:    # ends with the first large images
        assert running.poll() is None
        time.sleep(.01)
    running.send_signal(signal.SIGINT)
    printed = running.communicate(timeout=60)[1]
    assert b'stopped by signal: Interrupt; continue with --resume' in printed
    assert loaderx.json(*pack, '--resume')['resumed'] >= 5
    assert len(read(folder / 'a.rec')) == 45


def test_another_list_is_not_continued(loaderx, folder, many):
    (folder / '7.png').unlink()
    assert '7.png: cannot open the image' in loaderx.fails(1, 'pack', 'many.lst', 'x.rec')
    first = set(folder.glob('x.rec.pack-*'))
    (folder / 'many.lst').write_text(''.join(many).replace('\t3\t', '\t30\t'))
    loaderx.fails(1, 'pack', 'many.lst', 'x.rec', '--resume')
    assert len(set(folder.glob('x.rec.pack-*')) - first) == 1
    (folder / 'many.lst').write_text(''.join(many[:7]))
    loaderx.text('pack', 'many.lst', 'x.rec', '--resume')
    assert len(read(folder / 'x.rec')) == 7


def test_gaps_are_filled_if_bad_images_stop(loaderx, folder, many):
    """What was skipped is packed by a later run that does not skip."""
    (folder / 'many.lst').write_text(''.join(many[:60]))
    (folder / '20.png').rename(folder / 'away')
    (folder / '45.png').rename(folder / 'far')
    loaderx.fails(1, 'pack', 'many.lst', 'x.rec')
    os.mkfifo(folder / '45.png')
    unfinished, = folder.glob('x.rec.pack-*')
    assert loaderx('pack', 'many.lst', 'y.rec', '--on-bad', 'skip').returncode == 0
    os.replace(folder / 'y.rec', unfinished)    # as if it had been killed at the end
    (folder / '45.png').unlink()
    (folder / '20.png').write_bytes((folder / 'away').read_bytes())
    (folder / '45.png').write_bytes((folder / 'far').read_bytes())
    assert loaderx.json('pack', 'many.lst', 'x.rec', '--resume')['resumed'] == 20
    assert len(read(folder / 'x.rec')) == 60


def test_two_processes(loaderx, folder, many):
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1)
    while not list(folder.glob('x.idx.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGSTOP)
    for option in '--resume', '--force':
        assert 'another process packs x.rec' in loaderx.fails(2, 'pack', 'many.lst', 'x.rec',
                                                              option)
    running.send_signal(signal.SIGCONT)
    assert running.communicate(timeout=60)[1] == b''
    assert len(read(folder / 'x.rec')) == 20000


def test_two_parts_of_the_same_name(loaderx, folder, many):
    """The part that ends last replaces the other only with --force."""
    running = loaderx.start('pack', 'many.lst', 'x.rec', '--threads', 1, '--part', '1/2')
    while not list(folder.glob('x.idx.pack-*')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGSTOP)
    loaderx.text('pack', 'many.lst', 'x.rec', '--part', '2/2')
    other = (folder / 'x.rec').read_bytes()
    running.send_signal(signal.SIGCONT)
    assert b'x.rec exists: --force replaces it' in running.communicate(timeout=60)[1]
    assert running.returncode == 2 and (folder / 'x.rec').read_bytes() == other
    (folder / 'x.rec').rename(folder / '2.rec')
    (folder / 'x.idx').rename(folder / '2.idx')
    report = loaderx.json('pack', 'many.lst', 'x.rec', '--part', '1/2', '--resume')
    assert (report['resumed'], report['packed']) == (10000, 0)


def test_what_was_to_replace_a_file(loaderx, folder, many):
    """An interrupted --force keeps the old file, and --resume says what to do about it."""
    (folder / 'x.rec').write_bytes(b'old')
    (folder / '20.png').rename(folder / 'away')
    loaderx.fails(1, 'pack', 'many.lst', 'x.rec', '--force')
    (folder / 'away').rename(folder / '20.png')
    assert (folder / 'x.rec').read_bytes() == b'old'
    assert 'x.rec exists: --force replaces it; once it is removed, --resume continues' in (
        loaderx.fails(2, 'pack', 'many.lst', 'x.rec', '--resume'))
    (folder / 'x.rec').unlink()
    assert loaderx.json('pack', 'many.lst', 'x.rec', '--resume')['resumed'] == 20


SIGNAL = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void count(void)
{
    static int calls;
    if (++calls == atoi(getenv("SIGNAL_AT")))
        raise(atoi(getenv("SIGNAL")));
}

int rename(const char *from, const char *to)
{
    count();
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
    count();
    return unlinkat(AT_FDCWD, path, 0);
}
"""


@pytest.fixture
def signal_at(folder):
    """A function that returns an environment, in which a process sends itself a signal before the
    n-th call of rename() or unlink()."""
    compiler = shutil.which('cc')
    if compiler is None:
        pytest.skip('no C compiler')
    library = folder.parent / f'{folder.name}.so'
    subprocess.run([compiler, '-Werror=implicit', '-shared', '-fPIC', '-xc', '-', '-o', library],
                   input=SIGNAL.encode(), check=True, timeout=60)

    yield lambda name, number: {**os.environ, 'LD_PRELOAD': str(library),
                                'SIGNAL': str(int(name)), 'SIGNAL_AT': str(number)}
    library.unlink()


@pytest.fixture
def kill_at(loaderx, signal_at):
    """A function that packs, and is killed before the n-th call of rename() or unlink(). It returns
    whether there were as many."""
    def run(number, *arguments):
        done = loaderx('pack', *arguments, env=signal_at(signal.SIGKILL, number))
        assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL), done
        return done.returncode != 0

    return run


@pytest.mark.parametrize('output, force', [('x.rec', False), ('x.rec', True), ('x', False)])
@pytest.mark.parametrize('chunks', [1, 3])
def test_continues_after_kill_at_each_name(loaderx, folder, photos, kill_at, output, force, chunks):
    """--resume gives the names that a killed process has not given."""
    (folder / 'photos' / list(photos)[7]).unlink()
    os.symlink('nowhere', folder / 'photos' / list(photos)[7])
    options = ['photos', output, '--chunks', chunks, '--on-bad', 'skip']
    loaderx('pack', *options)
    made = {path.name: path for path in folder.glob('x*')}
    for path in made.values():
        path.rename(folder / f'whole-{path.name}')
    kills = 0
    while True:
        for name in made if force else ():
            (folder / name).write_bytes(b'old')
        if not kill_at(kills + 1, *options, *(['--force'] if force else [])):
            break
        kills += 1
        if list(folder.glob('*.commit')):
            line = loaderx.fails(2, 'pack', *options)
            assert 'exists' in line or 'is what an interrupted pack has left' in line
        report = json.loads(loaderx('pack', *options, '--resume', '--json').stdout)
        assert (report['packed'] + report['resumed'], report['skipped']) == (59, 1)
        assert {path.name for path in folder.glob('x*')} == set(made)
        for name, path in made.items():
            if output == 'x':
                assert ' have the same ' in loaderx.text('diff', name, f'whole-{name}')
                shutil.rmtree(path)
            else:
                assert path.read_bytes() == (folder / f'whole-{name}').read_bytes()
                path.unlink()
    assert kills == (1 if output == 'x' else 3) * chunks + 1


@pytest.mark.parametrize('output, at', [('x.rec', 2), ('x.rec', 5), ('x', 2)])
def test_two_processes_that_give_names(loaderx, folder, photos, signal_at, output, at):
    """Only the one that packed gives the outputs their names."""
    pack = ['pack', 'photos', output, '--chunks', 2]
    running = loaderx.start(*pack, env=signal_at(signal.SIGSTOP, at))
    assert os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_status == (
        signal.SIGSTOP)
    assert list(folder.glob('*.commit'))
    for option in [], ['--resume'], ['--force']:
        assert 'another process packs x_0' in loaderx.fails(2, *pack, *option)
    running.send_signal(signal.SIGCONT)
    assert running.communicate(timeout=60)[1] == b'' and running.returncode == 0
    assert names(folder) == ['photos', *(
        ['x_0', 'x_1'] if output == 'x' else ['x_0.idx', 'x_0.rec', 'x_1.idx', 'x_1.rec'])]


def test_a_commit_without_its_files(loaderx, folder, photos, kill_at):
    assert kill_at(4, 'photos', 'x.rec', '--chunks', 2)
    assert '.commit is what an interrupted pack has left: --resume' in loaderx.fails(
        2, 'pack', 'photos', 'x.rec', '--chunks', 2)
    (folder / 'x_0.rec').unlink()
    assert 'x_0.rec was complete, and is not there any more: --force begins again' in loaderx.fails(
        2, 'pack', 'photos', 'x.rec', '--chunks', 2, '--resume')
    loaderx.text('pack', 'photos', 'x.rec', '--chunks', 2, '--force')
    assert names(folder) == ['photos', 'x_0.idx', 'x_0.rec', 'x_1.idx', 'x_1.rec']


def test_full_disk(loaderx, folder, many):
    """A limit of file sizes stands for a full disk."""
    limited = ['bash', '-c', 'ulimit -f 2000; exec "$@"', 'limited', loaderx.command, 'pack',
               'many.lst', 'x.rec']
    done = subprocess.run(limited, cwd=folder, capture_output=True, timeout=120)
    assert done.returncode == 1 and b'File too large' in done.stderr
    assert not (folder / 'x.rec').exists()
    assert loaderx.json('pack', 'many.lst', 'x.rec', '--resume')['resumed'] > 100
    assert len(read(folder / 'x.rec')) == 20000


@pytest.mark.skipif(CHECKS_THREADS, reason='ThreadSanitizer writes a file before main()')
def test_a_disk_without_room_for_a_dataset(loaderx, folder, photos):
    """A limit of file sizes stands for a full disk."""
    done = subprocess.run(['bash', '-c', 'ulimit -f 0; exec "$@"', 'limited', loaderx.command,
                           'pack', 'photos', 'x'], cwd=folder, capture_output=True, timeout=60)
    assert done.returncode == 1 and b'File too large' in done.stderr
    assert names(folder) == ['photos']


def test_dataset_continues_after_kill(loaderx, folder, many):
    loaderx.text('pack', 'many.lst', 'whole')
    running = loaderx.start('pack', 'many.lst', 'x', '--threads', 1)
    while not list(folder.glob('x.pack-*/meta.json')):
        assert running.poll() is None
        time.sleep(.001)
    running.send_signal(signal.SIGTERM)
    assert b'stopped by signal' in running.communicate(timeout=60)[1]
    if list(folder.glob('x.pack-*')):
        assert 'is what an interrupted pack has left' in loaderx.fails(2, 'pack', 'many.lst', 'x')
    for _ in range(3):
        running = loaderx.start('pack', 'many.lst', 'x', '--resume')
        time.sleep(.1)
        running.kill()
        running.communicate(timeout=60)
    if not (folder / 'x').exists():
        loaderx.text('pack', 'many.lst', 'x', '--resume')
    assert ' have the same 20000 records' in loaderx.text('diff', 'whole', 'x')
    loaderx.text('verify', 'x')
    assert names(folder)[-3:] == ['many.lst', 'whole', 'x']
