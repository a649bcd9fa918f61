# SPDX-License-Identifier: MIT
"""What S3 computes to check the signature of a request (AWS Signature Version 4), so that tests know
whether a store would accept it, whichever libcurl has signed it."""

import hashlib
import hmac
import urllib.parse


def encode(text):
    return urllib.parse.quote(urllib.parse.unquote_to_bytes(text), safe='-_.~')


def compute(request, secret):
    """Returns the signature of a request (misdeeds.Request), and that which it should have."""
    _, given = request.headers['authorization'].split(' ', 1)
    said = dict(part.strip().split('=', 1) for part in given.split(','))
    path, _, query = request.path.partition('?')
    pairs = [[encode(part) for part in pair.partition('=')[::2]] for pair in query.split('&') if pair]
    names = said['SignedHeaders'].split(';')
    lines = [request.method, '/'.join(map(encode, path.split('/'))),
             '&'.join(map('='.join, sorted(pairs))),
             *(f'{name}:{" ".join(request.headers[name].split())}' for name in names), '',
             said['SignedHeaders'], request.headers['x-amz-content-sha256']]
    _, *scope = said['Credential'].split('/')
    digest = hashlib.sha256('\n'.join(lines).encode()).hexdigest()
    text = '\n'.join(['AWS4-HMAC-SHA256', request.headers['x-amz-date'], '/'.join(scope), digest])
    key = ('AWS4' + secret).encode()
    for part in (*scope, text):
        key = hmac.digest(key, part.encode(), 'sha256')
    return said['Signature'], key.hex()
