# SPDX-License-Identifier: MIT
"""loaderx repair: looks first, repairs what it is told to, and says where the rest is."""

import json

from test_verify import flip


def harm(folder):
    """Records 3 and 17 get a damaged value."""
    flip(folder / 'images' / 'chunk' / '0.zr', 3 * 12 + 1, 17 * 12)


def contents(path):
    return {entry.relative_to(path): entry.read_bytes() for entry in sorted(path.rglob('*'))
            if entry.is_file() and entry.name != 'LOCK'}


def test_nothing_is_damaged(loaderx, folder, images):
    before = contents(folder / 'images')
    assert loaderx.text('repair', 'images') == ('images: 20 records, 40 values: nothing is '
                                                'damaged\n')
    assert loaderx.text('repair', 'images', '--apply', '--quiet') == ''
    assert contents(folder / 'images') == before and not (folder / 'images.damaged-1').exists()


def test_it_looks_first(loaderx, folder, images):
    harm(folder)
    before = contents(folder / 'images')
    done = loaderx('repair', 'images')
    assert done.returncode == 1
    assert [line.split(': ')[:2] for line in done.stdout.decode().splitlines()] == [
        ['missing', "images/chunk/0.zr, field 'data', record 3, offset 36"],
        ['missing', "images/chunk/0.zr, field 'data', record 17, offset 204"],
        ['images', 'a repair would leave 20 records, after 0 were deleted, and 2 values would '
                   'become missing']]
    assert loaderx('repair', 'images', '--quiet').stdout.count(b'\n') == 2
    assert done.stderr.decode() == ('loaderx repair: images: 2 damages were found, and nothing was '
                                    'changed: --apply repairs\n')
    assert loaderx('repair', 'images', '--delete').stdout.startswith(b'delete: ')
    would = json.loads(loaderx('repair', 'images', '--delete', '--json').stdout)
    assert (would['missing'], would['deleted'], would['changed']) == (0, 2, False)
    assert contents(folder / 'images') == before


def test_apply(loaderx, folder, images):
    data, label = images
    harm(folder)
    text = loaderx.text('repair', 'images', '--apply')
    assert text.splitlines()[-1].startswith('images: repaired; damages: 2, values made missing: 2, ')
    assert loaderx.json('verify', 'images')['intact'] is True
    assert loaderx.json('stat', 'images')['fields'][0]['missing'] == 2
    assert loaderx('get', 'images', '4', '--field', 'data', '--raw').stdout == data[4].tobytes()
    aside = folder / 'images.damaged-1'
    listed = json.loads((aside / 'damaged.json').read_text())
    assert [one['record'] for one in listed['damages']] == [3, 17]
    stored = bytearray((aside / 'values').read_bytes())
    stored[1] ^= 1
    stored[12] ^= 1
    assert bytes(stored) == data[3].tobytes() + data[17].tobytes()


def test_delete(loaderx, folder, images):
    data, label = images
    harm(folder)
    got = json.loads(loaderx('repair', 'images', '--apply', '--delete', '--json').stdout)
    assert got['deleted'] == 2 and got['changed'] is True and got['missing'] == 0
    assert [one['remedy'] for one in got['findings']] == ['delete', 'delete']
    assert got['aside'].endswith('/images.damaged-1')
    assert loaderx.json('stat', 'images')['length'] == 18
    assert loaderx.text('get', 'images', '3', '--field', 'label') == '19\n'
    assert loaderx.text('get', 'images', '17', '--field', 'label') == '18\n'
    listed = json.loads((folder / 'images.damaged-1' / 'damaged.json').read_text())
    assert listed['damages'][2:] == [{'moved': 19, 'to': 3}, {'moved': 18, 'to': 17}]


def test_json(loaderx, folder, images):
    got = loaderx.json('repair', 'images')
    assert got == {'path': 'images', 'findings': [], 'records': 20, 'values': 40, 'damages': 0,
                   'missing': 0, 'deleted': 0, 'foreign': 0, 'aside': None, 'changed': False}
    (folder / 'images' / 'notes').write_text('x')
    got = loaderx.json('repair', 'images')
    assert got['foreign'] == 1 and got['findings'][0]['remedy'] == 'foreign'
    assert got['findings'][0]['path'] == 'images/notes' and got['findings'][0]['record'] is None


def test_a_dataset_that_does_not_open(loaderx, folder, images):
    loaderx.text('seal', 'images')
    table = folder / 'images' / 'label.check'
    table.write_bytes(table.read_bytes()[:8 * 15])
    loaderx.fails(1, 'get', 'images', '0', '--field', 'label')
    line = loaderx('repair', 'images').stdout.decode().splitlines()[0]
    assert line.startswith("forget: images/label.check, field 'label', record 15")
    loaderx.text('repair', 'images', '--apply')
    assert loaderx.json('verify', 'images')['intact'] is True
    assert loaderx.text('get', 'images', '14', '--field', 'label') == '14\n'
    assert loaderx.json('stat', 'images')['sealed'] is False
    loaderx.text('seal', 'images')
    assert loaderx.json('verify', 'images')['intact'] is True


def test_a_chunk_that_is_gone_is_told_once(loaderx, folder, images):
    for seal in True, False:
        if seal:
            loaderx.text('seal', 'images')
        (folder / 'images' / 'chunk' / '0.zr').rename(folder / '0.zr')
        got = json.loads(loaderx('repair', 'images', '--json').stdout)
        assert [one['remedy'] for one in got['findings']] == ['forget'] + 20 * ['missing']
        assert got['damages'] == 21
        (folder / '0.zr').rename(folder / 'images' / 'chunk' / '0.zr')
        if seal:
            loaderx.text('unseal', 'images')
    assert loaderx.json('verify', 'images')['intact'] is True


def test_a_sealed_dataset_outlives_its_log(loaderx, folder, images):
    data, label = images
    loaderx.text('seal', 'images')
    flip(folder / 'images' / 'LOG', 20)
    done = loaderx('repair', 'images')
    assert done.returncode == 1
    first, last = done.stdout.decode().splitlines()
    assert first.startswith('forget: images/LOG, offset 0: ') and '20 records, which' in first
    assert last.startswith('images: a repair would leave 20 records')
    assert loaderx.text('repair', 'images', '--apply').splitlines()[-1].startswith(
        'images: repaired; damages: 1, values made missing: 0, records deleted: 0, left: 20; ')
    assert loaderx.json('verify', 'images')['records'] == 20
    assert loaderx('get', 'images', '19', '--field', 'data', '--raw').stdout == data[19].tobytes()


def test_what_a_damaged_log_takes_is_told(loaderx, folder, images):
    loaderx.text('import', 'images', '--append', '--idx', f'data={folder / "data"}',
                 '--idx', f'label={folder / "label"}')
    size = (folder / 'images' / 'LOG').stat().st_size
    flip(folder / 'images' / 'LOG', 80)
    got = json.loads(loaderx('repair', 'images', '--json').stdout)
    assert (got['records'], got['foreign'], got['changed']) == (0, 0, False)
    log, chunk = got['findings']
    assert f'0 records, is kept; what was committed behind, {size - 72} bytes' in log['message']
    assert log['message'].endswith('there were 40 records')
    assert (chunk['path'], chunk['remedy']) == ('images/chunk/0.zr', 'forget')
    loaderx.text('repair', 'images', '--apply')
    assert (folder / 'images.damaged-1' / '0.zr').exists()


def test_what_the_next_writer_removes_is_told(loaderx, folder, images):
    (folder / 'images' / 'x.offset').write_bytes(b'')
    (folder / 'images' / 'notes.offset').write_bytes(b'mine')
    lines = loaderx.text('repair', 'images').splitlines()
    assert sorted(line.split(': ')[:2] for line in lines[:-1]) == [
        ['foreign', 'images/notes.offset'], ['leftover', 'images/x.offset']]
    loaderx.text('rebalance', 'images')
    assert not (folder / 'images' / 'x.offset').exists()
    assert (folder / 'images' / 'notes.offset').read_bytes() == b'mine'


def test_an_edited_meta_json_is_restamped(loaderx, folder, images):
    meta = folder / 'images' / 'meta.json'
    meta.write_text(meta.read_text().replace('"name": "label"', '"name": "class"'))
    assert "'loaderx repair'" in loaderx.fails(1, 'verify', 'images')
    assert '--apply' in loaderx.fails(1, 'repair', 'images')
    got = json.loads(loaderx('repair', 'images', '--apply', '--json').stdout)
    assert [(one['remedy'], one['path']) for one in got['findings']] == [
        ('restamp', 'images/meta.json')]
    assert got['changed'] is True and got['aside'] is None
    assert loaderx.json('verify', 'images')['intact'] is True
    assert 'class' in loaderx.text('stat', 'images')


def test_what_cannot_be_repaired(loaderx, folder, images):
    (folder / 'images' / 'meta.json').write_text('{')
    for options in [], ['--apply']:
        assert 'backup' in loaderx.fails(1, 'repair', 'images', *options)
    done = loaderx('repair', 'images', '--json')
    got = json.loads(done.stdout)
    assert done.returncode == 1 and got['changed'] is False
    assert [(one['remedy'], one['path']) for one in got['findings']] == [
        ('none', 'images/meta.json')]
    assert got['damages'] == 1 and got['records'] == 0
    loaderx.fails(2, 'repair', 'nowhere')
    assert loaderx('repair', 'nowhere', '--json').stdout == b''
    loaderx.fails(2, 'repair')
