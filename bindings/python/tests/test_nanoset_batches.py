# SPDX-License-Identifier: MIT
"""Nanotron's collator and its skipping sampler: results and errors."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import loaderx as lx
from loaderx.nanoset import (DataCollatorForCLM, DataCollatorForCLMWithPositionIds,
                             EmptyInfiniteDataset, SkipBatchSampler, TensorPointer)
from processes import run_script

try:
    import torch
    from torch.utils import data
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason='torch is not installed')

TOKENS = np.arange(30).reshape(5, 6)
KEYS = ['input_ids', 'input_mask', 'label_ids', 'label_mask']


def make(rank, first=0, last=3, **options):
    return DataCollatorForCLM(5, first, last, current_pp_rank=rank, **options)


def check(batch, inputs, labels, first=0, last=3):
    """Check inputs and labels, which are pointers if None is expected."""
    assert list(batch) == KEYS
    for names, expected, rank in (KEYS[:2], inputs, first), (KEYS[2:], labels, last):
        if expected is None:
            assert [batch[name] for name in names] == 2 * [TensorPointer(group_rank=rank)]
            continue
        ids, mask = (np.asarray(batch[name]) for name in names)
        assert np.array_equal(ids, expected) and ids.dtype == np.int64
        assert mask.shape == ids.shape and mask.dtype == np.bool_ and mask.all()


# ---- the collator


@pytest.mark.parametrize('form', ['list', 'batch', 'input_ids'])
@pytest.mark.parametrize('out', ['numpy', None, pytest.param('torch', marks=needs_torch)])
def test_stages_get_the_columns_they_need(form, out):
    full = {'list': [{'input_ids': row} for row in TOKENS], 'batch': {'tokens': TOKENS},
            'input_ids': {'input_ids': TOKENS}}[form]
    empty = {} if form != 'list' else [{} for _ in TOKENS]
    inputs, labels = TOKENS[:, :-1], TOKENS[:, 1:]
    check(make(0, out=out)(full), inputs, None)
    check(make(3, out=out)(full), None, labels)
    check(make(1, out=out)(empty), None, None)
    check(make(2, out=out)(empty), None, None)
    check(make(1, 1, 1, out=out)(full), inputs, labels, 1, 1)


@pytest.mark.parametrize('group', [SimpleNamespace(rank=lambda: 3), SimpleNamespace(rank=3)])
def test_uses_the_rank_of_the_context(group):
    collate = DataCollatorForCLM(5, 0, 3, SimpleNamespace(pp_pg=group))
    check(collate({'tokens': TOKENS}), None, TOKENS[:, 1:])


@pytest.mark.parametrize('size', [1, 2, 3])
def test_context_parallel_ranks_get_parts(size):
    parts = [[], []]
    for rank in range(size):
        context = SimpleNamespace(pp_pg=SimpleNamespace(rank=0), context_parallel_size=size,
                                  cp_pg=SimpleNamespace(rank=lambda rank=rank: rank))
        batch = DataCollatorForCLM(5, 0, 0, context, out='numpy')({'tokens': TOKENS})
        assert batch['label_mask'].shape == batch['input_ids'].shape
        parts[0].append(batch['input_ids'])
        parts[1].append(batch['label_ids'])
    assert np.array_equal(np.concatenate(parts[0], 1), TOKENS[:, :-1])
    assert np.array_equal(np.concatenate(parts[1], 1), TOKENS[:, 1:])


def test_a_batch_is_not_copied():
    batch = make(0, 0, 0, out='numpy')({'tokens': TOKENS})
    assert np.shares_memory(batch['input_ids'], TOKENS)
    assert np.shares_memory(batch['label_ids'], TOKENS)
    assert not np.shares_memory(batch['input_mask'], batch['label_mask'])


def test_unsigned_tokens_become_int64():
    batch = make(0, 0, 0)({'tokens': TOKENS.astype(np.uint16)})
    check(batch, TOKENS[:, :-1], TOKENS[:, 1:], 0, 0)


@needs_torch
def test_batches_are_tensors():
    samples = [{'input_ids': torch.tensor(row)} for row in TOKENS]
    batch = make(0, 0, 0, out='torch')(samples)
    assert all(isinstance(tensor, torch.Tensor) for tensor in batch.values())
    assert batch['input_ids'].dtype == torch.int64 and batch['input_mask'].dtype == torch.bool


def test_collators_can_be_copied():
    collate = pickle.loads(pickle.dumps(make(1)))
    assert collate == make(1) == copy.copy(make(1)) != make(0)
    check(collate([{}]), None, None)


def test_uses_the_pointer_class_of_an_installed_nanotron():
    run_script("""
        import types
        names = ['nanotron', 'parallel', 'pipeline_parallel', 'tensor_pointer']
        for i in range(4):
            sys.modules['.'.join(names[:i + 1])] = module = types.ModuleType(names[i])
            module.__path__ = []
        class TensorPointer:
            def __init__(self, group_rank): self.group_rank = group_rank
        module.TensorPointer = TensorPointer
        from loaderx import nanoset
        assert nanoset.TensorPointer is TensorPointer
        collate = nanoset.DataCollatorForCLM(5, 0, 3, current_pp_rank=1, out='numpy')
        assert [type(one) for one in collate([]).values()] == 4 * [TensorPointer]
    """)


@pytest.mark.parametrize('rank, examples, word', [
    (0, {'tokens': TOKENS[:, :-1]}, r'Samples should be of length 6 \(seq_len\+1\), but got 5'),
    (0, [{'input_ids': np.arange(7)}], r'of length 6 \(seq_len\+1\), but got 7'),
    (3, [{'input_ids': np.arange(6)}, {'input_ids': np.arange(2)}], 'but got 2'),
    (0, {'tokens': np.arange(6)}, 'Samples should be'),
    (0, [{'input_ids': np.arange(6), 'keys': np.arange(6)}], 'only input_ids'),
    (0, [{'input_ids': np.arange(6), 'positions': np.arange(5)}], r'of length 6 .* got 5'),
    (0, [{'input_ids': np.arange(6), 'positions': np.arange(6)}, {'input_ids': np.arange(6)}],
     'same fields'),
    (0, {'tokens': TOKENS, 'positions': TOKENS[:, 1:]}, 'shape of the tokens'),
    (0, [{}], 'only input_ids'),
    (0, {'tokens': TOKENS, 'keys': TOKENS}, 'only the field tokens'),
    (0, {}, 'only the field tokens'),
    (0, [], 'no samples'),
    (1, {'tokens': TOKENS}, 'pipeline rank 1 must not get samples'),
    (2, [{'input_ids': np.arange(6)}], 'EmptyInfiniteDataset'),
])
def test_rejects_batches_that_do_not_fit(rank, examples, word):
    for error in AssertionError, ValueError:
        with pytest.raises(error, match=word):
            make(rank)(examples)


@pytest.mark.parametrize('arguments, error, word', [
    ((0, 0, 0, None, True, 0), ValueError, 'sequence_length'),
    ((5, -1, 0, None, True, 0), ValueError, 'input_pp_rank'),
    ((5, 0, 1.0, None, True, 0), TypeError, 'output_pp_rank'),
    ((5, 0, 0, None, 0, 0), TypeError, 'use_numpy'),
    ((5, 0, 0, None, True, '0'), TypeError, 'current_pp_rank'),
    ((5, 0, 0), ValueError, 'either parallel_context or current_pp_rank'),
    ((5, 0, 0, SimpleNamespace(pp_pg=None), True, 0), ValueError, 'pass either'),
    ((5, 0, 0, None, True, 0, 'jax'), ValueError, 'out must be'),
])
def test_rejects_invalid_arguments_of_a_collator(arguments, error, word):
    with pytest.raises(error, match=word):
        DataCollatorForCLM(*arguments)


def test_rejects_a_process_outside_the_group():
    collate = DataCollatorForCLM(5, 0, 0, SimpleNamespace(pp_pg=SimpleNamespace(rank=-1)))
    with pytest.raises(RuntimeError, match='pp_pg'):
        collate([])


@pytest.mark.parametrize('context', [
    SimpleNamespace(), SimpleNamespace(pp_pg=None), SimpleNamespace(pp_pg=object()),
    SimpleNamespace(pp_pg=SimpleNamespace(rank=0), context_parallel_size=2)])
def test_names_an_absent_process_group(context):
    collate = DataCollatorForCLM(5, 0, 0, context)
    group = 'cp_pg' if hasattr(context, 'context_parallel_size') else 'pp_pg'
    with pytest.raises(RuntimeError, match=f'no process group {group} .*pass current_pp_rank'):
        collate({'tokens': TOKENS})


def kinds(batch):
    return [type(one) for one in batch.values()]


def test_types_and_positional_arguments_are_those_of_nanotron():
    context = SimpleNamespace(pp_pg=SimpleNamespace(rank=0))
    arrays, samples = 4 * [np.ndarray], [{'input_ids': row} for row in TOKENS]
    for options in (), (True,):
        assert kinds(DataCollatorForCLM(5, 0, 0, context, *options)(samples)) == arrays
    collate = DataCollatorForCLMWithPositionIds(5, 0, 0, context, True, False)
    assert kinds(collate(samples)) == arrays
    assert make(0).use_numpy is True
    if torch is None:
        with pytest.raises(ImportError, match="out='torch' needs PyTorch"):
            DataCollatorForCLM(5, 0, 0, context, False)
        return
    assert make(0, use_numpy=False) != make(0)
    batch = DataCollatorForCLM(5, 0, 0, context, False)(samples)
    assert kinds(batch) == [*3 * [torch.Tensor], np.ndarray]
    for use_numpy in True, False:
        collate = make(0, 0, 0, use_numpy=use_numpy, out='torch')
        assert kinds(pickle.loads(pickle.dumps(collate))(samples)) == 4 * [torch.Tensor]
        assert kinds(make(0, 0, 0, use_numpy=use_numpy, out='numpy')(samples)) == arrays


# Documents that begin within the samples.
POSITIONS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 0, 1], [0, 1, 0, 0, 0, 1],
                      [0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 4, 5]])


def forms(positions):
    """The samples one by one, and as a batch of a Loader."""
    rows = [{'input_ids': row} for row in TOKENS]
    batch = {'tokens': TOKENS}
    if positions is not None:
        rows = [{**row, 'positions': places} for row, places in zip(rows, positions)]
        batch['positions'] = positions.astype(np.int32)
    return rows, batch


def test_positions_mask_the_labels_that_begin_documents():
    for examples in forms(POSITIONS):
        batch = make(0, 0, 0, out='numpy')(examples)
        assert np.array_equal(batch['label_mask'], POSITIONS[:, 1:] != 0)
        assert batch['input_mask'].all() and np.array_equal(batch['label_ids'], TOKENS[:, 1:])


@pytest.mark.parametrize('positions', [None, POSITIONS])
@pytest.mark.parametrize('masking', [True, False, None])
@pytest.mark.parametrize('whole', [True, False])
@pytest.mark.parametrize('size', [1, 2])
def test_position_ids(positions, masking, whole, size):
    used = positions if masking else None
    places = np.tile(np.arange(5), (5, 1)) if used is None else used[:, :-1]
    mask = np.ones((5, 5), bool) if used is None else used[:, 1:] != 0
    for examples in forms(positions):
        for rank in range(size):
            context = SimpleNamespace(pp_pg=SimpleNamespace(rank=1), context_parallel_size=size,
                                      cp_pg=SimpleNamespace(rank=rank))
            part = slice(rank * 5 // size, (rank + 1) * 5 // size)
            collate = DataCollatorForCLMWithPositionIds(5, 1, 1, context, masking, whole)
            assert pickle.loads(pickle.dumps(collate)) == collate
            batch = collate(examples)
            assert list(batch) == ['input_ids', 'position_ids', 'label_ids', 'label_mask']
            expected = [TOKENS[:, :-1][:, part], places if whole else places[:, part],
                        TOKENS[:, 1:][:, part], mask[:, part]]
            for one, other in zip(batch.values(), expected):
                assert np.array_equal(np.asarray(one), other)
                assert np.asarray(one).dtype == other.dtype


@pytest.mark.parametrize('rank', [0, 1, 3])
def test_position_ids_of_each_stage(rank):
    collate = DataCollatorForCLMWithPositionIds(5, 0, 3, current_pp_rank=rank, out='numpy')
    batch = collate([{}] if rank == 1 else forms(POSITIONS)[0])
    for names, stage in (['input_ids', 'position_ids'], 0), (['label_ids', 'label_mask'], 3):
        for name in names:
            if rank == stage:
                assert isinstance(batch[name], np.ndarray)
            else:
                assert batch[name] == TensorPointer(group_rank=stage)
    with pytest.raises(ValueError, match='must not get samples|only input_ids'):
        collate(forms(None)[0] if rank == 1 else [{}])
    with pytest.raises(TypeError, match='use_doc_masking'):
        DataCollatorForCLMWithPositionIds(5, 0, 3, current_pp_rank=rank, use_doc_masking=0)


def test_an_empty_dataset():
    empty = EmptyInfiniteDataset(7)
    assert len(empty) == 7 and empty[3] == {} and empty[10**9] == {}
    assert empty.__getitems__([1, 2]) == [{}, {}]
    with pytest.raises(NotImplementedError):
        empty['3']
    if torch is not None:
        batches = list(data.DataLoader(empty, batch_size=3, collate_fn=make(1)))
        assert len(batches) == 3
        check(batches[0], None, None)


# ---- the sampler


@pytest.mark.parametrize('sampler', [
    range(100), list(range(100)), lx.Sequential(n=100),
    lx.Sequential(n=400).shard(0, 4), lx.Shuffle(n=9000, seed=3),
    lx.Shuffle(n=9001, seed=3).shard(1, 2),
    lx.Distributed(n=50, world=4, seed=1).shard(3, 4), lx.Sequential(n=2).shard(3, 4)], ids=str)
def test_skips_batches(sampler):
    everything = list(SkipBatchSampler(sampler, 0))
    if isinstance(sampler, lx.Order):
        cursor = sampler.shard(sampler.rank, sampler.world)
        cursor.seek(0)
        n = len(range(sampler.rank, len(sampler), sampler.world))
        assert everything == cursor.take(n).tolist() if n else not everything
    else:
        assert everything == list(sampler)
    for skip, ranks in (0, 4), (17, 1), (17, 4), (70, 3), (10**30 % 2**60, 1):
        skipping = SkipBatchSampler(sampler, skip, ranks)
        assert list(skipping) == list(skipping) == everything[skip // ranks:]
        assert len(skipping) == len(list(skipping))
        assert skipping.total_length == len(everything)
        assert skipping.skip_batches == skip // ranks


def test_leaves_the_position_of_an_order():
    order = lx.Shuffle(n=100, seed=1)
    order.seek(42)
    assert list(SkipBatchSampler(order, 90)) == lx.Shuffle(n=100, seed=1).take(100)[90:].tolist()
    assert order.tell() == 42


def test_does_not_read_skipped_batches():
    begun = SkipBatchSampler(lx.Shuffle(n=2**50, seed=1), 2**49)
    order = lx.Shuffle(n=2**50, seed=1)
    order.seek(2**49)
    assert len(begun) == 2**49 and next(iter(begun)) == order.take(1)[0]


def test_rank_2_of_4_continues_with_sample_70():
    orders = [lx.Sequential(n=1000).shard(2, 4),
              lx.Distributed(n=1000, world=4, shuffle=False).shard(2, 4)]
    if torch is not None:
        import loaderx.torch as lt
        orders += [kind(range(1000), 4, 2, shuffle=False)
                   for kind in (data.DistributedSampler, lt.DistributedSampler)]
    for order in orders:
        assert next(iter(SkipBatchSampler(order, 4 * 17, 4))) == 70
        assert next(iter(SkipBatchSampler(order, 17))) == 70


@needs_torch
@pytest.mark.parametrize('skip', [0, 1, 5, 12, 13, 14, 1000])
@pytest.mark.parametrize('batch, drop_last', [(None, False), (1, False), (8, True), (8, False)])
@pytest.mark.parametrize('kind', ['SequentialSampler', 'RandomSampler', 'DistributedSampler'])
def test_accepts_samplers_of_torch(kind, batch, drop_last, skip):
    import loaderx.torch as lt

    def build(module):
        more = {'RandomSampler': {'generator': torch.Generator().manual_seed(5)},
                'DistributedSampler': {'num_replicas': 3, 'rank': 1}}.get(kind, {})
        sampler = getattr(module, kind)(range(100), **more)
        return sampler if batch is None else module.BatchSampler(sampler, batch, drop_last)

    theirs, ours = build(data), SkipBatchSampler(build(lt), skip)
    for _ in range(2):    # each pass skips, and draws
        expected = list(theirs)[skip:]
        assert list(ours) == expected
        assert len(ours) == len(expected)
    of_torch = SkipBatchSampler(build(data), skip)
    assert list(of_torch) == list(build(data))[skip:]


@needs_torch
def test_is_a_batch_sampler_of_torch():
    skipping = SkipBatchSampler(data.BatchSampler(range(10), 3, False), 2)
    assert isinstance(skipping, data.BatchSampler) and isinstance(skipping, data.Sampler)
    import loaderx.torch as lt
    for module in data, lt:
        loader = module.DataLoader(range(10), batch_sampler=skipping)
        assert [batch.tolist() for batch in loader] == [[6, 7, 8], [9]] and len(loader) == 2
    again = pickle.loads(pickle.dumps(skipping))
    assert list(again) == list(copy.copy(skipping)) == [[6, 7, 8], [9]]


def test_importing_nanosets_does_not_import_torch():
    run_script("""
        import loaderx.megatron
        from loaderx.nanoset import Nanoset
        assert 'torch' not in sys.modules
        import loaderx.nanoset
        assert not hasattr(loaderx.nanoset, 'Absent')
    """)


@pytest.mark.parametrize('skip, ranks, error, word', [
    (-1, 1, ValueError, 'skip_batches'), (1.5, 1, TypeError, 'skip_batches'),
    (1, 0, ValueError, 'dp_size')])
def test_rejects_invalid_arguments_of_a_sampler(skip, ranks, error, word):
    with pytest.raises(error, match=word):
        SkipBatchSampler(range(5), skip, ranks)
