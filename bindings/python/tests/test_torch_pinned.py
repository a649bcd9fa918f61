# SPDX-License-Identifier: MIT
"""Tensors in memory that torch has pinned, or that a stand-in for its allocator has allocated."""

import gc
import warnings

import numpy as np
import pytest

torch = pytest.importorskip('torch')

from torch.utils import data

import loaderx as lx
import loaderx.torch as lt
from loaderx import _output_names
from processes import run_script

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(),
                               reason='needs a GPU, for which torch pins memory')

ARRAYS = {'image': np.arange(500 * 12, dtype=np.float32).reshape(500, 3, 4),
          'label': np.arange(500), 'flag': np.arange(500) % 3 == 0}


class Allocator:
    """Allocates ordinary memory in place of torch's pinned memory, and can fail."""

    def __init__(self):
        self.blocks = []    # the ranges of addresses
        self.size = None    # of all tensors, in place of the requested one
        self.failing = False

    def __call__(self, size):
        if self.failing:
            raise RuntimeError('the device is gone')
        made = torch.full((self.size or size,), 0xa5, dtype=torch.uint8)
        self.blocks.append(range(made.data_ptr(), made.data_ptr() + size))
        return made

    def owns(self, tensor):
        """Return whether the storage of a tensor is one of the blocks."""
        start = (tensor.untyped_storage() if hasattr(tensor, 'untyped_storage')
                 else tensor.storage()).data_ptr()
        return any(start == block.start and tensor.data_ptr() in block for block in self.blocks)


@pytest.fixture
def allocator(monkeypatch):
    made = Allocator()
    monkeypatch.setattr(_output_names, 'pins', lambda: True)
    monkeypatch.setattr(_output_names, 'pinned_allocator', lambda: made)
    monkeypatch.setattr(torch.Tensor, 'pin_memory', lambda tensor: tensor)
    return made


def tensors(**options):
    return lx.Loader(options.pop('source', ARRAYS), out='torch', pin_memory=True, **options)


@pytest.mark.parametrize('threads', [0, 2])
@pytest.mark.parametrize('batch_size', [7, 200])
def test_batches_are_views_of_memory_of_torch(allocator, threads, batch_size):
    order = lx.Shuffle(seed=5)
    with lx.Loader(ARRAYS, batch_size=batch_size, order=order) as arrays:
        expected = list(arrays)
    with tensors(batch_size=batch_size, order=order, threads=threads) as loader:
        batches = list(loader)    # all of them are kept: none may be overwritten
        assert loader.stats()['block_bytes'] == 0
    assert len(allocator.blocks) == len(batches) == len(expected)
    gc.collect()
    for batch, right in zip(batches, expected):
        assert all(allocator.owns(tensor) for tensor in batch.values())
        assert batch.position == right.position and (batch.index == right.index).all()
        for name, tensor in batch.items():
            assert tensor.numpy().dtype == right[name].dtype
            np.testing.assert_array_equal(tensor.numpy(), right[name])
            tensor.zero_()    # they are writable


def test_passes_and_seeks_use_other_memory(allocator):
    loader = tensors(batch_size=100, threads=2)
    kept = [next(loader)]
    for position in 0, 300, 100:
        loader.seek(position)
        kept.append(next(loader))
    for batch in loader:
        kept.append(batch)
        break
    assert [int(batch['label'][0]) for batch in kept] == [0, 0, 300, 100, 0]
    assert len({batch['label'].data_ptr() for batch in kept}) == 5


def test_values_that_vary_in_length_are_in_such_memory_too(allocator, tmp_path):
    fields = {'text': lx.Field('bytes'), 'boxes': lx.Field('int16', (None, 2)),
              'label': lx.Field('int32')}
    with lx.create(tmp_path / 'd', fields) as writer:
        for i in range(60):
            writer.append(text=b'x' * (i % 7), boxes=np.full((i % 3, 2), i, np.int16), label=i)
    with tensors(source=tmp_path / 'd', batch_size=16) as loader:
        batches = list(loader)
    for batch in batches:
        assert all(allocator.owns(batch[name].values) for name in ('text', 'boxes'))
        for row, record in enumerate(batch.index):
            assert len(batch['text'][row]) == record % 7
            assert batch['boxes'][row].tolist() == [[record, record]] * (record % 3)
    with tensors(source=tmp_path / 'd', batch_size=16, fields=['text']) as loader:
        assert [len(text) for batch in loader for text in batch['text']] == [
            i % 7 for i in range(60)]


def test_small_floats_are_in_such_memory_too(allocator):
    ml_dtypes = pytest.importorskip('ml_dtypes')
    numbers = np.arange(40, dtype=np.float32).reshape(10, 4)
    kinds = [name for name in ('bfloat16', 'float8_e4m3fn') if hasattr(torch, name)]
    source = {name: numbers.astype(getattr(ml_dtypes, name)) for name in kinds}
    with tensors(source=source, batch_size=10) as loader:
        batch = next(loader)
    for name in kinds:
        assert batch[name].dtype == getattr(torch, name) and allocator.owns(batch[name])
        np.testing.assert_array_equal(batch[name].float().numpy(), source[name].astype(np.float32))


def test_a_transform_may_return_these_arrays_or_others(allocator):
    def transform(batch):
        return {'same': batch['image'], 'part': batch['image'][2:], 'new': batch['image'] * 2,
                'turned': batch['image'].transpose(0, 2, 1), 'scalar': batch['label'][0]}

    with tensors(batch_size=10, transform=transform, threads=2) as loader:
        batch = list(loader)[3]
    image = torch.from_numpy(ARRAYS['image'][30:40])
    assert torch.equal(batch['same'], image) and allocator.owns(batch['same'])
    assert torch.equal(batch['part'], image[2:]) and allocator.owns(batch['part'])
    assert torch.equal(batch['new'], image * 2) and not allocator.owns(batch['new'])
    assert torch.equal(batch['turned'], image.transpose(1, 2))
    assert batch['scalar'] == 30


def test_a_transform_may_return_arrays_over_other_tensors(allocator):
    floats, odd = torch.arange(12, dtype=torch.float32), torch.arange(33, dtype=torch.uint8)

    def transform(batch):
        return [floats.numpy()[3:5], odd.numpy()[1:].view(np.int32), odd.numpy()[::2],
                odd.numpy()[4:6], np.zeros((0, 3), np.float32)]

    with tensors(batch_size=500, transform=transform) as loader:
        batch = next(loader)
    assert [tensor.tolist() for tensor in batch[:1] + batch[2:]] == [
        [3, 4], list(range(0, 33, 2)), [4, 5], []]
    assert batch[1].numpy().tolist() == odd.numpy()[1:].view(np.int32).tolist()
    odd[4] = 99
    assert batch[3].tolist() == [99, 5]


def test_memory_of_torch_stays_with_whoever_keeps_an_array(allocator):
    kept = []

    def transform(batch):
        kept.append(batch['label'][::2])
        return len(batch)

    with tensors(batch_size=50, transform=transform, threads=2) as loader:
        assert list(loader) == [3] * 10
    gc.collect()
    assert sorted(labels[0] for labels in kept) == list(range(0, 500, 50))
    assert all((np.diff(labels) == 2).all() for labels in kept)


@pytest.mark.parametrize('threads', [0, 2])
def test_no_batch_is_lost_when_memory_is_not_available(allocator, threads):
    with tensors(batch_size=100, threads=threads) as loader:
        allocator.failing = True
        for _ in range(3):
            with pytest.raises(MemoryError, match='memory for a batch: the device is gone'):
                next(loader)
        allocator.failing = False
        assert [int(batch['label'][0]) for batch in loader] == [0, 100, 200, 300, 400]
        loader.seek(0)
        allocator.size = 7
        with pytest.raises(MemoryError, match='has another size'):
            next(loader)


def test_needs_torch_and_a_bool():
    with pytest.raises(ValueError, match="pin_memory=True needs out='torch'"):
        lx.Loader(ARRAYS, pin_memory=True)
    with pytest.raises(TypeError, match='pin_memory must be'):
        lx.Loader(ARRAYS, out='torch', pin_memory='yes')


def warnings_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        function()
    return [str(one.message) for one in caught if 'pin_memory' in str(one.message)]


def test_without_a_device_the_warnings_are_those_of_torch():
    if torch.cuda.is_available():
        pytest.skip('there is a device')

    def load():
        batch = next(tensors(batch_size=500))
        assert torch.equal(batch['image'], torch.from_numpy(ARRAYS['image']))

    assert warnings_of(load) == warnings_of(lambda: list(data.DataLoader([1], pin_memory=True)))


def test_the_process_ends_while_batches_exist():
    run_script("""
        import torch
        from loaderx import _output_names
        _output_names.pins = lambda: True
        _output_names.pinned_allocator = lambda: lambda size: torch.empty(size, dtype=torch.uint8)
        torch.Tensor.pin_memory = lambda tensor: tensor
        loader = lx.Loader(arrays(), batch_size=512, epochs=None, threads=2, out='torch',
                           pin_memory=True)
        batch = next(loader)
    """, silent=True)


# ---- with a GPU

@needs_gpu
@pytest.mark.parametrize('threads', [0, 2])
def test_a_loader_reads_into_pinned_memory(threads):
    with tensors(batch_size=200, threads=threads) as loader:
        for batch in loader:
            first, *others = batch.values()
            assert all(tensor.is_pinned() for tensor in batch.values())
            assert all(one.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
                       for one in others)


@needs_gpu
@pytest.mark.parametrize('workers', [0, 2])
def test_a_data_loader_reads_into_pinned_memory(workers):
    loader = lt.DataLoader(ARRAYS, 100, pin_memory=True, num_workers=workers)
    for batch, right in zip(loader, data.DataLoader(
            [{name: array[i] for name, array in ARRAYS.items()} for i in range(500)], 100)):
        assert all(tensor.is_pinned() for tensor in batch.values())
        assert all(torch.equal(tensor, right[name]) for name, tensor in batch.items())
        assert batch['image'].untyped_storage().data_ptr() == (
            batch['label'].untyped_storage().data_ptr())


@needs_gpu
def test_torch_keeps_memory_until_copies_have_ended():
    """Each batch is dropped while its copy is waiting for the device."""
    rows = np.arange(4096 * 2048, dtype=np.int32).reshape(4096, 2048)
    order = lx.Shuffle(seed=3)
    with tensors(source=rows, batch_size=64, epochs=8, order=order) as loader:
        copies, wrong = [], torch.zeros((), dtype=torch.int64, device='cuda')
        columns = torch.arange(2048, device='cuda')
        for batch in loader:
            torch.cuda._sleep(500_000)    # the copy begins later
            index = torch.from_numpy(batch.index).to('cuda')
            copies.append((batch['data'].to('cuda', non_blocking=True), index))
            del batch
            if len(copies) == 8:
                for copied, index in copies:
                    wrong += (copied != index[:, None] * 2048 + columns).sum()
                copies = []
        assert len(loader) == 512 and int(wrong) == 0
