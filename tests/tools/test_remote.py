# SPDX-License-Identifier: MIT
"""Datasets that are elsewhere: what reads a dataset takes URLs, and a cache."""

import http.server
import json
import os
import re
import threading

import numpy as np
import pytest

from arrays import values, write_idx
from conftest import HTTP

ROWS = 4000
WIDTH = 500


@pytest.fixture
def sealed(folder, loaderx):
    """A sealed dataset `train` of images and labels; return its URL."""
    x = write_idx(folder / 'x', values('uint8', (ROWS, WIDTH)))
    label = write_idx(folder / 'label', np.arange(ROWS, dtype='int32'))
    loaderx.text('import', 'train', '--idx', f'x={x}', '--idx', f'label={label}',
                 '--chunk-records', '1500', '--seal')
    return f'file://{folder}/train'


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


@pytest.mark.parametrize('arguments', [
    ['get', '{}', '0:20', '-1', '--field', 'x', '--hex'],
    ['get', '{}', ':', '--field', 'label'],
    ['verify', '{}'],
    ['verify', '{}', '--json'],
    ['digest', '{}'],
    ['stat', '{}', '--json'],
    ['card', '{}'],
    ['verify', '{}', '--sample', '2%', '--json'],
])
def test_prints_the_same(loaderx, sealed, arguments):
    here, there = (loaderx.text(*(word.format(path) for word in arguments))
                   for path in ('train', sealed))
    fixed = re.sub('"access": "mmap"', '"access": "pread"', here)
    fixed = re.sub('"network": null', '"network": "file"', fixed)
    assert there.replace(sealed, 'train') == fixed


def test_reads_through_a_cache(loaderx, folder, sealed):
    digest = loaderx.json('digest', 'train')['digest']
    for _ in range(2):
        assert loaderx.json('digest', sealed, '--cache', 'cache')['digest'] == digest
    assert size_of(folder / 'cache') >= ROWS * WIDTH
    assert (folder / 'cache').stat().st_mode & 0o777 == 0o700
    limited = loaderx.json('digest', sealed, '--cache', 'small', '--limit', '1M')
    assert limited['digest'] == digest and size_of(folder / 'small') <= 3 << 19
    os.chmod(folder / 'small', 0o777)
    assert 'small' in loaderx.fails(2, 'digest', sealed, '--cache', 'small')


def test_copies_exports_and_compares(loaderx, folder, sealed):
    loaderx.text('copy', sealed, 'some', '--range', '100:200', '-q')
    assert loaderx.json('digest', 'some')['length'] == 100
    loaderx.text('export', sealed, '--npy', 'label=label.npy', '-q')
    assert np.load(folder / 'label.npy').tolist() == list(range(ROWS))
    assert json.loads(loaderx('diff', 'train', sealed, '--json').stdout)['same']
    assert 'because the dataset is remote (file)' in loaderx.text('stat', sealed)


def test_errors(loaderx, folder, sealed):
    line = loaderx.fails(2, 'stat', f'file://{folder}/absent')
    assert 'absent' in line and 'loaderx import' not in line
    assert 'gopher' in loaderx.fails(1, 'stat', 'gopher://host/train')
    assert '--limit requires --cache' in loaderx.fails(2, 'digest', sealed, '--limit', '1G')
    assert '--limit' in loaderx.fails(2, 'digest', sealed, '--cache', 'c', '--limit', 'much')
    assert 'http://host' in loaderx.fails(2, 'digest', 'http://127.0.0.1:9/x', '--tier', 'node1')
    assert 'a tier is only for' in loaderx.fails(2, 'digest', sealed, '--tier', 'http://node1')
    assert 'can only be read' in loaderx.fails(2, 'card', sealed, '--set', 'a=b')
    assert 'loaderx pull' in loaderx.fails(2, 'bench', sealed)
    assert 'loaderx pull' in loaderx.fails(1, 'backup', sealed, 'copy')
    for url in 'file://', 'file://host/train':
        assert 'file:///path' in loaderx.fails(2, 'stat', url)
    for command in ['stat', 's3://b/x'], ['pull', 's3://b/x', 'copy'], ['card', 's3://b/x']:
        assert 'the endpoint' in loaderx.fails(2, *command, '--endpoint', 'host')
        assert 'region' in loaderx.fails(2, *command, '--region', 'a b')
    loaderx.fails(2, 'pull', sealed, 'copy', '--cache', 'c')
    loaderx.text('unseal', 'train')
    assert 'seal' in loaderx.fails(1, 'stat', sealed)
    loaderx.fails(2, 'sample', '--length', '5', '--cache', 'c')


def test_reports_damage(loaderx, folder, sealed):
    with open(folder / 'train' / 'chunk' / '0.zr', 'r+b') as file:
        file.seek(3 * WIDTH)
        file.write(b'damage')
    assert "field 'x', record 3" in loaderx.fails(1, 'get', sealed, '0:10', '--field', 'x')
    found = json.loads(loaderx('verify', sealed, '--json').stdout)['damages']
    assert [(one['field'], one['record']) for one in found] == [('x', 3)]


def test_verifies_a_sample(loaderx, folder, sealed):
    text = loaderx.text('verify', 'train', '--sample', '0.01')
    assert 'a sample of 40 records with 80 values (seed 0): nothing in it is damaged' in text
    chunks = sorted((folder / 'train' / 'chunk').iterdir())
    with open(chunks[0], 'r+b') as file:
        file.write(bytes(os.path.getsize(chunks[0]) - 8))
    found = []
    for seed in '0', '1', '0':
        done = loaderx('verify', 'train', '--sample', '5%', '--seed', seed, '--json')
        assert done.returncode == 1
        report = json.loads(done.stdout)
        assert report['records'] == ROWS // 20 and report['seed'] == int(seed)
        assert not report['complete'] and not report['intact'] and report['bytes'] is None
        found.append([damage['record'] for damage in report['damages']])
    assert found[0] == found[2] == sorted(found[0]) and found[0] != found[1]
    everything = json.loads(loaderx('verify', 'train', '--sample', '1', '--json').stdout)
    whole = json.loads(loaderx('verify', 'train', '--json').stdout)
    assert {(d['record'], d['field']) for d in everything['damages']} == {
        (d['record'], d['field']) for d in whole['damages'] if d['record'] is not None}
    for wrong in '0', '1.1', '-1', '101%', '5 %', '%', 'some', '1e-400', '0.5x', '1%5', '1%%':
        loaderx.fails(2, 'verify', 'train', '--sample', wrong)
    assert '--seed requires --sample' in loaderx.fails(2, 'verify', 'train', '--seed', '1')
    loaderx.fails(2, 'verify', 'train', '--sample', '1%', '--threads', '2')


def test_warms_the_cache_for_a_rank(loaderx, folder, sealed):
    order = ['--order', 'lanes', '--lanes', '8', '--block', '20', '--seed', '5', '--world', '4']
    first = loaderx.json('warm', sealed, '--cache', 'cache', '--rank', '1', *order)
    assert first['url'] == sealed and first['records'] == ROWS // 4
    assert first['seconds'] > 0 and 0 < first['stored_bytes'] <= first['bytes'] < ROWS * WIDTH // 2
    again = loaderx.json('warm', sealed, '--cache', 'cache', '--rank', '1', *order)
    assert again['records'] == ROWS // 4 and again['stored_bytes'] == 0
    other = loaderx.json('warm', sealed, '--cache', 'cache', '--rank', '2', *order)
    assert other['stored_bytes'] > ROWS * WIDTH // 8
    text = loaderx.text('warm', sealed, '--cache', 'labels', '--field', 'label', '--epoch', '3')
    assert re.fullmatch(rf'{re.escape(sealed)}: {ROWS} records; fetched \S+ \S+ in \d+ requests and '
                        r'\d+\.\d s, and stored \S+ \S+\n', text)
    assert size_of(folder / 'labels') < ROWS * WIDTH // 4
    for wrong in (['warm'], ['warm', sealed], ['warm', sealed, '--cache', 'c', '--rank', '1'],
                  ['warm', sealed, '--cache', 'c', '--field', 'y'],
                  ['warm', sealed, '--cache', 'c', '--epoch', str(2**64 - 1)]):
        loaderx.fails(2, *wrong)
    loaderx.fails(1, 'warm', sealed, '--cache', 'c', '--length', ROWS + 1)


# ---- what must not be shown

class Handler(http.server.SimpleHTTPRequestHandler):
    """Sends ranges of files to those who have the signature."""

    def do_GET(self):
        path, _, query = self.path.partition('?')
        file = self.translate_path(path)
        found = os.path.isfile(file) and query == 'sig=MARKED'
        data = open(file, 'rb').read() if found else b''
        first, last = map(int, self.headers['Range'].replace('bytes=', '').split('-'))
        part = data[first:last + 1]
        self.send_response(206 if part else 403)
        self.send_header('Content-Length', str(len(part)))
        self.send_header('Content-Range', f'bytes {first}-{first + len(part) - 1}/{len(data)}')
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *ignored):
        pass


@pytest.fixture
def server(folder, sealed):
    """Serves the folder; returns where."""
    os.mkdir(folder / 'in')
    with http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), lambda *args: Handler(*args, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield '127.0.0.1:%d' % server.server_port
        server.shutdown()


READING = [
    'stat URL', 'stat URL --cache cache', 'digest URL', 'digest URL --cache cache', 'card URL',
    'diff URL URL', 'diff train URL', 'get URL 5 --field label', 'verify URL',
    'plan URL --world 1 --hosts 1 --window 512K --block 4K',
    'pull URL pulled', 'copy URL copied', 'export URL --npy label=label.npy',
    'warm URL --cache cache', 'push URL file://FOLDER/pushed', 'cache cache',
]
FAILING = [
    'push train URL', 'prune URL', 'join URL train', 'join train URL', 'join URL URL',
    'digest URL --endpoint URL', 'digest s3://b/x --endpoint URL', 'stat URL --tier URL',
    'diff URL train URL', 'get URL x:y', 'stat URL URL', 'pull URL train', 'export URL --npy x=URL',
]


def expose(loaderx, words, url):
    """Runs the command; returns what it printed and its status."""
    words = [word.replace('URL', url).replace('FOLDER', str(loaderx.folder)) for word in words]
    done = loaderx(*words)
    assert b'MARKED' not in done.stdout + done.stderr, done
    return done.stdout + done.stderr, done.returncode


def written_with(folder, secret):
    return [name for where, _, names in os.walk(folder) for name in names
            if secret in open(os.path.join(where, name), 'rb').read()]


@pytest.mark.skipif(not HTTP, reason='this build has no libcurl')
def test_shows_no_secret_of_a_url(loaderx, folder, server):
    url = f'http://{server}/train?sig=MARKED'
    for words in map(str.split, READING):
        text, status = expose(loaderx, words, url)
        assert status == 0, (words, text)
        expose(loaderx, [*words, '--json'], url)
    others = re.findall('^  ([a-z]+) ', loaderx.text('--help'), re.M)
    assert len(others) > 25
    bad = [url.replace('train', 'absent'), f'http://MARKED:MARKED@{server}/train?MARKED#MARKED',
           f'http://x:MA/MARKED@{server}/x?MARKED',
           's3://MARKED:MARKED@bucket/x', 'gopher://MARKED:MA/MARKED@host/x?MARKED#MARKED']
    for url in bad:
        for words in map(str.split, READING[:1] + FAILING):
            text, status = expose(loaderx, words, url)
            assert status != 0, (words, text)
    for name in others:
        expose(loaderx, [name, 'URL'], bad[0])
    assert written_with(folder, b'MARKED') == []
