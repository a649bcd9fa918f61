# SPDX-License-Identifier: MIT
"""Files of tokens, made from texts."""

import bz2
import gzip
import json
import lzma
import os
import sys
import resource

import numpy as np
import pytest

tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')

import loaderx as lx
from loaderx.tokenize import write_tokens
from tokenizing import END, ids_of, make_texts, read_ds, read_megatron, train, wide, with_template

TEXTS = make_texts(300, 5)


@pytest.fixture(scope='module')
def tokenizer():
    return train()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / 'corpus.jsonl'
    path.write_text(''.join(json.dumps({'n': i, 'text': text}, ensure_ascii=i % 2) + '\n'
                            for i, text in enumerate(TEXTS)))
    return path


def left(folder, *known):
    """Return the new files in a directory."""
    return sorted(set(os.listdir(folder)) - {path.name for path in known})


@pytest.mark.parametrize('processes', [0, 1, 3])
def test_documents_match_the_tokenizer_in_order(tmp_path, tokenizer, corpus, processes,
                                                             monkeypatch):
    monkeypatch.setattr('loaderx.tokenize._inputs._BLOCK', 1000)
    expected = ids_of(tokenizer, TEXTS, [0])
    report = write_tokens(corpus, tmp_path / 'a.bin', tokenizer, eos=END, processes=processes)
    assert read_megatron(tmp_path / 'a') == expected
    assert report['documents'] == len(expected)
    assert report['tokens'] == sum(map(len, expected))
    assert report['empty'] == len(TEXTS) - len(expected) > 0
    assert (report['dtype'], report['eos'], report['format']) == ('uint16', 0, 'megatron')
    assert report['files'] == [str(tmp_path / 'a.bin'), str(tmp_path / 'a.idx')]
    assert left(tmp_path, corpus) == ['a.bin', 'a.idx']


@pytest.mark.parametrize('name', ['x.bin', 'x.idx', 'x.ds', 'x.npy', 'x.tokens'])
def test_each_format_is_read_back(tmp_path, tokenizer, corpus, name):
    expected = ids_of(tokenizer, TEXTS)
    write_tokens(corpus, tmp_path / name, tokenizer, processes=0,
                 format='flat' if name == 'x.tokens' else None)
    tokens = lx.Tokens(tmp_path / name, 'uint16' if name == 'x.tokens' else None)
    assert tokens[:].tolist() == [one for ids in expected for one in ids]
    if name in ('x.npy', 'x.tokens'):
        assert len(tokens.documents) == 1
    else:
        assert [one.tolist() for one in tokens.documents] == expected
    if name == 'x.ds':
        assert read_ds(tmp_path / name) == expected
        lines = (tmp_path / 'x.ds.metadata').read_text().split('\n')
        assert lines[0] == 'tokenizer|2' and int(lines[1]) == len(tokens)
    if name == 'x.npy':
        array = np.load(tmp_path / name)
        assert array.dtype == np.uint16 and array.tolist() == tokens[:].tolist()


@pytest.mark.parametrize('name, dtype', [('x.bin', 'int32'), ('x.ds', 'uint32'),
                                         ('x.npy', 'uint32')])
def test_large_vocabularies_take_four_bytes(tmp_path, name, dtype):
    (tmp_path / 'x.txt').write_text('70000')
    report = write_tokens(tmp_path / 'x.txt', tmp_path / name, wide(), processes=0)
    assert report['dtype'] == dtype and report['vocabulary'] == 70001
    tokens = lx.Tokens(tmp_path / name)
    assert tokens.dtype == dtype and tokens[:].tolist() == [70000]


def test_kinds_of_inputs(tmp_path, tokenizer):
    lines = ['one two', '', 'three  ', 'four']
    (tmp_path / 'a.txt').write_bytes('\r\n'.join(lines).encode())
    (tmp_path / 'b.txt.gz').write_bytes(gzip.compress('\n'.join(lines).encode() + b'\n'))
    (tmp_path / 'c.ndjson').write_text('\n{"text": "one", "body": "x"}\n \n{"text": "two"}')

    def documents(*names, **how):
        write_tokens([tmp_path / name for name in names], tmp_path / 'out.ds', tokenizer,
                     processes=0, replace=True, **how)
        return [tokenizer.decode(ids) for ids in read_ds(tmp_path / 'out.ds')]

    assert documents('a.txt') == ['\r\n'.join(lines)]
    assert documents('a.txt', lines=True) == ['one two', 'three  ', 'four']
    assert documents('b.txt.gz', lines=True) == ['one two', 'three  ', 'four']
    assert documents('a.txt', split_at='') == ['one two', 'three  \r\nfour']
    assert documents('b.txt.gz', split_at='three  ') == ['one two\n', 'four']
    assert documents('c.ndjson') == ['one', 'two']
    assert documents('c.ndjson', 'a.txt', 'c.ndjson') == ['one', 'two', '\r\n'.join(lines),
                                                          'one', 'two']
    with pytest.raises(lx.CorruptError, match="line 4, offset 32: key 'body' not found"):
        documents('c.ndjson', key='body')


def decode_all(tmp_path, tokenizer, *paths, **how):
    write_tokens(list(paths), tmp_path / 'out.ds', tokenizer, processes=0, replace=True, **how)
    return [tokenizer.decode(ids) for ids in read_ds(tmp_path / 'out.ds')]


LINES = b'{"id": 1, "text": "one"}\n\n {"text": "two"}\r\n{"text": "three"}'


@pytest.mark.parametrize('name', ['x.json', 'x.jsonl', 'x.txt', 'x', 'x.json.gz', 'x.JSON'])
def test_json_lines_are_known_by_their_form(tmp_path, tokenizer, name):
    """Megatron's corpora end with .json, and those of C4 with .json.gz."""
    (tmp_path / name).write_bytes(gzip.compress(LINES) if name.endswith('.gz') else LINES)
    assert decode_all(tmp_path, tokenizer, tmp_path / name) == ['one', 'two', 'three']
    (tmp_path / 'a.txt').write_text('a text')
    assert decode_all(tmp_path, tokenizer, tmp_path / 'a.txt', tmp_path / name) == [
        'a text', 'one', 'two', 'three']
    text = LINES.decode()
    assert decode_all(tmp_path, tokenizer, tmp_path / name, whole=True) == [text]
    assert decode_all(tmp_path, tokenizer, tmp_path / name, lines=True) == [
        line for line in text.splitlines() if line]
    with pytest.raises(ValueError, match='lines and whole are mutually exclusive'):
        decode_all(tmp_path, tokenizer, tmp_path / name, lines=True, whole=True)


@pytest.mark.parametrize('document', ['[{"text": "one"}, {"text": "two"}]', '{\n "text": "one"\n}',
                                      '\ufeff[\n]', '[', '{"text": "one"},\n{"text": "two"}',
                                      '["one"]\n["two"]', '{"text"'])
def test_documents_of_json_are_refused_unless_they_are_asked_for(tmp_path, tokenizer, document):
    (tmp_path / 'x.json').write_text(document)
    with pytest.raises(lx.CorruptError, match='x.json: this is one document of JSON, .*whole=True'):
        decode_all(tmp_path, tokenizer, tmp_path / 'x.json')
    assert left(tmp_path) == ['x.json']
    assert decode_all(tmp_path, tokenizer, tmp_path / 'x.json', whole=True) == [document]
    (tmp_path / 'x.json').rename(tmp_path / 'x.txt')
    assert decode_all(tmp_path, tokenizer, tmp_path / 'x.txt') == [document]


def test_texts_that_begin_as_json_are_texts(tmp_path, tokenizer):
    for name, text in [('a.txt', '{"text": "one"}'), ('b.txt', '{"text": "one"}\nand more'),
                       ('c.txt', '[1] a note'), ('d.json', 'no json'), ('e.txt', '{}')]:
        (tmp_path / name).write_text(text)
        assert decode_all(tmp_path, tokenizer, tmp_path / name) == [text]
    with pytest.raises(lx.CorruptError, match="key 'text' not found: the keys are 'body'"):
        (tmp_path / 'd.json').write_text('{"body": "one"}')
        decode_all(tmp_path, tokenizer, tmp_path / 'd.json')
    (tmp_path / 'd.json').write_text('')
    assert decode_all(tmp_path, tokenizer, tmp_path / 'd.json', tmp_path / 'e.txt') == ['{}']


def zstd(data):
    if sys.version_info >= (3, 14):
        from compression.zstd import compress
        return compress(data)
    pa = pytest.importorskip('pyarrow')
    return pa.Codec('zstd').compress(data, asbytes=True)


@pytest.mark.parametrize('name, compress', [
    ('zst', zstd), ('xz', lzma.compress), ('bz2', bz2.compress), ('gz', gzip.compress)])
def test_compressed_files_are_known_by_their_first_bytes(tmp_path, tokenizer, name, compress):
    packed = compress(LINES[:30]) + compress(LINES[30:])    # files are often joined
    for stored in f'x.json.{name}', f'x.{name}', 'x.json':
        (tmp_path / stored).write_bytes(packed)
        assert decode_all(tmp_path, tokenizer, tmp_path / stored) == ['one', 'two', 'three']
    whole = ' '.join(TEXTS)
    (tmp_path / 'x.txt').write_bytes(compress(whole.encode()))
    assert decode_all(tmp_path, tokenizer, tmp_path / 'x.txt') == [whole]
    packed = compress(whole.encode())
    damaged = [packed[:-20], packed[:200] + bytes(200) + packed[400:], packed[:30]]
    if name == 'zst':    # without a checksum
        del damaged[1]
    for data in damaged:
        (tmp_path / 'x.txt').write_bytes(data)
        with pytest.raises(lx.CorruptError, match='x.txt: cannot decompress'):
            decode_all(tmp_path, tokenizer, tmp_path / 'x.txt', errors='replace')


def test_zstd_without_a_reader_is_refused_with_a_command_that_works(tmp_path, tokenizer,
                                                                    monkeypatch):
    monkeypatch.setitem(sys.modules, 'compression.zstd', None)
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    (tmp_path / 'x.zst').write_bytes(b'\x28\xb5\x2f\xfd rest')
    for how in {}, {'errors': 'replace'}, {'key': 'text'}, {'lines': True}:
        with pytest.raises(ImportError, match=r'zstd -dc \S+/x.zst \| python -m loaderx.tokenize'):
            decode_all(tmp_path, tokenizer, tmp_path / 'x.zst', **how)


@pytest.mark.parametrize('head, kind', [
    (b'\x93NUMPY\x01\0', 'a NumPy array'), (b'PK\x03\x04', 'a ZIP archive'),
    (b'%PDF-1.7', 'a PDF file'), (bytes(257) + b'ustar', 'a tar archive'),
    (b'PAR1', 'a Parquet file'), (b'MMIDIDX\0\0', 'an index of tokens')])
def test_other_files_are_refused(tmp_path, tokenizer, head, kind):
    for name, data in ('x', head + bytes(300)), ('x.gz', gzip.compress(head + bytes(300))):
        (tmp_path / name).write_bytes(data)
        for how in {}, {'errors': 'replace'}, {'lines': True}, {'whole': True}, {'key': 'text'}:
            with pytest.raises(lx.CorruptError, match=f'this is {kind}'):
                decode_all(tmp_path, tokenizer, tmp_path / name, **how)
    assert left(tmp_path) == ['x', 'x.gz']


@pytest.mark.parametrize('name', ['x.parquet', 'x.arrow'])
def test_columns_of_parquet_and_arrow_files(tmp_path, tokenizer, name):
    pa = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    texts = [text or None for text in TEXTS]
    table = pa.table({'n': range(len(TEXTS)), 'text': texts, 'url': [b'u'] * len(TEXTS)})

    def write(table):
        if name == 'x.parquet':
            parquet.write_table(table, tmp_path / name, row_group_size=70)
            return
        with pa.OSFile(str(tmp_path / name), 'wb') as file, \
                pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=70)

    write(table)
    (tmp_path / 'x.jsonl').write_bytes(LINES)
    expected = [text for text in TEXTS if text]
    paths = tmp_path / name, tmp_path / 'x.jsonl'
    assert decode_all(tmp_path, tokenizer, *paths) == [*expected, 'one', 'two', 'three']
    assert decode_all(tmp_path, tokenizer, paths[0], field='url') == ['u'] * len(TEXTS)
    write(table.rename_columns(['n', 'body', 'url']))
    assert decode_all(tmp_path, tokenizer, paths[0], key='body') == expected
    for field in None, 'n', 'none':
        with pytest.raises(ValueError, match="one of the columns of text in .*: 'body', 'url'"):
            decode_all(tmp_path, tokenizer, paths[0], field=field)
    write(table.select(['n', 'url']))
    assert decode_all(tmp_path, tokenizer, paths[0]) == ['u'] * len(TEXTS)
    (tmp_path / 'x.txt').write_bytes((tmp_path / name).read_bytes())
    with pytest.raises(lx.CorruptError, match='let its name end with'):
        decode_all(tmp_path, tokenizer, tmp_path / 'x.txt')


def test_parquet_without_pyarrow(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    (tmp_path / 'x.parquet').write_bytes(b'PAR1' + bytes(100))
    with pytest.raises(ImportError, match='pyarrow is required to read .*x.parquet'):
        decode_all(tmp_path, tokenizer, tmp_path / 'x.parquet')


def test_a_field_of_a_dataset(tmp_path, tokenizer):
    fields = {'text': lx.Field(bytes, compress='flate'), 'other': lx.Field(str),
              'n': lx.Field('int64')}
    texts = [text.encode() for text in TEXTS]
    with lx.create(tmp_path / 'set', fields) as writer:
        writer.extend(text=texts, other=texts[::-1], n=np.arange(len(texts)))
        writer.append(text=None, other=b'x', n=7)
    expected = ids_of(tokenizer, TEXTS, [0])
    report = write_tokens(tmp_path / 'set', tmp_path / 'a.bin', tokenizer, field='text', eos=0)
    assert read_megatron(tmp_path / 'a') == expected
    assert report['empty'] == len(TEXTS) + 1 - len(expected)
    for field, message in [(None, "text fields 'text', 'other'"),
                           ('n', "'n' of .* must be a str or bytes field, not int64"),
                           ('none', "field 'none' not found")]:
        with pytest.raises(ValueError, match=message):
            write_tokens(tmp_path / 'set', tmp_path / 'b.bin', tokenizer, field=field)
    for how in {'key': 'text'}, {'lines': True}, {'split_at': ''}:
        with pytest.raises(ValueError, match='must not be given if all inputs are datasets'):
            write_tokens(tmp_path / 'set', tmp_path / 'b.bin', tokenizer, field='text', **how)


def test_special_tokens_truncation_and_padding(tmp_path, tokenizer):
    (tmp_path / 'x').write_text('bada doke ' * 50)
    templated = with_template(tokenizer, 17)
    templated.enable_truncation(4)
    templated.enable_padding(length=1000)
    whole = ids_of(tokenizer, ['bada doke ' * 50])[0]
    for special, expected in [(False, whole), (True, [17, *whole])]:
        write_tokens(tmp_path / 'x', tmp_path / 'x.npy', templated, special_tokens=special,
                     replace=True, processes=0)
        assert np.load(tmp_path / 'x.npy').tolist() == expected
    assert templated.truncation is not None    # the caller's tokenizer is unchanged


def test_a_post_processor_with_a_token_beyond_the_dtype(tmp_path, tokenizer):
    (tmp_path / 'x').write_text('bada')
    for processes in 0, 1:
        with pytest.raises(lx.LoaderxError, match='adds token 70000, which does not fit in uint16'):
            write_tokens(tmp_path / 'x', tmp_path / 'x.npy', with_template(tokenizer, 70000),
                         special_tokens=True, processes=processes)
    assert left(tmp_path) == ['x']


@pytest.mark.parametrize('processes', [0, 2])
def test_text_that_is_not_utf8(tmp_path, tokenizer, processes):
    (tmp_path / 'x.txt').write_bytes(b'bada\ndoke \xffmi\nno\n')
    with pytest.raises(lx.CorruptError, match=r'x.txt, line 2, offset 10: the text is not UTF-8 '
                                              r'\(byte 0xff') as caught:
        write_tokens(tmp_path / 'x.txt', tmp_path / 'x.ds', tokenizer, lines=True,
                     processes=processes)
    assert (caught.value.path, caught.value.offset) == (str(tmp_path / 'x.txt'), 10)
    assert left(tmp_path) == ['x.txt']
    write_tokens(tmp_path / 'x.txt', tmp_path / 'x.ds', tokenizer, lines=True, errors='replace',
                 processes=processes)
    assert tokenizer.decode(read_ds(tmp_path / 'x.ds')[1]) == 'doke \ufffdmi'


def test_a_record_that_is_not_utf8(tmp_path, tokenizer):
    with lx.create(tmp_path / 'set', {'text': lx.Field(bytes)}) as writer:
        writer.extend(text=[b'bada'] * 5 + [b'\xc3'])
    with pytest.raises(lx.CorruptError, match="field 'text', record 5, offset 0: .*end") as caught:
        write_tokens(tmp_path / 'set', tmp_path / 'x.ds', tokenizer, processes=0)
    assert (caught.value.field, caught.value.record) == ('text', 5)


@pytest.mark.parametrize('line, message', [
    (b'{"text": "a"', "line 2, offset .*: invalid JSON: Expecting ',' delimiter"),
    (b'["text"]', "line 2, .*: the line must be a JSON object with the key 'text'"),
    (b'{"body": "a", "n": 1}', "key 'text' not found: the keys are 'body', 'n'"),
    (b'{"text": 5}', "the value of key 'text' must be a string, not a number"),
    (b'{"text": null}', 'must be a string, not null'),
    (b'{"text": "\\ud83d"}', r'the text has a lone surrogate, U\+D83D'),
    (b'[' * 100000, 'line 2, .*: cannot parse JSON'),
    (b'{"text": ' + b'1' * 5000 + b'}', 'line 2, .*'),
    (b'{"text": "\xff"}', 'line 2, offset 24: the text is not UTF-8'),
])
def test_bad_lines_of_json(tmp_path, tokenizer, line, message):
    (tmp_path / 'x.jsonl').write_bytes(b'{"text": "a"}\n' + line + b'\n')
    with pytest.raises(lx.CorruptError, match=message) as caught:
        write_tokens(tmp_path / 'x.jsonl', tmp_path / 'x.ds', tokenizer, processes=0)
    assert caught.value.path == str(tmp_path / 'x.jsonl')
    assert left(tmp_path) == ['x.jsonl']


def test_replaces_lone_surrogates_on_request(tmp_path, tokenizer):
    (tmp_path / 'x.jsonl').write_text('{"text": "a\\ud83d b"}')
    write_tokens(tmp_path / 'x.jsonl', tmp_path / 'x.ds', tokenizer, errors='replace', processes=0)
    assert tokenizer.decode(read_ds(tmp_path / 'x.ds')[0]) == 'a\ufffd b'


def test_names_of_compressed_files_are_not_ignored(tmp_path, tokenizer):
    for suffix in '.gz', '.zst', '.xz', '.bz2':
        (tmp_path / f'x{suffix}').write_bytes(b'no archive')
        with pytest.raises(lx.CorruptError, match=f'x{suffix}: cannot decompress: .* a {suffix}'):
            write_tokens(tmp_path / f'x{suffix}', tmp_path / 'x.ds', tokenizer, processes=0)
        (tmp_path / f'x{suffix}').unlink()
    assert left(tmp_path) == []


def test_documents_that_are_too_long(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr('loaderx.tokenize._inputs.LONGEST', 1000)
    (tmp_path / 'x.txt').write_text('ba\n\n' + 'a\n' * 600)
    for how in {}, {'split_at': ''}:
        with pytest.raises(lx.CorruptError, match='the document is longer than .* 1000 bytes'):
            write_tokens(tmp_path / 'x.txt', tmp_path / 'x.ds', tokenizer, processes=0, **how)
    (tmp_path / 'x.txt').write_text('ba\n' + 'a' * 1001)
    with pytest.raises(lx.CorruptError, match='line 2, offset 3: the line is longer than .* 1000'):
        write_tokens(tmp_path / 'x.txt', tmp_path / 'x.ds', tokenizer, processes=0, lines=True)


def test_inputs_without_text(tmp_path, tokenizer):
    (tmp_path / 'x.txt').write_text('')
    with pytest.raises(lx.LoaderxError, match='no text: there is nothing to write'):
        write_tokens(tmp_path / 'x.txt', tmp_path / 'x.bin', tokenizer, eos=0)
    with pytest.raises(ValueError, match='inputs is empty'):
        write_tokens([], tmp_path / 'x.bin', tokenizer)
    assert left(tmp_path) == ['x.txt']


def test_does_not_overwrite_existing_files(tmp_path, tokenizer, corpus):
    for there in 'x.bin', 'x.idx':
        (tmp_path / there).write_text('mine')
        with pytest.raises(FileExistsError) as caught:
            write_tokens(corpus, tmp_path / 'x.bin', tokenizer)
        assert caught.value.filename == str(tmp_path / there)
        assert left(tmp_path, corpus) == [there]
        (tmp_path / there).unlink()
    (tmp_path / 'x.bin').write_text('mine')
    write_tokens(corpus, tmp_path / 'x.bin', tokenizer, replace=True, processes=0)
    assert read_megatron(tmp_path / 'x') == ids_of(tokenizer, TEXTS)
    with pytest.raises(IsADirectoryError):
        (tmp_path / 'y.bin').mkdir()
        write_tokens(corpus, tmp_path / 'y.bin', tokenizer, replace=True)


def test_does_not_overwrite_files_created_meanwhile(tmp_path, tokenizer, corpus):
    def meddle(done, total):
        assert total == corpus.stat().st_size >= done > 0
        (tmp_path / 'x.idx').write_text('mine')

    with pytest.raises(FileExistsError):
        write_tokens(corpus, tmp_path / 'x.bin', tokenizer, processes=0, progress=meddle)
    assert (tmp_path / 'x.idx').read_text() == 'mine'
    assert left(tmp_path, corpus) == ['x.idx']


def test_keeps_the_old_files_after_a_failure(tmp_path, tokenizer, corpus):
    write_tokens(corpus, tmp_path / 'x.ds', tokenizer, processes=0)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}

    def stop(done, total):
        raise KeyError('mine')

    for processes in 0, 1:
        with pytest.raises(KeyError, match='mine'):
            write_tokens(corpus, tmp_path / 'x.ds', tokenizer, processes=processes, progress=stop,
                         replace=True)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_full_disk(tmp_path, tokenizer, corpus):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))    # Python ignores the signal
    try:
        with pytest.raises(OSError) as caught:
            write_tokens(corpus, tmp_path / 'x.bin', tokenizer, processes=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename in (str(tmp_path / 'x.bin'), str(tmp_path / 'x.idx'))
    assert left(tmp_path, corpus) == []


def test_rejects_invalid_tokenizers(tmp_path, corpus, tokenizer):
    (tmp_path / 'no.json').write_text('{"version": "1.0"}')
    (tmp_path / 'no.bin').write_bytes(b'\xff\xfe')
    for name in 'no.json', 'no.bin':
        with pytest.raises(lx.LoaderxError, match='cannot read this tokenizer') as caught:
            write_tokens(corpus, tmp_path / 'x.ds', tmp_path / name)
        assert caught.value.path == str(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        write_tokens(corpus, tmp_path / 'x.ds', tmp_path / 'none.json')
    with pytest.raises(TypeError, match='tokenizer must be a path'):
        write_tokens(corpus, tmp_path / 'x.ds', 5)
    tokenizer.save(str(tmp_path / 'tokenizer.json'))
    write_tokens(corpus, tmp_path / 'x.ds', tmp_path, processes=0)    # its folder


def test_reports_a_text_that_the_tokenizer_rejects(tmp_path):
    from tokenizers import Tokenizer, models
    words = Tokenizer(models.WordLevel({'a': 0}, unk_token='none'))
    (tmp_path / 'x.txt').write_text('a\na\nb\n')
    with pytest.raises(lx.CorruptError, match='line 3, .*: the tokenizer cannot process the text'):
        write_tokens(tmp_path / 'x.txt', tmp_path / 'x.ds', words, lines=True, processes=1)


@pytest.mark.parametrize('how, message', [
    ({'eos': 'none'}, "eos: the tokenizer has no token 'none'"),
    ({'eos': 5000}, 'eos: the tokenizer has no token 5000'),
    ({'eos': '5000'}, 'eos: the tokenizer has no token 5000'),
    ({'eos': -1}, 'eos must be from 0'),
    ({'errors': 'ignore'}, "errors must be 'strict' or 'replace'"),
    ({'dtype': 'int64'}, "dtype must be uint16 or int32 for format 'megatron'"),
    ({'dtype': 'uint32'}, "dtype must be uint16 or int32 for format 'megatron'"),
    ({'format': 'zip'}, 'format must be one of'),
    ({'format': 'npy'}, 'must have a name that ends with .npy'),
    ({'key': 'text', 'lines': True}, 'key and lines are mutually exclusive'),
    ({'split_at': 'a\nb'}, 'split_at must be a single line'),
    ({'field': 'text'}, 'is a file of text: only datasets, Parquet and Arrow files'),
    ({'processes': -1}, 'processes must be from 0'),
])
def test_rejects_invalid_arguments(tmp_path, tokenizer, corpus, how, message):
    with pytest.raises(ValueError, match=message):
        write_tokens(corpus, tmp_path / 'x.bin', tokenizer, **how)
    assert left(tmp_path, corpus) == []


def test_rejects_names_and_dtypes_that_do_not_fit(tmp_path, tokenizer, corpus):
    with pytest.raises(ValueError, match='format must be given'):
        write_tokens(corpus, tmp_path / 'x', tokenizer)
    with pytest.raises(ValueError, match='would be read in a different format'):
        write_tokens(corpus, tmp_path / 'x.ds', tokenizer, format='flat')
    (tmp_path / 'x.idx').write_text('')
    with pytest.raises(ValueError, match='has an .idx file of the same name'):
        write_tokens(corpus, tmp_path / 'x.bin', tokenizer, format='flat')
    with pytest.raises(ValueError, match='up to 70000, but uint16 can represent at most 65535'):
        write_tokens(corpus, tmp_path / 'x.npy', wide(), dtype='uint16')
    with pytest.raises(FileNotFoundError):
        write_tokens([corpus, tmp_path / 'none'], tmp_path / 'y.bin', tokenizer)
