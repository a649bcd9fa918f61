# SPDX-License-Identifier: MIT
"""A web server for files, fast enough not to be what a measurement measures, and its log."""

from __future__ import annotations

import collections
import pathlib
import shutil
import time
from typing import NamedTuple

from network import PATIENCE, Space, Unavailable

PORT = 8080

# One process without a master, which leaves nothing when it is killed.
ONE_PROCESS = 'user root root; daemon off; master_process off;'
LOG_FORMAT = r"log_format range '$status\t$body_bytes_sent\t$http_range\t$request_method\t$uri';"
CONFIGURATION = '''
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    {log}
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 600;
    keepalive_requests 1000000000;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {http}
    server {{
        listen {address}:{port} backlog=4096{tls};
        {server}
    }}
}}
'''
FILES = '''root {root};
        access_log {folder}/access.log range;'''
LIMIT = '''limit_req zone=all burst={burst} nodelay;
        limit_req_status 503;'''
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / 'doc/examples/nginx-tier.conf'


def configure_node(folder: pathlib.Path, origin: str, address: str, port: int,
                   authorities: pathlib.Path | None = None) -> str:
    """Return the configuration of a node: that of the example, with what its users change."""
    scheme, _, server = origin.partition('://')
    text, bundle = EXAMPLE.read_text(), '/etc/ssl/certs/ca-certificates.crt'
    for old, new in (
            ('bucket.s3.eu-central-1.amazonaws.com:443', server),
            ('listen 8080 ', f'listen {address}:{port} '),
            ('proxy_pass https://', f'proxy_pass {scheme}://'),
            (bundle, str(authorities or bundle)),
            ('log_format slices', f'{LOG_FORMAT}\n    log_format slices'),
            ('access_log off;', f'access_log {folder}/access.log range;'),
            ('error.log crit;', 'error.log;')):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class Request(NamedTuple):
    """A line of the log. The range is what follows "bytes=", or ''."""

    status: int
    bytes: int
    range: str
    method: str
    path: str


class Traffic(NamedTuple):
    """What a log says of the requests for one file, or for all of them."""

    requests: int
    bytes: int    # of bodies, without headers
    repeated: int    # answers with a range that was answered before
    statuses: dict[int, int]    # how often each


class Nginx:
    """nginx, running in a namespace until close().

    Parameters
    ----------
    space
        Where it listens, at its address.
    folder
        An existing folder for its log and, in a tier, for what it keeps.
    root
        The folder that it serves. Not in a tier.
    origin
        The base URL of another server, of which this one keeps slices: a node of a tier.
    certificate
        A folder with the files cert and key, for a server with TLS. Not in a tier.
    authorities
        The file with the certificates that the node trusts.
    limit
        The number of requests a second above which it answers 503.
    """

    def __init__(self, space: Space, folder: pathlib.Path, root: pathlib.Path | None = None, *,
                 origin: str = '', certificate: pathlib.Path | None = None,
                 authorities: pathlib.Path | None = None, limit: int = 0,
                 port: int = PORT) -> None:
        program = shutil.which('nginx') or shutil.which('nginx', path='/usr/sbin')
        if program is None:
            raise Unavailable('nginx is not installed')
        self.folder = folder
        self.log = folder / 'access.log'
        self.url = f'http{"s" * bool(certificate)}://{space.address}:{port}'
        http, server, tls = '', FILES, ''
        if certificate:
            tls = f' ssl; ssl_certificate {certificate}/cert; ssl_certificate_key {certificate}/key'
        if limit:
            http = f'limit_req_zone $server_port zone=all:1m rate={limit}r/s;'
            server += '\n        ' + LIMIT.format(burst=max(1, limit // 10))
        text = configure_node(folder, origin, space.address, port, authorities) if origin else \
            CONFIGURATION.format(folder=folder, address=space.address, port=port, http=http, tls=tls,
                                 log=LOG_FORMAT, server=server.format(folder=folder, root=root))
        (folder / 'nginx.conf').write_text(text)
        self.process = space.start([program, '-p', str(folder), '-e', str(folder / 'error.log'),
                                    '-c', str(folder / 'nginx.conf'), '-g', ONE_PROCESS])
        end = time.monotonic() + PATIENCE
        while not (folder / 'nginx.pid').exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((folder / 'error.log').read_text())
            time.sleep(0.01)

    def close(self) -> None:
        """Kill it, as a failure would."""
        self.process.kill()
        self.process.wait()
        (self.folder / 'nginx.pid').unlink()

    def requests(self) -> list[Request]:
        """Return the lines of the log, oldest first."""
        if not self.log.exists():
            return []
        fields = (line.split('\t') for line in self.log.read_text().splitlines())
        return [Request(int(status), int(size), '' if wanted == '-' else
                        wanted.removeprefix('bytes='), method, path)
                for status, size, wanted, method, path in fields]

    def forget(self) -> None:
        """Empty the log."""
        open(self.log, 'w').close()


def summarize(requests: list[Request]) -> Traffic:
    """Return the sums of these requests."""
    answered = collections.Counter((one.path, one.range) for one in requests
                                   if one.status in (200, 206) and one.method == 'GET')
    return Traffic(len(requests), sum(one.bytes for one in requests),
                   sum(answered.values()) - len(answered),
                   dict(collections.Counter(one.status for one in requests)))


def summarize_files(requests: list[Request]) -> dict[str, Traffic]:
    """Return the sums for each path."""
    files = collections.defaultdict(list)
    for one in requests:
        files[one.path].append(one)
    return {path: summarize(those) for path, those in files.items()}
