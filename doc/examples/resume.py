# SPDX-License-Identifier: MIT
"""Stop in the middle of an epoch, and go on with exactly the samples that were still to come."""

import json

import numpy as np

import loaderx as lx

data = np.arange(10_000 * 16, dtype='float32').reshape(10_000, 16)
np.save('data.npy', data)
EPOCHS = 2


def open_loader(rank, world, threads):
    """One rank's share. What comes does not depend on the threads."""
    return lx.Loader('data.npy', batch_size=64, order=lx.Shuffle(seed=7), epochs=EPOCHS,
                     rank=rank, world=world, threads=threads)


def step(batch):
    return batch['data'][:, 0].tolist()


# A run that is never stopped, on one rank.
whole = [sample for batch in open_loader(0, 1, threads=0) for sample in step(batch)]

# The same run, stopped after 50 batches. The state is small, and JSON can hold it.
first = []
with open_loader(0, 1, threads=2) as loader:
    for count, batch in enumerate(loader, start=1):
        first += step(batch)
        if count == 50:
            break
    with open('state.json', 'w') as file:
        json.dump(loader.state_dict(), file)

# It goes on, perhaps in another process, with another number of threads.
with open('state.json') as file:
    state = json.load(file)
with open_loader(0, 1, threads=4) as loader:
    loader.load_state_dict(state)
    second = [sample for batch in loader for sample in step(batch)]
print(f'{len(first)} samples, then {len(second)}, of {len(whole)}')
assert first + second == whole

# And on two ranks: together they take the same samples, each of them once.
ranks = []
for rank in range(2):
    with open_loader(rank, 2, threads=1) as loader:
        loader.load_state_dict(state)
        ranks.append([sample for batch in loader for sample in step(batch)])
print(f'on two ranks: {len(ranks[0])} and {len(ranks[1])}')
assert sorted(ranks[0] + ranks[1]) == sorted(second)

# Another order is not gone on with by mistake.
try:
    lx.Loader('data.npy', order=lx.Shuffle(seed=8)).load_state_dict(state)
except ValueError as error:
    print(f'refused: {error}')
else:
    raise AssertionError('a state of another order was taken')
