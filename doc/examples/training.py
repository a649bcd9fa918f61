# SPDX-License-Identifier: MIT
"""A training loop: a dataset with several fields, a shuffle, a transform, and one epoch a `for`."""

import numpy as np

import loaderx as lx

# Points in two clouds; the label is the cloud.
draw = np.random.default_rng(0)
labels = draw.integers(0, 2, 20_000)
points = (draw.normal(size=(20_000, 8)) + labels[:, None] * 1.5).astype('float32')

fields = {'point': lx.Field('float32', (8,)), 'label': lx.Field('int64'), 'note': lx.Field(bytes)}
with lx.create('clouds', fields) as writer:  # leaving the block commits
    writer.extend(point=points, label=labels, note=[b'cloud %d' % label for label in labels])


def transform(batch):
    """Called on the threads of the loader; returns the batch to deliver."""
    return (batch['point'] - 0.75) / 1.25, batch['label'].astype('float32')


weights = np.zeros(8, dtype='float32')
bias = np.float32(0)
dataset = lx.open('clouds')
loader = lx.Loader(dataset, fields=['point', 'label'], batch_size=256, order=lx.Shuffle(seed=42),
                   transform=transform)
with loader:
    for epoch in range(5):
        correct = 0
        for inputs, targets in loader:
            outputs = 1 / (1 + np.exp(-(inputs @ weights + bias)))
            error = outputs - targets
            weights -= 0.5 * (inputs.T @ error) / len(error)
            bias -= 0.5 * error.mean()
            correct += int(((outputs > 0.5) == (targets > 0.5)).sum())
        print(f'epoch {epoch}: {100 * correct / len(dataset):.1f} % of {len(dataset)} right, '
              f'{len(loader)} batches')
    stats = loader.stats()
print(f'{stats["batches"]} batches. {stats.summary}')

assert correct > 0.95 * len(dataset)
assert stats['records'] == 5 * len(dataset)
