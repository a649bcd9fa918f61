# SPDX-License-Identifier: MIT
"""A Lightning data module over stored images. A training run that is interrupted resumes from
Lightning's checkpoint of any step with the next batch, and sees the same batches as an
uninterrupted one.

Needs Lightning (exit status 77 means skipped). The images are those of dataset-fashion-mnist if it
is installed; otherwise they are synthetic: two lines at one of ten places, with noise.
"""

import gzip
import logging
import os
import sys
import warnings

import numpy as np

try:
    import lightning
    import torch
except ModuleNotFoundError as error:
    print(f'SKIP: there is no {error.name}')
    sys.exit(77)

import loaderx as lx
from loaderx.torch import DataLoader, DistributedSampler


def load(count=10_000):
    folder = '/usr/share/datasets/fashion-mnist/train-'
    try:
        with gzip.open(folder + 'images-idx3-ubyte.gz') as file:
            images = np.frombuffer(file.read(), np.uint8, 784 * count, 16)
        with gzip.open(folder + 'labels-idx1-ubyte.gz') as file:
            labels = np.frombuffer(file.read(), np.uint8, count, 8)
    except FileNotFoundError:
        print('synthetic images: dataset-fashion-mnist is not installed')
        draw = np.random.default_rng(0)
        labels = draw.integers(0, 10, count)
        images = draw.integers(0, 64, (count, 28, 28), dtype=np.uint8)
        for row in 4, 5:
            images[np.arange(count), 2 * labels + row] = 255
    return images.reshape(count, 28, 28), labels


images, labels = load()
with lx.create('images', {'image': lx.Field('uint8', (28, 28)), 'label': lx.Field('int64')}) as w:
    w.extend(image=images, label=labels)


class Images(lightning.LightningDataModule):
    """Each rank has its share of one order, which depends on the seed and the epoch alone."""

    def setup(self, stage):
        self.images = lx.open('images')

    def train_dataloader(self):
        sampler = DistributedSampler(self.images, self.trainer.world_size,
                                     self.trainer.global_rank, seed=42)
        sampler.set_epoch(self.trainer.current_epoch)    # Lightning calls it for later epochs
        return DataLoader(self.images, batch_size=200, sampler=sampler, num_workers=2,
                          drop_last=True)


class Classifier(lightning.LightningModule):
    """It records the labels of its batches."""

    def __init__(self, fails_at=None):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64),
                                          torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.fails_at, self.seen, self.losses = fails_at, [], []

    def training_step(self, batch, index):
        if self.global_step == self.fails_at:
            raise RuntimeError('simulated crash')
        loss = torch.nn.functional.cross_entropy(self.layers(batch['image'] / 255), batch['label'])
        self.seen.append((self.current_epoch, index, batch['label'].clone()))
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def train(model, name, checkpoint=None):
    every = lightning.pytorch.callbacks.ModelCheckpoint(
        dirpath=name, filename='{step}', every_n_train_steps=10, save_top_k=-1)
    trainer = lightning.Trainer(
        accelerator='cpu', devices=1, max_epochs=2, callbacks=[every], logger=False,
        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, datamodule=Images(), ckpt_path=checkpoint)
    return model


warnings.filterwarnings('ignore')    # of workers, which Lightning expects to be processes
logging.getLogger('lightning.pytorch').setLevel(logging.ERROR)
torch.set_num_threads(1)

torch.manual_seed(0)
whole = train(Classifier(), 'whole')
print(f'{len(whole.seen)} steps, loss {whole.losses[0]:.2f} to {whole.losses[-1]:.2f}')
assert whole.losses[-1] < whole.losses[0] / 2

torch.manual_seed(0)
try:
    train(Classifier(fails_at=len(whole.seen) * 2 // 3), 'stopped')
except RuntimeError as error:
    print(f'stopped: {error}')


def step_of(checkpoint):
    return int(checkpoint[len('step='):-len('.ckpt')])


# From the newest checkpoint, within an epoch; and from one at the end of an epoch.
for checkpoint in max(os.listdir('stopped'), key=step_of), f'step={len(whole.seen) // 2}.ckpt':
    step = step_of(checkpoint)
    resumed = train(Classifier(), 'resumed', os.path.join('stopped', checkpoint))
    same = resumed.losses == whole.losses[step:] and all(
        one[:2] == other[:2] and torch.equal(one[2], other[2])
        for one, other in zip(resumed.seen, whole.seen[step:]))
    print(f'{len(resumed.seen)} steps after step {step}:', 'the same' if same else 'NOT the same')
    assert same
