# SPDX-License-Identifier: MIT
"""A tier: nginx, as doc/examples/nginx-tier.conf configures it, between clients and a server."""

import collections
import json
import os
import random
import shutil
import struct
import subprocess

import pytest

from misdeeds import CONTENT, MISDEEDS, Server, good, head
from nginx import Nginx
from network import Unavailable
from ranges import BUILD, crc32c, run
from test_http import make_certificate
from test_s3 import KEYS, free_ports, seaweedfs    # noqa: F401 (a fixture)

ROWS, WIDTH, CHUNK = 2000, 1000, 50
SLICE = 1 << 20


class Here:
    """This machine, as a place for nginx."""

    address = '127.0.0.1'

    def __init__(self):
        self.processes = []

    def start(self, command):
        self.processes.append(subprocess.Popen(command))
        return self.processes[-1]


@pytest.fixture
def start(tmp_path):
    """Starts nginx in a folder with this name."""
    here = Here()

    def start_one(name, **options):
        folder = tmp_path / name
        folder.mkdir()
        try:
            return Nginx(here, folder, port=free_ports(1)[0], **options)
        except Unavailable as reason:
            pytest.skip(str(reason))

    version = subprocess.run([shutil.which('nginx', path=os.environ['PATH'] + ':/usr/sbin')
                              or 'true', '-V'], stderr=subprocess.PIPE, timeout=20).stderr
    if b'http_slice_module' not in version:
        pytest.skip('nginx is not installed, or was built without its slice module')
    yield start_one
    for process in here.processes:
        process.kill()
        process.wait()


def loaderx(*arguments, **environment):
    """Runs the command; returns what it prints, parsed, and what it logs."""
    done = subprocess.run([BUILD / 'tools' / 'loaderx', *map(str, arguments)], timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done
    return json.loads(done.stdout or b'null'), done.stderr.decode()


def make_dataset(path, seed=1):
    """Makes a dataset of ROWS / CHUNK chunks; returns its digest."""
    images = path.parent / 'idx'
    images.write_bytes(b'\0\0\x08\x02' + struct.pack('>II', ROWS, WIDTH) +
                       random.Random(seed).randbytes(ROWS * WIDTH))
    loaderx('import', path, '--idx', f'x={images}', '--chunk-records', CHUNK, '--seal', '--quiet')
    return loaderx('digest', path, '--json')[0]['digest']


@pytest.fixture
def tier(start, tmp_path):
    """A server with the dataset train, and three nodes; returns them, and the digest."""
    (tmp_path / 'data').mkdir()
    digest = make_dataset(tmp_path / 'data' / 'train')
    origin = start('origin', root=tmp_path / 'data')
    return origin, [start(f'node{i}', origin=origin.url) for i in range(3)], digest


def digest_through(origin, nodes, **environment):
    """Reads the whole dataset through a tier, past any other cache."""
    options = [word for node in nodes for word in ('--tier', node.url)]
    result, log = loaderx('digest', f'{origin.url}/train', *options, '--json', **environment)
    return result['digest'], log


def count(requests):
    """How often each range of each file but meta.json was requested."""
    return collections.Counter((one.path, one.range) for one in requests
                               if not one.path.endswith('/meta.json'))


def is_slice(wanted):
    first, last = map(int, wanted.split('-'))
    return first % SLICE == 0 and last - first == SLICE - 1


def test_each_slice_comes_from_the_server_once(tier):
    origin, nodes, digest = tier
    assert digest_through(origin, nodes) == (digest, '')
    # Another host, which has a list in another order.
    assert digest_through(origin, nodes[::-1]) == (digest, '')
    asked = count(origin.requests())
    assert set(asked.values()) == {1} and len(asked) > ROWS // CHUNK
    assert all(is_slice(wanted) for _, wanted in asked)
    assert all(len(count(node.requests())) > 1 for node in nodes)
    assert not any(one.path.endswith('/meta.json') for node in nodes for one in node.requests())


def test_a_node_that_is_gone_is_passed_over(tier):
    origin, nodes, digest = tier
    assert digest_through(origin, nodes) == (digest, '')
    lost = count(nodes[1].requests())
    nodes[1].close()
    origin.forget()
    found, log = digest_through(origin, nodes)
    assert found == digest
    assert log.count('\n') == 1 and f'the node {nodes[1].url} of the tier is passed over' in log
    # The other nodes have fetched what that one had, and nothing else.
    asked = count(origin.requests())
    assert {path for path, _ in asked} == {path for path, _ in lost}
    assert set(asked.values()) == {1} and all(is_slice(wanted) for _, wanted in asked)


def test_without_any_node_the_server_is_read(tier):
    origin, nodes, digest = tier
    for node in nodes:
        node.close()
    found, log = digest_through(origin, nodes)
    assert found == digest and log.count('is passed over') == 3


def test_wrong_bytes_are_fetched_past_the_tier(tier, start, tmp_path):
    origin, _, digest = tier
    wrong = tmp_path / 'wrong' / 'train'
    shutil.copytree(tmp_path / 'data' / 'train', wrong)
    for path in wrong.rglob('*'):
        if path.is_file() and (path.parent.name == 'chunk' or 'offset' in path.name):
            times, data = path.stat(), bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))    # for the ETag of nginx
    node = start('lying', root=tmp_path / 'wrong')
    assert digest_through(origin, [node]) == (digest, '')
    report, _ = loaderx('verify', f'{origin.url}/train', '--tier', node.url, '--json')
    assert not report['damages'] and report['records'] == ROWS, report


def test_a_dataset_that_was_replaced(tier, tmp_path):
    origin, nodes, digest = tier
    assert digest_through(origin, nodes) == (digest, '')
    shutil.rmtree(tmp_path / 'data' / 'train')
    other = make_dataset(tmp_path / 'data' / 'train', seed=2)
    origin.forget()
    assert other != digest and digest_through(origin, nodes) == (other, '')
    assert all(is_slice(wanted) for _, wanted in count(origin.requests()))


def test_a_server_with_tls(start, tmp_path):
    make_certificate(tmp_path, 'DNS:localhost')
    (tmp_path / 'data').mkdir()
    digest = make_dataset(tmp_path / 'data' / 'train')
    origin = start('origin', root=tmp_path / 'data', certificate=tmp_path)
    origin.url = origin.url.replace('127.0.0.1', 'localhost')
    node = start('node', origin=origin.url, authorities=tmp_path / 'cert')
    found, log = digest_through(origin, [node], CURL_CA_BUNDLE=str(tmp_path / 'cert'))
    assert (found, log) == (digest, '')
    assert all(is_slice(wanted) for _, wanted in count(origin.requests()))
    distrusting = start('distrusting', origin=origin.url)
    found, log = digest_through(origin, [distrusting], CURL_CA_BUNDLE=str(tmp_path / 'cert'))
    assert found == digest and 'HTTP status 502' in log


# ---- signatures

def find_secrets(node, *secrets):
    """Files of a node in which a secret is."""
    return [path for path in node.folder.rglob('*') if path.is_file()
            for secret in secrets if secret.encode() in path.read_bytes()]


def test_signed_requests(seaweedfs, start):    # noqa: F811
    node = start('node', origin=seaweedfs)
    options = ['--tier', node.url]
    done = run('s3://bucket/p', *['read 100 5000 plain'] * 3, "read 0 20000 a b+c=(1)'/é/ü.zr",
               options=options, AWS_ENDPOINT_URL=seaweedfs, AWS_SESSION_TOKEN='', **KEYS)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.stderr == b'' and [answer['status'] for answer in answers] == ['LX_OK'] * 4
    assert all(answer['tier'] for answer in answers)
    assert len({answer['crc'] for answer in answers}) == 2
    # The node asks the server with the signature of the client. What it has, it sends to anyone.
    wrong = {**KEYS, 'AWS_SECRET_ACCESS_KEY': 'wrong'}
    done = run('s3://bucket/p', 'read 0 10 x~y!', options=options, AWS_ENDPOINT_URL=seaweedfs,
               **wrong)
    assert json.loads(done.stdout)['status'] == 'LX_ERR_IO' and b'passed over' not in done.stderr
    assert find_secrets(node, *KEYS.values(), 'Signature=') == []


def test_secret_queries(start, tmp_path):
    (tmp_path / 'f').write_bytes(CONTENT)
    origin = start('origin', root=tmp_path)
    node = start('node', origin=origin.url)
    for signature in 'sesame1', 'sesame2':
        done = run(f'{origin.url}?sig={signature}', 'read 0 10 f', options=['--tier', node.url])
        assert json.loads(done.stdout)['tier']
    assert len(origin.requests()) == 1    # the signature is not a part of the key
    assert find_secrets(node, 'sesame') == []


# ---- nodes that misbehave

@pytest.fixture
def pair():
    """A server, and what is to be its node."""
    server, node = Server(), Server()
    yield server, node
    server.close()
    node.close()


def read(server, node, *commands, options=()):
    """Reads through the node; returns the answers and the lines of the log."""
    done = run(f'{server.url}/good', *commands, options=['--tier', node.url, *options])
    assert done.returncode == 0
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode().split('\n')


@pytest.mark.parametrize('kind', [
    'ignores-ranges', 'encoded', 'longer', 'less', 'shifted', 'overflow', 'garbage', 'reset', 'endless-headers', 'denied', 'gone', 'teapot', 'long-error', 'loop', 'moved',
    'file', 'error', 'beyond-unknown'])
def test_the_server_answers_instead(pair, kind):
    server, node = pair
    node.misdeeds['good'] = MISDEEDS[kind]
    answers, log = read(server, node, 'read 10 50 f', 'read 20 50 f', options=['--token', 'secret'])
    for first, answer in zip((10, 20), answers):
        assert (answer['status'], answer['tier']) == ('LX_OK', False)
        assert answer['crc'] == crc32c(CONTENT[first:first + 50])
    # One message, and one request: then the node is passed over.
    assert len(log) == 2 and f'the node {node.url} of the tier is passed over' in log[0]
    assert len(node.requests) == 1 and len(server.requests) == 2
    assert 'secret' not in ''.join(log)


def test_a_node_that_is_asked_to_slow_down_is_not_passed_over(pair):
    """Its answer may be the server's, which must not get more requests for that."""
    server, node = pair
    node.misdeeds['good'] = lambda request: head(503)
    answers, log = read(server, node, *['read 0 50 f'] * 2)
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 2
    assert len(node.requests) == 2 and log == ['']


def test_a_node_with_another_file_is_passed_over(pair):
    server, node = pair
    server.misdeeds['good'] = lambda request: good(request, 'ETag: "a"')
    node.misdeeds['good'] = lambda request: good(request, 'ETag: "b"')
    answers, log = read(server, node, 'past 0 50 f', 'read 0 50 f', 'read 0 50 f')
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 3
    assert 'the ETag "b"' in log[0] and len(node.requests) == 1


def test_an_outage_of_the_server_is_not_held_against_nodes(pair):
    server, node = pair
    failing = lambda request: head(502)    # noqa: E731
    server.misdeeds['good'] = node.misdeeds['good'] = failing
    answers, log = read(server, node, *['read 0 50 f'] * 3)
    assert [answer['status'] for answer in answers] == ['LX_ERR_IO'] * 3
    assert len(node.requests) == 3 and log == ['']


def test_what_nodes_are_sent(pair):
    server, node = pair
    answers, log = read(server, node, 'read 0 50 meta.json', 'read 0 50 f', 'past 0 50 f',
                        options=['--token', 'mine'])
    assert [answer['tier'] for answer in answers] == [False, True, False] and log == ['']
    request, = node.requests
    assert request.path == '/good/f'
    assert request.headers['host'] == server.url.removeprefix('http://')
    assert request.headers['authorization'] == 'Bearer mine'
    version = request.headers['x-loaderx-version']
    assert len(version) == 8 and int(version, 16) == crc32c(CONTENT[:50])
    assert all('x-loaderx-version' not in one.headers for one in server.requests)
