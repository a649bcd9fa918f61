# SPDX-License-Identifier: MIT
"""Runs that stop up to five times and continue with other ranks, batch sizes and threads.

Orders are of all kinds, including mixtures whose weights change. Each position of the run must
occur once, with the index of the one global order; ``LOADERX_PROPERTY_EXAMPLES=5000`` makes the
tests long.
"""

import json

import numpy as np
import pytest

pytest.importorskip('hypothesis')

from hypothesis import given
from hypothesis import strategies as st

import loaderx as lx
from test_orders_property import ORDERS, SETTINGS, records_of

CHANGES = 5
WITH_LENGTH = ORDERS.filter(lambda model: model.length)


class Run:
    """The indices that ranks received, compared with the model of the order."""

    def __init__(self, model, epochs):
        self.model, self.end, self.seen, self.dropped = model, model.length * epochs, {}, 0

    def see(self, position, end, rank, world, indices):
        """Record that a rank received its positions up to `end`, which are in one epoch."""
        n = self.model.length
        mine = [k for k in range(position, end) if k % n % world == rank]
        assert indices == [self.model.at(k) for k in mine]
        assert not self.seen.keys() & mine and max(mine, default=0) < self.end
        self.seen.update(zip(mine, indices))

    def check(self):
        """Check that all indices except dropped ones were received."""
        assert len(self.seen) + self.dropped == self.end
        if not self.dropped:
            whole = [self.model.at(k) for k in range(self.end)]
            assert [self.seen[k] for k in range(self.end)] == whole


def through_json(state):
    return json.loads(json.dumps(state, indent=1))


def window(position, size, length):
    """Return the end of the next positions of all ranks."""
    return min(position + size, position - position % length + length)


def advance(run, state, position, world, steps):
    """Advance all ranks along the order; return their position and state."""
    n = run.model.length
    end, count = position, 0
    while end < run.end and count < steps:
        end, count = window(end, world, n), count + 1
    for rank in range(world):
        walker = run.model.order.shard(rank, world)
        if state is not None:
            walker.load_state_dict(state)
        assert walker.tell() == position
        here = position
        while here < end:
            there = window(here, world, n)
            if any(k % n % world == rank for k in range(here, there)):
                run.see(here, there, rank, world, walker.take(1).tolist())
            here = there
        if walker.tell() == end:    # except for a rank without indices at the end of an epoch
            last = walker.state_dict()
    return end, through_json(last) if end > position else state


@SETTINGS
@given(WITH_LENGTH, st.integers(1, 3),
       st.lists(st.tuples(st.integers(1, 9), st.integers(0, 40)), max_size=CHANGES),
       st.integers(1, 9))
def test_orders_continue_on_other_ranks(model, epochs, legs, last):
    run = Run(model, epochs)
    state, position = None, 0
    for world, steps in [*legs, (last, run.end)]:
        position, state = advance(run, state, position, world, steps)
    assert position == run.end
    run.check()


class Team:
    """The loaders of all ranks, from a state on."""

    def __init__(self, run, data, state, setup, last):
        self.run, (self.world, self.size, threads) = run, setup
        self.uneven = last == 'uneven'
        self.ranks = [lx.Loader(data, order=run.model.order, batch_size=self.size, rank=rank,
                                world=self.world, threads=threads, drop_last=last == 'dropped',
                                uneven=self.uneven)
                      for rank in range(self.world)]
        for loader in self.ranks if state is not None else ():
            loader.load_state_dict(state)
        run.dropped += self.tell() - (state['position'] if state is not None else 0)

    def tell(self):
        where = {loader.tell() for loader in self.ranks}
        assert len(where) == 1    # all ranks have the same position after every step
        return where.pop()

    def step(self):
        """Take a batch on all ranks; return False at the end of an epoch, if none has one."""
        here, n = self.tell(), self.run.model.length
        batches = [next(loader, None) for loader in self.ranks]
        for rank, batch in enumerate(batches):
            if batch is not None:
                self.run.see(here, window(here, self.world * self.size, n), rank, self.world,
                             batch['data'][batch.real].tolist())
        if not self.uneven:    # as many records on all ranks
            assert len({batch if batch is None else len(batch.real) for batch in batches}) == 1
        if any(batch is not None for batch in batches):
            return True
        self.run.dropped += self.tell() - here
        assert self.tell() - here < self.world * self.size
        for loader in self.ranks:
            iter(loader)    # continues with the next epoch
        return False

    def stop(self, chosen):
        """Return the state of one rank."""
        state = through_json(self.ranks[chosen % self.world].state_dict())
        for loader in self.ranks:
            loader.close()
        return state


SETUPS = st.tuples(st.integers(1, 4), st.integers(1, 17), st.integers(0, 2))


@SETTINGS
@given(WITH_LENGTH, st.integers(1, 3), st.sampled_from(['padded', 'uneven', 'dropped']),
       st.lists(st.tuples(SETUPS, st.integers(0, 15), st.integers(0, 9)), max_size=CHANGES),
       SETUPS)
def test_loaders_continue_with_another_configuration(model, epochs, policy, legs, last):
    run, state = Run(model, epochs), None
    data = np.arange(records_of(model))
    for setup, steps, chosen in [*legs, (last, run.end + 1, 0)]:
        team = Team(run, data, state, setup, policy)
        while steps > 0 and team.tell() < run.end:
            steps -= team.step()
        state = team.stop(chosen)
    assert policy == 'dropped' or run.dropped == 0
    run.check()
