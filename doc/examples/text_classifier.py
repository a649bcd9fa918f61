# SPDX-License-Identifier: MIT
"""A text model trained from a str field: batches of texts of any length, without padding. The run
is stopped in the middle of an epoch, and resumes to the same parameters, bit for bit.

The texts are pieces of the modules of this Python; the model tells the packages apart.
"""

import pathlib
import sys
import sysconfig

import loaderx as lx

try:
    import torch
except ImportError:
    print('PyTorch is not installed: nothing is shown')
    sys.exit(77)

PACKAGES = ['asyncio', 'email', 'idlelib', 'unittest']
PIECE = 400    # characters

texts, labels = [], []
for label, package in enumerate(PACKAGES):
    for path in sorted(pathlib.Path(sysconfig.get_path('stdlib'), package).glob('*.py')):
        code = path.read_text(encoding='utf-8')
        # Pieces of 200 to 599 characters: no two batches have the same size.
        pieces = [code[i:i + PIECE // 2 + i % PIECE] for i in range(0, len(code), PIECE + 1)]
        texts += pieces
        labels += [label] * len(pieces)
with lx.create('pieces', {'text': lx.Field(str), 'label': lx.Field('int64')}) as writer:
    writer.extend(text=texts, label=labels)
dataset = lx.open('pieces')
print(f"{len(dataset)} texts, the first one of {len(dataset['text'][0])} characters")


class Model(torch.nn.Module):
    """A bag of the pairs of adjacent bytes of a text."""

    def __init__(self):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(1 << 16, len(PACKAGES), mode='mean',
                                         include_last_offset=True)

    def forward(self, texts):
        codes = texts.values.long()
        return self.bag(codes * 256 + codes.roll(-1), torch.from_numpy(texts.offsets))


def begin():
    torch.manual_seed(0)
    model = Model()
    loader = lx.Loader(dataset, order=lx.Shuffle(seed=1), batch_size=64, epochs=4, out='torch')
    return model, torch.optim.Adam(model.parameters(), lr=0.05), loader


def train(model, optimizer, batches, steps=None):
    """Train with some batches or with all that are left; return the share that was right."""
    right = count = 0
    for batch in batches:
        outputs = model(batch['text'])
        loss = torch.nn.functional.cross_entropy(outputs, batch['label'])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((outputs.argmax(1) == batch['label']).sum())
        count += len(batch['label'])
        if steps is not None and (steps := steps - 1) == 0:
            break
    return right / count


torch.set_num_threads(1)
model, optimizer, loader = begin()
print(f'{100 * train(model, optimizer, loader):.0f} % were right during 4 epochs')

stopped, optimizer, loader = begin()
train(stopped, optimizer, loader, steps=len(loader) // 2 + 3)
saved = {'model': stopped.state_dict(), 'optimizer': optimizer.state_dict(),
         'loader': loader.state_dict()}

resumed, optimizer, loader = begin()    # in a new process, usually
resumed.load_state_dict(saved['model'])
optimizer.load_state_dict(saved['optimizer'])
loader.load_state_dict(saved['loader'])
train(resumed, optimizer, loader)
same = torch.equal(model.bag.weight, resumed.bag.weight)
print('stopped and resumed:', 'the same parameters' if same else 'OTHER parameters')
assert same
