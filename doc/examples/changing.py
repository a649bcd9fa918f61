# SPDX-License-Identifier: MIT
"""A dataset that is changed while a loader reads it: relabeled, cleaned, grown."""

import threading

import numpy as np

import loaderx as lx

N = 4000
draw = np.random.default_rng(0)
points = draw.normal(size=(N, 8)).astype('float32')
truth = (points.sum(axis=1) > 0).astype('int64')
noisy = np.where(draw.random(N) < 0.2, 1 - truth, truth)    # a fifth of the labels are wrong

fields = {'point': lx.Field('float32', (8,)), 'label': lx.Field('int64')}
with lx.create('relabeled', fields) as writer:
    writer.extend(point=points, label=noisy)

# A loader that reads the snapshot of its opening, and one that reads each batch from the newest.
before = lx.open('relabeled')
live = lx.open('relabeled', live=True)


def correct():
    """Correct the labels, a hundred at a time; readers see complete commits."""
    writer = lx.open('relabeled', mode='r+')
    for first in range(0, N, 100):
        stretch = slice(first, first + 100)
        writer[stretch] = {'label': truth[stretch]}
        writer.commit()
    writer.close()


def share_of_right(batch):
    return float((batch['label'] == (batch['point'].sum(axis=1) > 0)).mean())


thread = threading.Thread(target=correct)
thread.start()
with lx.Loader(live, batch_size=200, order=lx.Shuffle(seed=1), epochs=5) as loader:
    shares = [share_of_right(batch) for batch in loader]
thread.join()
print(f'right labels: {shares[0]:.0%} in the first batch, {shares[-1]:.0%} in the last')

with lx.Loader(before, batch_size=N) as loader:
    old = next(loader)
assert np.array_equal(old['label'], noisy)    # despite the commits since
assert before.refresh() and np.array_equal(before['label'][:], truth)

# A new field, missing until it is written; deleted records; new records.
with lx.open('relabeled', mode='r+') as writer:
    writer.add_field('score', lx.Field('float32'))
    writer[:100] = {'score': np.linspace(0, 1, 100, dtype='float32')}
    moved = writer.delete(np.abs(points).max(axis=1) > 3)    # the last records take their places
    writer.append(point=np.zeros(8, 'float32'), label=0, score=0.5)
with lx.open('relabeled') as now:
    print(f'{len(now)} records; {now["score"].present().sum()} have a score')
    assert list(now.fields) == ['point', 'label', 'score']
    kept = now['point'][:-1]
    assert all(np.array_equal(kept[place], points[index]) for index, place in moved)
print(f'live: {len(live)} records, of {list(live.fields)}')

# Release the space of replaced values.
with lx.open('relabeled', mode='r+') as writer:
    done = writer.rebalance()
print(f'live bytes: {done["live_ratio_before"]:.0%} of the chunks before, '
      f'{done["live_ratio_after"]:.0%} after')
assert done['live_ratio_after'] == 1
