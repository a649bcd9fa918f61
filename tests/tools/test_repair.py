# SPDX-License-Identifier: MIT
"""loaderx repair: reports first, repairs in place, and recovers into a new directory."""

import json
import os
import signal
import time

import pytest

from test_verify import flip


def harm(folder):
    """Damages a value of records 3 and 17."""
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)


def contents(path):
    return {entry.relative_to(path): entry.read_bytes() for entry in sorted(path.rglob('*'))
            if entry.is_file() and entry.name != 'LOCK'}


def log_of(path):
    return max(path.glob('LOG*'), key=lambda entry: int(entry.name[4:] or 0))


def reports(loaderx, *arguments):
    """Returns the findings of a repair with --json, and the whole document."""
    got = json.loads(loaderx('repair', *arguments, '--json').stdout)
    return got['findings'], got


def actions(findings):
    return [one['action'] for one in findings]


def test_nothing_is_damaged(loaderx, folder, images):
    before = contents(folder / 'images')
    assert loaderx.text('repair', 'images') == ('images: 20 records, 40 values: nothing is '
                                                'damaged\n')
    assert loaderx.text('repair', 'images', '--apply', '--quiet') == ''
    assert contents(folder / 'images') == before


def test_reports_before_it_repairs(loaderx, folder, images):
    harm(folder)
    before = contents(folder / 'images')
    done = loaderx('repair', 'images')
    assert done.returncode == 1
    assert [line.split(': ')[:2] for line in done.stdout.decode().splitlines()] == [
        ['missing', "images/chunk/0.zr, field 'data', record 3, offset 36"],
        ['missing', "images/chunk/0.zr, field 'data', record 17, offset 204"],
        ['images', 'findings']]
    assert loaderx('repair', 'images', '--quiet').stdout.count(b'\n') == 2
    assert done.stderr.decode() == ('loaderx repair: images: 2 findings; nothing was changed: '
                                    'use --apply or --into to repair\n')
    assert loaderx('repair', 'images', '--delete').stdout.startswith(b'delete: ')
    would = reports(loaderx, 'images', '--delete')[1]
    assert (would['missing'], would['deleted'], would['changed']) == (0, 2, False)
    assert contents(folder / 'images') == before


@pytest.mark.parametrize('into', [False, True])
def test_damaged_values_become_missing(loaderx, folder, images, into):
    data, label = images
    harm(folder)
    before = contents(folder / 'images')
    name = 'new' if into else 'images'
    options = ['--into', 'new'] if into else ['--apply']
    text = loaderx.text('repair', 'images', *options)
    assert text.splitlines()[-1].startswith('images: findings: 2; values made missing: 2, records '
                                            'deleted: 0')
    assert text.startswith("missing: images/chunk/0.zr, field 'data', record 3")
    assert loaderx.json('verify', name)['intact'] is True
    assert loaderx.json('stat', name)['fields'][0]['missing'] == 2
    assert loaderx('get', name, '4', '--field', 'data', '--raw').stdout == data[4].tobytes()
    assert loaderx.text('get', name, '3', '--field', 'label') == '3\n'
    assert (contents(folder / 'images') == before) == into
    assert loaderx.json('repair', name)['damages'] == 0


@pytest.mark.parametrize('into', [False, True])
def test_records_are_deleted(loaderx, folder, images, into):
    harm(folder)
    name = 'new' if into else 'images'
    findings, got = reports(loaderx, 'images', '--delete',
                            *(['--into', 'new'] if into else ['--apply']))
    assert got['deleted'] == 2 and got['changed'] is True and got['missing'] == 0
    assert got['into'] == ('new' if into else None)
    assert actions(findings) == ['delete', 'delete']
    assert [one['path'] for one in findings] == ['images/chunk/0.zr'] * 2
    assert loaderx.json('stat', name)['length'] == 18
    assert loaderx.text('get', name, '3', '--field', 'label') == '18\n'
    assert loaderx.text('get', name, '17', '--field', 'label') == '19\n'
    assert loaderx.json('verify', name)['intact'] is True


def test_json(loaderx, folder, images):
    assert loaderx.json('repair', 'images') == {
        'path': 'images', 'findings': [], 'records': 20, 'values': 40, 'damages': 0, 'missing': 0,
        'deleted': 0, 'cut_bytes': 0, 'copied_bytes': 0, 'into': None, 'changed': False}


def test_a_short_table_needs_a_new_directory(loaderx, folder, images):
    loaderx.text('seal', 'images')
    table = folder / 'images' / 'label.check'
    table.write_bytes(table.read_bytes()[:8 * 15])
    loaderx.fails(1, 'get', 'images', '0', '--field', 'label')
    for options in [], ['--apply']:
        line = loaderx.fails(1, 'repair', 'images', *options)
        assert 'images/label.check' in line and "'loaderx repair DIR --into NEW'" in line
    findings, got = reports(loaderx, 'images', '--into', 'new')
    assert actions(findings) == ['drop'] and findings[0]['record'] == 15 and got['missing'] == 5
    assert loaderx.json('verify', 'new')['intact'] is True
    assert loaderx.text('get', 'new', '14', '--field', 'label') == '14\n'
    assert loaderx.json('stat', 'new')['sealed'] is False
    loaderx.text('seal', 'new')
    assert loaderx.json('verify', 'new')['intact'] is True


def test_a_chunk_that_is_absent_or_short(loaderx, folder, images):
    data, label = images
    chunk = folder / 'images' / 'chunk' / '0.zr'
    whole = chunk.read_bytes()
    for sealed in False, True:
        if sealed:
            loaderx.text('seal', 'images')
        chunk.rename(folder / '0.zr')
        findings, got = reports(loaderx, 'images')
        assert actions(findings) == 20 * ['missing'] + ['drop']
        assert (got['damages'], got['missing']) == (21, 20)
        (folder / '0.zr').rename(chunk)
    chunk.write_bytes(whole[:12 * 7 + 3])
    findings, got = reports(loaderx, 'images', '--apply')
    assert actions(findings) == 13 * ['missing'] + ['drop'] and got['changed'] is True
    assert loaderx.json('verify', 'images')['intact'] is True
    assert loaderx.json('stat', 'images')['sealed'] is False
    assert loaderx('get', 'images', '6', '--field', 'data', '--raw').stdout == data[6].tobytes()
    # Nothing is appended to it.
    loaderx.text('import', 'images', '--append', '--idx', f'data={folder / "data"}',
                 '--idx', f'label={folder / "label"}')
    assert chunk.read_bytes() == whole[:12 * 7 + 3]
    chunk.unlink()
    reports(loaderx, 'images', '--apply')
    assert loaderx.json('verify', 'images')['intact'] is True
    assert loaderx('get', 'images', '26', '--field', 'data', '--raw').stdout == data[6].tobytes()


def test_a_chunk_longer_than_sealed_loses_only_the_seal(loaderx, folder, images):
    data, label = images
    loaderx.text('seal', 'images')
    with open(folder / 'images' / 'chunk' / '0.zr', 'ab') as chunk:
        chunk.write(b'more')
    findings, got = reports(loaderx, 'images', '--apply')
    assert actions(findings) == ['drop'] and got['missing'] == 0
    assert loaderx.json('verify', 'images')['intact'] is True
    assert loaderx('get', 'images', '19', '--field', 'data', '--raw').stdout == data[19].tobytes()


def test_a_sealed_dataset_survives_a_damaged_log(loaderx, folder, images):
    data, label = images
    loaderx.text('seal', 'images')
    flip(folder / 'images' / 'LOG', 20)
    for options in [], ['--apply']:
        assert '--into NEW' in loaderx.fails(1, 'repair', 'images', *options)
    findings, got = reports(loaderx, 'images', '--into', 'new')
    assert actions(findings) == ['drop'] and 'from meta.json: 20 records' in findings[0]['message']
    assert (got['missing'], got['deleted'], got['cut_bytes']) == (0, 0, 0)
    assert loaderx.json('verify', 'new')['records'] == 20
    assert loaderx('get', 'new', '19', '--field', 'data', '--raw').stdout == data[19].tobytes()
    (folder / 'images' / 'LOG').unlink()
    loaderx.text('repair', 'images', '--into', 'newer')
    assert loaderx.json('verify', 'newer')['records'] == 20


def test_truncates_a_log_and_keeps_its_tail(loaderx, folder, images):
    data, label = images
    log = log_of(folder / 'images')
    kept = log.stat().st_size
    loaderx.text('import', 'images', '--append', '--idx', f'data={folder / "data"}',
                 '--idx', f'label={folder / "label"}')
    log = log_of(folder / 'images')
    flip(log, kept + 20)
    damaged = log.read_bytes()
    assert 'loaderx repair' in loaderx.fails(1, 'verify', 'images')
    findings, got = reports(loaderx, 'images')
    assert actions(findings) == ['cut'] and got['cut_bytes'] == len(damaged) - kept
    assert log.read_bytes() == damaged
    recovered, more = reports(loaderx, 'images', '--into', 'new')
    assert actions(recovered) == ['drop'] and more['cut_bytes'] == got['cut_bytes']
    findings, got = reports(loaderx, 'images', '--apply')
    assert actions(findings) == ['cut'] and got['changed'] is True
    assert f'the remaining {len(damaged) - kept} bytes are saved in ' in findings[0]['message']
    assert findings[0]['message'].endswith('/images.log-tail-1')
    assert (folder / 'images.log-tail-1').read_bytes() == damaged[kept:]
    for name in 'images', 'new':
        assert loaderx.json('verify', name)['records'] == 20
        assert loaderx('get', name, '9', '--field', 'data', '--raw').stdout == data[9].tobytes()
        loaderx.text('import', name, '--append', '--idx', f'data={folder / "data"}',
                     '--idx', f'label={folder / "label"}')
        assert loaderx.json('verify', name)['records'] == 40


def test_a_log_without_a_valid_frame_needs_a_backup(loaderx, folder, images):
    flip(log_of(folder / 'images'), 20)
    for options in [], ['--apply'], ['--into', 'new']:
        assert 'backup' in loaderx.fails(1, 'repair', 'images', *options)
    assert not (folder / 'new').exists() and not (folder / 'new.recovering').exists()


def test_an_edited_meta_json_is_restamped(loaderx, folder, images):
    meta = folder / 'images' / 'meta.json'
    meta.write_text(meta.read_text().replace('"name": "label"', '"name": "class"'))
    assert "'loaderx repair'" in loaderx.fails(1, 'verify', 'images')
    assert '--apply' in loaderx.fails(1, 'repair', 'images')
    findings, got = reports(loaderx, 'images', '--into', 'new')
    assert actions(findings) == ['restamp'] and 'class' in loaderx.text('stat', 'new')
    findings, got = reports(loaderx, 'images', '--apply')
    assert [(one['action'], one['path']) for one in findings] == [('restamp', 'images/meta.json')]
    assert got['changed'] is True
    assert loaderx.json('verify', 'images')['intact'] is True
    assert 'class' in loaderx.text('stat', 'images')


def test_rejects_a_damaged_meta_json(loaderx, folder, images):
    (folder / 'images' / 'meta.json').write_text('{')
    for options in [], ['--apply'], ['--into', 'new']:
        assert 'backup' in loaderx.fails(1, 'repair', 'images', *options)
    done = loaderx('repair', 'images', '--json')
    got = json.loads(done.stdout)
    assert done.returncode == 1 and got['changed'] is False
    assert [(one['action'], one['path']) for one in got['findings']] == [
        ('none', 'images/meta.json')]
    assert got['damages'] == 1 and got['records'] == 0
    loaderx.fails(2, 'repair', 'nowhere')
    assert loaderx('repair', 'nowhere', '--json').stdout == b''
    loaderx.fails(2, 'repair')


def test_a_link_is_not_lost(loaderx, folder, images):
    chunk = folder / 'images' / 'chunk' / '0.zr'
    chunk.rename(folder / '0.zr')
    chunk.symlink_to(folder / '0.zr')
    for options in ['--apply'], ['--into', 'new']:
        assert 'symbolic link' in loaderx.fails(1, 'repair', 'images', *options)


def test_into_overwrites_nothing(loaderx, folder, images):
    harm(folder)
    before = contents(folder / 'images')
    (folder / 'new').mkdir()
    assert 'new' in loaderx.fails(2, 'repair', 'images', '--into', 'new')
    (folder / 'new').rename(folder / 'other.recovering')
    assert 'recovery' in loaderx.fails(2, 'repair', 'images', '--into', 'other')
    loaderx.fails(2, 'repair', 'images', '--into', 'images/chunk/new')
    loaderx.fails(2, 'repair', 'images', '--into', 'new', '--apply')
    loaderx.fails(2, 'repair', 'images', '--into', 'no/where')
    assert contents(folder / 'images') == before
    assert not (folder / 'new').exists()


def test_chunks_are_shared_and_not_appended_to(loaderx, folder, images):
    harm(folder)
    loaderx.text('repair', 'images', '--into', 'new')
    old, new = (folder / name / 'chunk' / '0.zr' for name in ('images', 'new'))
    assert old.samefile(new)
    before = old.read_bytes()
    loaderx.text('import', 'new', '--append', '--idx', f'data={folder / "data"}',
                 '--idx', f'label={folder / "label"}')
    loaderx.text('seal', 'new')
    assert old.read_bytes() == before and loaderx.json('verify', 'new')['records'] == 40
    assert loaderx.json('stat', 'new')['uuid'] == loaderx.json('stat', 'images')['uuid']


@pytest.mark.skipif(not os.access('/dev/shm', os.W_OK) or
                    os.stat('/dev/shm').st_dev == os.stat('.').st_dev,
                    reason='needs a second file system')
def test_chunks_are_copied_to_another_file_system(loaderx, folder, images, tmp_path_factory):
    harm(folder)
    target = f'/dev/shm/loaderx-repair-{os.getpid()}'
    try:
        if os.stat(folder).st_dev == os.stat('/dev/shm').st_dev:
            pytest.skip('the folder is there, too')
        text = loaderx.text('repair', 'images', '--into', target)
        assert 'cannot link chunks' in text.splitlines()[-1]
        assert loaderx.json('verify', target)['intact'] is True
    finally:
        if os.path.exists(target):
            loaderx.text('rebalance', target)
            os.system(f'rm -rf {target}')


@pytest.mark.parametrize('delay', [0, 1, 2, 5, 10, 20, 50])
def test_a_kill_leaves_no_half_recovery(loaderx, folder, images, delay):
    harm(folder)
    before = contents(folder / 'images')
    job = loaderx.start('repair', 'images', '--into', 'new', '--quiet')
    time.sleep(delay / 1000)
    job.send_signal(signal.SIGKILL)
    job.communicate()
    assert contents(folder / 'images') == before
    if (folder / 'new').exists():
        assert loaderx.json('verify', 'new')['intact'] is True
    elif (folder / 'new.recovering').exists():
        assert 'remove it' in loaderx.fails(2, 'repair', 'images', '--into', 'new')
    else:
        loaderx.text('repair', 'images', '--into', 'new', '--quiet')


def test_a_full_disk_leaves_no_half_recovery(loaderx, folder, images):
    harm(folder)
    before = contents(folder / 'images')

    def limit():
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = loaderx('repair', 'images', '--into', 'new', preexec_fn=limit)
    assert done.returncode == 1 and b'File too large' in done.stderr
    assert not (folder / 'new').exists() and not (folder / 'new.recovering').exists()
    assert contents(folder / 'images') == before
