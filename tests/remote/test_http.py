# SPDX-License-Identifier: MIT
"""What the transport for HTTP makes of servers that misbehave."""

import shutil
import ssl
import subprocess
import time

import pytest

from misdeeds import CONTENT, SIZE, Server
from ranges import LATER, NEVER, SLOWER, crc32c, read, run


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def is_right(answer, first, size):
    return (answer['status'], answer['got'], answer['total'], answer['crc']) == (
        'LX_OK', size, SIZE, crc32c(CONTENT[first:first + size]))


@pytest.mark.parametrize('kind', ['good', 'rclone', 'chunked', 'trailer', 'weak'])
def test_reads_ranges(server, kind):
    answers = read(f'{server.url}/{kind}', 'read 0 5000 f', 'read 777 1 f', 'read 99000 5000 f')
    assert is_right(answers[0], 0, 5000)
    assert is_right(answers[1], 777, 1)
    assert is_right(answers[2], 99000, 1000)
    assert 'if-match' not in server.requests[2].headers
    assert server.requests[0].headers['accept-encoding'] == 'identity'


def test_keeps_the_connection(server):
    read(f'{server.url}/good', *['read 0 5000 f'] * 20)
    assert (server.connections, len(server.requests)) == (1, 20)


def test_encodes_names_and_keeps_the_query(server):
    read(f'{server.url}/good/a%20b/?sig=x%2Fy', "read 0 5000 c d+e=(1)'/ü.zr")
    assert server.requests[0].path == '/good/a%20b/c%20d%2Be%3D%281%29%27/%C3%BC.zr?sig=x%2Fy'


def test_tells_the_region_of_a_bucket(server):
    server.misdeeds['bucket'] = lambda request: (
        b'HTTP/1.1 301 x\r\nContent-Length: 0\r\nx-amz-bucket-region: eu-north-1\r\n\r\n')
    answer, = read('s3://bucket/p', 'read 0 50 f', AWS_ACCESS_KEY_ID='a',
                   AWS_SECRET_ACCESS_KEY='b', AWS_ENDPOINT_URL=server.url)
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert 'the bucket is in the region eu-north-1; set that region' in answer['error']


def test_refuses_access_keys_for_plain_servers(server):
    answer, = read(f'{server.url}/good', 'read 0 50 f', options=['--keys', 'key', '--token', 'x'])
    assert (answer['status'], answer['retry']) == ('LX_ERR_ARGUMENT', NEVER)
    assert server.requests == []


@pytest.mark.parametrize('kind, first', [('empty', 0), ('empty', 9), ('beyond', SIZE)])
def test_reads_nothing_beyond_the_end(server, kind, first):
    answer, = read(f'{server.url}/{kind}', f'read {first} 5000 f')
    assert (answer['status'], answer['got']) == ('LX_OK', 0)
    assert answer['total'] == (0 if kind == 'empty' else SIZE)


def test_tells_if_the_total_is_unknown(server):
    answer, = read(f'{server.url}/unknown-total', 'read 0 5000 f')
    assert (answer['status'], answer['got'], answer['total']) == ('LX_OK', 5000, -1)


@pytest.mark.parametrize('kind, status, retry, text', [
    ('ignores-ranges', 'LX_ERR_UNSUPPORTED', NEVER, 'ignores ranges'),
    ('encoded', 'LX_ERR_UNSUPPORTED', NEVER, 'Content-Encoding'),
    ('half', 'LX_ERR_IO', LATER, ''),
    ('half-chunked', 'LX_ERR_IO', LATER, ''),
    ('longer', 'LX_ERR_IO', LATER, 'more than the range'),
    ('longer-chunked', 'LX_ERR_IO', LATER, 'more than the range'),
    ('less', 'LX_ERR_IO', LATER, 'less than the range'),
    ('shifted', 'LX_ERR_IO', LATER, 'another range'),
    ('too-much', 'LX_ERR_IO', LATER, 'another range'),
    ('overflow', 'LX_ERR_IO', LATER, 'another range'),
    ('negative', 'LX_ERR_IO', LATER, 'another range'),
    ('twice', 'LX_ERR_IO', LATER, 'another range'),
    ('nul', 'LX_ERR_IO', LATER, ''),
    ('garbage', 'LX_ERR_IO', LATER, ''),
    ('no-colon', 'LX_ERR_IO', LATER, ''),
    ('silent', 'LX_ERR_IO', LATER, ''),
    ('reset', 'LX_ERR_IO', LATER, ''),
    ('endless-headers', 'LX_ERR_IO', LATER, 'header of the response is too long'),
    ('endless-hints', 'LX_ERR_IO', LATER, 'header of the response is too long'),
    ('beyond-unknown', 'LX_ERR_IO', NEVER, 'length of the file'),
    ('denied', 'LX_ERR_IO', NEVER, 'access denied; check'),
    ('gone', 'LX_ERR_NOT_FOUND', NEVER, 'HTTP status 404'),
    ('teapot', 'LX_ERR_IO', NEVER, 'HTTP status 418'),
    ('long-error', 'LX_ERR_IO', NEVER, 'HTTP status 400'),
    ('loop', 'LX_ERR_IO', NEVER, 'redirection is not followed'),
    ('file', 'LX_ERR_IO', NEVER, 'redirection is not followed'),
])
def test_refuses(server, kind, status, retry, text):
    answer, = read(f'{server.url}/{kind}?sig=secret', 'read 10 50 f')
    assert (answer['status'], answer['retry']) == (status, retry), answer
    assert text in answer['error'] and 'GET of bytes 10 to 59' in answer['error']
    assert answer['error'].startswith(f'{server.url}/{kind}/f, offset 10: ')
    assert 'secret' not in answer['error']
    assert len(server.requests) <= 6


def test_tells_if_no_credentials_were_sent(server):
    answer, = read(f'{server.url}/denied', 'read 0 50 f')
    assert 'access denied; no credentials were sent' in answer['error']


@pytest.mark.parametrize('kind, retry, after', [
    ('busy', SLOWER, 7), ('busy-date', SLOWER, 300), ('error', LATER, 0), ('timeout', LATER, 0)])
def test_tells_when_to_try_again(server, kind, retry, after):
    answers = read(f'{server.url}/{kind}', 'read 0 50 f', 'read 0 50 f')
    assert (answers[0]['retry'], answers[0]['retry_after']) == (retry, after)
    assert is_right(answers[1], 0, 50)
    assert server.connections == 2  # the second attempt is made on a new one
    assert ('request id ABC123' in answers[0]['error']) == (kind == 'busy')


@pytest.mark.parametrize('kind', ['stall', 'drip'])
def test_gives_up_a_slow_server(server, kind):
    answer, = read(f'{server.url}/{kind}', 'read 0 50000 f', options=['--stall', '1'])
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)
    # libcurl averages over 5 seconds; the server continues for longer.
    assert 1 < answer['seconds'] < 50


def test_cannot_connect():
    closed = Server()
    closed.close()
    answer, = read(f'{closed.url}/good', 'read 0 50 f')
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)
    assert answer['error'].startswith(f'{closed.url}/good/f, offset 0: GET of bytes 0 to 49: ')


@pytest.mark.parametrize('kind', ['stall', 'silent-and-open'])
def test_interrupts(server, kind):
    server.misdeeds['silent-and-open'] = lambda request: (time.sleep(60), b'')[1]
    answers = read(f'{server.url}/{kind}', 'interrupt 300', 'read 0 50000 f', 'read 0 50 f')
    assert [answer['status'] for answer in answers] == ['LX_ERR_CANCELED'] * 2
    assert answers[0]['seconds'] + answers[1]['seconds'] < 10    # the server answers later


def test_notices_a_file_that_was_replaced(server):
    answers = read(f'{server.url}/changed', 'read 0 50 f', 'read 0 50 f', 'read 0 50 meta.json',
                   'read 0 50 meta.json')
    assert [answer['status'] for answer in answers] == ['LX_OK', 'LX_ERR_STATE', 'LX_OK', 'LX_OK']
    assert 'replaced' in answers[1]['error'] and answers[1]['retry'] == NEVER
    assert server.requests[1].headers['if-match'] == '"0"'
    assert 'if-match' not in server.requests[3].headers
    server.requests.clear()
    answers = read(f'{server.url}/matched', 'read 0 50 f', 'read 0 50 f')
    assert [answer['status'] for answer in answers] == ['LX_OK', 'LX_ERR_STATE']


@pytest.mark.parametrize('kind', ['expired', 'refused'])
def test_renews_credentials_once(server, kind):
    tokens = ['--token', 'old', '--token', 'new']
    answers = read(f'{server.url}/{kind}', 'read 0 50 f', 'read 0 50 f', options=tokens)
    assert all(is_right(answer, 0, 50) for answer in answers)
    assert len(server.requests) == 3
    server.requests.clear()
    answer, = read(f'{server.url}/{kind}', 'read 0 50 f', options=['--token', 'old'])
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert len(server.requests) == 1
    assert 'old' not in answer['error']


def test_sends_no_credentials_to_another_server(server):
    other = Server()
    server.misdeeds['away'] = lambda request: (
        b'HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: %s/good/f?sig=secret\r\n\r\n'
        % other.url.encode())
    other.misdeeds['back'] = lambda request: (
        b'HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: %s/good/f\r\n\r\n' % server.url.encode())
    answer, = read(f'{server.url}/away', 'read 0 50 f', options=['--token', 'mine'])
    assert is_right(answer, 0, 50)
    assert server.requests[0].headers['authorization'] == 'Bearer mine'
    assert 'authorization' not in other.requests[0].headers
    other.misdeeds['good'] = other.misdeeds['gone']
    answer, = read(f'{server.url}/away', 'read 0 50 f', options=['--token', 'mine'])
    assert f'redirected to {other.url}/good/f)' in answer['error']
    # Not even after the other server has redirected back to this one.
    answer, = read(f'{other.url}/back', 'read 0 50 f', options=['--token', 'mine'])
    assert is_right(answer, 0, 50)
    assert 'authorization' not in server.requests[-1].headers
    other.close()


def test_follows_a_redirection_on_the_same_server(server):
    answer, = read(f'{server.url}/moved', 'read 0 50 f', options=['--token', 'mine'])
    assert is_right(answer, 0, 50)
    assert server.requests[1].headers['authorization'] == 'Bearer mine'


def make_certificate(folder, name):
    """Makes folder/cert, a certificate of a host that it has signed itself, and folder/key."""
    openssl = shutil.which('openssl') or pytest.skip('openssl is not in PATH')
    subprocess.run([openssl, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                    '-keyout', folder / 'key', '-out', folder / 'cert', '-subj', '/CN=test',
                    '-addext', f'subjectAltName={name}'], check=True, timeout=30,
                   stderr=subprocess.DEVNULL)


def make_context(folder):
    """A context with a certificate of 127.0.0.1."""
    make_certificate(folder, 'IP:127.0.0.1')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / 'cert', folder / 'key')
    return context


def test_verifies_certificates(tmp_path):
    server = Server(make_context(tmp_path))
    trusted = {'SSL_CERT_FILE': str(tmp_path / 'cert')}
    answer, = read(f'{server.url}/good', 'read 0 50 f', **trusted)
    assert is_right(answer, 0, 50)
    other = server.url.replace('127.0.0.1', 'localhost')
    for url, environment in (server.url, {}), (other, trusted):
        answer, = read(f'{url}/good', 'read 0 50 f', options=['--token', 'mine'], **environment)
        assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
        assert 'GET of bytes 0 to 49: ' in answer['error']
    assert len(server.requests) == 1
    server.misdeeds['plain'] = lambda request: (
        b'HTTP/1.1 302 x\r\nContent-Length: 0\r\nLocation: http://127.0.0.1:1/f\r\n\r\n')
    answer, = read(f'{server.url}/plain', 'read 0 50 f', **trusted)
    assert 'redirection is not followed' in answer['error']
    server.close()


@pytest.mark.parametrize('url, status, text', [
    ('http://user:secret@127.0.0.1/x', 'LX_ERR_ARGUMENT', 'user or a password'),
    ('http://', 'LX_ERR_ARGUMENT', 'not valid'),
    ('ftp://127.0.0.1/x', 'LX_ERR_UNSUPPORTED', 's3://'),
    ('s3://', 'LX_ERR_ARGUMENT', 's3://bucket/prefix'),
    ('s3://a b/x', 'LX_ERR_ARGUMENT', 's3://bucket/prefix')])
def test_refuses_urls(url, status, text):
    done = run(url)
    assert done.returncode == 1 and done.stderr.startswith(status.encode())
    assert text in done.stderr.decode() and b'secret' not in done.stderr
