# SPDX-License-Identifier: MIT
"""Make the corpus of the fuzzers: small inputs from which an engine starts, also run as a test.

The inputs of a fuzzer are in FUZZER.tar: those made here, and those that found a bug, each named
after the bug. The same inputs always give the same tar.

    python3 tests/fuzz/make_corpus.py                    # make all again, and keep the others
    python3 tests/fuzz/make_corpus.py FUZZER FILE...     # add inputs that found a bug
    python3 tests/fuzz/make_corpus.py --remove FUZZER NAME...
"""

import argparse
import gzip
import io
import json
import pathlib
import random
import struct
import sys
import tarfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'reader'))

import tars  # noqa: E402

GOLDENS = {name: data for path in (HERE.parent / 'data' / 'zrecord').glob('*.tar')
           for name, data in tars.read(path).items()}
CORPUS = HERE / 'corpus'
LIMIT = 4096


def read(fuzzer):
    """Return the inputs of a fuzzer, by their names."""
    return tars.read(CORPUS / f'{fuzzer}.tar')


corpora = {}


def put(fuzzer, name, data):
    """Add one input, if it is small enough."""
    if len(data) <= LIMIT:
        corpora.setdefault(fuzzer, read(fuzzer))[name] = data


def meta():
    for name, data in GOLDENS.items():
        if name.endswith('/meta.json'):
            put('meta', name.partition('/')[0], json.dumps(json.loads(data)).encode())
    good = json.loads(GOLDENS['one-field/meta.json'])
    for name, change in {
            'newer': {'format': [2, 0]}, 'feature': {'features': {'must': ['x'], 'may': []}},
            'reals': {'a': [0.5, -1e-9, 1e300]},
            'texts': {'a': '\u00fc\u20ac\U0001f600"\\\b\f\n\r\t'},
            'deep': {'a': [[[[[[[[[[[[[[[]]]]]]]]]]]]]]]},
            'deeper': {'a': [[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]},
            'numbers': {'length': 2 ** 63 - 1, 'b': -2 ** 63}}.items():
        put('meta', name, json.dumps({**good, **change}).encode())
    joined = json.loads(GOLDENS['joined/meta.json'])
    for name, parts in {
            'part-outside': [{'path': '../x', 'chunks': [[0, 0, 1]]}],
            'part-last': [{'path': 'a/b', 'chunks': [[0, 0, 2 ** 32 - 1]]}],
            'part-beyond': [{'path': 'a', 'chunks': [[1, 0, 2 ** 32 - 1]]}],
            'part-twice': [{'path': 'a', 'chunks': [[5, 0, 2], [6, 2, 1]]}],
            'part-order': [{'path': 'b', 'chunks': [[0, 0, 1]]},
                           {'path': 'a', 'chunks': [[1, 0, 1]]}]}.items():
        put('meta', name, json.dumps({**joined, 'parts': parts}).encode())
    text = json.dumps(good)
    for name, change in {
            'twice': text[:-1] + ', "length": 0}', 'bom': '\ufeff' + text, 'after': text + '{}',
            'nul': text.replace('uuid', 'u\\u0000id'), 'half': text.replace('uuid', '\\ud800'),
            'large': text.replace(': 0', ': 9223372036854775808', 1), 'cut': text[:200],
            'space': ' \t\r\n' + text + '\n'}.items():
        put('meta', name, change.encode())


def frame(updates=(), chunks=(), length=0, rows=0, flags=2):
    """Return a frame without its CRC, which the fuzzer fills in."""
    size = 64 + 16 * len(chunks) + 40 * len(updates) + 8
    head = struct.pack('<4sIQQQIIIIQII', b'LXLF', size, 0, length, rows, len(chunks), len(updates), 0,
                       flags, 0, 0, 4)
    return head + b''.join(struct.pack('<IIQ', *chunk) for chunk in chunks) + \
        b''.join(struct.pack('<IIQ24s', field, 0, index, words) for field, index, words in updates) + \
        bytes(8)


def inline(value):
    """Return an entry and its check, with a wrong CRC."""
    return struct.pack('<II8sII', 0xffffffff, len(value), value, len(value), 0)


def log():
    for name, data in GOLDENS.items():
        if '/LOG' in name:
            for options in (1, 15):
                put('log', f'{name.replace("/", "-")}-{options}', bytes([options]) + data[:1500])
    base = frame(flags=3)
    append = [(field, 0, inline(b'12345678')) for field in range(4)]
    for name, frames in {
            'empty': base, 'rows': base + frame(rows=64, length=64),
            'append': base + frame(append, length=1),
            'append-not-synced': base + frame(append, length=1, flags=0),
            'chunks': base + frame((), [(0, 1, 4096), (2, 9, 10)], rows=3, length=3),
            'shrink': base + frame(rows=9, length=9) + frame(rows=9, length=2),
            'fall': base + frame(rows=9, length=9) + frame(rows=3, length=2),
            'unknown-field': base + frame([(9, 0, bytes(24))], length=1),
            'many': base + b''.join(frame([(k % 4, k, inline(b'x' * (k % 9)))], length=k + 1)
                                    for k in range(20)),
            'void': base + frame(append, length=1) + frame(rows=1, length=1),
            'torn': base + frame(append, length=1)[:70], 'nothing': b''}.items():
        for options in (9, 79):
            put('log', f'{name}-{options}', bytes([options]) + frames)


def table():
    generator = random.Random(5)
    streams = [zlib.compress(b'again ' * count, 9)[2:-4] for count in (3, 40, 1000)]
    for number in range(24):
        rows = generator.choice((1, 2, 5))
        chunk = b''.join(streams) + generator.randbytes(120)
        words = b''
        for field in range(4):
            for _ in range(rows):
                at, size = (0, len(streams[0])) if field == 2 else (generator.randrange(100), 12)
                logical = generator.choice((18, 12, 8, 240, 2 ** 31))
                words += generator.choice((
                    bytes(24), inline(b'12345678'), inline(b''), inline(b'123'),
                    struct.pack('<IIQII', 0, size, at, logical, 0),
                    struct.pack('<IIQII', 0, 12, 4 * generator.randrange(20), 12, 0),
                    struct.pack('<IIQII', generator.randrange(3), size, 2 ** 64 - 8, size, 0),
                    generator.randbytes(24)))
        options = number % 8 | (8 if number % 3 else 0) | (16 if number % 5 < 2 else 0)
        options |= number // 2 % 4 << 5
        put('table', f'rows-{number}', bytes([options, rows]) + words + chunk)
    for name, at in {'at-the-end': 8180, 'beyond': 8181, 'far-beyond': 2 ** 32 - 12}.items():
        entry = struct.pack('<IIQII', 0, 12, at, 12, 0)
        for options in (8, 10, 9, 11):
            put('table', f'{name}-{options}',
                bytes([options, 1]) + bytes(72) + entry + b'chunk')
            image = struct.pack('<IIQII', 0, 12, at // 4 * 4 + at % 4 * 4, 12, 0)
            put('table', f'image-{name}-{options}',
                bytes([options, 1]) + image + bytes(72) + b'chunk')
    put('table', 'no-rows', bytes([8, 0]) + b'chunk')


def inflate():
    values = {'nothing': b'x', 'short': b'go, go, go, go!', 'run': b'a' * 5000,
              'text': b'one two three four five six seven ' * 30,
              'noise': random.Random(1).randbytes(700), 'mixed': bytes(range(256)) * 4}
    for name, value in values.items():
        for level in (0, 1, 9):
            stream = zlib.compress(value, level)[2:-4]
            for what, data, size in (('', stream, len(value)), ('-cut', stream[:-1], len(value)),
                                     ('-more', stream + b'x', len(value)),
                                     ('-long', stream, len(value) + 1),
                                     ('-short', stream, len(value) - 1)):
                if what == '' or level == 9:
                    put('inflate', f'{name}-{level}{what}', size.to_bytes(3, 'little') + data)
    put('inflate', 'bomb', (258 * 1000).to_bytes(3, 'little') +
        zlib.compress(b'\0' * 258000, 9)[2:-4])
    put('inflate', 'stored', b'\x05\0\0\x01\x05\0\xfa\xffstore')
    put('inflate', 'no-final-block', b'\x05\0\0\x00\x05\0\xfa\xffstore')


def maintenance():
    """Maintain datasets of the corpora of table and log."""
    for fuzzer, names in {'table': ('rows-1', 'rows-4', 'rows-7', 'rows-13', 'no-rows'),
                          'log': ('append-9', 'rows-9', 'chunks-9', 'many-9', 'shrink-9', 'torn-9',
                                  'nothing-9', 'commits-LOG-1')}.items():
        for name in names:
            for what in range(8):
                put('maintenance', f'{name}-{what}',
                    bytes([what, fuzzer == 'log']) + corpora[fuzzer][name])


def order():
    """Write pieces over the files of tables: (place, bytes), places from 512 on are numbers."""
    pieces = {
        'as-it-is': (), 'magic': ((0, b'LXTABEL'),), 'version': ((8, b'\2'),),
        'crc': ((12, b'none'),), 'width': ((16, b'\x08'),), 'what': ((40, b'{"kind":"other"'),),
        'what-size': ((20, b'\xff\xff\0\0'),), 'count': ((24, b'\xff' * 8),),
        'count-one-more': ((24, b'\x3d'),), 'bound': ((32, b'\xff' * 7),),
        'zeros': ((512, bytes(240)),), 'ones': ((512, b'\xff' * 240),),
        'high': ((512, b'\x80' * 8), (560, b'\x7f' * 8)), 'end': ((760, b'\1' * 200),),
        'one-number': ((540, b'\x3c\0\0\0'),), 'pad': ((511, b'\0\0'),)}
    for number, (name, list_) in enumerate(pieces.items()):
        written = b''.join(struct.pack('<HB', at, len(data)) + data for at, data in list_)
        for kind in {number % 11, (number * 5 + 3) % 11}:
            put('order', f'{name}-{kind}', bytes([kind, 3]) + written)
        put('order', f'{name}-not-repaired', bytes([number % 11, 0]) + written)
    for kind in range(11):
        put('order', f'whole-{kind}', bytes([kind, 0]))
    for size in (0, 39, 41, 4095, 4097, 4340, 20000):
        put('order', f'cut-{size}', bytes([9, 4]) + struct.pack('<H', size))


def archive(form):
    """Return a tar archive of two records."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode='w', format=form) as made:
        for name, data in ('a.cls', b'1'), ('a.txt', b'text'), ('b/' * 60 + 'b.json', b'[1, 2]'):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return file.getvalue()[:LIMIT - 2]


def database():
    """Return an LMDB file: a branch with one leaf, whose second value has a page of its own."""
    def page(number, kind, nodes):
        lower, places, data = 16 + 2 * len(nodes), b'', b''
        for node in nodes:
            data = node + data
            places += struct.pack('<H', 512 - len(data))
        return (struct.pack('<QHHHH', number, 0, kind, lower, 512 - len(data)) +
                places).ljust(512 - len(data), b'\0') + data

    made = b''
    for number in 0, 1:
        head = struct.pack('<QHHHHIIQQ', number, 0, 8, 0, 0, 0xbeefc0de, 1, 0, 0)
        roots = struct.pack('<IHH5Q', 512, 0, 0, 0, 0, 0, 0, 2**64 - 1)
        roots += struct.pack('<IHH5Q', 0, 0, 2, 0, 0, 0, 2, 2)
        made += (head + roots + struct.pack('<2Q', 4, number)).ljust(512, b'\0')
    made += page(2, 1, [struct.pack('<4H', 3, 0, 0, 0)])
    made += page(3, 2, [struct.pack('<4H', 2, 0, 0, 2) + b'k1v1',
                        struct.pack('<4H', 300, 0, 1, 2) + b'k2' + struct.pack('<Q', 4)])
    return made + (struct.pack('<QHHI', 4, 0, 4, 1) + b'v' * 300).ljust(512, b'\0')


def imports():
    """Inputs of the formats that `loaderx import` reads."""
    csv, jsonl, lines, tar, tfrecord, lmdb, state = range(7)
    examples = b''.join(
        struct.pack('<QI', len(payload), 0) + payload + bytes(4)    # the fuzzer sets the CRCs
        for payload in [b'\n\x11\n\x0f\n\x05label\x12\x06\x1a\x04\n\x02\xac\x02',
                        b'\n\x12\n\x10\n\x01a\x12\x0b\n\t\n\x01x\n\x04text',
                        b'\n\x14\n\x12\n\x01a\x12\r\x12\x0b\n\x04\0\0\x80?\r\0\0\0\0', b'\x12\0'])
    for options in 0, 1, 3, 8, 15:
        for name, kind, data in [
                ('words', csv, b'a,b,"c ""d"""\r\n1,2.5,x\r\n\r\n"3","x\ny",""\n4;5\n'),
                ('bad-words', csv, b'a,b\n1,2,3\nx"y,1\n"x"y,1\n\xff,1\n1,"'),
                ('objects', jsonl, b'{"a": [1, 2.5], "b": {"c": null}, "text": "\\u00e9\\n"}\n'
                                   b'{"a": [1e5, -0], "text": "\xc3\xa9", "d": true}\n'),
                ('bad-objects', jsonl, b'{"a": [1, 2}\n{"a": 1, "a": 2}\n[]\n{"\\ud800": 1}\n'
                                       b'{"a": [[1],[2]]}\n{"a": 1e999}\n' + b'[' * 300),
                ('lines', lines, b'one\ntwo\r\n\n\xc3\xa9\n\xff\nlast'),
                ('gzip', lines, gzip.compress(b'one\ntwo\n' * 50, mtime=0)),
                ('long-line', lines, b'x' * 3000 + b'\nend'),
                ('ustar', tar, archive(tarfile.USTAR_FORMAT)),
                ('pax', tar, archive(tarfile.PAX_FORMAT)),
                ('gnu', tar, archive(tarfile.GNU_FORMAT)),
                ('examples', tfrecord, examples),
                ('database', lmdb, database()),
                ('state', state, b'{"version": 1, "first": 5, "digest": 7, '
                                 b'"fields": [["a", "float32[3]"], ["b", "str"]]}\n5 0\n17 2\n20')]:
            put('import', f'{name}-{options}', bytes([kind, options]) + data)


def tokens():
    numbers = b''.join(struct.pack('<H', k * 7) for k in range(60))
    put('tokens', 'bare-uint16', bytes([0, 7]) + numbers)
    put('tokens', 'bare-uint64', bytes([0, 9]) + numbers + b'\xff' * 8)
    put('tokens', 'bare-odd', bytes([0, 8]) + numbers[:-3])
    put('tokens', 'bare-of-nothing', bytes([0, 0]) + numbers)
    for name, descr, shape in (('uint16', '<u2', '(60,)'), ('int32', '<i4', '(30,)'),
                               ('too-long', '<u2', '(61,)'), ('two-axes', '<u2', '(6, 10)'),
                               ('floats', '<f4', '(30,)'), ('big-endian', '>u2', '(60,)')):
        head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
        array = b'\x93NUMPY\1\0' + struct.pack('<H', 118) + head.encode() + b'\n' + numbers
        put('tokens', 'npy-' + name, bytes([1, 15 | 32]) + array)
    lengths = (20, 0, 15, 25)
    starts = [sum(lengths[:k]) * 2 for k in range(4)]
    index = b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, 8, 4, 5) + struct.pack('<4i', *lengths) + \
        struct.pack('<4q', *starts) + struct.pack('<5q', *range(5))
    for name, change in {
            'good': (), 'float': ((17, b'\7'),), 'code-0': ((17, b'\0'),), 'version': ((9, b'\2'),),
            'sequences': ((18, b'\xff' * 8),), 'negative-length': ((38, b'\xff' * 4),),
            'negative-place': ((58, b'\xff' * 8),), 'far': ((66, b'\0\0\0\0\0\0\0\x40'),),
            'odd-place': ((58, b'\x29'),), 'last': ((46, b'\x1a'),)}.items():
        changed = bytearray(index)
        for at, data in change:
            changed[at:at + len(data)] = data
        changed = bytes(changed) + bytes(-len(changed) % 4)
        for options in (15 | 96, 15 | 16):
            whole = bytes(changed if options & 16 == 0 else changed[:-2])
            # The index has 34 bytes and a multiple of 4, of which the fuzzer counts the latter.
            size = len(whole) // 4
            put('tokens', f'megatron-{name}-{options}',
                bytes([2, options, size]) + whole[:4 * size + (2 if options & 16 else 0)] + numbers)
    ends = struct.pack('<4Q', 20, 20, 35, 60)
    for name, data in {'good': ends, 'falls': struct.pack('<3Q', 30, 20, 60), 'none': b'',
                       'other': struct.pack('<2Q', 20, 61), 'cut': ends[:-4],
                       'far': struct.pack('<3Q', 20, 2 ** 64 - 1, 60)}.items():
        put('tokens', f'ds-{name}', bytes([3, 7 | 96, len(data) // 4]) + data + numbers)
        put('tokens', f'ds-{name}-repaired', bytes([3, 7 | 48, len(data) // 4]) + data + numbers)
    for name, text in {'two': 'name|2\n60\n120\n', 'four': 'a|b|4\n30\n', 'three': 'name|3\n',
                       'none': 'name\n60\n', 'empty': ''}.items():
        data = text.encode()
        data += b' ' * (-len(data) % 4)
        put('tokens', 'metadata-' + name, bytes([4, 15, len(data) // 4]) + data + numbers)


def recordio():
    magic = struct.pack('<I', 0xced7230a)

    def part(kind, data, length=None):
        length = len(data) if length is None else length
        return magic + struct.pack('<I', kind << 29 | length) + data + bytes(-len(data) % 4)

    texts = [b'abc', b'', b'x' * 200, bytes(8)]
    whole = b''.join(part(0, text) for text in texts)
    parts = part(1, b'AAAA') + part(2, b'') + part(2, b'bbbb') + part(3, b'BB')
    for name, data in {
            'whole': whole, 'parts': parts + whole, 'nothing': b'', 'cut': whole[:-5],
            'cut-head': whole + magic, 'noise': b'noise ' * 4 + whole, 'odd': b'abc' + whole,
            'first-only': part(1, b'AAAA') + whole, 'last-first': part(3, b'AAAA') + whole,
            'kind': part(5, b'AAAA') + whole, 'long': part(0, b'abcd', 2 ** 29 - 1) + whole,
            'short': part(0, b'x' * 40, 8) + whole,
            'odd-parts': part(1, b'AAA') + part(3, b'B') + whole}.items():
        for options in (0, 1, 2):
            put('recordio', f'{name}-{options}', bytes([options]) + data)
    for name, text in {'index': '0\t0\nkey b\t12\r\n-1\t20', 'twice': 'a\t0\na\t4\n',
                       'spaces': 'a 4\n', 'far': 'a\t18446744073709551612\n',
                       'too-far': 'a\t18446744073709551616\n', 'odd': 'a\t3\n'}.items():
        put('recordio', f'index-{name}', b'\4' + text.encode())


def http():
    for name, text in {
            'range': '206 x\r\nContent-Range: bytes 0-9/100\r\nETag: "a"\r\n\r\n',
            'total': '416 x\r\nContent-Range: bytes */100\r\n', 'hints': '103 x\r\nLink: a\r\n\r\n',
            'open': '206 x\ncontent-range: bytes 5-5/*\n',
            'encoded': '200 x\nContent-Encoding: gzip',
            'large': '206 x\nContent-Range: bytes 9223372036854775806-9223372036854775807/*\n',
            'id': '503 x\nx-amz-request-id: 1\nx-amz-bucket-region: a\n'}.items():
        put('http', f'header-{name}', b'\0HTTP/1.1 ' + text.encode())
    for name, text in {'plain': '[a]\nk = v\n', 'comments': '# x\n[ a ] # y\r\nk=v\n  k = w\n',
                       'two': '[b]\nk = v\n[a]\nk = 1\nk = 2', 'odd': '[a\n[]\n=\n[a]]\nk'}.items():
        put('http', f'profile-{name}', b'\1' + text.encode())
    keys = {'AccessKeyId': 'k', 'SecretAccessKey': 's'}
    for name, value in {'keys': keys, 'nothing': {},
                        'token': {**keys, 'Token': 't', 'Expiration': '2026-11-26T23:39:33Z'},
                        'session': {**keys, 'SessionToken': '\u0000', 'Expiration': ''}}.items():
        put('http', f'credentials-{name}', b'\2' + json.dumps(value).encode())
    file = '<Contents><Key>p/{}</Key><Size>9</Size><ETag>&quot;e&quot;</ETag></Contents>'
    more = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>'
    for name, text in {
            'files': '<?xml version="1.0"?>\n<ListBucketResult xmlns="x">' + file.format('a') +
                     file.format('../b') + more + '</ListBucketResult>',
            'encoded': '<ListBucketResult><EncodingType>url</EncodingType>' +
                       file.format('a+%2F%2e%2e%2fb') + '</ListBucketResult>',
            'uploads': '<ListMultipartUploadsResult><Upload><Key>p/a</Key><UploadId>1</UploadId>'
                       '<Initiated>2026-11-26T23:39:33Z</Initiated></Upload>'
                       '<NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>',
            'value': '<a><!-- c --><b x=">">&#x41;&amp;</b><c/></a>',
            'doctype': '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}.items():
        put('http', f'listing-{name}', b'\3' + text.encode())


def images():
    """Make small images of many kinds, if Pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        print('make_corpus: no Pillow: the images are kept')
        return
    generator = random.Random(5)
    picture = Image.frombytes('RGBA', (24, 18), generator.randbytes(24 * 18 * 4)).resize((40, 30))
    exif = Image.Exif()
    exif[0x0112] = 6

    def add(name, mode, form, size=(40, 30), **options):
        file = io.BytesIO()
        picture.convert('RGB').convert(mode).resize(size).save(file, form, **options)
        put_all(name, file.getvalue(), (0, 1, 4) if form == 'JPEG' else (0, 16))

    def put_all(name, data, every):
        for flags in every:
            put('image', f'{name}-{flags}', bytes([flags, 60, 120, 90, 100]) + data)

    for number, sampling in enumerate(('444', '422', '420')):
        add(f'jpeg-{sampling}', 'RGB', 'JPEG', quality=50, subsampling=number)
        add(f'jpeg-{sampling}-progressive', 'RGB', 'JPEG', quality=50, subsampling=number,
            progressive=True)
    add('jpeg-exif', 'RGB', 'JPEG', (17, 9), quality=50, exif=exif)
    add('jpeg-restart', 'RGB', 'JPEG', quality=50, restart_marker_blocks=2)
    add('jpeg-grey', 'L', 'JPEG', quality=50)
    add('jpeg-cmyk', 'CMYK', 'JPEG', (20, 20), quality=50)
    for mode in ('1', 'L', 'LA', 'P', 'RGB', 'RGBA', 'I;16'):
        add(f'png-{mode.replace(";", "-")}', mode, 'PNG', (20, 15))
    # Pillow writes no interlaced images.
    passes = ((1, 1), (1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4))
    rows = b''.join(bytes(1) + generator.randbytes(w) for w, h in passes for _ in range(h))
    interlaced = b'\x89PNG\r\n\x1a\n'
    for kind, data in ((b'IHDR', struct.pack('>IIBBBBB', 8, 8, 8, 0, 0, 0, 1)),
                       (b'IDAT', zlib.compress(rows)), (b'IEND', b'')):
        interlaced += struct.pack('>I', len(data)) + kind + data
        interlaced += struct.pack('>I', zlib.crc32(kind + data))
    put_all('png-interlaced', interlaced, (0, 16))
    for grey in (0, 4):
        for number, steps in enumerate(((0x70, 0x21, 0x12, 0x5b), (0x3e, 0xff, 0x2c, 0x5b),
                                        (0x55, 0x74, 0x1a, 0x5f), (0x27, 0x27, 0x50, 0x27))):
            put('image', f'steps-{number}-{grey}', bytes([32 | grey, *steps]) + interlaced)
            put('image', f'mask-steps-{number}', bytes([96, *steps]) + interlaced)
    add('png-exif', 'RGB', 'PNG', (20, 15), exif=exif)
    for bits in (1, 2, 4):
        add(f'png-palette-{bits}', 'P', 'PNG', (20, 15), bits=bits)
    for name in ('png-1', 'png-L', 'png-RGB', 'png-palette-2', 'png-interlaced', 'webp-lossless'):
        put('image', f'mask-{name}', bytes([64]) + corpora['image'][f'{name}-0'][1:])
    add('webp', 'RGB', 'WEBP', quality=40)
    add('webp-lossless', 'RGB', 'WEBP', (20, 15), lossless=True)
    add('webp-alpha', 'RGBA', 'WEBP', (20, 15), quality=40)
    add('webp-exif', 'RGB', 'WEBP', (20, 15), quality=40, exif=exif)


def restore():
    states = HERE.parent / 'data' / 'states'
    for kind in 'loaders', 'samplers':
        for name, kept in json.loads((states / f'{kind}.json').read_bytes()).items():
            text = json.dumps(kept['state']).encode()
            if len(text) < 700:
                put('restore', f'{kind}-{name}', bytes([0, 0]) + text)
    for kind in range(6):
        for options in (1, 3, 5, 7):
            what = 'loader' if options & 4 else 'sampler'
            for name, position in (('begin', 0), ('middle', 17), ('later', 40 * 1000 + 1),
                                   ('last', '18446744073709551614'), ('end', 2 ** 63 - 1),
                                   ('signed', -1), ('text', '12'), ('none', None)):
                text = json.dumps({'state': what, 'version': 1, 'position': position})
                if options & 2 or (kind == 0 and name == 'begin'):
                    put('restore', f'{what}-{kind}-{name}-{options}',
                        bytes([kind, options]) + text.encode())
    text = json.dumps({'position': 1, 'crc32c': '00000000'})
    for options in (11, 15):
        put('restore', f'sum-{options}', bytes([0, options]) + text.encode())
    text = json.dumps({'state': 'sampler', 'version': 2, 'position': 1})
    put('restore', 'version', bytes([0, 1]) + text.encode())
    put('restore', 'not-json', bytes([0, 0]) + b'{"state": "sampler", ')
    put('restore', 'array', bytes([0, 1]) + b'[1, 2]')
    put('restore', 'deep', bytes([0, 3]) + b'{"position": 1, "a": ' + b'[' * 20 + b']' * 20 + b'}')


def programs(fuzzer, count, size, seed):
    """Write bytes that are valid in any combination."""
    generator = random.Random(seed)
    for number in range(count):
        put(fuzzer, f'program-{number}', generator.randbytes(generator.randrange(size // 4, size)))


def make():
    """Make the inputs of this script."""
    meta()
    log()
    table()
    inflate()
    maintenance()
    order()
    imports()
    tokens()
    recordio()
    http()
    images()
    restore()
    programs('python', 40, 200, 3)
    programs('state', 40, 600, 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--remove', action='store_true', help='remove inputs by their names')
    parser.add_argument('fuzzer', nargs='?')
    parser.add_argument('files', nargs='*')
    wanted = parser.parse_args()
    if wanted.fuzzer is None:
        make()
    else:
        inputs = corpora.setdefault(wanted.fuzzer, read(wanted.fuzzer))
    for name in wanted.files:
        if wanted.remove:
            del inputs[name]
        else:
            inputs[pathlib.Path(name).name] = pathlib.Path(name).read_bytes()
    for fuzzer, inputs in corpora.items():
        tars.write(CORPUS / f'{fuzzer}.tar', inputs)


if __name__ == '__main__':
    main()
