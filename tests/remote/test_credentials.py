# SPDX-License-Identifier: MIT
"""Credentials from the services of containers and virtual machines, and what is sent with them."""

import http.server
import json
import threading
import time

import pytest

from misdeeds import Server
from ranges import LATER, NEVER, read


class Service(http.server.BaseHTTPRequestHandler):
    """The service of a container at /creds, and the metadata service of EC2."""

    def reply(self, status, text):
        self.server.seen.append((self.command, self.path))
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def keys(self, name):
        life = time.gmtime(time.time() + self.server.life)
        return json.dumps({'AccessKeyId': name, 'SecretAccessKey': 's', 'Token': name + '-token',
                           'Expiration': time.strftime('%Y-%m-%dT%H:%M:%SZ', life)})

    def do_PUT(self):
        ttl = self.headers['X-aws-ec2-metadata-token-ttl-seconds']
        found = self.path == '/latest/api/token' and ttl
        self.reply(200 if found else 404, 'metadata-token')

    def do_GET(self):
        roles = '/latest/meta-data/iam/security-credentials/'
        if self.server.broken:
            self.reply(500, 'broken')
        elif self.path == '/creds' and self.headers['Authorization'] == 'container-token':
            self.reply(200, self.keys(f'C{len(self.server.seen)}'))
        elif self.headers['X-aws-ec2-metadata-token'] != 'metadata-token':
            self.reply(401, 'no')
        elif self.path == roles:
            self.reply(200, 'role\nother')
        else:
            self.reply(200, self.keys('EC2') if self.path == roles + 'role' else '{}')

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    service = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Service)
    service.url = 'http://127.0.0.1:%d' % service.server_address[1]
    service.seen, service.life, service.broken = [], 3600, False
    threading.Thread(target=service.serve_forever, daemon=True).start()
    yield service
    service.shutdown()
    service.server_close()


@pytest.fixture
def store():
    store = Server()
    yield store
    store.close()


def read_from(store, *commands, **environment):
    return read('s3://good/p', *commands, AWS_ENDPOINT_URL=store.url, AWS_REGION='eu-west-1',
                **environment)


def in_container(service, tmp_path):
    (tmp_path / 'token').write_text('container-token\n')
    return {'AWS_CONTAINER_CREDENTIALS_FULL_URI': service.url + '/creds',
            'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE': str(tmp_path / 'token')}


def test_signs_with_the_keys_of_a_container(service, store, tmp_path):
    answers = read_from(store, 'read 0 9 f', 'read 0 9 f', **in_container(service, tmp_path))
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 2
    assert len(service.seen) == 1
    headers = store.requests[0].headers
    signature = headers['authorization']
    assert signature.startswith('AWS4-HMAC-SHA256 Credential=C0/')
    assert '/eu-west-1/s3/aws4_request' in signature
    signed = signature.split('SignedHeaders=')[1].split(',')[0].split(';')
    assert {'host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'} <= set(signed)
    assert not {'range', 'accept-encoding', 'user-agent'} & set(signed)
    assert headers['x-amz-security-token'] == 'C0-token'


def test_renews_keys_that_expire(service, store, tmp_path):
    service.life = 1

    def good(request):
        time.sleep(1.2)
        return store_good(request)
    store_good = store.misdeeds['good']
    store.misdeeds['good'] = good
    read_from(store, 'read 0 9 f', 'read 0 9 f', **in_container(service, tmp_path))
    keys = [request.headers['x-amz-security-token'] for request in store.requests]
    assert keys[0] != keys[1]


def test_uses_the_metadata_service(service, store):
    answer, = read_from(store, 'read 0 9 f', AWS_EC2_METADATA_DISABLED='false',
                        AWS_EC2_METADATA_SERVICE_ENDPOINT=service.url)
    assert answer['status'] == 'LX_OK'
    assert 'Credential=EC2/' in store.requests[0].headers['authorization']
    answer, = read_from(store, 'read 0 9 f', AWS_EC2_METADATA_DISABLED='TRUE',
                        AWS_EC2_METADATA_SERVICE_ENDPOINT=service.url)
    assert 'no credentials for S3 were found' in answer['error']


def test_a_service_that_fails_is_an_outage(service, store, tmp_path):
    service.broken = True
    answer, = read_from(store, 'read 0 9 f', **in_container(service, tmp_path))
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)
    assert 'HTTP status 500' in answer['error'] and store.requests == []
    environment = in_container(service, tmp_path)
    (tmp_path / 'token').unlink()
    answer, = read_from(store, 'read 0 9 f', **environment)
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)


def test_sends_no_keys_to_plain_servers(store):
    keys = {'AWS_ACCESS_KEY_ID': 'a', 'AWS_SECRET_ACCESS_KEY': 'b', 'AWS_SESSION_TOKEN': 'c'}
    answer, = read(store.url + '/good', 'read 0 9 f', **keys)
    assert answer['status'] == 'LX_OK'
    sent = store.requests[0].headers
    assert not [name for name in sent if name == 'authorization' or name.startswith('x-amz-')]


def test_sends_no_session_token_to_another_server(store):
    other = Server()
    store.misdeeds['good'] = lambda request: (
        b'HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: %s/good/f\r\n\r\n' % other.url.encode())
    answer, = read_from(store, 'read 0 9 f', AWS_ACCESS_KEY_ID='a', AWS_SECRET_ACCESS_KEY='b',
                        AWS_SESSION_TOKEN='c')
    assert answer['status'] == 'LX_OK'
    assert store.requests[0].headers['x-amz-security-token'] == 'c'
    sent = other.requests[0].headers
    assert not [name for name in sent if name == 'authorization' or name.startswith('x-amz-')]
    other.close()
