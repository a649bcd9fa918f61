# SPDX-License-Identifier: MIT
"""Samples of texts that are tokenized during iteration."""

import copy
import gc
import itertools
import json
import os
import pickle
import threading
import time

import numpy as np
import pytest

tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')

import loaderx as lx
from loaderx._states import checksum
from loaderx.tokenize import write_tokens
from processes import run_script
from tokenizing import END, ids_of, make_texts, train, with_template

TEXTS = make_texts(120, 3)


@pytest.fixture(scope='module')
def tokenizer():
    return train()


@pytest.fixture
def path(tmp_path):
    with lx.create(tmp_path / 'set', {'text': lx.Field(bytes), 'n': lx.Field('int64')}) as writer:
        writer.extend(text=[text.encode() for text in TEXTS], n=np.arange(len(TEXTS)))
    return tmp_path / 'set'


def rows(stream):
    """Return the rest of a pass."""
    return [batch['tokens'].tolist() for batch in stream]


def cut(tokenizer, texts, length, end=()):
    """Return the samples of concatenated texts."""
    line = [one for ids in ids_of(tokenizer, texts, end) for one in ids]
    return [line[i:i + length + 1] for i in range(0, len(line) - length, length)]


def through_json(state):
    assert len(json.dumps(state)) < 2000
    return json.loads(json.dumps(state))


def threads():
    return [thread for thread in threading.enumerate() if thread.name == 'loaderx.prefetch']


@pytest.mark.parametrize('length', [1, 7, 100, 5000])
@pytest.mark.parametrize('separator', [None, 0, END])
def test_samples_match_the_texts(path, tokenizer, length, separator):
    expected = cut(tokenizer, TEXTS, length, () if separator is None else [0])
    for texts in lx.open(path), path, lx.open(path)['text'], TEXTS, [{'text': x} for x in TEXTS]:
        stream = lx.TokenStream(texts, tokenizer, length, separator=separator,
                                field='text' if isinstance(texts, list) and texts is not TEXTS
                                else None)
        assert rows(stream) == expected
    assert stream.vocabulary == tokenizer.get_vocab_size()


def test_matches_files_of_the_same_tokens(path, tokenizer, tmp_path):
    write_tokens(path, tmp_path / 'x.bin', tokenizer, eos=END, processes=0)
    dataset = lx.TokenDataset(tmp_path / 'x.bin', 50)
    expected = [batch['tokens'].tolist() for batch in lx.Loader(dataset, batch_size=8)]
    assert rows(lx.TokenStream(path, tokenizer, 50, separator=END, batch_size=8)) == expected


@pytest.mark.parametrize('out', ['int32', np.int64])
def test_batches(tokenizer, out):
    expected = cut(tokenizer, TEXTS, 64)
    batches = list(lx.TokenStream(TEXTS, tokenizer, 64, batch_size=7, out=out))
    assert all(batch['tokens'].dtype == out for batch in batches)
    assert [len(batch['tokens']) for batch in batches[:-1]] == [7] * (len(expected) // 7)
    assert np.concatenate([batch['tokens'] for batch in batches]).tolist() == expected


@pytest.mark.parametrize('epochs', [1, 2])
def test_orders_and_epochs(tokenizer, epochs):
    order = lx.Shuffle(n=len(TEXTS), seed=4)
    stream = lx.TokenStream(TEXTS, tokenizer, 64, order=lx.Shuffle(seed=4), epochs=epochs)
    for _ in range(3):
        texts = [TEXTS[i] for i in order.take(epochs * len(TEXTS))]
        assert rows(stream) == cut(tokenizer, texts, 64)
    endless = lx.TokenStream(TEXTS, tokenizer, 64, order=lx.Shuffle(seed=4), epochs=None)
    order.seek(0)
    expected = cut(tokenizer, [TEXTS[i] for i in order.take(3 * len(TEXTS))], 64)
    assert rows(itertools.islice(endless, len(expected))) == expected
    endless.close()


@pytest.mark.parametrize('world', [2, 3, 7])
def test_ranks_cover_each_document_once(tokenizer, world):
    order = lx.Shuffle(n=len(TEXTS), seed=4)
    for rank in range(world):
        stream = lx.TokenStream(TEXTS, tokenizer, 16, order=order, rank=rank, world=world, epochs=2)
        places = [*range(rank, len(TEXTS), world),
                  *range(len(TEXTS) + rank, 2 * len(TEXTS), world)]
        order.seek(0)
        indices = order.take(2 * len(TEXTS))
        assert rows(stream) == cut(tokenizer, [TEXTS[indices[p]] for p in places], 16)


def test_special_tokens(tokenizer):
    made = with_template(tokenizer, 9)
    stream = lx.TokenStream(['bada', '', 'doke'], made, 1, special_tokens=True, separator=0)
    line = [9, *ids_of(tokenizer, ['bada'])[0], 0, 9, *ids_of(tokenizer, ['doke'])[0], 0]
    assert rows(stream) == [line[i:i + 2] for i in range(len(line) - 1)]


def test_continues_an_interrupted_loop(tokenizer):
    expected = cut(tokenizer, TEXTS, 32)
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    got = []
    for batch in stream:
        got.append(batch['tokens'].tolist())
        if len(got) == 10:
            break
    assert got + rows(stream) == expected
    assert rows(stream) == expected    # the next epoch


def test_continues_from_any_state(path, tokenizer):
    def make(**more):
        return lx.TokenStream(path, tokenizer, 40, separator=END, order=lx.Shuffle(seed=8), **more)

    expected = rows(make())
    stream = make()
    for k in range(len(expected) + 1):
        state = through_json(stream.state_dict())
        resumed = make(prefetch_bytes=0 if k % 2 else None)
        resumed.load_state_dict(state)
        assert resumed.state_dict() == state
        assert rows(itertools.islice(resumed, 3)) == expected[k:k + 3]
        resumed.close()
        if k < len(expected):
            assert next(stream)['tokens'].tolist() == expected[k]
    assert list(stream) == []
    second = rows(stream)
    resumed = make()
    resumed.load_state_dict(state)
    assert list(resumed) == [] and rows(resumed) == second


def test_loads_a_state_during_a_run(tokenizer):
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    expected = cut(tokenizer, TEXTS, 32)
    first = stream.state_dict()
    rows(itertools.islice(stream, 5))
    state = stream.state_dict()
    rows(itertools.islice(stream, 5))
    stream.load_state_dict(state)
    assert rows(stream) == expected[5:]
    stream.load_state_dict(first)
    assert rows(stream) == expected
    assert not threads()


def test_reads_only_the_files_it_needs_to_continue(tokenizer):
    requested = []

    class Texts(list):
        def __getitem__(self, index):
            requested.append(index)
            return super().__getitem__(index)

    texts = Texts(TEXTS * 50)
    stream = lx.TokenStream(texts, tokenizer, 64, prefetch_bytes=0)
    rows(itertools.islice(stream, 3000))
    state = stream.state_dict()
    stream.close()
    resumed = lx.TokenStream(texts, tokenizer, 64, prefetch_bytes=0)
    resumed.load_state_dict(state)
    requested.clear()
    next(resumed)
    resumed.close()
    assert requested[0] == state['position'] > 1000 and len(requested) < 500


@pytest.mark.parametrize('order', [
    None, lx.Shuffle(seed=3), lx.Repeat(lx.Shuffle(seed=3), 2), lx.Padded(lx.Shuffle(seed=3), 7),
    lx.Slice(lx.Blocks(block=8, seed=3), 5, 90)])
def test_continues_on_the_old_length(path, tokenizer, order):
    def stream(**length):
        return lx.TokenStream(lx.Dataset(path, **length), tokenizer, 32, field='text', order=order)

    with stream() as first:
        next(first)
        state = through_json(first.state_dict())
        expected = rows(first)
    with lx.open(path, 'a') as writer:
        writer.append(text=b'more', n=1)
    with stream() as grown, pytest.raises(ValueError, match=(
            'set: the dataset has 121 records, but had 120 when .* open it with length=120')):
        grown.load_state_dict(state)
    with stream(length=len(TEXTS)) as again:
        again.load_state_dict(state)
        assert rows(again) == expected
    with stream(length=119) as short, pytest.raises(ValueError, match='only 119 records'):
        short.load_state_dict(state)
    other = lx.TokenStream(lx.Dataset(path), tokenizer, 32, field='text', order=lx.Random(seed=9))
    with other, pytest.raises(ValueError, match='"order" is'):
        other.load_state_dict(state)


def test_names_another_dataset_before_its_length(path, tokenizer, tmp_path):
    with lx.create(tmp_path / 'other', {'text': lx.Field(bytes)}) as writer:
        writer.append(text=b'text')
    state = lx.TokenStream(path, tokenizer, 32).state_dict()
    with pytest.raises(ValueError, match='"order" is|"data" is'):
        lx.TokenStream(tmp_path / 'other', tokenizer, 32).load_state_dict(state)


@pytest.mark.parametrize('change, message', [
    ({'tokenizer': 500}, '"tokenizer" is .* in the state, but .* here'),
    ({'texts': TEXTS[:-1]}, '"order" is .*"length": 120|"order" is .*\'length\': 120'),
    ({'texts': TEXTS[::-1]}, '"data" is .*crc32'),
    ({'sequence_length': 33}, '"sequence_length" is 32 in the state, but 33 here'),
    ({'separator': 0}, '"separator" is None in the state, but 0 here'),
    ({'order': lx.Shuffle(seed=1)}, '"order" is .*sequential.* in the state, but .*shuffle'),
    ({'rank': 1, 'world': 2}, '"rank" is 0 in the state, but 1 here'),
    ({'world': 2}, '"world" is 1 in the state, but 2 here'),
    ({'special_tokens': True}, '"special_tokens" is False in the state, but True here'),
    ({'errors': 'replace'}, '"errors" is strict in the state, but replace here'),
])
def test_rejects_states_that_do_not_match(tokenizer, change, message):
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    next(stream)
    arguments = {'texts': TEXTS, 'tokenizer': tokenizer, 'sequence_length': 32, **change}
    if arguments['tokenizer'] == 500:
        arguments['tokenizer'] = train(500)
    other = lx.TokenStream(**arguments)
    before = other.state_dict()
    with pytest.raises(ValueError, match=message):
        other.load_state_dict(stream.state_dict())
    assert other.state_dict() == before
    stream.close()


def test_rejects_invalid_states(tokenizer):
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    rows(itertools.islice(stream, 3))
    state = stream.state_dict()
    assert state['version'] == 1
    for wrong, kind, message in [
            ({'position': 5}, lx.CorruptError, 'was changed after it was written'),
            ({'version': 2}, lx.LoaderxError, 'has version 2'),
            ({'state': 'sampler'}, ValueError, 'this is the state of a sampler')]:
        with pytest.raises(kind, match=message):
            stream.load_state_dict({**state, **wrong})
    for wrong in ({'position': -1}, {'offset': 'x'}, {'text_crc32': 2**32}, {'position': 1.5},
                  {'text_crc32': None, 'offset': 3}, {'text_crc32': None, 'position': 7}):
        edited = {**state, **wrong}
        edited['crc32'] = checksum(edited)
        with pytest.raises(lx.CorruptError, match='the state is damaged'):
            stream.load_state_dict(edited)
    for wrong in ({'offset': 10**6}, {'position': 100}):
        edited = {**state, **wrong}
        edited['crc32'] = checksum(edited)
        stream.load_state_dict(edited)
        with pytest.raises(lx.CorruptError, match='has changed'):
            next(stream)
    with pytest.raises(lx.CorruptError, match='the state is invalid'):
        stream.load_state_dict({})
    with pytest.raises(TypeError, match='state must be a dict'):
        stream.load_state_dict([])


def test_detects_a_changed_text(path, tokenizer):
    stream = lx.TokenStream(path, tokenizer, 20)
    rows(itertools.islice(stream, 4))
    state = stream.state_dict()
    stream.close()
    with lx.open(path, mode='r+') as writer:
        writer[state['position']] = {'text': b'bada ' * 100}
    resumed = lx.TokenStream(path, tokenizer, 20)
    resumed.load_state_dict(state)
    with pytest.raises(lx.CorruptError, match=f'the text at index {state["position"]}'):
        next(resumed)


def test_damage_is_reported_in_order_and_retried(path, tokenizer):
    with lx.open(path, mode='r+') as writer:
        writer[100] = {'text': b'ba\xff'}
    stream = lx.TokenStream(path, tokenizer, 20)
    got = []
    for _ in range(2):
        with pytest.raises(lx.CorruptError, match='record 100, offset 2: the') as caught:
            for batch in stream:
                got.append(batch['tokens'].tolist())
        assert (caught.value.field, caught.value.record) == ('text', 100)
    assert got == cut(tokenizer, TEXTS, 20)[:len(got)]
    state = stream.state_dict()
    replaced = lx.TokenStream(path, tokenizer, 20, errors='replace')
    texts = [*TEXTS[:100], 'ba\ufffd', *TEXTS[101:]]
    assert rows(replaced) == cut(tokenizer, texts, 20)
    assert state == stream.state_dict() and not threads()


def test_passes_on_user_exceptions(tokenizer):
    class Texts(list):
        def __getitem__(self, index):
            if index == 90:
                raise KeyError('mine')
            return super().__getitem__(index)

    stream = lx.TokenStream(Texts(TEXTS), tokenizer, 20)
    with pytest.raises(KeyError, match='mine'):
        rows(stream)
    for wrong, message in [([5], 'text 0 must be a str or bytes, not int'),
                           ([{'text': 'a'}], 'not dict; pass field if texts are dicts')]:
        with pytest.raises(TypeError, match=message):
            lx.TokenStream(wrong, tokenizer, 20)
    texts = ['a'] * 30
    late = lx.TokenStream(texts, tokenizer, 20, order=lx.Sequential(n=30))
    del texts[20:]
    with pytest.raises(IndexError, match='index 20 is out of range: there are only 20 texts'):
        rows(late)


def test_reports_a_tokenizer_that_rejects_texts():
    from tokenizers import Tokenizer, models
    words = Tokenizer(models.WordLevel({'a': 0}, unk_token='none'))
    stream = lx.TokenStream(['a'] * 5 + ['b'], words, 2)
    with pytest.raises(lx.CorruptError, match='record 5: the tokenizer cannot process the text'):
        rows(stream)


def test_texts_without_tokens(tokenizer):
    assert rows(lx.TokenStream(['', None, b'', ''], tokenizer, 5)) == []
    endless = lx.TokenStream(['', None], tokenizer, 5, epochs=None, separator=0)
    with pytest.raises(ValueError, match='this rank has no tokens in 100 epochs'):
        next(endless)
    with pytest.raises(ValueError, match='an epoch has no texts'):
        lx.TokenStream([], tokenizer, 5)
    with pytest.raises(ValueError, match='only 2 texts, none of them for rank 2'):
        lx.TokenStream(['a', 'b'], tokenizer, 5, rank=2, world=3)


def test_a_read_of_a_live_dataset_sees_one_snapshot(path, tokenizer):
    stream = lx.TokenStream(lx.open(path, live=True), tokenizer, 20)
    with lx.open(path, mode='r+') as writer:
        writer[0] = {'text': b'bada'}
    assert rows(stream) == cut(tokenizer, TEXTS, 20)


def test_closing(tokenizer):
    stream = lx.TokenStream(TEXTS, tokenizer, 20, epochs=None)
    next(stream)
    assert threads()
    stream.close()
    stream.close()
    assert stream.closed and not threads()
    with pytest.raises(lx.LoaderxError, match='closed'):
        next(stream)
    with lx.TokenStream(TEXTS, tokenizer, 20, epochs=None) as stream:
        next(stream)
    assert not threads()
    dropped = lx.TokenStream(TEXTS, tokenizer, 20, epochs=None)
    next(dropped)
    del dropped
    gc.collect()
    assert not threads()


def test_closes_while_a_thread_waits(tokenizer):
    go = threading.Event()

    class Texts(list):
        def __getitem__(self, index):
            if index == 60:
                go.wait(5)
            return super().__getitem__(index)

    stream = lx.TokenStream(Texts(TEXTS), tokenizer, 10**6)
    caught = []

    def wait():
        try:
            next(stream)
        except Exception as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(.2)
    threading.Timer(.3, go.set).start()
    stream.close()
    waiting.join(10)
    assert not waiting.is_alive() and 'closed' in str(caught[0])


def test_several_threads_share_it(tokenizer):
    expected = cut(tokenizer, TEXTS, 8)
    stream = lx.TokenStream(TEXTS, tokenizer, 8)
    got, lock = [], threading.Lock()

    def take():
        while True:
            with lock:
                if len(got) == len(expected):
                    return
                got.append(None)
            row = next(stream)['tokens'].tolist()
            with lock:
                got.append(row)
                got.remove(None)

    takers = [threading.Thread(target=take) for _ in range(4)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join(30)
    assert sorted(got) == sorted(expected)
    stream.close()


def test_copies_continue_from_the_same_position(tokenizer):
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    rows(itertools.islice(stream, 4))
    others = copy.copy(stream), copy.deepcopy(stream)
    expected = rows(stream)
    assert all(rows(other) == expected for other in others)
    with pytest.raises(TypeError, match='cannot be pickled'):
        pickle.dumps(stream)


def test_a_child_of_fork_continues(tokenizer):
    expected = cut(tokenizer, TEXTS, 32)
    stream = lx.TokenStream(TEXTS, tokenizer, 32)
    rows(itertools.islice(stream, 4))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if rows(itertools.islice(stream, 4)) == expected[4:8] else 2
            stream.close()
        finally:
            os.write(writing, b'.')
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    os.close(reading)
    os.close(writing)
    assert rows(stream) == expected[4:]


def test_the_interpreter_ends_while_it_runs():
    out = run_script("""
        sys.path.insert(0, %r)
        from tokenizing import make_texts, train
        stream = lx.TokenStream(make_texts(2000, 3), train(), 64, epochs=None)
        print(next(stream)['tokens'].shape)
        def collected():
            other = lx.TokenStream(make_texts(100, 3), train(), 64, epochs=None)
            next(other)
            other.itself = other
        collected()
    """ % os.path.dirname(__file__))
    assert out == '(65,)\n'


@pytest.mark.parametrize('how, kind, message', [
    ({'sequence_length': 0}, ValueError, 'sequence_length must be from 1'),
    ({'separator': 'none'}, ValueError, "separator: the tokenizer has no token 'none'"),
    ({'separator': 10**6}, ValueError, 'no token 1000000'),
    ({'order': 5}, TypeError, 'order must be an Order'),
    ({'epochs': 0}, ValueError, 'epochs must be from 1'),
    ({'rank': 1}, ValueError, 'rank is 1, but world, the number of ranks, was not given'),
    ({'batch_size': 0}, ValueError, 'batch_size'),
    ({'out': 'float32'}, ValueError, 'out must be int32 or int64'),
    ({'errors': 5}, ValueError, 'errors must be'),
    ({'special_tokens': 1}, TypeError, 'special_tokens must be True or False'),
    ({'texts': 'no folder'}, FileNotFoundError, 'no folder'),
    ({'texts': iter(TEXTS)}, TypeError, 'texts must be a Dataset'),
    ({'tokenizer': 'none.json'}, FileNotFoundError, 'none.json'),
    ({'order': lx.Sequential(n=4).shard(0, 2)}, ValueError, 'rank 0 of 2'),
])
def test_rejects_invalid_arguments(tokenizer, how, kind, message):
    arguments = {'texts': TEXTS, 'tokenizer': tokenizer, 'sequence_length': 8, **how}
    with pytest.raises(kind, match=message):
        lx.TokenStream(**arguments)
