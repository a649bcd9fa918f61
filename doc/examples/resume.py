# SPDX-License-Identifier: MIT
"""Stop in the middle of an epoch, and resume with exactly the remaining samples."""

import json

import numpy as np

import loaderx as lx

data = np.arange(10_000 * 16, dtype='float32').reshape(10_000, 16)
np.save('data.npy', data)
EPOCHS = 2


def open_loader(rank, world, threads):
    """Open a loader of one rank. The batches do not depend on the number of threads."""
    return lx.Loader('data.npy', batch_size=64, order=lx.Shuffle(seed=7), epochs=EPOCHS,
                     rank=rank, world=world, threads=threads)


def step(batch):
    return batch['data'][:, 0].tolist()


# An uninterrupted run, on one rank.
whole = [sample for batch in open_loader(0, 1, threads=0) for sample in step(batch)]

# The same run, stopped after 50 batches. The state is a small JSON object.
first = []
with open_loader(0, 1, threads=2) as loader:
    for count, batch in enumerate(loader, start=1):
        first += step(batch)
        if count == 50:
            break
    with open('state.json', 'w') as file:
        json.dump(loader.state_dict(), file)

# Resume, perhaps in another process, with another number of threads.
with open('state.json') as file:
    state = json.load(file)
with open_loader(0, 1, threads=4) as loader:
    loader.load_state_dict(state)
    second = [sample for batch in loader for sample in step(batch)]
print(f'{len(first)} samples, then {len(second)}, of {len(whole)}')
assert first + second == whole

# Resume on two ranks: together they take the same samples, each once.
ranks = []
for rank in range(2):
    with open_loader(rank, 2, threads=1) as loader:
        loader.load_state_dict(state)
        ranks.append([sample for batch in loader for sample in step(batch)])
print(f'on two ranks: {len(ranks[0])} and {len(ranks[1])}')
assert sorted(ranks[0] + ranks[1]) == sorted(second)

# A state of another order is rejected.
try:
    lx.Loader('data.npy', order=lx.Shuffle(seed=8)).load_state_dict(state)
except ValueError as error:
    print(f'refused: {error}')
else:
    raise AssertionError('a state of another order was taken')
