# SPDX-License-Identifier: MIT
"""What the transport for S3 makes of servers that misbehave when files are written and listed."""

import base64
import html
import time
import urllib.parse

import pytest

from misdeeds import RESET, Server, head
from ranges import LATER, NEVER, SLOWER, crc32c, read
from signature import compute

ALL = 2 ** 64 - 1
KEYS = {'AWS_ACCESS_KEY_ID': 'key', 'AWS_SECRET_ACCESS_KEY': 'secret',
        'AWS_SESSION_TOKEN': 'token'}


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def obey(server, misdeed, *commands, options=()):
    """Obeys commands with a server that does this to all requests."""
    server.misdeeds['bucket'] = misdeed
    return read('s3://bucket/p', *commands, options=options, AWS_ENDPOINT_URL=server.url, **KEYS)


def text(body, status=200, *lines):
    body = body.encode()
    return head(status, *lines, length=len(body)) + body


def fails(code, status):
    """An answer with an error of S3."""
    return lambda request: text(f'<?xml version="1.0"?><Error><Code>{code}</Code></Error>', status)


def test_puts_with_a_checksum_and_conditions(server):
    answers = obey(server, lambda request: head(200), 'put 1 1000 a b', 'new 1 10 f',
                   'replace 1 10 "etag" f', 'put 1 0 f')
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 4
    assert [answer['got'] for answer in answers] == [1000, 10, 10, 0]
    first, new, replace, empty = server.requests
    assert (first.method, first.path) == ('PUT', '/bucket/p/a%20b')
    assert len(first.body) == 1000 and crc32c(first.body) == answers[0]['crc']
    for request in server.requests:
        assert request.headers['x-amz-checksum-crc32c'] == base64.b64encode(
            crc32c(request.body).to_bytes(4, 'big')).decode()
        assert request.headers['x-amz-security-token'] == 'token'
        assert request.headers['content-type'] == 'application/octet-stream'
        assert 'AWS4-HMAC-SHA256' in request.headers['authorization']
    assert first.headers['x-amz-content-sha256'] == 'UNSIGNED-PAYLOAD'
    assert 'if-none-match' not in first.headers and 'if-match' not in first.headers
    assert new.headers['if-none-match'] == '*'
    assert replace.headers['if-match'] == '"etag"'
    assert empty.headers['content-length'] == '0'


def test_a_weak_etag_is_no_condition(server):
    answers = obey(server, lambda request: head(200), 'replace 1 10 W/"etag" f',
                   'upload-replace 1 10 10 W/"etag" f')
    assert answers[0]['status'] == 'LX_ERR_UNSUPPORTED'
    assert 'the weak ETag W/"etag"' in answers[0]['error'] and 'proxy' in answers[0]['error']
    assert server.requests[:-1] == []    # only that which begins the upload


KEY_PARTS = ['plain', 'a=b', 'a+b', 'a:b', 'a*b', 'a%b', 'a%2fb', 'a b', 'ü', '\u4f60', "~!'()",
             'a..', '.a', '...', '-_', '@&$,;?#[]|^`', '{"<>\\}']


@pytest.mark.parametrize('part', KEY_PARTS)
def test_signs_every_kind_of_request_as_s3_does(server, part):
    """The bytes of the key are those of the path, whatever libcurl makes of it."""
    def misdeed(request):
        if request.method == 'GET' and 'list-type' in request.path:
            more = ('<IsTruncated>true</IsTruncated><NextContinuationToken>'
                    f'{html.escape(part)}</NextContinuationToken>')
            return text(listing(more='' if 'continuation-token' in request.path else more))
        return upload(request, part) if request.method in ('POST', 'PUT') else head(204)

    server.misdeeds['bucket'] = misdeed
    answers = read(f's3://bucket/{part}', f'read 0 9 {part}', f'stat {part}', f'put 1 10 {part}',
                   f'remove {part}', f'upload 1 2000 1000 {part}/{part}', f'list {part}',
                   AWS_ENDPOINT_URL=server.url, **KEYS)
    for request in server.requests:
        given, right = compute(request, KEYS['AWS_SECRET_ACCESS_KEY'])
        assert given == right, (request.method, request.path)
    assert [answer['status'] for answer in answers[2:4]] == ['LX_OK'] * 2, answers
    if '+' in part and answers[4]['status'] != 'LX_OK':    # libcurl 8.14 to 8.18
        for answer in answers[4:]:
            assert (answer['status'], answer['retry']) == ('LX_ERR_UNSUPPORTED', NEVER)
            assert "cannot sign a query with a '+'" in answer['error']
        return
    assert [answer['status'] for answer in answers[4:]] == ['LX_OK'] * 2, answers
    assert [request.method for request in server.requests] == [
        'GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PUT', 'PUT', 'POST', 'GET', 'GET']
    paths = [urllib.parse.unquote(request.path.partition('?')[0]) for request in server.requests]
    assert paths == [f'/bucket/{part}/{part}'] * 4 + [f'/bucket/{part}/{part}/{part}'] * 4 + [
        '/bucket/'] * 2
    for request in server.requests[8:]:
        assert f'prefix={urllib.parse.quote(f"{part}/{part}/", safe="")}' in request.path


@pytest.mark.parametrize('prefix, name', [
    ('p', '.'), ('p', '..'), ('p', './a'), ('p', 'a/../b'), ('p', 'a/.'), ('p', 'a//b'), ('p', '/a'),
    ('.', 'a'), ('..', 'a'), ('p/../q', 'a'), ('p//q', 'a'), ('/p', 'a')])
def test_refuses_to_sign_a_key_that_libcurl_would_change(server, prefix, name):
    server.misdeeds['bucket'] = lambda request: head(200)
    commands = f'read 0 9 {name}', f'stat {name}', f'put 1 10 {name}', f'remove {name}'
    for answer in read(f's3://bucket/{prefix}', *commands, AWS_ENDPOINT_URL=server.url, **KEYS):
        assert (answer['status'], answer['retry']) == ('LX_ERR_ARGUMENT', NEVER), answer
        assert f's3://bucket/{prefix}/{name}' in answer['error']
        assert "empty, '.' or '..' cannot be signed" in answer['error']
    assert server.requests == []
    read(f's3://bucket/{prefix}', *commands, options=['--anonymous'], AWS_ENDPOINT_URL=server.url)
    assert {request.path for request in server.requests} == {f'/bucket/{prefix}/{name}'}


@pytest.mark.parametrize('code, status, expected, retry, words', [
    ('InternalError', 500, 'LX_ERR_IO', LATER, 'cannot answer now'),
    ('SlowDown', 503, 'LX_ERR_IO', SLOWER, 'fewer requests'),
    ('TooManyRequests', 429, 'LX_ERR_IO', SLOWER, 'fewer requests'),
    ('RequestTimeout', 400, 'LX_ERR_IO', LATER, 'cannot answer now'),
    ('BadDigest', 400, 'LX_ERR_IO', LATER, 'cannot answer now'),
    ('ConditionalRequestConflict', 409, 'LX_ERR_IO', LATER, 'cannot answer now'),
    ('BucketAlreadyExists', 409, 'LX_ERR_IO', NEVER, 'refuses'),
    ('PreconditionFailed', 412, 'LX_ERR_STATE', NEVER, 'somebody else has written the file'),
    ('NoSuchBucket', 404, 'LX_ERR_NOT_FOUND', NEVER, 'there is no such bucket'),
    ('AccessDenied', 403, 'LX_ERR_IO', NEVER, 'access denied'),
    ('NotImplemented', 501, 'LX_ERR_IO', NEVER, 'refuses')])
def test_tells_what_to_do_about_an_error(server, code, status, expected, retry, words):
    answer, = obey(server, fails(code, status), 'put 1 1000 f')
    assert (answer['status'], answer['retry'], answer['got']) == (expected, retry, 0)
    assert f's3://bucket/p/f: PUT of 1000 bytes, HTTP status {status} {code}' in answer['error']
    assert words in answer['error']
    assert 'secret' not in answer['error']


def test_succeeds_after_a_failure(server):
    answers = obey(server, lambda request: head(200 if request.before else 500), 'put 1 9 f',
                   'put 1 9 f')
    assert [answer['status'] for answer in answers] == ['LX_ERR_IO', 'LX_OK']


def test_a_connection_that_is_reset_is_an_outage(server):
    server.hasty.add('bucket')
    answer, = obey(server, lambda request: [b'HTTP/1.1 100 Continue\r\n\r\n', RESET],
                   'put 1 3000000 f')
    assert (answer['status'], answer['retry'], answer['got']) == ('LX_ERR_IO', LATER, 0)


def stall(request):
    time.sleep(20)
    return head(200)


def test_a_server_that_stalls_is_an_outage(server):
    answer, = obey(server, stall, 'put 1 1000 f', options=['--stall', '1'])
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)


def test_an_upload_is_interrupted(server):
    answers = obey(server, stall, 'interrupt 200', 'put 1 1000 f', 'put 1 1000 f')
    assert [answer['status'] for answer in answers] == ['LX_ERR_CANCELED'] * 2
    assert answers[0]['seconds'] < 10


def test_another_server_gets_the_file_but_no_credentials(server):
    other = Server()
    other.misdeeds['x'] = lambda request: head(200)
    answer, = obey(server, lambda request: head(307, f'Location: {other.url}/x/f'),
                   'put 1 1000 f')
    other.close()
    assert answer['status'] == 'LX_OK'
    request, = other.requests
    assert (request.method, crc32c(request.body)) == ('PUT', answer['crc'])
    assert not {'authorization', 'x-amz-security-token'} & request.headers.keys()


def test_a_redirection_that_changes_the_method_is_not_followed(server):
    answer, = obey(server, lambda request: head(302, f'Location: {server.url}/good/f'),
                   'put 1 1000 f')
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', NEVER)
    assert 'the redirection is not followed' in answer['error']
    assert len(server.requests) == 1


@pytest.mark.parametrize('answer, expected, retry', [
    ('<CompleteMultipartUploadResult/>', 'LX_OK', NEVER),
    ('<Error><Code>InternalError</Code></Error>', 'LX_ERR_IO', LATER),
    ('<Error><Code>SlowDown</Code></Error>', 'LX_ERR_IO', SLOWER),
    ('<Error><Code>NoSuchUpload</Code></Error>', 'LX_ERR_NOT_FOUND', NEVER),
    ('<Error><Code>InvalidPart</Code></Error>', 'LX_ERR_IO', NEVER),
    ('', 'LX_ERR_IO', LATER),
    ('<CompleteMultipartUploadResult>', 'LX_ERR_IO', LATER),
    ('<html/>', 'LX_ERR_IO', LATER)])
def test_an_upload_is_complete_only_if_the_server_says_so(server, answer, expected, retry):
    answer, = obey(server, lambda request: text(answer), 'complete f')
    assert (answer['status'], answer['retry']) == (expected, retry), answer
    request, = server.requests
    assert (request.method, request.path) == ('POST', '/bucket/p/f?uploadId=bm9uZQ')
    assert b'<Part><PartNumber>1</PartNumber><ETag>&#34;a&#34;</ETag>' in request.body
    assert b'<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>' in request.body


def upload(request, name='a/b*c&'):
    if request.method == 'POST' and request.path.endswith('?uploads='):
        assert request.headers['x-amz-checksum-algorithm'] == 'CRC32C'
        return text(f'<InitiateMultipartUploadResult><UploadId>{html.escape(name)}</UploadId>'
                    '</InitiateMultipartUploadResult>')
    if request.method == 'PUT':
        return head(200, f'ETag: "{len(request.body)}"')
    return text('<CompleteMultipartUploadResult/>')


def test_puts_parts(server):
    answer, = obey(server, upload, 'upload 1 2500 1000 chunk/0.zr')
    assert answer['status'] == 'LX_OK', answer
    names = [request.path for request in server.requests]
    assert names[1:4] == [f'/bucket/p/chunk/0.zr?partNumber={i}&uploadId=a%2Fb%2Ac%26'
                          for i in (3, 2, 1)]
    sizes = [part.split(b'&#34;')[1] for part in server.requests[-1].body.split(b'<ETag>')[1:]]
    assert sizes == [b'1000', b'1000', b'500']


@pytest.mark.parametrize('what, words', [
    ('name', 'does not tell the name of the upload'), ('part', 'no ETag of a part')])
def test_an_upload_needs_names_and_etags(server, what, words):
    def misdeed(request):
        return text('<a/>') if what == 'name' else (
            head(200) if request.method == 'PUT' else upload(request))

    answer, = obey(server, misdeed, 'upload 1 10 10 f')
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)
    assert words in answer['error']


# ---- listings

def listing(*keys, more='', root='ListBucketResult'):
    items = ''.join(f'<Contents><Key>{key}</Key><Size>{i}</Size>'
                    '<LastModified>2026-11-27T03:51:16.000Z</LastModified></Contents>'
                    for i, key in enumerate(keys))
    return f'<?xml version="1.0"?>\n<{root} xmlns="x">{items}{more}</{root}>'


def test_lists_several_answers(server):
    def misdeed(request):
        if 'continuation-token=a%2Fb%3D&encoding-type=url&list-type=2&prefix=p%2F' in request.path:
            return text(listing('p/c', 'p/d', more='<IsTruncated>false</IsTruncated>'))
        assert request.path == '/bucket/?encoding-type=url&list-type=2&prefix=p%2F'
        return text(listing('p/a', 'p/b', more='<IsTruncated>true</IsTruncated>'
                            '<NextContinuationToken>a/b=</NextContinuationToken>'))

    answer, = obey(server, misdeed, 'list ')
    assert (answer['status'], answer['files']) == ('LX_OK', {'a': 0, 'b': 1, 'c': 0, 'd': 1})


def list_pages(server, keys, token='a+b/%=', options=()):
    """Lists keys from a store that sends two at a time, in this order. Returns the answer, and the
    parameters of each request, all of which must be signed rightly."""
    queries = []

    def misdeed(request):
        query = dict(urllib.parse.parse_qsl(request.path.partition('?')[2]))
        queries.append(query)
        begin = int(query.get('continuation-token', '0').rpartition('=')[2])
        rest = [key for key in keys[begin:] if key > query.get('start-after', '')]
        end = len(keys) - len(rest[2:])
        return text(listing(*map(html.escape, rest[:2]), more='' if end == len(keys) else (
            '<IsTruncated>true</IsTruncated>'
            f'<NextContinuationToken>{token}{end}</NextContinuationToken>')))

    answer, = obey(server, misdeed, 'list ', options=options)
    for request in server.requests:
        given, right = compute(request, KEYS['AWS_SECRET_ACCESS_KEY'])
        assert given == right, request.path
    return answer, queries


@pytest.mark.parametrize('options', [[], ['--libcurl-8.14']])
def test_continues_a_listing_whose_token_has_a_plus(server, options):
    """From 8.14 to 8.18, libcurl cannot sign it."""
    keys = sorted(f'p/{name}' for name in ['a+', 'b', 'c/1', "c/d e%2B&'", 'd', 'ü', '\u4f60'])
    answer, queries = list_pages(server, keys, options=options)
    assert (answer['status'], len(queries)) == ('LX_OK', 4), answer
    assert set(answer['files']) == {key[2:] for key in keys}
    if options:
        assert [query.get('start-after') for query in queries] == [None, *keys[1:-1:2]]
        assert not any('continuation-token' in query for query in queries)


def test_a_token_without_a_plus_continues_a_listing_as_before(server):
    answer, queries = list_pages(server, ['p/b', 'p/a', 'p/c'], 'ab=', ['--libcurl-8.14'])
    assert (answer['status'], set(answer['files'])) == ('LX_OK', set('abc'))
    assert queries[1]['continuation-token'] == 'ab=2'


@pytest.mark.parametrize('keys', [['p/b', 'p/a', 'p/c'], ['p/a', 'p/b+', 'p/c']])
def test_loses_no_file_if_libcurl_cannot_sign_the_token(server, keys):
    """The last key tells where the listing continues only if keys are in order and it can be signed
    itself."""
    answer, queries = list_pages(server, keys, options=['--libcurl-8.14'])
    assert (answer['status'], answer['retry'], len(queries)) == ('LX_ERR_UNSUPPORTED', NEVER, 1)
    assert "cannot sign a query with a '+'" in answer['error']


def test_decodes_names(server):
    answer, = obey(server, lambda request: text(listing(
        'p/a+b%2Bc%C3%BC', more='<EncodingType>url</EncodingType>')), 'list ')
    assert answer['files'] == {'a b+cü': 0}
    answer, = obey(server, lambda request: text(listing('p/a+b%2B&amp;&#xfc;&#228;')), 'list ')
    assert answer['files'] == {'a+b%2B&üä': 0}


def test_leaves_out_what_is_no_file(server):
    keys = ['p/', 'p/a', 'p/../b', 'p/./b', 'p/b/..', 'p/b//c', 'p//b', 'p/b/', 'p/..', 'p/...']
    answer, = obey(server, lambda request: text(listing(*keys)), 'list ')
    assert (answer['status'], answer['files']) == ('LX_OK', {'a': 1, '...': 9})


@pytest.mark.parametrize('body, words', [
    (listing('q/a'), 'not asked for'),
    (listing('pa'), 'not asked for'),
    (listing('/p/a'), 'not asked for'),
    (listing('p/a', more='<IsTruncated>true</IsTruncated>'), 'does not end'),
    (listing('p/%', more='<EncodingType>url</EncodingType>'), 'invalid'),
    (listing('p/%00', more='<EncodingType>url</EncodingType>'), 'invalid'),
    (listing('p/&#0;'), 'invalid'),
    (listing('p/&x;'), 'invalid'),
    (listing('p/' + 'x' * 5000), 'invalid'),
    (listing(more='<Contents><Key>p/a</Key></Contents>'), 'invalid'),
    (listing(more='<Contents><Key>p/a</Key><Size>-1</Size></Contents>'), 'invalid'),
    (listing(more='<Contents><Key>p/a</Key><Size>9223372036854775808</Size></Contents>'), 'invalid'),
    (listing('p/a').replace('<Key>', '<Key><![CDATA['), 'no listing'),
    (listing('p/a').replace('?>', '?><!DOCTYPE a [<!ENTITY b "c">]>'), 'no listing'),
    (listing('p/a')[:-3], 'no listing'),
    (listing('p/a', root='Other'), 'no listing'),
    ('<a>' * 10_000, 'no listing'),
    ('', 'no listing'),
    ('not XML', 'no listing'),
    (' ' * 9_000_000, 'more than expected')])
def test_a_wrong_listing_is_an_outage(server, body, words):
    answer, = obey(server, lambda request: text(body), 'list ')
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER), answer
    assert words in answer['error']


def test_a_listing_ends_if_it_gets_no_further(server):
    answer, = obey(server, lambda request: text(listing(
        'p/a', more='<IsTruncated>true</IsTruncated>'
        '<NextContinuationToken>again</NextContinuationToken>')), 'list ')
    assert (answer['status'], answer['retry']) == ('LX_ERR_IO', LATER)
    assert 'does not end' in answer['error']
    assert len(server.requests) == 2


def test_abandons_only_old_uploads(server):
    def misdeed(request):
        if request.method == 'DELETE':
            return head(204)
        uploads = ''.join(f'<Upload><Key>p/{name}</Key><UploadId>{name}/1</UploadId>'
                          f'<Initiated>2026-11-{day:02}T00:00:00Z</Initiated></Upload>'
                          for name, day in (('old', 1), ('new', 20)))
        return text(f'<ListMultipartUploadsResult>{uploads}</ListMultipartUploadsResult>')

    answers = obey(server, misdeed, 'abandon 1794700800', f'abandon {ALL}')  # 2026-11-15
    assert [answer['status'] for answer in answers] == ['LX_OK'] * 2
    paths = [request.path for request in server.requests if request.method == 'DELETE']
    assert paths == ['/bucket/p/old?uploadId=old%2F1', '/bucket/p/old?uploadId=old%2F1',
                     '/bucket/p/new?uploadId=new%2F1']
    assert server.requests[0].path == '/bucket/?encoding-type=url&prefix=p%2F&uploads='


def test_removes_what_may_be_gone(server):
    answers = obey(server, lambda request: [head(204), fails('NoSuchKey', 404)(request),
                                            head(403)][request.before],
                   'remove a', 'remove b', 'remove c')
    assert [answer['status'] for answer in answers] == ['LX_OK', 'LX_OK', 'LX_ERR_IO']
    assert [request.method for request in server.requests] == ['DELETE'] * 3


def test_a_directory_takes_the_same_commands(tmp_path):
    answers = read(f'file://{tmp_path}/a/b', 'upload 1 2500 1000 chunk/0.zr', 'new 2 10 meta.json',
                   'new 3 10 meta.json', 'read 0 2500 chunk/0.zr', 'begin chunk/1.zr', 'list ',
                   f'abandon {ALL}', 'remove meta.json', 'list ')
    assert [answer['status'] for answer in answers] == [
        'LX_OK', 'LX_OK', 'LX_ERR_STATE', *['LX_OK'] * 6]
    assert answers[0]['crc'] == answers[3]['crc']
    assert answers[5]['files'] == {'chunk/0.zr': 2500, 'meta.json': 10}
    assert answers[8]['files'] == {'chunk/0.zr': 2500}
    assert len(list((tmp_path / 'a/b/chunk').iterdir())) == 1
