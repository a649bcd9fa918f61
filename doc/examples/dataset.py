# SPDX-License-Identifier: MIT
"""A dataset: fields, a transaction, records as arrays, reads into existing memory, and zero-copy
views."""

import numpy as np

import loaderx as lx

images = np.random.default_rng(0).integers(0, 256, (1000, 28, 28), np.uint8)
captions = [None if i % 10 == 0 else b'picture %d' % i for i in range(1000)]  # None: missing

fields = {'data': lx.Field('uint8', (28, 28)), 'label': lx.Field('int64'),
          'caption': lx.Field(bytes, compress='flate')}
with lx.create('pictures', fields) as writer:
    writer.extend(data=images, label=np.arange(1000) % 10, caption=captions)

try:
    with lx.open('pictures', mode='a') as writer:
        writer.append(data=images[0], label=3, caption=b'one more')
        raise RuntimeError('something went wrong')
except RuntimeError:
    pass  # the transaction was undone

dataset = lx.open('pictures')
print(dataset)
print('record 5:', dataset[5]['label'], dataset[5]['caption'])
print('some:', dataset['data'][[3, 1, 2]].shape, dataset['data'][10:20].shape)
print('one class:', dataset['data'][np.asarray(dataset['label']) == 7].shape)

# Read directly into existing memory.
batch = {'data': np.empty((4, 28, 28), np.uint8), 'label': np.empty(4, np.int64)}
dataset.gather([-1, 5, 5, 0], out=batch)
print('labels:', batch['label'])

# A view of the stored records, without a copy; arrays that outlive the block keep its memory.
with dataset.views([1, 2], fields=['data']) as views:
    first = views['data'][0]
dataset.close()

assert len(captions) == 1000 and np.array_equal(first, images[1])
assert np.array_equal(batch['data'], images[[-1, 5, 5, 0]])
