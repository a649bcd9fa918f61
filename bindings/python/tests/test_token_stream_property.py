# SPDX-License-Identifier: MIT
"""Token streams of random configurations, compared with lists of tokens."""

import itertools
import json
import os

import pytest

tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')
pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx
from tokenizing import ids_of, make_texts, train

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', 25))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 25)
TOKENIZER = train()


@st.composite
def streams(draw):
    """Draw the arguments of a stream, and return the samples of its first passes."""
    texts = make_texts(draw(st.integers(1, 40)), draw(st.integers(0, 999)), draw(
        st.sampled_from([3, 60])))
    world = draw(st.integers(1, min(4, len(texts))))
    n = len(texts)
    orders = lx.Sequential(n=n), lx.Shuffle(n=n, seed=3), lx.Random(n=n, seed=5)
    order = draw(st.sampled_from(orders))
    how = {'order': order, 'rank': draw(st.integers(0, world - 1)), 'world': world,
           'epochs': draw(st.integers(1, 3)), 'separator': draw(st.sampled_from([None, 0, 5])),
           'sequence_length': draw(st.integers(1, 80))}
    return texts, how


def expected_of(texts, how, passes=2):
    order, size = how['order'], len(how['order'])
    end = [] if how['separator'] is None else [how['separator']]
    order.seek(0)
    made = []
    for _ in range(passes):
        indices = [index for _ in range(how['epochs'])
                   for index in order.take(size)[how['rank']::how['world']]]
        line = list(itertools.chain.from_iterable(
            ids_of(TOKENIZER, [texts[i] for i in indices], end)))
        step = how['sequence_length']
        made.append([line[i:i + step + 1] for i in range(0, len(line) - step, step)])
    return made


def rows(batches):
    return [row for batch in batches for row in batch['tokens'].reshape(
        -1, batch['tokens'].shape[-1]).tolist()]


@SETTINGS
@given(streams(), st.lists(st.integers(0, 30), max_size=4), st.data())
def test_continues_exactly_after_a_stop_anywhere(case, cuts, data):
    texts, how = case
    first, second = expected_of(texts, how)

    def make():
        size = data.draw(st.sampled_from([None, 1, 3]))
        return lx.TokenStream(texts, TOKENIZER, batch_size=size, **how,
                              prefetch_bytes=data.draw(st.sampled_from([None, 0, 4000])))

    stream, got = make(), []
    for count in cuts:
        taken = list(itertools.islice(stream, count))
        got += rows(taken)
        state = json.loads(json.dumps(stream.state_dict()))
        stream.close()
        if len(taken) < count:
            assert got == first
            got, first, second = [], second, None
            if second is None:
                return
        stream = make()
        stream.load_state_dict(state)
    with stream:
        assert got + rows(stream) == first
        if second is not None:
            assert rows(stream) == second
