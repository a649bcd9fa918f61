# SPDX-License-Identifier: MIT
"""The Trainer of Hugging Face's transformers over stored images: with torch's own DataLoader, and
with that of loaderx, whose position is saved in checkpoints. A training run that is interrupted
within an epoch resumes with the next batch.

Needs transformers and accelerate (exit status 77 means skipped). The images are those of
dataset-fashion-mnist if it is installed; otherwise they are synthetic: two lines at one of ten
places, with noise.
"""

import gzip
import os
import sys

import numpy as np

os.environ['CUDA_VISIBLE_DEVICES'] = ''
try:
    import accelerate
    import torch
    import transformers
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
with lx.create('images', {'image': lx.Field('uint8', (28, 28)),
                          'labels': lx.Field('int64')}) as writer:
    writer.extend(image=images, labels=labels)


class Classifier(torch.nn.Module):
    """The Trainer passes the fields of a batch by name."""

    def __init__(self, fails_at=None):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64),
                                          torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.fails_at, self.seen, self.losses = fails_at, [], []

    def forward(self, image, labels):
        if len(self.seen) == self.fails_at:
            raise RuntimeError('simulated crash')
        logits = self.layers(image / 255)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        self.seen.append(labels.clone())
        self.losses.append(loss.item())
        return {'loss': loss, 'logits': logits}


class Trainer(transformers.Trainer):
    """Each rank has its share of one order, which depends on the seed and the epoch alone."""

    def get_train_dataloader(self):
        sampler = DistributedSampler(self.train_dataset, self.args.world_size,
                                     self.args.process_index, seed=self.args.seed)
        return DataLoader(self.train_dataset, batch_size=self.args.train_batch_size,
                          sampler=sampler, num_workers=2, drop_last=True)


class Place(transformers.TrainerCallback, transformers.trainer_callback.ExportableState):
    """Saves the position of the loader in the trainer_state.json of each checkpoint."""

    loader = place = None

    def state(self):
        place = self.loader.state_dict() if self.loader is not None else None
        return {'args': {}, 'attributes': {'place': place}}

    def on_train_begin(self, args, state, control, train_dataloader=None, **more):
        self.loader = train_dataloader
        # A complete epoch has no batches left, and the Trainer requests the next one.
        if self.place is not None and self.place['batches'] < len(self.loader):
            self.loader.load_state_dict(self.place)

    def on_epoch_begin(self, args, state, control, **more):
        steps = len(self.loader) // args.gradient_accumulation_steps
        self.loader.sampler.set_epoch(state.global_step // steps)


def train(kind, folder, checkpoint=None, fails_at=None, **more):
    torch.manual_seed(0)
    model = Classifier(fails_at)
    arguments = transformers.TrainingArguments(
        folder, num_train_epochs=2, per_device_train_batch_size=200, learning_rate=1e-3,
        lr_scheduler_type='constant', save_steps=10, logging_strategy='no', report_to='none',
        disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False, seed=42, **more)
    trainer = kind(model, arguments, train_dataset=lx.open('images'),
                   callbacks=[Place()] if kind is Trainer else None)
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint)
    return model


def step_of(checkpoint):
    return int(checkpoint.split('-')[1])


def compare(kind, name, **more):
    """Train, and train again with an interruption."""
    whole = train(kind, f'{name}-whole', **more)
    steps = len(whole.seen)
    print(f'{name}: {steps} steps, loss {whole.losses[0]:.2f} to {whole.losses[-1]:.2f}')
    assert whole.losses[-1] < whole.losses[0] / 2
    try:
        train(kind, f'{name}-stopped', fails_at=steps * 2 // 3, **more)
    except RuntimeError as error:
        print(f'stopped: {error}')
    # From the newest checkpoint, within an epoch; and from one at the end of an epoch.
    for checkpoint in (max(os.listdir(f'{name}-stopped'), key=step_of), f'checkpoint-{steps // 2}'):
        step = step_of(checkpoint)
        resumed = train(kind, f'{name}-resumed', f'{name}-stopped/{checkpoint}', **more)
        same = resumed.losses == whole.losses[step:] and all(
            map(torch.equal, resumed.seen, whole.seen[step:]))
        result = 'the same' if same else 'NOT the same'
        print(f'{len(resumed.seen)} steps after step {step}: {result}')
        assert same


transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
compare(transformers.Trainer, 'torch')
# The loader seeks by itself, so the Trainer must not skip batches.
compare(Trainer, 'loaderx', ignore_data_skip=True, restore_callback_states_from_checkpoint=True)
