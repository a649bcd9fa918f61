# SPDX-License-Identifier: MIT
"""loaderx import --replace: the new dataset replaces the old one, or the old one stays."""

import json
import os

import pytest

from arrays import values, write_idx


@pytest.fixture
def other(folder):
    """The arguments that import five other images."""
    return '--idx', 'data=' + write_idx(folder / 'other', values('uint8', (5, 4, 3)))


def test_replace(loaderx, folder, images, other):
    before = loaderx.json('stat', 'images')
    loaderx.text('import', 'images', '--replace', *other)
    after = loaderx.json('stat', 'images')
    assert after['length'] == 5 and after['uuid'] != before['uuid']
    assert not (folder / 'images.new').exists()


def test_creates_an_absent_dataset(loaderx, folder, other):
    loaderx.text('import', 'images/', '--replace', *other)
    assert loaderx.json('stat', 'images')['length'] == 5
    (folder / 'empty').mkdir()
    loaderx.text('import', 'empty', '--replace', *other)
    assert loaderx.json('stat', 'empty')['length'] == 5


def test_through_a_link(loaderx, folder, images, other):
    """The target of the link is replaced; the link stays."""
    (folder / 'store').mkdir()
    (folder / 'images').rename(folder / 'store' / 'real')
    (folder / 'name').symlink_to('store/real')
    loaderx.text('import', 'name/', '--replace', *other)
    assert (folder / 'name').is_symlink()
    assert loaderx.json('stat', 'store/real')['length'] == 5
    assert [path.name for path in (folder / 'store').iterdir()] == ['real']
    assert not (folder / 'name.new').exists()


def test_a_link_to_nothing(loaderx, folder, other):
    (folder / 'name').symlink_to('nowhere')
    loaderx.fails(2, 'import', 'name', '--replace', *other)
    assert (folder / 'name').is_symlink() and not (folder / 'name.new').exists()


def test_reports_files_of_an_earlier_attempt(loaderx, folder, images, other):
    (folder / 'images').rename(folder / 'images.new')
    line = loaderx.fails(2, 'import', 'images', '--replace', *other)
    assert 'images.new: ' in line and 'remove it' in line and '--append' not in line
    assert loaderx.json('stat', 'images.new')['length'] == 20
    assert not (folder / 'images').exists()
    loaderx.text('copy', 'images.new', 'images')
    loaderx.fails(2, 'import', 'images', '--replace', *other)
    assert loaderx.json('stat', 'images')['length'] == 20


def test_replaces_a_sealed_dataset(loaderx, images, other):
    loaderx.text('seal', 'images')
    loaderx.text('import', 'images', '--replace', *other)
    assert loaderx.json('stat', 'images')['length'] == 5


def test_a_failure_keeps_the_old_dataset(loaderx, folder, images):
    (folder / 'bad').write_bytes(b'no array at all')
    loaderx.fails(1, 'import', 'images', '--replace', '--idx', 'data=bad')
    assert loaderx.json('stat', 'images')['length'] == 20
    assert not (folder / 'images.new').exists()


def test_does_not_replace_other_than_datasets(loaderx, folder, other):
    (folder / 'mine').mkdir()
    (folder / 'mine' / 'notes').write_text('mine')
    assert 'not replaced' in loaderx.fails(2, 'import', 'mine', '--replace', *other)
    (folder / 'file').write_text('mine')
    loaderx.fails(2, 'import', 'file', '--replace', *other)
    assert (folder / 'mine' / 'notes').read_text() == 'mine'
    assert (folder / 'file').read_text() == 'mine'


@pytest.mark.parametrize('name', [
    'notes.txt', '.hidden', 'LOG.old', 'LOG.0', 'LOG.01', 'data.offset.0', 'data.offset.old',
    'data.dict.1', '.offset', 'da ta.check', 'data~0.check', 'a' * 65 + '.offset', 'meta.json.bak',
    'mine.check', 'chunk/notes.txt', 'chunk/01.zr', 'chunk/4294967295.zr', 'chunk/.zr',
])
@pytest.mark.parametrize('sealed', [False, True])
def test_detects_foreign_files_before_writing(loaderx, folder, images, other, name,
                                                           sealed):
    if sealed:
        loaderx.text('seal', 'images')
    before = loaderx.json('stat', 'images')
    (folder / 'images' / name).write_text('mine')
    line = loaderx.fails(2, 'import', 'images', '--replace', *other)
    assert name.rpartition('/')[2] in line and 'elsewhere' in line
    assert loaderx.json('stat', 'images') == before
    assert not (folder / 'images.new').exists()
    (folder / 'images' / name).unlink()
    loaderx.text('import', 'images', '--replace', *other)
    assert loaderx.json('stat', 'images')['length'] == 5


def test_recognizes_all_file_names_of_a_dataset(loaderx, folder, images, other):
    """Temporary files of an interrupted writer, also with the longest name of a table."""
    loaderx.text('seal', 'images')
    for name in ('meta.json.new', 'LOG.7', 'LOG.4611686018427387904', 'data.offset.4294967295',
                 'data.check.3', 'data.dict', 'a' * 64 + '~4294967295.offset.1', 'x.y.offset',
                 'chunk/4294967294.zr'):
        (folder / 'images' / name).touch()
    loaderx.text('import', 'images', '--replace', *other)
    assert [path.name for path in folder.glob('images*')] == ['images']


@pytest.fixture
def read_on(loaderx, folder):
    """Starts a process that reads a dataset of 20000 records, `big`, and pauses."""
    started = []

    def start():
        reader = loaderx.start('get', 'big', ':', '--raw')
        os.read(reader.stdout.fileno(), 1)  # it is open, and a pipe cannot hold all its output
        started.append(reader)
        return reader
    data = write_idx(folder / 'data', values('uint8', (20000, 4, 3)))
    loaderx.text('import', 'big', '--idx', 'data=' + data)
    yield start
    for reader in started:
        reader.communicate()


def test_replaces_a_dataset_with_a_reader(loaderx, folder, other, read_on):
    """The readers continue; the report names their dataset, which stays."""
    reader = read_on()
    done = loaderx('import', 'big', '--replace', '--json', *other)
    warning = done.stderr.decode()
    assert done.returncode == 0 and len(warning.splitlines()) == 1
    assert 'warning: ' in warning and '/big.former-1: ' in warning
    assert 'in use' in warning and 'rm -r' in warning
    former = json.loads(done.stdout)['former']
    assert former.endswith('/big.former-1') and (folder / 'big.former-1').is_dir()
    assert loaderx.json('stat', 'big')['length'] == 5
    assert loaderx.json('stat', 'big.former-1')['length'] == 20000
    # Replaces the second dataset while a process reads the first: the first stays, the second is
    # removed.
    assert loaderx.json('import', 'big', '--replace', *other)['former'] is None
    assert (folder / 'big.former-1').is_dir()
    rest, _ = reader.communicate()
    assert reader.returncode == 0 and len(rest) == 20000 * 12 - 1
    loaderx.text('import', 'big', '--replace', *other)
    assert sorted(path.name for path in folder.glob('big*')) == ['big', 'big.former-1']


def test_replaces_a_dataset_twice_with_readers(loaderx, folder, read_on):
    again = '--idx', f'data={folder / "data"}'
    for number in 1, 2:
        read_on()
        done = loaderx('import', 'big', '--replace', *again)
        assert done.returncode == 0 and f'big.former-{number}: '.encode() in done.stderr
    assert sorted(path.name for path in folder.glob('big*')) == ['big', 'big.former-1',
                                                                 'big.former-2']


def test_never_removes_files_by_name_alone(loaderx, folder, images, other):
    """A foreign file of that name stays."""
    loaderx.text('copy', 'images', 'mine')
    loaderx.text('copy', 'images', 'images.former-3')
    (folder / 'images.former-1').symlink_to('mine')
    (folder / 'images.former-2').mkdir()
    (folder / 'images.former-2' / 'notes').write_text('mine')
    loaderx.text('import', 'images', '--replace', *other)
    assert loaderx.json('stat', 'mine')['length'] == 20
    assert loaderx.json('stat', 'images.former-3')['length'] == 20
    assert (folder / 'images.former-2' / 'notes').exists()


def test_rejects_invalid_calls(loaderx, other):
    line = loaderx.fails(2, 'import', 'x', '--replace', '--append', *other)
    assert 'are mutually exclusive' in line
