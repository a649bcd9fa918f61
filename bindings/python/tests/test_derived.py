# SPDX-License-Identifier: MIT
"""Datasets whose classes derive from ours: each reader calls their methods, or refuses them."""

import inspect

import numpy as np
import pytest

import loaderx as lx
from loaderx import megatron
from loaderx.sources.records import BatchReadable, own_method
from public_classes import COUNT, MAKE, Files, images, public_classes

try:
    import torch
    from loaderx.torch import DataLoader
except ImportError:
    torch = None

OWN = 77    # a record of a class with its own records
LABELS = np.arange(COUNT)

# What reads a dataset, or gives what it reads to a loader.
READERS = {
    'Loader': lambda ds: lx.Loader(ds, batch_size=2),
    'Loader, in a tuple': lambda ds: lx.Loader((ds,), batch_size=2),
    'Loader, in a dict': lambda ds: lx.Loader({'a': ds}, batch_size=2),
    'DataLoader, data': lambda ds: lx.DataLoader(ds, LABELS, batch_size=2),
    'DataLoader, labels': lambda ds: lx.DataLoader(LABELS, ds, batch_size=2),
    'ConcatDataset': lambda ds: lx.Loader(lx.ConcatDataset([ds]), batch_size=2),
    'SubsetDataset': lambda ds: lx.Loader(lx.SubsetDataset(ds, [1, 0])),
    'NullDataset': lambda ds: lx.Loader(lx.NullDataset(ds), batch_size=2),
}
if images is not None:
    READERS['ImageDataset'] = lambda ds: lx.Loader(images.ImageDataset(ds, [images.Resize((2, 2))]))
if torch is not None:
    READERS['torch, in a dict'] = lambda ds: DataLoader({'a': ds}, batch_size=2)


def getitem(self, index):
    self.base.__getitem__(self, index)
    return OWN


def getitems(self, indices):
    self.base.__getitems__(self, indices)
    return [OWN for _ in indices]


def length(self):
    return self.base.__len__(self) - 1


METHODS = {'__getitem__': getitem, '__getitems__': getitems, '__len__': length}


def derive(base, *methods):
    return type('Derived', (base,), {'base': base, **{name: METHODS[name] for name in methods}})


def plain(value):
    """Return batches as what can be compared."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value.tolist() if hasattr(value, 'tolist') else value


def read(reader, dataset):
    """Return the first two batches, or the type and the text of the error."""
    try:
        made = READERS[reader](dataset)
        batches = iter(made)
        return [plain(next(batches)) for _ in range(2)]
    except (KeyError, TypeError, ValueError, lx.LoaderxError) as error:
        return type(error), str(error).replace(type(dataset).__name__, 'Base')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp('derived'))


def test_all_public_datasets_are_tested():
    found = {kind for kind in public_classes()
             if inspect.isclass(kind) and issubclass(kind, BatchReadable)}
    assert found - {BatchReadable} <= set(MAKE), 'add the class to MAKE'


bases = pytest.mark.parametrize('base', MAKE, ids=lambda base: base.__name__)
readers = pytest.mark.parametrize('reader', READERS)
methods = pytest.mark.parametrize('method', METHODS)


@bases
@readers
def test_a_class_without_methods_of_its_own_is_read_like_its_base(files, base, reader):
    mine = MAKE[base](derive(base), files)
    assert own_method(mine) is None
    assert read(reader, mine) == read(reader, MAKE[base](base, files))


@bases
@methods
@readers
def test_methods_are_never_ignored(files, base, method, reader):
    mine = MAKE[base](derive(base, method), files)
    kind, text = read(reader, mine)
    assert kind is TypeError
    if isinstance(read(reader, MAKE[base](base, files)), list):    # the base itself can be read
        assert 'class Base' in text and f'own {method}()' in text
        assert ('SubsetDataset' if method == '__len__' else 'transform=') in text


@pytest.mark.skipif(torch is None, reason='torch is not installed')
@pytest.mark.parametrize('workers', [{}, {'num_workers': 2, 'workers': 'threads'}], ids=repr)
@bases
@methods
def test_the_loader_of_torch_calls_the_methods(files, base, method, workers):
    mine = MAKE[base](derive(base, method), files)
    if method == '__len__':
        loader = DataLoader(mine, batch_size=2, collate_fn=len, **workers)
        assert sum(loader) == len(mine) == len(MAKE[base](base, files)) - 1
    else:
        batches = list(DataLoader(mine, batch_size=2, **workers))
        assert len(batches) == (len(mine) + 1) // 2
        assert all((batch == OWN).all() for batch in batches)


@pytest.mark.skipif(torch is None, reason='torch is not installed')
@methods
def test_the_loader_of_torch_refuses_them_in_a_tuple(method):
    mine = derive(lx.NPDataset, method)(LABELS)
    with pytest.raises(TypeError, match=rf'dataset\[1\] .*own {method}\(\)'):
        DataLoader((lx.NPDataset(LABELS), mine))


@bases
def test_each_method_may_call_the_others_of_its_base(files, base):
    """Some bases read one record as a batch of one."""
    for methods in (['__getitem__'], ['__getitems__'], ['__getitem__', '__getitems__']):
        mine = MAKE[base](derive(base, *methods), files)
        assert (mine[0] == OWN) == ('__getitem__' in methods)
        assert mine.__getitems__([1, 0]) == [OWN, OWN]


def test_a_blend_of_datasets_with_methods_is_refused(files):
    mine = derive(megatron.GPTDataset, '__getitem__')(files.tokens, 9)
    blend = megatron.BlendedDataset([mine])
    with pytest.raises(TypeError, match=r'datasets\[0\] .*transform='):
        lx.Loader(blend)


@methods
def test_plus_keeps_the_methods(method):
    array = np.arange(COUNT)
    mine = derive(lx.NPDataset, method)(array)
    if torch is None:
        with pytest.raises(TypeError):
            mine + lx.NPDataset(array)
        return
    both = mine + lx.NPDataset(array)
    assert isinstance(both, torch.utils.data.ConcatDataset) and both.datasets[0] is mine


def test_a_mixin_and_a_class_between_count(files):
    class Mixin:
        def __getitem__(self, index):
            return OWN

    class First(Mixin, lx.NPDataset):
        pass

    class Second(First):
        pass

    class Behind(lx.NPDataset, Mixin):    # NPDataset's own method comes first
        pass

    for kind in First, Second:
        with pytest.raises(TypeError, match=f'{kind.__name__}, whose own __getitem__'):
            lx.Loader(kind(LABELS))
    assert next(lx.Loader(Behind(LABELS)))['data'] == 0


def test_texts_are_those_of_the_methods(tmp_path):
    pytest.importorskip('tokenizers')
    from loaderx.tokenize._sources import texts_of

    class Upper(lx.Dataset):
        def __getitem__(self, index):
            text = super().__getitem__(index)
            return text if isinstance(index, str) else {'text': text['text'].upper()}

    with lx.create(tmp_path / 'd', {'text': lx.Field(str)}) as writer:
        writer.extend(text=['one', 'two'])
    mine = Upper(tmp_path / 'd')
    assert [one.data for one in texts_of(mine, 'text').read([1, 0])] == ['TWO', 'ONE']
    assert [one.data for one in texts_of(mine['text'], None).read([1, 0])] == ['two', 'one']
