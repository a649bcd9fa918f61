# SPDX-License-Identifier: MIT
"""Remote datasets over HTTP and S3: a small server that can be stopped, and real ones if there are.

With LOADERX_S3_ENDPOINT, LOADERX_S3_URL and credentials in the environment, one test also reads the
sealed dataset at that URL.
"""

import http.server
import os
import pickle
import threading
import time
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import numpy as np
import pytest

import loaderx as lx

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')

N = 2000
KEYS = {'access_key': 'AKIDEXAMPLE', 'secret_key': 'very+secret'}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers ranges of the files in a folder, to requests that the server accepts."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        server = self.server
        server.seen.append((self.path, self.headers.get('Authorization')))
        if not server.accepts(self.headers.get('Authorization')):
            return self.reply(403, b'<Error><Code>AccessDenied</Code></Error>')
        path = server.folder + self.path.split('?')[0]
        if not os.path.isfile(path):
            return self.reply(404)
        with open(path, 'rb') as file:
            data = file.read()
        first, last = map(int, self.headers['Range'].replace('bytes=', '').split('-'))
        if first >= len(data):
            return self.reply(416, b'', f'bytes */{len(data)}')
        part = data[first:last + 1]
        return self.reply(206, part, f'bytes {first}-{first + len(part) - 1}/{len(data)}')

    def reply(self, status, body=b'', told=None):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        if told is not None:
            self.send_header('Content-Range', told)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder, port=0):
        super().__init__(('127.0.0.1', port), Handler)
        self.folder, self.seen, self.accepts = str(folder), [], lambda authorization: True
        self.url = f'http://127.0.0.1:{self.server_port}'
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with a sealed dataset `bucket/train` and an unsealed one, `bucket/open`."""
    folder = tmp_path_factory.mktemp('server')
    (folder / 'bucket').mkdir()
    for name in 'train', 'open':
        with lx.create(folder / 'bucket' / name, {'x': lx.Field('int64', (64,))},
                       chunk_records=500) as writer:
            writer.extend(x=np.arange(N * 64).reshape(N, 64))
    with lx.open(folder / 'bucket' / 'train', 'a') as writer:
        writer.seal()
    return folder


@pytest.fixture
def server(folder):
    server = Server(folder)
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch, tmp_path):
    """Keep the credentials of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.startswith('AWS_'):
            monkeypatch.delenv(name)
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('AWS_EC2_METADATA_DISABLED', 'true')


def total(ds):
    return int(ds['x'][:].sum())


EXPECTED = N * 64 * (N * 64 - 1) // 2


def open_s3(server, url='s3://bucket/train', **options):
    return lx.open(url, **{'endpoint': server.url, 'credentials': lambda: KEYS, 'patience': 1,
                           **options})


def test_http(server, tmp_path):
    url = f'{server.url}/bucket/train'
    for one in url, url + '/', url + '//', url + '?sig=hidden':
        ds = lx.open(one, cache=tmp_path / 'cache', limit='1GiB')
        assert total(ds) == EXPECTED and ds.stat()['network'] == 'http'
        assert ds.remote_stats()['requests'] > 0
    assert any(path.endswith('meta.json?sig=hidden') for path, _ in server.seen)
    assert all(authorization is None for _, authorization in server.seen)
    lx.copy(url, tmp_path / 'copy', progress=False)
    assert total(lx.open(tmp_path / 'copy')) == EXPECTED


def test_s3_signs_requests(server):
    server.accepts = lambda authorization: 'Credential=AKIDEXAMPLE/' in (authorization or '')
    ds = open_s3(server, region='eu-north-1')
    assert total(ds) == EXPECTED and ds.stat()['network'] == 's3'
    assert all('/eu-north-1/s3/' in authorization for _, authorization in server.seen)
    with pytest.raises(OSError, match='access denied'):
        open_s3(server, credentials=lambda: {**KEYS, 'access_key': 'nobody'})


@pytest.mark.parametrize('found', [
    SimpleNamespace(**KEYS), SimpleNamespace(**KEYS, token=None, expires=None),
    {**KEYS, 'token': 'session', 'expires': 2**33},
    {**KEYS, 'expires': datetime.now(timezone.utc) + timedelta(hours=1)}])
def test_kinds_of_credentials(server, found):
    assert total(open_s3(server, credentials=lambda: found)) == EXPECTED


def test_asks_for_credentials_again_when_they_are_refused(server):
    tokens = iter(['old', 'new'])
    server.accepts = lambda authorization: authorization == 'Bearer new'
    ds = lx.open(f'{server.url}/bucket/train', credentials=lambda: {'token': next(tokens)})
    assert total(ds) == EXPECTED


def test_anonymous(server):
    ds = lx.open('s3://bucket/train', endpoint=server.url, anonymous=True)
    assert total(ds) == EXPECTED
    assert all(authorization is None for _, authorization in server.seen)


@pytest.mark.parametrize('function, kind, text', [
    (lambda: {}['lost'], OSError, "credentials raised KeyError: 'lost'"),
    (lambda: None, OSError, 'it must return a mapping or an object'),
    (lambda: {'access_key': 1}, OSError, 'access_key must be a str, not int'),
    (lambda: {**KEYS, 'access_key': 'k' * 300}, OSError, 'access_key has 256 bytes or more'),
    (lambda: {**KEYS, 'expires': datetime(2030, 1, 1)}, OSError, 'must have a time zone'),
    (lambda: {'secret_key': 'very+secret'}, ValueError, 'only one of'),
])
def test_bad_credentials(server, function, kind, text):
    with pytest.raises(kind, match=text) as info:
        open_s3(server, credentials=function)
    assert 'very+secret' not in str(info.value)


def named():
    return KEYS


def test_pickles_the_function_and_no_secret(server):
    ds = open_s3(server, credentials=named)
    data = pickle.dumps(ds)
    assert b'secret+' not in data and b'AKID' not in data and 'secret' not in repr(ds)
    assert total(pickle.loads(data)) == EXPECTED
    with pytest.raises((pickle.PicklingError, AttributeError), match='lambda'):
        pickle.dumps(open_s3(server))


def test_an_unused_function_is_released(server):
    from loaderx._elsewhere import _functions
    before = len(_functions)
    ds = open_s3(server)
    pinned = ds.pin()
    assert len(_functions) == before + 1
    del ds
    assert total(pinned) == EXPECTED
    del pinned
    assert len(_functions) == before


@pytest.mark.parametrize('url', ['s3://nowhere/train', 's3://bucket/absent', 's3://bucket'])
def test_nothing_is_there(server, url):
    with pytest.raises(FileNotFoundError, match='check the URL') as info:
        open_s3(server, url)
    assert info.value.filename == f'{url}/meta.json'


def test_an_unsealed_dataset(server):
    with pytest.raises(lx.LoaderxError, match='not sealed'):
        open_s3(server, 's3://bucket/open')


@pytest.mark.parametrize('url, options, kind, text', [
    ('file://', {}, ValueError, 'file:///path'),
    ('file://host/x', {}, ValueError, 'file:///path'),
    ('s3://', {}, ValueError, 's3://bucket/prefix'),
    ('s3:///x', {}, ValueError, 's3://bucket/prefix'),
    ('http://', {}, ValueError, 'the URL is not valid'),
    ('https://me:pw@host/x', {}, ValueError, 'a user or a password'),
    ('httpx://host/x', {}, lx.LoaderxError, 'scheme'),
    ('s3://b/x', {'endpoint': '127.0.0.1:9000'}, ValueError, 'does not begin with https://'),
    ('s3://b/x', {'endpoint': 7}, TypeError, 'endpoint must be a str'),
    ('s3://b/x', {'endpoint': 'http://me:pw@host'}, ValueError, 'a user or a password'),
    ('s3://b/x', {'region': 'a b'}, ValueError, 'region'),
    ('s3://b/x', {'anonymous': 1}, TypeError, 'anonymous must be True or False'),
    ('s3://b/x', {'credentials': 'key'}, TypeError, 'credentials must be a function'),
    ('s3://b/x', {'credentials': named, 'anonymous': True}, ValueError, 'not both'),
    ('s3://b/x', {'tier': 'http://n1'}, TypeError, 'tier must be a list of URLs, not str'),
    ('s3://b/x', {'tier': [b'http://n1']}, TypeError, 'tier must be a list of str, not of bytes'),
    ('s3://b/x', {'tier': ['n1:8080']}, ValueError, 'http://host:port'),
    ('file:///x', {'tier': ['http://n1']}, ValueError, 'tier requires a URL of s3://'),
    ('file:///x', {'endpoint': 'http://host'}, ValueError, 'endpoint requires a URL such as s3:'),
    ('https://host/x', {'region': 'eu'}, ValueError, 'region requires a URL such as s3:'),
    ('x', {'credentials': named}, ValueError, 'credentials require a URL'),
])
def test_bad_arguments(url, options, kind, text):
    with pytest.raises(kind, match=text) as info:
        lx.open(url, **options)
    assert 'pw' not in str(info.value)


def test_a_tier(server, folder):
    """Files come from the node, as long as it answers; meta.json always comes from the server."""
    node = Server(folder)
    ds = pickle.loads(pickle.dumps(lx.open(f'{server.url}/bucket/train', tier=[node.url])))
    assert {path for path, _ in server.seen} == {'/bucket/train/meta.json'}
    assert ds['x'][:10, 0].tolist() == list(range(0, 640, 64))
    stats = ds.remote_stats()
    assert 0 < stats['tier_bytes'] < stats['bytes']
    assert not any('meta.json' in path for path, _ in node.seen)
    node.accepts = lambda authorization: False
    assert total(ds) == EXPECTED
    assert any('chunk' in path for path, _ in server.seen)
    node.stop()


def test_an_outage_in_the_middle_of_an_epoch(folder):
    """Batches wait while the server is stopped; no record is lost or replaced."""
    server = Server(folder)
    ds = lx.open(f'{server.url}/bucket/train', memory='16MiB', patience=60)
    loader = iter(lx.Loader(ds, batch_size=50, order=lx.Shuffle(seed=1), threads=1))
    rows = [next(loader)['x'][:, 0]]
    server.stop()
    revived = []
    timer = threading.Timer(0.5, lambda: revived.append(Server(folder, server.server_port)))
    timer.start()
    try:
        rows += [batch['x'][:, 0] for batch in loader]
    finally:
        timer.join()
        revived[0].stop()
    assert sorted(np.concatenate(rows).tolist()) == list(range(0, N * 64, 64))


def test_patience_ends(folder):
    server = Server(folder)
    server.stop()
    since = time.monotonic()
    with pytest.raises(OSError, match='tried'):
        lx.open(f'{server.url}/bucket/train', patience=0.5)
    assert time.monotonic() - since < 20


def test_a_real_store(monkeypatch):
    url, endpoint = (os.environ.get(f'LOADERX_S3_{name}') for name in ('URL', 'ENDPOINT'))
    if url is None or endpoint is None:
        pytest.skip('LOADERX_S3_URL and LOADERX_S3_ENDPOINT are not set')
    monkeypatch.undo()    # the credentials are in the environment
    ds = lx.open(url, endpoint=endpoint)
    assert ds.verify(progress=False)['records'] == len(ds)


# ---- what must not be shown

def told_by(call):
    """Return what a call that fails tells."""
    with pytest.raises(Exception) as info:    # noqa: B017 - of any kind
        call()
    error = info.value
    return [str(error), repr(error), *map(str, vars(error).values()), *map(str, error.args),
            str(getattr(error, 'filename', ''))]


def told_of(url, cache):
    """Return what can be shown of a dataset that is open, of its loader, and of a closed one."""
    with lx.open(url, cache=cache) as ds:
        loader = lx.Loader(ds, batch_size=100)
        whole = lx.ConcatDataset([ds, ds])
        told = [repr(ds), str(ds), ds.path, repr(loader), repr(lx.Loader(url, batch_size=100)),
                repr(lx.Loader({'a': url}, batch_size=100)), repr(ds['x']), repr(whole),
                repr(lx.SubsetDataset(ds, [1])), ds._repr_html_(),
                str(sum(batch['x'].sum() for batch in loader)), repr(loader.stats()),
                str(loader.state_dict())]
        assert pickle.loads(pickle.dumps(ds)).gather([5])['x'][0, 0] == 5 * 64
        told += told_by(lambda: ds.gather([N]))
    return told + [repr(ds)] + told_by(lambda: ds[0])


def test_a_query_is_sent_and_never_shown(server, tmp_path, caplog, capfd):
    url, caplog.records[:] = f'{server.url}/bucket/train?sig=MARKED', []
    with caplog.at_level(0):
        told = told_of(url, tmp_path / 'cache')
        assert 'sig=MARKED' in server.seen[0][0]
        kept = pickle.dumps(lx.open(url))
        server.accepts = lambda authorization: False
        user = f'http://MARKED:MA/MARKED@{server.url[7:]}/x?MARKED#MARKED'
        for bad in url, f'{url}#MARKED', user, 's3://MARKED:MA/MARKED@b/x', 'gopher://h/x?MARKED':
            for call in (lx.open, lx.Dataset, lx.prune,
                         lambda bad: lx.open(bad, 'a'), lambda bad: lx.open(bad, 'r+'),
                         lambda bad: lx.push(bad, tmp_path / 'p'),
                         lambda bad: lx.push(tmp_path, bad),
                         lambda bad: lx.Loader(bad, batch_size=1),
                         lambda bad: lx.join('s3://b/x', [bad]), lambda bad: lx.join(bad, ['a']),
                         lambda bad: lx.publish(bad, [lx.Part(None, 0, 0)]),
                         lambda bad: lx.copy(bad, tmp_path / 'copy'),
                         lambda bad: lx.Tokens(bad, field='y')):
                told += told_by(lambda call=call, bad=bad: call(bad))
        told += told_by(lambda: pickle.loads(kept))
    told += [record.getMessage() for record in caplog.records] + list(capfd.readouterr())
    assert [one for one in told if 'MARKED' in one] == []
    files = [path for path in tmp_path.rglob('*') if path.is_file()]
    assert files and not [path for path in files if b'MARKED' in path.read_bytes()]
