# SPDX-License-Identifier: MIT
"""Training on a GPU, or on the CPU if there is none: batches in pinned memory, copies that
overlap with the work of the device, and a resumed run.
"""

import sys

import numpy as np

import loaderx as lx

try:
    import torch
except ImportError:
    print('PyTorch is not installed: nothing is shown')
    sys.exit(0)

from loaderx.torch import DevicePrefetcher

device = 'cuda' if torch.cuda.is_available() else 'cpu'
draw = np.random.default_rng(0)
labels = draw.integers(0, 2, 20_000)
points = (draw.normal(size=(20_000, 8)) + labels[:, None] * 1.5 - 0.75).astype('float32')


def make_loader():
    return lx.Loader({'point': points, 'label': labels}, batch_size=256, order=lx.Shuffle(seed=42),
                     out='torch', pin_memory=device != 'cpu')


torch.set_num_threads(1)
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = DevicePrefetcher(make_loader(), device)
for epoch in range(3):
    right = torch.zeros((), dtype=torch.int64, device=device)    # read only after the epoch
    for batch in batches:    # the tensors are on the device
        outputs = model(batch['point'])
        loss = torch.nn.functional.cross_entropy(outputs, batch['label'])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (outputs.argmax(1) == batch['label']).sum()
    print(f'epoch {epoch}: {100 * int(right) / len(labels):.1f} % of {len(labels)} right')
assert int(right) > 0.95 * len(labels)

# Stop within an epoch and resume.
iterator = iter(batches)
for _ in range(30):
    next(iterator)
resumed = DevicePrefetcher(make_loader(), device)
resumed.load_state_dict(batches.state_dict())
rest = [batch['label'] for batch in iterator]
again = [batch['label'] for batch in resumed]
assert len(again) == len(rest) and all(map(torch.equal, again, rest))
print(f'{len(again)} batches after the state are the same')
