# SPDX-License-Identifier: MIT
"""Reads from real servers, and writes to those for S3: SeaweedFS, the gateway of Ceph, rclone and
moto, and nginx. Each is taken from an environment variable (SEAWEEDFS, RADOSGW, RCLONE, MOTO_SERVER,
NGINX) or from PATH."""

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import time
import types
import urllib.error
import urllib.parse
import urllib.request

import pytest

from ranges import NEVER, crc32c, read
from signature import compute

CONTENT = random.Random(2).randbytes(20_000)
NAMES = ["a b+c=(1)'/é/ü.zr", "chunk/17.zr", "x~y!*'();:@&=+$,?#[]%20", 'plain']
KEYS = {'AWS_ACCESS_KEY_ID': 'AKIDEXAMPLE', 'AWS_SECRET_ACCESS_KEY': 'secret+/key'}


def free_ports(count):
    """Ports that no server has, below those that the kernel gives to others in the meantime."""
    ports = set()
    while len(ports) < count:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with contextlib.suppress(OSError):
            socket.create_server(('127.0.0.1', port)).close()
            ports.add(port)
    return list(ports)


def find(variable, program):
    path = os.environ.get(variable) or shutil.which(program, path=os.environ['PATH'] + ':/usr/sbin')
    if path is None:
        pytest.skip(f'{variable} is not set, and {program} is not in PATH')
    return path


def put(url, data=b'', **headers):
    headers['Content-Type'] = 'application/octet-stream'
    request = urllib.request.Request(url, data, headers, method='PUT')
    urllib.request.urlopen(request, timeout=10).close()


def make_bucket(url):
    """Makes a bucket in a store that checks signatures."""
    key, secret = KEYS.values()
    server, path = url.split('/', 3)[2:]
    date = time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    headers = {'content-type': 'application/octet-stream', 'host': server,
               'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'x-amz-date': date}
    said = (f'AWS4-HMAC-SHA256 Credential={key}/{date[:8]}/us-east-1/s3/aws4_request, '
            f'SignedHeaders={";".join(headers)}, Signature=')
    request = types.SimpleNamespace(method='PUT', path=f'/{path}',
                                    headers={**headers, 'authorization': said})
    _, signature = compute(request, secret)
    put(url, **headers, Authorization=said + signature)


def start(command, url, folder):
    """Starts a server and waits until it answers. Yields its URL; kills it afterwards."""
    with open(folder / 'log', 'wb') as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    def answers():
        assert server.poll() is None, (folder / 'log').read_text()
        with contextlib.suppress(urllib.error.HTTPError):    # an answer
            urllib.request.urlopen(url, timeout=5).close()

    try:
        wait_for(answers)
        yield url
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope='module')
def seaweedfs(tmp_path_factory):
    weed, folder = find('SEAWEEDFS', 'weed'), tmp_path_factory.mktemp('weed')
    identity = {'name': 'me', 'actions': ['Admin', 'Read', 'Write', 'List'], 'credentials': [
        {'accessKey': KEYS['AWS_ACCESS_KEY_ID'], 'secretKey': KEYS['AWS_SECRET_ACCESS_KEY']}]}
    (folder / 's3.json').write_text(json.dumps({'identities': [identity]}))
    ports = free_ports(8)
    options = [f'-{name}.port{kind}={ports.pop()}' for name in ('s3', 'filer', 'master', 'volume')
               for kind in ('', '.grpc')]
    port = dict(option[1:].split('=') for option in options)
    # Other services of newer versions have ports of their own, on which two processes fail.
    known = subprocess.run([weed, 'server', '-h'], capture_output=True, text=True, timeout=60)
    options += [f'-s3.port.{name}=0' for name in ('iceberg', 'lance')
                if f'-s3.port.{name} ' in known.stdout + known.stderr]
    command = [weed, 'server', f'-dir={folder}', '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-s3',
               '-filer', '-s3.iam=false', f'-s3.config={folder}/s3.json', *options]
    filer = f'http://127.0.0.1:{port["filer.port"]}'
    for url in start(command, f'http://127.0.0.1:{port["s3.port"]}', folder):
        for name in NAMES:
            wait_for(lambda name=name: put(f'{filer}/buckets/bucket/p/{urllib.parse.quote(name)}',
                                           CONTENT))
        wait_for(lambda: read_one(url))
        yield url


def read_one(server):
    """Reads a byte, as tests do: a server may refuse that for a while after its first answer."""
    answer, = read('s3://bucket/p', 'read 0 1 plain', AWS_ENDPOINT_URL=server, **KEYS)
    if answer['status'] != 'LX_OK':
        raise OSError(answer['error'])


def wait_for(call):
    """Calls it until the server is ready; raises its error after a minute."""
    end = time.monotonic() + 60
    while True:
        try:
            return call()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@pytest.fixture(scope='module')
def rclone(tmp_path_factory):
    program, folder = find('RCLONE', 'rclone'), tmp_path_factory.mktemp('rclone')
    if b's3' not in subprocess.run([program, 'serve', '--help'], stdout=subprocess.PIPE,
                                   timeout=20).stdout:
        pytest.skip('this rclone has no `serve s3`')
    for name in NAMES:
        path = folder / 'bucket' / 'p' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT)
    address = '127.0.0.1:%d' % free_ports(1)[0]
    yield from start([program, 'serve', 's3', '--addr', address, '--auth-key',
                      ','.join(KEYS.values()), str(folder)], 'http://' + address, folder)


@pytest.fixture(scope='module')
def moto(tmp_path_factory):
    program, folder = find('MOTO_SERVER', 'moto_server'), tmp_path_factory.mktemp('moto')
    port = free_ports(1)[0]
    for url in start([program, '-H', '127.0.0.1', '-p', str(port)], f'http://127.0.0.1:{port}',
                     folder):
        # moto wants a signature, but does not check it.
        signed = 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, Signature=x'
        put(f'{url}/bucket', Authorization=signed)
        for name in NAMES:
            put(f'{url}/bucket/p/{urllib.parse.quote(name)}', CONTENT, Authorization=signed)
        yield url


@pytest.fixture(scope='module')
def radosgw(tmp_path_factory):
    """The gateway of Ceph, which checks signatures. Without a cluster, it keeps objects in SQLite, and
    sends wrong bytes of parts and of ranges that begin within a file."""
    program, folder = find('RADOSGW', 'radosgw'), tmp_path_factory.mktemp('radosgw')
    url = 'http://127.0.0.1:%d' % free_ports(1)[0]
    (folder / 'conf').write_text(
        f'[global]\nfsid = 00000000-0000-0000-0000-000000000001\nlog_file = {folder}/ceph.log\n'
        f'run_dir = {folder}\n[client]\nrgw_frontends = beast endpoint={url.split("/")[2]}\n'
        f'rgw_backend_store = dbstore\nrgw_config_store = dbstore\ndbstore_db_dir = {folder}\n'
        f'dbstore_config_uri = file:{folder}/config.db\nrgw_data = {folder}\n')
    options = ['--no-mon-config', '-c', str(folder / 'conf')]
    done = subprocess.run([f'{program}-admin', *options, 'user', 'create', '--uid=me',
                           '--display-name=me', f'--access-key={KEYS["AWS_ACCESS_KEY_ID"]}',
                           f'--secret-key={KEYS["AWS_SECRET_ACCESS_KEY"]}'], check=False,
                          timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        pytest.skip('this radosgw needs a cluster')
    for _ in start([program, *options, '-f'], url, folder):
        make_bucket(f'{url}/bucket')
        yield url


@pytest.fixture(params=['seaweedfs', 'rclone', 'moto'])
def store(request):
    return request.getfixturevalue(request.param)


def test_reads_ranges_of_odd_names(store):
    commands = [f'read {first} {size} {name}' for name in NAMES
                for first, size in ((0, 20_000), (1234, 777), (19_990, 100))]
    answers = read('s3://bucket/p', *commands, AWS_ENDPOINT_URL=store, **KEYS)
    for command, answer in zip(commands, answers):
        first, size = map(int, command.split()[1:3])
        assert (answer['status'], answer['total']) == ('LX_OK', 20_000), (command, answer)
        assert answer['crc'] == crc32c(CONTENT[first:first + size])


def test_tells_what_is_missing(store):
    answers = read('s3://bucket/p/', 'read 0 10 none', 'read 20000 10 plain',
                   options=['--endpoint', store], AWS_ENDPOINT_URL='http://unused', **KEYS)
    assert (answers[0]['status'], answers[0]['retry']) == ('LX_ERR_NOT_FOUND', NEVER)
    assert 's3://bucket/p/none, offset 0: ' in answers[0]['error']
    assert 'NoSuchKey' in answers[0]['error']
    assert (answers[1]['status'], answers[1]['got']) in (('LX_OK', 0), ('LX_ERR_IO', 0))


def write(store, *commands, folder='w'):
    """Obeys commands, all of which must succeed but those that begin with "!"."""
    answers = read(f's3://bucket/{folder}', *(command.lstrip('!') for command in commands),
                   AWS_ENDPOINT_URL=store, **KEYS)
    for command, answer in zip(commands, answers):
        assert command.startswith('!') or answer['status'] == 'LX_OK', (command, answer)
    return answers


@pytest.mark.parametrize('store', ['seaweedfs', 'radosgw', 'rclone', 'moto'], indirect=True)
def test_writes_files(store):
    commands = [command for name in NAMES for command in
                (f'put 7 12345 {name}', f'read 0 20000 {name}', f'stat {name}', f'put 8 99 {name}',
                 f'stat {name}')]
    answers = write(store, *commands, 'put 1 0 empty', 'stat empty', 'list ', 'list chunk')
    for i in range(0, len(commands), 5):
        assert answers[i]['crc'] == answers[i + 1]['crc'], commands[i]
        assert (answers[i + 2]['bytes'], answers[i + 4]['bytes']) == (12345, 99)
        assert answers[i + 2]['etag'] != answers[i + 4]['etag']
        assert abs(answers[i + 2]['modified'] - time.time()) < 1000
    assert answers[-3]['bytes'] == 0
    assert answers[-2]['files'] == {'empty': 0, **{name: 99 for name in NAMES}}
    assert answers[-1]['files'] == {'chunk/17.zr': 99}
    answers = write(store, *(f'remove {name}' for name in NAMES), 'remove none', 'list ',
                    '!stat plain')
    assert answers[-2]['files'] == {'empty': 0}
    assert (answers[-1]['status'], answers[-1]['retry']) == ('LX_ERR_NOT_FOUND', NEVER)


@pytest.mark.parametrize('name', ['seaweedfs', 'moto'])  # rclone ignores conditions
def test_writes_only_if_a_condition_is_true(name, request):
    store = request.getfixturevalue(name)
    etag = write(store, 'new 1 10 f', 'stat f', folder='c')[1]['etag']
    answers = write(store, '!new 2 20 f', '!replace 3 30 "wrong" f', f'replace 4 40 {etag} f',
                    f'!replace 5 50 {etag} f', '!replace 6 60 "a" none', 'stat f', folder='c')
    assert [answer['status'] for answer in answers] == [
        'LX_ERR_STATE', 'LX_ERR_STATE', 'LX_OK', 'LX_ERR_STATE', 'LX_ERR_STATE', 'LX_OK']
    assert all(answer['retry'] == NEVER for answer in answers)
    assert answers[-1]['bytes'] == 40


@pytest.mark.parametrize('name', ['seaweedfs', 'moto'])
def test_completes_an_upload_only_if_a_condition_is_true(name, request):
    store, parts = request.getfixturevalue(name), '5500000 5242880'
    etag = write(store, 'new 1 10 f', 'stat f', folder='d')[1]['etag']
    answers = write(store, f'!upload-new 2 {parts} f', 'stat f',
                    f'upload-replace 3 {parts} {etag} f', f'!upload-replace 4 {parts} {etag} f',
                    'stat f', f'upload-new 5 {parts} g', folder='d')
    assert answers[0]['status'] == 'LX_ERR_STATE'
    assert [answers[i]['bytes'] for i in (1, 4)] == [10, 5_500_000]
    if name != 'moto':    # which ignores If-Match when an upload is completed
        assert answers[3]['status'] == 'LX_ERR_STATE'


def test_writes_in_parts(store):
    size, part = 5_500_000, 5 << 20
    answers = write(store, f'upload 3 {size} {part} chunk/0.zr', f'read 0 {size} chunk/0.zr',
                    'begin chunk/1.zr', "begin a b+(1)'/é", 'abandon 1000', 'list ',
                    'abandon 18446744073709551615', 'abandon 18446744073709551615', folder='u')
    assert answers[0]['crc'] == answers[1]['crc']
    assert answers[5]['files'] == {'chunk/0.zr': size}


@pytest.mark.parametrize('name', ['seaweedfs', 'radosgw', 'rclone'])
def test_denies_a_wrong_secret(name, request):
    url = request.getfixturevalue(name)
    answer, = read('s3://bucket/p', 'read 0 10 plain', AWS_ENDPOINT_URL=url,
                   **{**KEYS, 'AWS_SECRET_ACCESS_KEY': 'wrong'})
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert 'access denied; check' in answer['error'] and 'wrong' not in answer['error']


def test_denies_anonymous_access(seaweedfs):
    answer, = read('s3://bucket/p', 'read 0 10 plain', AWS_ENDPOINT_URL=seaweedfs,
                   options=['--anonymous'])
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert 'access denied; no credentials were sent' in answer['error']


def test_needs_credentials(tmp_path):
    answer, = read('s3://bucket/p', 'read 0 10 plain', HOME=str(tmp_path))
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert 'no credentials for S3 were found' in answer['error']


@pytest.mark.parametrize('kind', ['credentials', 'config', 'process'])
def test_takes_a_profile(seaweedfs, tmp_path, kind):
    (tmp_path / '.aws').mkdir()
    key, secret = KEYS.values()
    keys = f'aws_access_key_id = {key}\naws_secret_access_key={secret}\n'
    other = 'aws_access_key_id = x\naws_secret_access_key = y\n'
    profile = f'region = eu-west-1\nendpoint_url = {seaweedfs}\n'
    if kind == 'credentials':
        (tmp_path / '.aws' / 'credentials').write_text(f'[default]\n{other}[work]\n{keys}')
    if kind == 'config':
        profile += keys
    if kind == 'process':
        answer = {'Version': 1, 'AccessKeyId': key, 'SecretAccessKey': secret}
        profile += f"credential_process = echo '{json.dumps(answer)}'\n"
    (tmp_path / '.aws' / 'config').write_text(f'[profile work]\n{profile}[default]\n{other}')
    answer, = read('s3://bucket/p', 'read 0 10 plain', HOME=str(tmp_path), AWS_PROFILE='work')
    assert answer['status'] == 'LX_OK', answer


@pytest.fixture
def nginx(tmp_path):
    program, port = find('NGINX', 'nginx'), free_ports(1)[0]
    (tmp_path / 'f').write_bytes(CONTENT)
    user = 'user root root; ' if os.geteuid() == 0 else ''    # no other may exist in a namespace
    (tmp_path / 'conf').write_text(
        f'{user}daemon off; master_process off; pid {tmp_path}/pid; error_log stderr; events {{}}\n'
        f'http {{ access_log off; client_body_temp_path {tmp_path}; proxy_temp_path {tmp_path};\n'
        f'fastcgi_temp_path {tmp_path}; uwsgi_temp_path {tmp_path}; scgi_temp_path {tmp_path};\n'
        f'server {{ listen 127.0.0.1:{port}; root {tmp_path}; }} }}\n')
    yield from start([program, '-c', str(tmp_path / 'conf'), '-e', 'stderr'],
                     f'http://127.0.0.1:{port}', tmp_path)


def test_reads_from_nginx(nginx, tmp_path):
    (tmp_path / 'empty').touch()
    answers = read(nginx, 'read 5 100 f', 'read 19990 100 f', 'read 20000 100 f', 'read 0 9 empty',
                   'read 0 9 none')
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 4 + ['LX_ERR_NOT_FOUND']
    assert [answer['got'] for answer in answers] == [100, 10, 0, 0, 0]
    assert [answer['total'] for answer in answers] == [20_000] * 3 + [0, -1]
    assert answers[0]['crc'] == crc32c(CONTENT[5:105])
