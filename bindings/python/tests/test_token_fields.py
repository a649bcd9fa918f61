# SPDX-License-Identifier: MIT
"""Tokens in fields of datasets, and samples of them."""

import pickle

import numpy as np
import pytest

import loaderx as lx
from loaderx.megatron import GPTDataset
from processes import run_script


def make_documents(count, most=60, seed=3):
    random = np.random.default_rng(seed)
    return [random.integers(0, 60000, random.integers(0, most)).astype('<u2')
            for _ in range(count)]


def write(path, documents, compress='raw', name='text'):
    """Write one record for each document; None is a missing value."""
    with lx.create(path, {name: lx.Field(bytes, compress=compress)}) as writer:
        for document in documents:
            writer.append(**{name: None if document is None else document.tobytes()})
    return lx.open(path)


def write_ds(path, documents):
    np.concatenate(documents).tofile(path)
    np.cumsum([len(document) for document in documents]).astype('<u8').tofile(f'{path}.index')
    return str(path)


def rows(dataset, **options):
    """Return all samples, field by field."""
    batches = list(lx.Loader(dataset, batch_size=7, epochs=1, **options))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


@pytest.mark.parametrize('compress', ['raw', 'flate'])
@pytest.mark.parametrize('access', ['mmap', 'pread'])
def test_reads_a_field_like_an_array(tmp_path, compress, access):
    documents = make_documents(300)
    write(tmp_path / 'd', documents, compress).close()
    text = np.concatenate(documents)
    with lx.open(tmp_path / 'd', access=access) as dataset:
        tokens = lx.Tokens(dataset['text'], 'uint16')
    assert len(tokens) == len(text) and tokens.dtype == 'uint16'
    assert np.array_equal(tokens[:], text)
    assert np.array_equal(tokens.read(100, 2000, 'int64'), text[100:2100])
    assert len(tokens.documents) == 300
    assert all(np.array_equal(*pair) for pair in zip(tokens.documents, documents))
    for length in 1, 37, 500, len(text) - 1:
        samples = lx.TokenDataset(tokens, length, out='int64', vocabulary=60000)
        got = rows(samples, order=lx.Shuffle(seed=1), threads=2)['tokens']
        places = lx.Shuffle(n=len(samples), seed=1).take(len(samples)).astype(int)
        assert len(samples) == (len(text) - 1) // length
        assert all(np.array_equal(row, text[i * length:(i + 1) * length + 1])
                   for row, i in zip(got, places))


@pytest.mark.parametrize('dtype', ['uint8', 'uint16', 'uint32', 'int32', 'int64'])
@pytest.mark.parametrize('shape', [(), (16,), (3, 4), (600,)])
def test_records_of_arrays_are_documents_of_one_length(tmp_path, dtype, shape):
    values = np.random.default_rng(1).integers(0, 200, (90, *shape)).astype(dtype)
    with lx.create(tmp_path / 'd', {'ids': lx.Field(dtype, shape)}) as writer:
        writer.extend(ids=values)
    tokens = lx.Tokens(tmp_path / 'd', field='ids')
    assert tokens.dtype == dtype and len(tokens.documents) == 90
    assert np.array_equal(tokens[:], values.reshape(-1))
    assert np.array_equal(tokens.documents[70], values[70].reshape(-1))


def test_missing_records_are_documents_without_tokens(tmp_path):
    documents = make_documents(20)
    tokens = lx.Tokens(write(tmp_path / 'd', [None, *documents, None])['text'], 'uint16')
    assert len(tokens.documents) == 22
    assert tokens.documents.span(0) == (0, 0) and len(tokens.documents[-1]) == 0
    assert np.array_equal(tokens[:], np.concatenate(documents))


@pytest.mark.parametrize('make', [
    lambda tokens: lx.TokenDataset(tokens, 50),
    lambda tokens: lx.TokenDataset(tokens, 50, overlap=False),
    lambda tokens: lx.TokenDataset(tokens, 50, separator=9, segments=True, positions=True),
    lambda tokens: lx.PackedDataset(tokens, 64, segments=True, positions=True),
    lambda tokens: GPTDataset(tokens, 32, 200, eod=7),
])
def test_samples_match_those_of_a_file(tmp_path, make):
    documents = make_documents(400, 90)
    field = lx.Tokens(write(tmp_path / 'd', documents)['text'], 'uint16')
    path = write_ds(tmp_path / 'f.ds', documents)
    one, other = rows(make(field)), rows(make(lx.Tokens(path)))
    assert list(one) == list(other)
    assert all(np.array_equal(one[name], other[name]) for name in one)
    mixed = lx.Tokens([path, lx.open(tmp_path / 'd')['text'], tmp_path / 'd'], 'uint16',
                      field='text')
    thrice = lx.Tokens([path] * 3)
    assert len(mixed) == len(thrice)
    one, other = rows(make(mixed)), rows(make(thrice))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_later_writes_change_nothing(tmp_path):
    documents = make_documents(100)
    with write(tmp_path / 'd', documents) as dataset:
        tokens = lx.Tokens(dataset['text'], 'uint16')
        with lx.open(tmp_path / 'd', 'r+') as writer:
            writer[0] = {'text': b'changed!'}
            del writer[1]
            writer.append(text=documents[5].tobytes())
        with lx.open(tmp_path / 'd', 'r+') as writer:
            writer.rebalance()
        dataset.refresh()
        again = lx.Tokens(dataset['text'], 'uint16')
    assert np.array_equal(tokens[:], np.concatenate(documents))
    assert again.documents[0].tobytes() != tokens.documents[0].tobytes()
    assert again.documents.span(1)[1] == len(documents[99])
    assert np.array_equal(again.documents[-1], documents[5])


def test_a_loader_continues_over_the_same_documents(tmp_path):
    documents = make_documents(200)

    def loader():
        samples = lx.TokenDataset(lx.open(tmp_path / 'd')['text'], 20, 'uint16')
        return lx.Loader(samples, batch_size=5, order=lx.Shuffle(seed=3))

    write(tmp_path / 'd', documents).close()
    first = loader()
    batches = iter(first)
    for _ in range(17):
        next(batches)
    state = first.state_dict()
    expected = [next(batches)['tokens'] for _ in range(10)]
    resumed = loader()
    resumed.load_state_dict(state)
    assert all(np.array_equal(batch['tokens'], right)
               for batch, right in zip(resumed, expected))
    with lx.open(tmp_path / 'd', 'r+') as writer:    # the same number of tokens in other documents
        writer[0], writer[1] = ({'text': documents[1].tobytes()},
                                {'text': documents[0].tobytes()})
    if len(documents[0]) != len(documents[1]):
        with pytest.raises(ValueError, match='lengths'):
            loader().load_state_dict(state)
    write(tmp_path / 'e', documents).close()
    samples = lx.TokenDataset(
        lx.Tokens(tmp_path / 'e', 'uint16', field='text'), 20)
    other = lx.Loader(samples, batch_size=5, order=lx.Shuffle(seed=3))
    with pytest.raises(ValueError, match='uuid'):
        other.load_state_dict(state)


def test_can_be_sent_to_other_processes(tmp_path):
    documents = make_documents(50)
    dataset = write(tmp_path / 'd', documents)
    samples = lx.TokenDataset(dataset['text'], 10, 'uint16')
    text = pickle.dumps(samples)
    again = pickle.loads(text)
    assert np.array_equal(rows(again)['tokens'], rows(samples)['tokens'])
    with lx.open(tmp_path / 'd', 'a') as writer:
        writer.append(text=b'1234')
    with pytest.raises(lx.LoaderxError, match='in 50 documents were pickled'):
        pickle.loads(text)


@pytest.mark.parametrize('compress', ['raw', 'flate'])
def test_a_child_of_fork_can_still_read(tmp_path, compress):
    write(tmp_path / 'd', [np.arange(i, i + 20, dtype='<u2') for i in range(50)], compress).close()
    run_script(f"""
    tokens = lx.Tokens({str(tmp_path / 'd')!r}, 'uint16', field='text')    # none was read yet
    child = os.fork()
    for i in range(50):
        assert np.array_equal(tokens.documents[i], np.arange(i, i + 20))
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """)


def test_reports_invalid_records(tmp_path):
    write(tmp_path / 'd', [np.arange(4, dtype='<u2'), np.zeros(3, 'u1')]).close()
    with pytest.raises(lx.CorruptError, match='3 bytes does not contain a whole number') as caught:
        lx.Tokens(tmp_path / 'd', 'uint16', field='text')
    assert (caught.value.field, caught.value.record) == ('text', 1)
    dataset = write(tmp_path / 'e', [np.arange(4, dtype='<u2'), np.array([1, 70, 3], '<u2')])
    samples = lx.TokenDataset(dataset['text'], 2, 'uint16', vocabulary=70)
    batches = iter(lx.Loader(samples))
    next(batches)
    next(batches)
    with pytest.raises(lx.CorruptError, match='token 1 of the record is 0x46') as caught:
        next(batches)
    assert (caught.value.field, caught.value.record) == ('text', 1)


def test_damaged_records_are_errors_or_zeros(tmp_path):
    documents = make_documents(3, 3, seed=1) + [np.arange(1000, 1200, dtype='<u2')]
    write(tmp_path / 'd', documents).close()
    chunk = next((tmp_path / 'd' / 'chunk').iterdir())
    data = bytearray(chunk.read_bytes())
    place = data.find(documents[-1].tobytes())
    data[place + 10] ^= 1
    chunk.write_bytes(data)
    tokens = lx.Tokens(tmp_path / 'd', 'uint16', field='text')
    with pytest.raises(lx.CorruptError) as caught:
        tokens[:]
    assert (caught.value.field, caught.value.record) == ('text', 3)
    assert caught.value.offset is not None and caught.value.path.endswith(chunk.name)
    before = sum(len(document) for document in documents[:3])
    batches = list(lx.Loader(lx.TokenDataset(tokens, 1), batch_size=1, on_damage='skip'))
    got = np.concatenate([batch['tokens'][batch.real] for batch in batches])
    assert np.array_equal(got[:, 1], np.concatenate(documents[:3])[1:before])
    assert all(np.array_equal(batch['tokens'], got[:1]) for batch in batches if not batch.real)
    with lx.open(tmp_path / 'd', on_damage='zeros') as dataset:
        tokens = lx.Tokens(dataset['text'], 'uint16')
    assert np.array_equal(tokens[:], np.concatenate(documents[:3]))


def test_rejects_invalid_arguments(tmp_path):
    dataset = write(tmp_path / 'd', make_documents(5))
    with pytest.raises(ValueError, match='pass the dtype'):
        lx.Tokens(dataset['text'])
    with pytest.raises(KeyError, match='not found'):
        lx.Tokens(tmp_path / 'd', 'uint16', field='none')
    with pytest.raises(TypeError):
        lx.Tokens(tmp_path / 'd', 'uint16', field=3)
    with pytest.raises(ValueError, match='pass field='):
        lx.Tokens(tmp_path / 'd', 'uint16')
    np.save(tmp_path / 'x.npy', np.arange(9))
    for none in tmp_path / 'x.npy', dataset['text'], [tmp_path / 'x.npy']:
        with pytest.raises(ValueError, match='must not be given: none of the paths is a dataset'):
            lx.Tokens(none, field='text')
    for none in 5, [5], None:
        with pytest.raises(TypeError, match='path'):
            lx.Tokens(none, 'uint16')
    with lx.create(tmp_path / 'e', {'x': lx.Field('uint16', (4,)), 'y': lx.Field('float32')}):
        pass
    with pytest.raises(ValueError, match='requested'):
        lx.Tokens(tmp_path / 'e', 'uint32', field='x')
    with pytest.raises(ValueError, match='tokens must be integers'):
        lx.Tokens(tmp_path / 'e', field='y')
    column = dataset['text']
    dataset.close()
    with pytest.raises(lx.LoaderxError, match='closed'):
        lx.Tokens(column, 'uint16')
