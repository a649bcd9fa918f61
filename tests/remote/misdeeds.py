# SPDX-License-Identifier: MIT
"""An HTTP server that misbehaves: the first part of the path names what it does wrong."""

import contextlib
import random
import re
import socket
import struct
import threading
import time

SIZE = 100_000
CONTENT = random.Random(1).randbytes(SIZE)
TAIL = b'TAIL' * 4096


class Request:
    """A request: path, headers (names in lower case), range or body, and how many came before. Some
    versions of libcurl write %2f in a path or query, and others %2F, which is the same."""

    def __init__(self, text, before):
        lines = text.decode('latin-1').split('\r\n')
        self.method, path, _ = lines[0].split(' ')
        self.path = re.sub('%..', lambda found: found[0].upper(), path)
        self.headers = {}
        for line in filter(None, lines[1:]):
            name, value = line.split(':', 1)
            self.headers[name.lower()] = value.strip()
        if 'range' in self.headers:
            text = self.headers['range'].removeprefix('bytes=')
            self.first, self.last = map(int, text.split('-'))
            self.last = min(self.last, SIZE - 1)
        self.body = b''
        self.before = before
        self.misdeed = self.path.split('/')[1]


def head(status, *lines, length=0):
    return '\r\n'.join([f'HTTP/1.1 {status} x', f'Content-Length: {length}', *lines, '',
                        '']).encode('latin-1')


def good(request, *lines, status=206, extra=b'', shift=0):
    """A right answer, or one that is wrong as the arguments say."""
    body = CONTENT[request.first:request.last + 1] + extra
    told = f'Content-Range: bytes {request.first + shift}-{request.last + shift}/{SIZE}'
    return head(status, told, *lines, length=len(body)) + body


def ranged(text, status=206):
    """An answer with any Content-Range."""
    return lambda request: head(status, f'Content-Range: {text}', length=100) + bytes(100)


def once(first, *lines):
    """An answer to the first request; the others are right."""
    return lambda request: good(request) if request.before else head(first, *lines)


def redirect(to):
    return lambda request: head(302, 'Location: ' + to)


def chunked(request):
    body = CONTENT[request.first:request.last + 1]
    parts = [body[i:i + 999] for i in range(0, len(body), 999)] + [b'']
    return (f'HTTP/1.1 206 x\r\nContent-Range: bytes {request.first}-{request.last}/{SIZE}\r\n'
            'Transfer-Encoding: chunked\r\n\r\n'.encode() +
            b''.join(b'%x\r\n%s\r\n' % (len(part), part) for part in parts))


def half(request):
    answer = good(request)
    return answer[:len(answer) - (request.last - request.first) // 2]


def drip(request):
    """A body that comes at ten bytes a second."""
    yield good(request)[:-1000]
    for _ in range(600):
        time.sleep(0.1)
        yield b'x'


def stall(request):
    yield half(request)
    time.sleep(60)


def endless_headers(request):
    yield b'HTTP/1.1 206 x\r\n'
    for i in range(1000):
        yield b'X-Header-%d: %s\r\n' % (i, b'y' * 1000)


def endless_hints(request):
    for _ in range(100_000):
        yield b'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'


RESET = object()  # sent instead of bytes: the connection is reset

MISDEEDS = {
    'good': good,
    'rclone': lambda request: good(request, status=200),
    'chunked': chunked,
    'trailer': lambda request: chunked(request)[:-2] + b'Content-Range: bytes 0-1/2\r\n'
                                                       b'Content-Encoding: gzip\r\n\r\n',
    'empty': lambda request: head(200),
    'beyond': lambda request: head(416, f'Content-Range: bytes */{SIZE}'),
    'beyond-unknown': lambda request: head(416),
    'unknown-total': lambda request: good(request).replace(b'/%d' % SIZE, b'/*'),
    'ignores-ranges': lambda request: head(200, length=SIZE) + CONTENT,
    'half': half,
    'half-chunked': lambda request: chunked(request)[:-3000],
    'longer': lambda request: good(request, extra=TAIL),
    'longer-chunked': lambda request: chunked(request)[:-5] + b'4000\r\n' + TAIL + b'\r\n0\r\n\r\n',
    'less': lambda request: head(206, f'Content-Range: bytes {request.first}-{request.first + 9}'
                                      f'/{SIZE}', length=10) + bytes(10),
    'shifted': lambda request: good(request, shift=1),
    'too-much': ranged('bytes 0-99/100000', 206),
    'overflow': ranged('bytes 0-18446744073709551615/18446744073709551616'),
    'negative': ranged('bytes -5-94/100000'),
    'twice': lambda request: good(request, f'Content-Range: bytes 5-9/{SIZE}'),
    'encoded': lambda request: good(request, 'Content-Encoding: gzip'),
    'nul': lambda request: good(request, 'X: a\0b'),
    'garbage': lambda request: b'\xff\xfe\x00garbage\r\n' * 100,
    'no-colon': lambda request: good(request, 'garbage', ' folded'),
    'silent': lambda request: b'',
    'reset': lambda request: [half(request), RESET],
    'drip': drip,
    'stall': stall,
    'endless-headers': endless_headers,
    'endless-hints': endless_hints,
    'busy': once(503, 'Retry-After: 7', 'x-amz-request-id: ABC123'),
    'busy-date': once(429, 'Retry-After: Fri, 31 Dec 2286 23:59:59 GMT'),
    'error': once(500, 'Retry-After: -5'),
    'timeout': once(408),
    'denied': lambda request: head(403),
    'gone': lambda request: head(404),
    'teapot': lambda request: head(418),
    'expired': lambda request: good(request) if request.headers.get('authorization') == 'Bearer new'
    else head(400, length=70) + b'<Error><Code>ExpiredToken</Code></Error>'.ljust(70),
    'refused': lambda request: good(request) if request.headers.get('authorization') == 'Bearer new'
    else head(401),
    'long-error': lambda request: head(400, length=SIZE) + CONTENT,
    'loop': redirect('/loop/f'),
    'moved': redirect('/good/f'),
    'file': redirect('file:///etc/passwd'),
    'changed': lambda request: good(request, f'ETag: "{request.before}"'),
    'matched': lambda request: good(request, 'ETag: "a"') if request.before == 0
    else head(412) if request.headers.get('if-match') == '"a"' else good(request),
    'weak': lambda request: good(request, 'ETag: W/"a"'),
}


class Server:
    """Serves on a port of this machine, with TLS if there is a context; keeps all requests."""

    def __init__(self, context=None):
        self.context = context
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'http{"s" * bool(context)}://127.0.0.1:{self.socket.getsockname()[1]}'
        self.requests = []
        self.misdeeds = dict(MISDEEDS)
        self.hasty = set()  # misdeeds that happen before a body is read
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.enter_context(connection)
            if self.context is not None:
                connection = stack.enter_context(self.context.wrap_socket(connection, True))
            text = b''
            while True:
                while b'\r\n\r\n' not in text:
                    more = connection.recv(65536)
                    if not more:
                        return
                    text += more
                one, text = text.split(b'\r\n\r\n', 1)
                request = Request(one, len(self.requests))
                self.requests.append(request)
                if request.misdeed not in self.hasty:
                    text = self.read_body(connection, request, text)
                if not self.answer(connection, request):
                    return

    def read_body(self, connection, request, text):
        """Reads the body, of which text is the beginning. Returns what follows it."""
        if 'expect' in request.headers:
            connection.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
        size = int(request.headers.get('content-length', 0))
        while len(text) < size:
            more = connection.recv(1 << 20)
            if not more:
                raise ConnectionError
            text += more
        request.body = text[:size]
        return text[size:]

    def answer(self, connection, request):
        """Answers a request. Returns whether the connection stays."""
        parts = self.misdeeds[request.misdeed](request)
        for part in [parts] if isinstance(parts, bytes) else parts:
            if part is RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                return False
            connection.sendall(part)
        return request.misdeed in ('good', 'rclone', 'chunked', 'busy', 'moved')

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)  # also ends accept()
        self.socket.close()
