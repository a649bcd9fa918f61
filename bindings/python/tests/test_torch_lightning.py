# SPDX-License-Identifier: MIT
"""Lightning accepts loaderx.torch.DataLoader: it copies the loader and saves its state."""

import json

import pytest

torch = pytest.importorskip('torch')
lightning = pytest.importorskip('lightning.pytorch')
pytest.importorskip('hypothesis')    # required by torch_loaders

import numpy as np
from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from torch_loaders import same

RECORDS, BATCH = 60, 7
STEPS = -(-RECORDS // BATCH)

pytestmark = pytest.mark.filterwarnings('ignore')    # of Lightning, workers and logs


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp('lightning') / 'numbers'
    with lx.create(folder, {'x': lx.Field('float32', (3,)), 'i': lx.Field('int64')}) as writer:
        writer.extend(x=np.ones((RECORDS, 3), 'float32'), i=np.arange(RECORDS))
    with lx.open(folder) as dataset:
        yield dataset


class Recorder(lightning.LightningModule):
    """A model that records its inputs."""

    def __init__(self, fails_at=None):
        super().__init__()
        self.layer, self.fails_at, self.seen = torch.nn.Linear(3, 1), fails_at, []

    def training_step(self, batch, index):
        if self.global_step == self.fails_at:
            raise RuntimeError('mine')
        self.seen.append((self.current_epoch, index, batch['i'].tolist()))
        return self.layer(batch['x']).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def fit(model, loader, folder=None, resumed=None, epochs=3):
    every = [lightning.callbacks.ModelCheckpoint(folder, '{step}', every_n_train_steps=1,
                                                 save_top_k=-1)] if folder else []
    trainer = lightning.Trainer(
        accelerator='cpu', devices=1, max_epochs=epochs, callbacks=every, logger=False,
        enable_checkpointing=bool(folder), enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, loader, ckpt_path=resumed)
    return model.seen


def make(dataset, workers, kind=lt.DataLoader):
    return kind(dataset, BATCH, shuffle=True, num_workers=workers,
                generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize('workers', [0, 2])
def test_sees_the_batches_of_the_loader_of_torch(dataset, workers):
    seen = fit(Recorder(), make(dataset, workers))
    assert seen == fit(Recorder(), make(dataset, 0, data.DataLoader))
    assert len(seen) == 3 * STEPS


@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('step', [1, STEPS - 1, STEPS, STEPS + 4])
def test_a_training_continues_from_a_checkpoint(tmp_path, dataset, workers, step):
    whole = fit(Recorder(), make(dataset, 0))
    model = Recorder(fails_at=step)
    with pytest.raises(RuntimeError, match='mine'):
        fit(model, make(dataset, workers), tmp_path)
    assert model.seen == whole[:step]
    assert fit(Recorder(), make(dataset, 2 - workers),
               resumed=tmp_path / f'step={step}.ckpt') == whole[step:]


def samplers(dataset):
    return {'sampler': lt.RandomSampler(dataset), 'shuffle': True,
            'batch_sampler': lt.BatchSampler(lt.SequentialSampler(dataset), BATCH, False)}


@pytest.mark.parametrize('given', ['sampler', 'shuffle', 'batch_sampler'])
def test_rebuilds_it_with_a_sampler_of_lightning(dataset, given):
    utilities = pytest.importorskip('lightning.pytorch.utilities.data')
    sampler = data.DistributedSampler(dataset, 2, 1)

    def remade(kind):
        more = {} if given == 'batch_sampler' else {'batch_size': BATCH, 'drop_last': True}
        loader = kind(dataset, num_workers=0, **more, **{given: samplers(dataset)[given]})
        return utilities._update_dataloader(loader, sampler)

    ours = remade(lt.DataLoader)
    assert type(ours) is lt.DataLoader
    expected = list(remade(data.DataLoader))
    assert same(list(ours), expected)
    iterator = iter(ours)
    first = next(iterator)
    state = json.loads(json.dumps(ours.state_dict()))
    again = remade(lt.DataLoader)
    again.load_state_dict(state)
    assert same([first, *again], expected)
