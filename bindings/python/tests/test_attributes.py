# SPDX-License-Identifier: MIT
"""Assignments to attributes: an object refuses each one that would have no effect."""

import copy
import inspect
import pickle
import sys

import numpy as np
import pytest

import loaderx as lx
from loaderx import nanoset, ranks, recordio
from loaderx.parts import PartJob
from public_classes import COUNT, MAKE, PNG, Files, images, public_classes, torch

ARRAY = np.arange(COUNT)


def write_vocabulary(folder):
    library = pytest.importorskip('tokenizers')
    return library.Tokenizer(library.models.WordLevel({'a': 0}, unk_token='a'))


# How to make an object of each class that is not a dataset.
OTHERS = {
    lx.ArrowRecords: lambda files: lx.open(files.stored).to_arrow(),
    lx.Balanced: lambda files: lx.Balanced([1, 1, 2]),
    lx.Blend: lambda files: lx.Blend([lx.Shuffle(n=3)], n=4),
    lx.Blocks: lambda files: lx.Blocks(n=9, block=2),
    lx.Bucketed: lambda files: lx.Bucketed([1, 1, 2], batch=2),
    lx.Budgeted: lambda files: lx.Budgeted(lx.Shuffle(n=3), [1, 1, 2], 4),
    lx.Column: lambda files: lx.open(files.stored)['x'],
    lx.Concat: lambda files: lx.Concat([lx.Shuffle(n=3)]),
    lx.DataLoader: lambda files: lx.DataLoader(ARRAY, ARRAY),
    lx.Distributed: lambda files: lx.Distributed(n=4, world=2),
    lx.Executor: lambda files: lx.Executor(1),
    lx.Field: lambda files: lx.Field('int64'),
    lx.ImportReport: lambda files: lx.ImportReport(*range(len(lx.ImportReport._fields))),
    lx.Lanes: lambda files: lx.Lanes(n=4, lanes=2, block=2),
    lx.Loader: lambda files: lx.Loader(ARRAY),
    lx.Nanoset: lambda files: lx.Nanoset([3, 2]),
    lx.Pad: lambda files: lx.Pad(-1, multiple=2),
    lx.Padded: lambda files: lx.Padded(lx.Shuffle(n=3), 2),
    lx.Part: lambda files: lx.Part(*range(len(lx.Part._fields))),
    lx.PartWriter: lambda files: lx.PartWriter(files.folder / 'parts', order=0),
    lx.Prefetcher: lambda files: lx.prefetch(iter(range(3))),
    lx.PrunedFile: lambda files: lx.PrunedFile(*range(len(lx.PrunedFile._fields))),
    lx.Random: lambda files: lx.Random(n=3),
    lx.Repeat: lambda files: lx.Repeat(lx.Shuffle(n=3), 2),
    lx.Sequential: lambda files: lx.Sequential(n=3),
    lx.Shuffle: lambda files: lx.Shuffle(n=3),
    lx.Slice: lambda files: lx.Slice(lx.Shuffle(n=3), 0, 2),
    lx.Subset: lambda files: lx.Subset([0, 1]),
    lx.Ticket: lambda files: ticket(files),
    lx.TokenStream: lambda files: lx.TokenStream(['a'] * 9, write_vocabulary(files.folder), 2),
    lx.Tokens: lambda files: lx.Tokens(files.token_files + '/00000_tokens.ds', 'uint16'),
    lx.TorchRandom: lambda files: lx.TorchRandom(n=3),
    lx.TorchSubset: lambda files: lx.TorchSubset([0, 1]),
    lx.Views: lambda files: lx.open(files.stored).views([0]),
    lx.Weighted: lambda files: lx.Weighted([1, 2]),
    lx.Writer: lambda files: lx.create(files.folder / 'written', {'x': lx.Field('int64')}),
    PartJob: lambda files: PartJob(files.folder / 'parts', {}),
    ranks.World: lambda files: ranks.World(0, 1),
    recordio.IRHeader: lambda files: recordio.IRHeader(0, 0, 0, 0),
    recordio.InputSplit: lambda files: recordio.InputSplit(files.records),
    recordio.MXIndexedRecordIO: lambda files: recordio.MXIndexedRecordIO(
        files.records.with_suffix('.idx'), files.records, 'r'),
    recordio.MXRecordIO: lambda files: recordio.MXRecordIO(files.records, 'r'),
    recordio.Skipped: lambda files: recordio.MXRecordIO(files.records, 'r').skipped(),
}

# Classes whose attributes have an effect, or belong to somebody else.
EXEMPT = {
    lx.Batch: 'a transform makes batches, and gives them attributes',
    lx.Ragged: 'a transform may change its values',
    lx.LoaderxError: 'an exception', lx.CorruptError: 'an exception', lx.Order: 'has no objects',
    nanoset.DataCollatorForCLM: 'a dataclass of Nanotron, whose attributes are read in each call',
    nanoset.DataCollatorForCLMWithPositionIds: 'the same',
    nanoset.TensorPointer: 'a dataclass of Nanotron',
}
if images is not None:
    STEPS = [images.CenterCrop(2), images.ColorJitter(), images.Flip(), images.GaussianBlur(3),
             images.Lighting(.1), images.Normalize([0], [1]), images.Pad(2), images.RandomCrop(2),
             images.RandomErasing(), images.RandomGrayscale(), images.RandomResizedCrop(2),
             images.RandomRotation(9), images.Resize(2), images.SubtractMean([0]), images.Boxes(),
             images.Mask(), images.Points()]
    OTHERS.update({type(step): lambda files, step=step: step for step in STEPS})
    OTHERS[images.ImageRecordIter] = lambda files: record_iter(files)
    OTHERS[images.DataDesc] = lambda files: record_iter(files).provide_data[0]
    OTHERS[images.ImageInfo] = lambda files: images.info(PNG)
    EXEMPT[images.DataBatch] = "a dataclass of MXNet, which is the caller's"
if torch:
    import torch
    from loaderx import torch as lxt
    OTHERS[lxt.DevicePrefetcher] = lambda files: lxt.DevicePrefetcher([ARRAY], 'cpu')
    OTHERS[lxt.TokenStream] = lambda files: lxt.TokenStream(
        ['a'] * 9, write_vocabulary(files.folder), 2)


def ticket(files):
    writer = lx.create(files.folder / 'ticket', {'x': lx.Field('int64')})
    writer.append(x=1)
    made = writer.commit(wait=False)
    writer.close()
    return made


def record_iter(files):
    path = files.folder / 'photos.rec'
    with recordio.MXRecordIO(path, 'w') as file:
        file.write(recordio.pack(recordio.IRHeader(0, 0, 0, 0), PNG))
    return images.ImageRecordIter(path_imgrec=path, data_shape=(3, 1, 1), batch_size=1,
                                  preprocess_threads=1)


def is_of_torch(kind):
    """Whether a class derives from one of torch, whose users may set its attributes."""
    return torch and issubclass(kind, (lxt.Sampler, torch.utils.data.DataLoader))


def make(kind, files):
    return MAKE[kind](kind, files) if kind in MAKE else OTHERS[kind](files)


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def test_all_public_classes_are_tested():
    found = {kind for kind in public_classes()
             if inspect.isclass(kind) and kind.__module__.startswith('loaderx')
             and not is_of_torch(kind)}
    assert found <= {*MAKE, *OTHERS, *EXEMPT}, 'make an object of the class, or say why not'


classes = pytest.mark.parametrize('kind', [*MAKE, *OTHERS], ids=lambda kind: kind.__name__)


@classes
def test_public_attributes_and_invented_ones_are_refused(files, kind):
    made = make(kind, files)
    names = [name for name in dir(kind) if not name.startswith('_')]
    names += [name for name in getattr(made, '__dict__', ()) if not name.startswith('_')]
    for name in [*names, 'invented', 'order', 'batch_size', 'seed', 'transform', 'weights']:
        before = inspect.getattr_static(made, name, None)
        with pytest.raises(AttributeError):
            setattr(made, name, object())
        assert inspect.getattr_static(made, name, None) is before, name


def test_the_error_says_what_to_do(files):
    loader = lx.Loader(ARRAY)
    with pytest.raises(AttributeError, match=r'^Loader\.order .*new Loader,.* set_epoch\(\)'):
        loader.order = lx.Shuffle(seed=1)
    with pytest.raises(AttributeError, match=r'^Weighted\.weights cannot .* make a new Weighted$'):
        lx.Weighted([1, 2]).weights = [2, 1]


DERIVABLE = [*MAKE, *(kind for kind in (lx.Loader, lx.DataLoader, lx.Shuffle, lx.Tokens))]


@pytest.mark.parametrize('kind', DERIVABLE, ids=lambda kind: kind.__name__)
def test_a_derived_class_has_its_own_attributes(files, kind):
    class Own(kind):
        level = 1

        @property
        def limit(self):
            return self.bound

        @limit.setter
        def limit(self, value):
            self.bound = value

    if kind in MAKE:
        made = MAKE[kind](Own, files)
    elif issubclass(kind, lx.Loader):
        made = Own(ARRAY, ARRAY) if kind is lx.DataLoader else Own(ARRAY)
    else:
        made = Own(n=3) if kind is lx.Shuffle else Own(files.token_files + '/00000_tokens.ds',
                                                       'uint16')
    made.mark, made.level, made.limit = 5, 6, 7
    made.mark += 1
    assert (made.mark, made.level, made.bound) == (6, 6, 7)
    for name in dir(kind):
        if not name.startswith('_'):
            with pytest.raises(AttributeError, match=f'^Own.{name} '):
                setattr(made, name, object())


@pytest.mark.skipif(sys.version_info < (3, 14), reason='annotations are evaluated at once')
def test_annotations_of_a_derived_class_are_not_evaluated():
    names = {'lx': lx}
    exec('class Own(lx.NPDataset):\n    mark: Undefined', names)
    made = names['Own'](ARRAY)
    made.mark = made.level = 5
    assert made.mark == made.level == 5


class Marked(lx.NPDataset):
    def __init__(self, array, mark):
        self.array, self.mark = array, mark    # before the base sets the same array
        super().__init__(array)


class MarkedSubset(lx.SubsetDataset):
    mark = None


class MarkedDataset(lx.Dataset):
    mark = None


def test_copies_keep_attributes_and_refuse_the_same(files):
    subset, stored = MarkedSubset(ARRAY, [1, 2]), MarkedDataset(files.stored)
    subset.mark = stored.mark = 5
    for made, fact in (Marked(ARRAY, 5), 'array'), (subset, 'dataset'), (stored, 'path'):
        for again in copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)):
            assert type(again) is type(made) and again.mark == 5 and len(again) == len(made)
            again.mark = 6
            with pytest.raises(AttributeError, match=fact):
                setattr(again, fact, object())


@classes
def test_unpickled_objects_refuse_the_same(files, kind):
    try:
        again = pickle.loads(pickle.dumps(make(kind, files)))
    except (TypeError, AttributeError, pickle.PicklingError):
        pytest.skip('cannot be pickled')
    with pytest.raises(AttributeError):
        again.invented = 1
