# SPDX-License-Identifier: MIT
"""Passes over a loader: where each begins, how they end, and what is independent of what."""

import gc
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings
from hypothesis import strategies as st

import loaderx as lx

N, SIZE = 50, 8
PER_EPOCH = -(-N // SIZE)


@pytest.fixture(scope='module')
def data():
    return {'data': np.zeros((N, 50_000), np.uint8), 'label': np.arange(N)}


def labels(batches):
    return [batch['label'].tolist() for batch in batches]


def take(batches, count):
    """Return the labels of the first batches, and leave the loop."""
    got = []
    for batch in batches:
        got.append(batch['label'].tolist())
        if len(got) == count:
            break
    return got


def epoch(number, seed=1, epochs=1):
    """Return the labels of the batches of whole epochs, computed without a loader."""
    order = lx.Shuffle(n=N, seed=seed)
    order.seek(number * N)
    got = []
    for _ in range(epochs):
        indices = order.take(N).tolist()
        got += [indices[i:i + SIZE] for i in range(0, N, SIZE)]
    return got


def make(data, **options):
    options = {'batch_size': SIZE, 'order': lx.Shuffle(seed=1), 'threads': 2, **options}
    return lx.Loader(data, **options)


# ---- where a pass begins


def test_a_validation_loop_sees_the_same_first_batches_each_time(data):
    loader = lx.Loader(data, batch_size=SIZE)
    expected = [list(range(i * SIZE, (i + 1) * SIZE)) for i in range(4)]
    for _ in range(3):
        assert take(loader, 4) == expected


def test_looking_at_a_batch_does_not_shift_the_training(data):
    loader = lx.Loader(data, batch_size=SIZE)
    next(iter(loader))
    assert labels(loader) == [list(range(N))[i:i + SIZE] for i in range(0, N, SIZE)]


@pytest.mark.parametrize('left_after', [1, 3, PER_EPOCH])
def test_a_pass_begins_the_epoch_after_the_last_one(data, left_after):
    loader = make(data)
    assert take(loader, left_after) == epoch(0)[:left_after]
    assert labels(loader) == epoch(1)
    assert take(loader, left_after) == epoch(2)[:left_after]
    assert take(loader, left_after) == epoch(3)[:left_after]
    assert len(loader._passes._readers) == 1


def test_a_pass_that_returned_no_batch_does_not_count(data):
    loader = make(data)
    for _ in range(3):
        iter(loader)
    assert labels(loader) == epoch(0)
    held = [iter(loader) for _ in range(3)]
    assert labels(loader) == epoch(1)
    assert all(labels(iterator) == epoch(1) for iterator in held)
    assert labels(loader) == epoch(2)


def test_an_earlier_iterator_that_has_had_batches_counts(data):
    loader = make(data)
    one, two = iter(loader), iter(loader)
    assert labels(one) == epoch(0)
    assert labels(loader) == epoch(1)
    assert labels(two) == epoch(0)


def test_next_continues_the_newest_pass(data):
    loader = make(data)
    assert take(loader, 2) == epoch(0)[:2]
    assert next(loader)['label'].tolist() == epoch(0)[2]
    assert take(loader, 1) == epoch(1)[:1]
    assert [next(loader)['label'].tolist() for _ in range(PER_EPOCH - 1)] == epoch(1)[1:]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(loader)
    assert labels(loader) == epoch(2)


@pytest.mark.parametrize('drop_last', [False, True])
def test_a_pass_has_as_many_batches_as_its_loader(data, drop_last):
    for epochs in 1, 3:
        loader = make(data, epochs=epochs, drop_last=drop_last)
        assert len(loader) == epochs * (N // SIZE if drop_last else PER_EPOCH)
        assert len(list(loader)) == len(take(loader, len(loader))) == len(list(loader))
        assert loader.tell() == 3 * epochs * N


def test_a_pass_of_several_epochs_is_followed_by_the_next_ones(data):
    loader = make(data, epochs=2)
    assert take(loader, PER_EPOCH + 1) == epoch(0, epochs=2)[:PER_EPOCH + 1]
    assert labels(loader) == epoch(2, epochs=2)


def test_the_length_counts_batches_of_epochs_that_differ():
    costs = np.random.default_rng(1).integers(1, 6, 40)
    order = lx.Budgeted(lx.Shuffle(seed=3), costs, 12)
    for world in 1, 3:
        loader = lx.Loader(np.arange(40), order=order, epochs=4, world=world)
        for _ in range(2):
            length = len(loader)
            assert length == len(list(loader)) > 0
        loader.close()


def test_an_endless_loader_begins_the_next_epoch_that_it_has_not_begun(data):
    loader = make(data, epochs=None)
    assert take(loader, PER_EPOCH + 2) == epoch(0, epochs=2)[:PER_EPOCH + 2]
    assert take(loader, PER_EPOCH) == epoch(2)
    assert take(loader, 1) == epoch(3)[:1]
    with pytest.raises(TypeError, match='endless'):
        len(loader)


def test_an_empty_loader_has_empty_passes():
    loader = lx.Loader(np.zeros((0, 3)), batch_size=4, world=2)
    assert [list(loader) for _ in range(3)] == [[], [], []] and len(loader) == 0


# ---- set_epoch


def test_set_epoch_chooses_the_epoch_of_the_next_pass(data):
    loader = make(data)
    for number in 4, 4, 0:
        loader.set_epoch(number)
        assert loader.state_dict()['position'] == loader.tell() == number * N
        assert labels(loader) == epoch(number)
    assert labels(loader) == epoch(1)


def test_set_epoch_does_not_disturb_a_running_loop(data):
    loader, got = make(data), []
    for batch in loader:
        got.append(batch['label'].tolist())
        loader.set_epoch(5)
    assert got == epoch(0)
    assert labels(loader) == epoch(5)


def test_set_epoch_counts_more_than_earlier_iterators(data):
    loader = make(data)
    iterator = iter(loader)
    loader.set_epoch(0)
    assert labels(iterator) == epoch(0)
    assert labels(loader) == epoch(0)
    assert labels(loader) == epoch(1)


def test_set_epoch_keeps_the_place_of_a_resumed_run_within_the_epoch(data):
    loader = make(data)
    take(loader, 3)
    state = loader.state_dict()
    for resumed in make(data), make(data, start=3 * SIZE):
        resumed.load_state_dict(state)
        resumed.set_epoch(0)
        assert labels(resumed) == epoch(0)[3:]
        resumed.set_epoch(0)
        assert labels(resumed) == epoch(0)
    resumed = make(data)
    resumed.load_state_dict(state)
    resumed.set_epoch(1)
    assert labels(resumed) == epoch(1)


def test_set_epoch_names_what_it_refuses(data):
    with pytest.raises(ValueError, match='multiple of 3, the number of epochs.*seek'):
        make(data, epochs=3).set_epoch(4)
    for wrong, error in (-1, ValueError), (1.5, TypeError), (True, TypeError), (2**62, ValueError):
        with pytest.raises(error, match='epoch'):
            make(data).set_epoch(wrong)


# ---- ranks


def test_a_new_pass_after_an_abandoned_one_is_an_error_on_several_ranks(data):
    loader = make(data, world=2)
    take(loader, 1)
    for _ in range(2):
        with pytest.raises(lx.LoaderxError, match='left before its end.*set_epoch.*peek') as caught:
            iter(loader)
        assert caught.value.status == 'LX_ERR_STATE'
    assert loader.tell() == 2 * SIZE
    next(loader)
    loader.set_epoch(0)
    assert len(list(loader)) == len(loader) == len(list(loader))
    assert loader.tell() == 2 * N
    take(loader, 1)
    loader.seek(loader.tell())
    assert len(list(loader)) == len(loader) - 1


def test_a_pass_whose_batches_have_all_been_taken_is_not_abandoned(data):
    for options in {}, {'drop_last': True}, {'epochs': 2}:
        loader = make(data, world=2, **options)
        held = []
        for _ in range(3):
            held.append(iter(loader))
            assert len(take(held[-1], len(loader))) == len(loader)
        assert [list(iterator) for iterator in held] == [[], [], []]
        assert len(loader._passes._readers) == 1


def test_ranks_of_several_epochs_stay_together(data):
    ranks = [make(data, rank=rank, world=2) for rank in range(2)]
    for number in range(3):
        got = [labels(loader) for loader in ranks]
        whole = sum(epoch(number), [])
        assert sorted(sum(got[0] + got[1], [])) == sorted(whole)


# ---- independence


@pytest.mark.parametrize('threads', [0, 2])
def test_nested_loops_are_independent(data, threads):
    loader = make(data, threads=threads)
    seen = []
    for number, outer in enumerate(loader):
        seen.append(outer['label'].tolist())
        assert labels(loader) == epoch(number + 1)
    assert seen == epoch(0)
    assert len(loader._passes._readers) == 2
    assert labels(loader) == epoch(PER_EPOCH + 1)
    assert len(loader._passes._readers) == 1    # the memory of the second is free again
    assert loader.stats()['batches'] == PER_EPOCH * (PER_EPOCH + 2)


def test_zip_of_a_loader_with_itself(data):
    loader = make(data)
    for number in range(2):
        pairs = [(a['label'].tolist(), b['label'].tolist()) for a, b in zip(loader, loader)]
        assert pairs == [(batch, batch) for batch in epoch(number)]


def test_an_iterator_that_has_ended_stays_ended(data):
    loader = make(data)
    iterator = iter(loader)
    assert iter(iterator) is iterator
    assert labels(iterator) == epoch(0)
    assert labels(loader) == epoch(1)
    assert list(iterator) == []
    assert len(loader._passes._readers) == 1


def test_states_describe_the_newest_pass(data):
    loader = make(data)
    outer = iter(loader)
    next(outer)
    inner = iter(loader)
    next(inner), next(inner)
    assert loader.tell() == loader.state_dict()['position'] == N + 2 * SIZE
    next(outer)
    with pytest.warns(UserWarning, match='older pass'):
        state = loader.state_dict()
    assert loader.tell() == state['position'] == N + 2 * SIZE
    resumed = make(data)
    resumed.load_state_dict(state)
    assert labels(resumed) == labels(inner) == epoch(1)[2:]
    assert labels(outer) == epoch(0)[2:]


def test_threads_can_each_have_a_pass(data):
    loader, got = make(data, transform=lambda batch: batch), []

    def consume():
        got.append(labels(loader))

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert [sorted(sum(batches, [])) for batches in got] == [list(range(N))] * 4


def test_an_iterator_outlives_its_loader_and_frees_what_it_reads(data):
    source = data['label'].copy()
    loader = lx.Loader(source, batch_size=SIZE)
    iterator, before = iter(loader), sys.getrefcount(source)
    del loader
    assert len(list(iterator)) == PER_EPOCH
    gc.collect()
    assert sys.getrefcount(source) < before


def test_iterators_in_a_cycle_are_collected(data):
    collected = []
    for _ in range(5):
        loader = make(data, transform=lambda batch: batch)
        cycle = [loader, iter(loader), iter(loader)]
        next(cycle[1]), next(cycle[2])
        cycle += [cycle, type('Mark', (), {'__del__': lambda mark: collected.append(1)})()]
        del loader, cycle
        gc.collect()
    assert len(collected) == 5


# ---- seek and states


def test_the_first_pass_after_a_move_continues_there(data):
    other = make(data)
    take(other, 2)
    state = other.state_dict()
    for move in (lambda loader: loader.seek(2 * SIZE),
                 lambda loader: loader.load_state_dict(state)):
        loader = make(data)
        take(loader, 3)
        move(loader)
        iter(loader)    # returns no batch
        assert labels(loader) == epoch(0)[2:]
        assert labels(loader) == epoch(1)
    assert labels(make(data, start=2 * SIZE)) == epoch(0)[2:]


def test_a_running_loop_can_go_back_to_a_state(data):
    loader, got, state = make(data), [], None
    for batch in loader:
        got.append(batch['label'].tolist())
        if len(got) == 2:
            state = loader.state_dict()
        if len(got) == 4:
            loader.load_state_dict(state)
    assert got == epoch(0)[:4] + epoch(0)[2:]


@pytest.mark.parametrize('drop_last', [False, True])
def test_a_state_of_the_last_batch_resumes_with_the_next_epoch(data, drop_last):
    loader, resumed = (make(data, drop_last=drop_last) for _ in range(2))
    take(loader, len(loader))
    resumed.load_state_dict(loader.state_dict())
    assert labels(resumed) == labels(loader) == epoch(1)[:len(loader)]


# ---- peek


@pytest.mark.parametrize('threads', [0, 2])
@pytest.mark.parametrize('transform', [None, dict])
def test_peek_moves_nothing(data, threads, transform):
    loader = make(data, threads=threads, transform=transform, world=2)
    seen = loader.peek()
    assert loader.peek() is seen and loader.tell() == 0
    assert labels(loader)[0] == seen['label'].tolist()
    take(loader, 1)
    place, seen = loader.tell(), loader.peek()
    assert loader.tell() == loader.state_dict()['position'] == place
    assert next(loader) is seen    # saving the state does not read it again
    loader.seek(0)
    first = loader.peek()
    assert next(iter(loader)) is first


def test_peek_ends_with_the_pass(data):
    loader = make(data)
    assert labels(loader) == epoch(0)
    for use in loader.peek, lambda: next(loader), loader.peek:
        with pytest.raises(StopIteration):
            use()
    assert labels(loader) == epoch(1)


@pytest.mark.parametrize('options', [{}, {'world': 2, 'rank': 1}, {'batch_size': N + 1}], ids=str)
def test_peek_at_the_end_moves_nothing(data, options):
    loader = make(data, **{'drop_last': True, 'batch_size': SIZE + 1, **options})
    count = sum(1 for _ in zip(range(len(loader)), loader))
    place, state = loader.tell(), loader.state_dict()
    assert count == len(loader) and place < N
    for _ in range(2):
        with pytest.raises(StopIteration):
            loader.peek()
        assert (loader.tell(), loader.state_dict()) == (place, state)
    assert [batch.position // N for batch in loader] == [1] * count    # the next pass


def test_a_loop_can_look_ahead(data):
    loader, ahead = make(data), []
    for batch in loader:
        try:
            ahead.append(loader.peek()['label'].tolist())
        except StopIteration:
            ahead.append(None)
    assert ahead == epoch(0)[1:] + [None]


@pytest.mark.parametrize('threads', [0, 2])
def test_a_batch_that_fails_in_peek_fails_again(data, threads):
    def transform(batch):
        if batch['label'][0] == SIZE:
            raise KeyError('wrong')
        return batch

    loader = lx.Loader(data, batch_size=SIZE, threads=threads, transform=transform)
    next(loader)
    for use in loader.peek, loader.peek, lambda: next(loader):
        assert loader.tell() == SIZE
        with pytest.raises(KeyError):
            use()
    assert next(loader)['label'][0] == 2 * SIZE


def test_peek_does_not_move_past_damage(data, tmp_path):
    with lx.create(tmp_path / 'd', {'x': lx.Field('uint8', (100,))}) as writer:
        writer.extend(x=np.full((50, 100), 7, dtype=np.uint8))
    chunk = next((tmp_path / 'd' / 'chunk').iterdir())
    content = bytearray(chunk.read_bytes())
    first = content.find(b'\7' * 100)
    for record in range(3):    # three whole batches
        content[first + 100 * record + 50] ^= 1
    chunk.write_bytes(content)
    loader = lx.Loader(tmp_path / 'd', batch_size=1, on_damage='skip')
    loader.peek()
    assert loader.tell() == 0
    assert sum(int(batch.real.sum()) for batch in loader) == 47


# ---- ending


def test_closing_and_canceling_reach_every_pass(data):
    loader = make(data)
    held = [iter(loader) for _ in range(3)]
    for iterator in held:
        next(iterator)
    loader.cancel()
    for use in [*(lambda i=i: next(i) for i in held), lambda: next(iter(loader))]:
        with pytest.raises(lx.LoaderxError) as caught:
            use()
        assert caught.value.status == 'LX_ERR_CANCELED'
    loader.close()
    for use in [*(lambda i=i: next(i) for i in held), lambda: iter(loader), loader.peek,
                lambda: loader.set_epoch(0)]:
        with pytest.raises(lx.LoaderxError, match='closed'):
            use()


def test_a_transform_cannot_begin_a_pass_or_peek(data):
    uses = [lambda: iter(loader), lambda: loader.peek(), lambda: loader.set_epoch(0)]
    for use in uses:
        for begin in lambda: next(loader), lambda: next(iter(loader)):
            loader = lx.Loader(data, batch_size=SIZE, threads=2, transform=lambda batch: use())
            with pytest.raises(lx.LoaderxError, match='transform'):
                begin()
            loader.close()


@pytest.mark.parametrize('threads', [0, 2])
def test_a_transform_that_closes_its_loader_ends_no_pass(data, threads):
    def transform(batch):
        if batch['label'][0] == epoch(0)[3][0]:
            loader.close()
        return batch

    loader = make(data, threads=threads, transform=transform, prefetch_bytes=0)
    held = [iter(loader) for _ in range(3)]
    for iterator in held:
        next(iterator)
    for iterator in held:
        with pytest.raises(lx.LoaderxError, match='transform') as caught:
            labels(iterator)
        assert caught.value.status == 'LX_ERR_STATE' and not loader.closed
    for iterator in held:
        assert labels(iterator) == epoch(0)[4:]
    loader.close()


def test_an_abandoned_pass_costs_no_second_reader(data):
    loader = make(data, transform=lambda batch: time.sleep(0.001) or batch)
    for number in range(5):
        for _ in loader:
            break
        assert len(loader._passes._readers) == 1
    assert loader.stats()['batches'] == 5


# ---- every sequence of calls


class Model:
    """What a loader of one rank does, by the rules alone: epochs are lists of batches."""

    def __init__(self, count):
        self.count = count
        self.passes = []    # of each: its epoch, and the number of batches it has returned
        self.set_epoch(0)

    def set_epoch(self, epoch):
        self.given, self.since = epoch, len(self.passes)

    def iterate(self):
        begun = [epoch for epoch, batches in self.passes[self.since:] if batches]
        self.passes.append([begun[-1] + 1 if begun else self.given, 0])
        return len(self.passes) - 1

    def next(self, number):
        one = self.passes[number]
        if one[1] == self.count:
            return None
        one[1] += 1
        return one[0], one[1] - 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.just('iter'), st.just('peek'), st.just('drop'),
                          st.tuples(st.just('next'), st.integers(0, 5)),
                          st.tuples(st.just('loop'), st.integers(1, PER_EPOCH)),
                          st.tuples(st.just('set_epoch'), st.integers(0, 3))), max_size=25))
def test_any_sequence_of_calls_follows_the_rules(calls):
    loader = lx.Loader({'label': np.arange(N)}, batch_size=SIZE, order=lx.Shuffle(seed=1))
    model, held = Model(PER_EPOCH), []

    def check(batch, expected):
        assert (batch is None) == (expected is None)
        if batch is not None:
            assert batch['label'].tolist() == epoch(expected[0])[expected[1]]

    for call in calls:
        if call == 'iter':
            held.append((iter(loader), model.iterate()))
        elif call == 'drop' and held:
            del held[0]
        elif call[0] == 'next' and call[1] < len(held):
            iterator, number = held[call[1]]
            check(next(iterator, None), model.next(number))
            del iterator
        elif call[0] == 'loop':
            number = model.iterate()
            for batch in zip(range(call[1]), loader):
                check(batch[1], model.next(number))
        elif call[0] == 'set_epoch':
            loader.set_epoch(call[1])
            model.set_epoch(call[1])
            model.iterate()    # state_dict describes it already
        elif call == 'peek' and model.passes:
            if model.passes[-1][1] < PER_EPOCH:
                check(loader.peek(), tuple(model.passes[-1]))
    check(next(iter(loader)), model.next(model.iterate()))
    assert len(loader._passes._readers) <= len(held) + 1    # the others are closed
    loader.close()


# ---- resumption


def test_a_state_that_does_not_describe_the_running_loop_is_a_warning(data):
    loader = make(data)
    for number, _ in enumerate(loader):
        if number == 1:
            next(iter(loader))    # a look at a batch
        elif number == 2:
            with pytest.warns(UserWarning, match=r'older pass.*newest.*peek\(\)') as caught:
                assert loader.state_dict()['position'] == N + SIZE
            assert caught[0].filename == __file__
            loader.seek(0)
            loader.state_dict()    # it was moved on purpose
    loader.state_dict()


@pytest.mark.filterwarnings('error')
def test_a_state_of_the_pass_in_use_is_no_warning(data):
    loader = make(data)
    held = iter(loader)
    next(held)
    for _ in loader:
        loader.state_dict()
    take(loader, 2)
    loader.state_dict()
    next(held)
    loader.set_epoch(5)
    loader.state_dict()
    next(held)
    loader.load_state_dict(make(data).state_dict())
    loader.state_dict()
    next(held)
    next(loader)
    loader.state_dict()
    for _ in zip(iter(loader), loader):
        loader.state_dict()
    for _ in loader:
        for _ in loader:
            pass
        loader.state_dict()
    loader.state_dict()
    del held
    loader.state_dict()


@pytest.mark.parametrize('options', [{}, {'drop_last': True}, {'rank': 1, 'world': 3}])
def test_a_run_resumes_without_the_number_of_its_epoch(options):
    def run(state, seen):
        """Yield each state that a program may save, as in doc/from-torch.md."""
        loader = make({'label': np.arange(N)}, **options)
        if state is not None:
            loader.load_state_dict(state)
        while loader.tell() < 3 * N:
            for batch in loader:
                seen.append((batch.position // N, batch['label'].tolist()))
                yield loader.state_dict(), len(seen)
            yield loader.state_dict(), len(seen)

    whole = []
    states = list(run(None, whole))
    assert {number for number, _ in whole} == {0, 1, 2}
    for state, count in states:
        rest = []
        for _ in run(state, rest):
            pass
        assert rest == whole[count:]
