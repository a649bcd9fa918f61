# SPDX-License-Identifier: MIT
"""A PyTorch training loop: the arguments of its DataLoader over a stored dataset, threads as
workers, and a state that resumes a stopped run exactly.
"""

import json
import sys

import numpy as np

import loaderx as lx

try:
    import torch
    from torch.utils import data
except ImportError:
    print('PyTorch is not installed: nothing is shown')
    sys.exit(0)

from loaderx.torch import DataLoader

# Points in two clouds; the label is the cloud.
draw = np.random.default_rng(0)
labels = draw.integers(0, 2, 20_000)
points = (draw.normal(size=(20_000, 8)) + labels[:, None] * 1.5 - 0.75).astype('float32')
fields = {'point': lx.Field('float32', (8,)), 'label': lx.Field('int64')}
with lx.create('clouds', fields) as writer:
    writer.extend(point=points, label=labels)
dataset = lx.open('clouds')


def make_loader():
    return DataLoader(dataset, batch_size=256, shuffle=True, num_workers=2,
                      generator=torch.Generator().manual_seed(42))


torch.set_num_threads(1)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = make_loader()
for epoch in range(3):
    correct = 0
    for batch in loader:
        outputs = model(batch['point'])
        loss = torch.nn.functional.cross_entropy(outputs, batch['label'])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += int((outputs.argmax(1) == batch['label']).sum())
    print(f'epoch {epoch}: {100 * correct / len(dataset):.1f} % of {len(dataset)} right')
assert correct > 0.95 * len(dataset)

# Stop within an epoch and resume: earlier records are not read again.
iterator = iter(loader)
for _ in range(30):
    next(iterator)
state = json.loads(json.dumps(loader.state_dict()))    # as saved with the model
rest = [batch['label'] for batch in iterator]
resumed = make_loader()
resumed.load_state_dict(state)
again = [batch['label'] for batch in resumed]
same = len(again) == len(rest) and all(map(torch.equal, again, rest))
print(f'{len(again)} batches after the state:', 'the same' if same else 'NOT the same')
assert same

# torch's own loader accepts the dataset, too, and gives the same batches.
own = data.DataLoader(dataset, batch_size=256, shuffle=True,
                      generator=torch.Generator().manual_seed(42))
assert all(torch.equal(one['label'], other['label']) for one, other in zip(own, make_loader()))
