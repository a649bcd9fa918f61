# SPDX-License-Identifier: MIT
"""accelerate, and so the Trainer of transformers, accepts loaderx's classes unchanged."""

import json

import pytest

torch = pytest.importorskip('torch')
accelerate = pytest.importorskip('accelerate')
pytest.importorskip('hypothesis')    # required by torch_loaders

import numpy as np
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from torch_loaders import same

RECORDS, BATCH = 60, 7
STEPS = -(-RECORDS // BATCH)

pytestmark = pytest.mark.filterwarnings('ignore')    # their warnings


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp('accelerate') / 'numbers'
    with lx.create(folder, {'x': lx.Field('float32', (3,)), 'label': lx.Field('int64')}) as writer:
        writer.extend(x=np.ones((RECORDS, 3), 'float32'), label=np.arange(RECORDS))
    with lx.open(folder) as dataset:
        yield dataset


def make(dataset, kind=lt.DataLoader, workers=0):
    return kind(dataset, BATCH, shuffle=True, num_workers=workers,
                generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize('kind', [lt.DataLoader, data.DataLoader])
def test_a_prepared_loader_gives_the_same(dataset, kind):
    prepared = accelerate.Accelerator(cpu=True).prepare(make(dataset, kind))
    expected = make(dataset, data.DataLoader)
    for _ in range(2):
        assert same(list(prepared), list(expected))


@pytest.mark.parametrize('prepared', [False, True])
def test_batches_are_skipped(dataset, prepared):
    accelerator = accelerate.Accelerator(cpu=True)
    loader = make(dataset)
    if prepared:
        loader = accelerator.prepare(loader)
    expected = list(make(dataset, data.DataLoader))
    assert same(list(accelerate.skip_first_batches(loader, 4)), expected[4:])


class Recorder(torch.nn.Module):
    """A model that records its inputs."""

    def __init__(self):
        super().__init__()
        self.layer, self.seen = torch.nn.Linear(3, 1), []

    def forward(self, x, labels):
        self.seen.append(labels.tolist())
        return {'loss': self.layer(x).sum()}


def train(dataset, folder, resumed=None):
    transformers = pytest.importorskip('transformers')
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=2, per_device_train_batch_size=BATCH, save_steps=1,
        logging_strategy='no', report_to='none', disable_tqdm=True, use_cpu=True,
        dataloader_pin_memory=False)
    trainer = transformers.Trainer(Recorder(), arguments, train_dataset=dataset)
    trainer.train(resume_from_checkpoint=resumed)
    return trainer.model.seen


def test_the_trainer_takes_a_dataset_and_continues(tmp_path, dataset):
    whole = train(dataset, tmp_path / 'whole')
    for first in 0, STEPS:
        assert sorted(sum(whole[first:first + STEPS], [])) == list(range(RECORDS))
    for step in 1, STEPS, STEPS + 3:
        folder = tmp_path / 'whole' / f'checkpoint-{step}'
        assert json.loads((folder / 'trainer_state.json').read_text())['global_step'] == step
        assert train(dataset, tmp_path / 'again', str(folder)) == whole[step:]
