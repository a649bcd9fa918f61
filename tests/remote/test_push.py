# SPDX-License-Identifier: MIT
"""loaderx push and prune with real object stores."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from misdeeds import Server, head
from test_s3 import KEYS, moto, rclone, seaweedfs, store, wait_for  # noqa: F401: fixtures

BUILD = pathlib.Path(os.environ.get('top_builddir', '.')).resolve()
COMMAND = BUILD / 'tools' / 'loaderx'

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason='the command was not built')


class Client:
    """Runs the command with a server, in a folder."""

    def __init__(self, server, folder):
        self.folder = folder
        self.environment = {**os.environ, **KEYS, 'AWS_ENDPOINT_URL': server}

    def start(self, *arguments):
        return subprocess.Popen([COMMAND, *arguments], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def __call__(self, *arguments, status=0):
        job = self.start(*arguments)
        out, err = job.communicate(timeout=120)
        assert job.returncode == status, err.decode()
        return (err if status else out).decode()


def make(client, name, rows, width):
    """Makes a sealed dataset, of chunks of 20000 records."""
    data = (b'\0\0\x08\x02' + rows.to_bytes(4, 'big') + width.to_bytes(4, 'big') +
            bytes(i * i % 251 for i in range(width)) * rows)
    (client.folder / 'x').write_bytes(data)
    client('import', name, '--idx', 'x=x', '--chunk-records', '20000', '--seal', '-q')


def expect_same(client, name, url):
    """Copies what is at the URL back, and compares it."""
    client('pull', url, 'back')
    client('diff', name, 'back')
    shutil.rmtree(client.folder / 'back')


def test_publishes_and_prunes(store, tmp_path):  # noqa: F811
    client = Client(store, tmp_path)
    make(client, 'train', 30_000, 900)    # a chunk of two parts, and one of one
    make(client, 'other', 10, 900)
    got = json.loads(client('push', 'train', 's3://bucket/set', '--json'))
    assert got['sent'] == got['bytes'] > 27_000_000
    expect_same(client, 'train', 's3://bucket/set')
    assert 'all of which was there' in client('push', 'train', 's3://bucket/set')
    assert 'another dataset is there' in client('push', 'other', 's3://bucket/set', status=2)
    assert '0 files' in client('prune', 's3://bucket/set')
    client('unseal', 'train')
    client('import', 'train', '--append', '--idx', 'x=x')
    assert 'not sealed' in client('push', 'train', 's3://bucket/set', status=2)
    client('rebalance', 'train')
    client('seal', 'train')
    client('push', 'train', 's3://bucket/set')
    expect_same(client, 'train', 's3://bucket/set')
    names = {file['name'] for file in json.loads(
        client('prune', 's3://bucket/set', '--older', '0s', '--json'))['files']}
    assert {'LOG', 'x.offset', 'x.check'} <= names and 'meta.json' not in names
    # from one place to another
    client('push', 's3://bucket/set', 's3://bucket/copy')
    expect_same(client, 'train', 's3://bucket/copy')


def test_replaces_files_that_have_grown(store, tmp_path):  # noqa: F811
    client = Client(store, tmp_path)
    make(client, 'train', 30_000, 900)
    client('push', 'train', 's3://bucket/grown', '-q')
    client('unseal', 'train')
    client('import', 'train', '--append', '--idx', 'x=x', '-q')
    client('seal', 'train')
    error = client('push', 'train', 's3://bucket/grown', status=2)
    assert 'has another version of this file' in error and 'the same command' not in error
    client('push', 'train', 's3://bucket/grown', '--replace')
    expect_same(client, 'train', 's3://bucket/grown')


def test_says_that_the_command_continues_only_if_it_does(seaweedfs, tmp_path):  # noqa: F811
    client = Client(seaweedfs, tmp_path)
    make(client, 'train', 10, 900)
    client.environment['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    error = client('push', 'train', 's3://bucket/denied', status=1)
    assert 'access denied' in error and 'the same command' not in error


def test_a_listing_that_repeats_files_ends(tmp_path):
    server = Server()
    client = Client(server.url, tmp_path)
    make(client, 'train', 10, 900)
    meta = (tmp_path / 'train' / 'meta.json').read_bytes()
    body = ('<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>##'
            '</NextContinuationToken>' + 70_000 *
            '<Contents><Key>set/LOG.7</Key><Size>1</Size></Contents>' +
            '</ListBucketResult>').encode()

    def misdeed(request):
        if request.path.startswith('/bucket/?'):
            return head(200, length=len(body)) + body.replace(b'##', b'%02d' % request.before)
        if not request.path.endswith('meta.json.new'):
            return head(404)
        lines = f'Content-Range: bytes 0-{len(meta) - 1}/{len(meta)}',
        return head(200, length=len(meta)) if request.method == 'HEAD' else \
            head(206, *lines, length=len(meta)) + meta

    server.misdeeds['bucket'] = misdeed
    error = client('prune', 's3://bucket/set', status=1)
    server.close()
    assert 'more than 1048576 files' in error and 'repeatedly' in error
    assert len(server.requests) < 50


def test_continues_after_kill(seaweedfs, tmp_path):  # noqa: F811
    client = Client(seaweedfs, tmp_path)
    make(client, 'train', 60_000, 900)
    delay, kills = 0.1, 0
    while True:
        job = client.start('push', 'train', 's3://bucket/killed', '--quiet')
        try:
            assert job.communicate(timeout=delay)[1] == b''
            break
        except subprocess.TimeoutExpired:
            job.kill()
            job.communicate(timeout=60)
            kills += 1
            delay *= 1.5
    assert job.returncode == 0 and kills > 0
    assert 'all of which was there' in client('push', 'train', 's3://bucket/killed')
    expect_same(client, 'train', 's3://bucket/killed')


def test_one_of_two_wins(seaweedfs, tmp_path):  # noqa: F811
    client = Client(seaweedfs, tmp_path)
    for name in 'a', 'b':
        make(client, name, 20_000, 900)
    jobs = [client.start('push', name, 's3://bucket/one', '-q') for name in 'ab']
    errors = [job.communicate(timeout=120)[1].decode() for job in jobs]
    assert sorted(job.returncode for job in jobs) == [0, 2], errors
    assert any('another' in error for error in errors)
    expect_same(client, 'ab'[jobs[1].returncode == 0], 's3://bucket/one')
