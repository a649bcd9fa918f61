# SPDX-License-Identifier: MIT
"""Sources of a loader: datasets, .npy files and arrays, also combined; and orders by themselves."""

import numpy as np

import loaderx as lx

images = np.random.default_rng(0).integers(0, 256, (5000, 32, 32), dtype=np.uint8)
scores = images.mean(axis=(1, 2)).astype('float32')

with lx.create('textures', {'image': lx.Field('uint8', (32, 32), compress='flate')}) as writer:
    writer.extend(image=images)
np.save('scores.npy', scores)
index = np.arange(len(images))

# A dict names the columns. The array is read in place, the file is mapped.
source = {'image': 'textures', 'score': 'scores.npy', 'index': index}
for batch in lx.Loader(source, batch_size=512, order=lx.Shuffle(seed=1)):
    assert np.array_equal(batch['image'], images[batch['index']])
    assert np.array_equal(batch['score'], scores[batch['index']])
print(list(batch), batch['image'].shape)

# A pair of arrays is `data` and `label`.
batch = next(lx.Loader((images, scores), batch_size=8))
print(list(batch), batch['data'].dtype, batch['label'].dtype)

# An order maps positions to indices. A window whose stride is less than its length gives
# overlapping sequences.
order = lx.Sequential(n=len(images), window=16, stride=4)
print(order.take(34))
assert order.take(0).shape == (0,) and order.tell() == 34

# Any position can be read at once, even one after a hundred million epochs.
order = lx.Shuffle(n=len(images), seed=1)
order.seek(10**8 * len(images))
assert sorted(order.take(len(images))) == index.tolist()

# Orders can be combined: another thousand of the bright images in every epoch.
bright = lx.Subset(np.flatnonzero(scores >= np.median(scores)), seed=1)
for batch in lx.Loader(source, batch_size=250, order=lx.Slice(bright, 0, 1000), epochs=2):
    assert batch['score'].min() >= np.median(scores)

# Several ranks share an order; each index goes to one rank.
shares = [lx.Shuffle(n=len(images), seed=1).shard(rank, 4).take(1250) for rank in range(4)]
assert sorted(np.concatenate(shares)) == index.tolist()
