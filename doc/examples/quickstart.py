# SPDX-License-Identifier: MIT
"""Quick start: write an array to a dataset, and load endless batches."""

import numpy as np

from loaderx import ARDataset, DataLoader, NPDataset, converter

# The data: images, and a label for each.
images = np.random.default_rng(0).integers(0, 256, (3000, 28, 28), dtype=np.uint8)
labels = images[:, 0, 0].astype(np.int64)
np.save('train_data.npy', images)
np.save('train_label.npy', labels)

converter(np.load('train_data.npy', mmap_mode='r'), 'train_data')
loader = DataLoader(ARDataset('train_data'), NPDataset('train_label.npy'))

for i, batch in enumerate(loader):
    if i >= 256:
        break
print(batch['data'].shape, batch['label'].shape)

assert batch['data'].shape == (256, 28, 28) and batch['label'].shape == (256,)
assert np.array_equal(batch['data'][:, 0, 0], batch['label'])
