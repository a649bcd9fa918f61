# SPDX-License-Identifier: MIT
"""A dataset with a relative path stays the same if the working directory changes."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import loaderx as lx
from loaderx import recordio
from loaderx.sources.source import located

COUNT = 5


def write(folder, first):
    """Write data of all kinds; its first value is `first`."""
    folder.mkdir()
    numbers = np.arange(first, first + COUNT, dtype=np.int32)
    names = [f'{number}'.encode() for number in numbers]
    fields = {'x': lx.Field('int32'), 'name': lx.Field('bytes')}
    with lx.create(folder / 'photos', fields) as writer:
        writer.extend({'x': numbers, 'name': names})
    np.save(folder / 'x.npy', numbers)
    np.savez(folder / 'x.npz', x=numbers)
    numbers.tofile(folder / 'x.bin')
    numbers.astype(np.uint16).tofile(folder / 'tokens.bin')
    with recordio.MXIndexedRecordIO(str(folder / 'x.idx'), str(folder / 'x.rec'), 'w') as file:
        for i, name in enumerate(names):
            file.write_idx(i, name)
    for name in 'cat', 'dog':
        (folder / 'pets' / name).mkdir(parents=True)
        (folder / 'pets' / name / 'a.png').write_bytes(names[0])


def folder_of_images():
    return pytest.importorskip('loaderx.images').ImageFolder('pets')


def dataset_of_images():
    images = pytest.importorskip('loaderx.images')
    return images.ImageDataset('photos', [images.Resize((1, 1))], field='name')


# Functions that open data by a relative path, and that return its first value.
KINDS = {
    'Dataset': (lambda: lx.open('photos'), lambda ds: ds[0]['x']),
    'NPDataset': (lambda: lx.NPDataset('x.npy'), lambda ds: ds[0]),
    'FlatDataset': (lambda: lx.FlatDataset('x.bin', np.int32), lambda ds: ds[0]),
    'FlatDataset, bytes': (lambda: lx.FlatDataset(b'x.bin', np.int32), lambda ds: ds[0]),
    'Tokens': (lambda: lx.Tokens('tokens.bin', 'uint16'), lambda ds: ds[0]),
    'Tokens of several': (lambda: lx.Tokens(['tokens.bin', 'tokens.bin'], 'uint16'),
                          lambda ds: ds[COUNT]),
    'TokenDataset': (lambda: lx.TokenDataset(lx.Tokens('tokens.bin', 'uint16'), 2),
                     lambda ds: ds.gather([0])['tokens'][0][0]),
    'RecordIODataset': (lambda: recordio.RecordIODataset('x.rec', label_width=0),
                        lambda ds: int(ds[0])),
    'RecordIODataset with its index': (
        lambda: recordio.RecordIODataset('x.rec', 'x.idx', label_width=0), lambda ds: int(ds[0])),
    'ImageFolder': (folder_of_images, lambda ds: int(ds[0]['image'])),
    'ImageDataset': (dataset_of_images, lambda ds: ds['x'][0]),
    'ConcatDataset of a dataset': (lambda: lx.ConcatDataset(['photos', 'photos']),
                                   lambda ds: ds[COUNT]['x']),
    'ConcatDataset of bytes': (lambda: lx.ConcatDataset([b'photos']),
                               lambda ds: int(ds[0]['name'])),
    'ConcatDataset of .npy': (lambda: lx.ConcatDataset(['x.npy']), lambda ds: ds[0]),
    'ConcatDataset of .npz': (lambda: lx.ConcatDataset(['x.npz']), lambda ds: ds[0]['x']),
    'ConcatDataset of dicts': (lambda: lx.ConcatDataset([{'a': 'x.npy', 'b': np.arange(COUNT)}]),
                               lambda ds: ds[0]['a']),
    'ConcatDataset of pairs': (lambda: lx.ConcatDataset([('x.npy', 'x.npy')]),
                               lambda ds: ds[0]['label']),
    'SubsetDataset': (lambda: lx.SubsetDataset('photos', [0, 1]), lambda ds: ds[0]['x']),
    'SubsetDataset, a value that varies in length': (
        lambda: lx.SubsetDataset('photos', [0, 1]), lambda ds: int(ds[0]['name'])),
}


class Named(lx.SubsetDataset):
    """A user's subclass, whose attributes are pickled."""

    def __init__(self):
        super().__init__('photos', [0])


KINDS['a subclass'] = Named, lambda ds: int(ds[0]['name'])


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Two folders with files of the same names; the working directory is the first folder."""
    write(tmp_path / 'one', 100)
    write(tmp_path / 'two', 200)
    monkeypatch.chdir(tmp_path / 'one')
    return tmp_path


@pytest.mark.parametrize('other', ['two', ''])
@pytest.mark.parametrize('kind', KINDS)
def test_keeps_its_data_in_another_working_directory(places, kind, other):
    make, first = KINDS[kind]
    made = make()
    untouched = make()
    pickled = pickle.dumps(made)
    os.chdir(places / other)
    assert int(first(made)) == 100
    for again in (pickle.loads(pickled), pickle.loads(pickle.dumps(untouched)),
                  copy.deepcopy(untouched), pickle.loads(pickle.dumps(pickle.loads(pickled)))):
        assert int(first(again)) == 100


def test_a_worker_reads_the_same_files(places):
    """As in a worker process that another directory is the working directory of."""
    made = [KINDS[kind][0]() for kind in ('Dataset', 'NPDataset', 'FlatDataset')]
    code = ('import pickle, sys\n'
            'import loaderx\n'
            'print([len(one) for one in pickle.load(sys.stdin.buffer)])')
    found = subprocess.run([sys.executable, '-c', code], input=pickle.dumps(made),
                           cwd=places, stdout=subprocess.PIPE, check=True, timeout=60).stdout
    assert found.decode().strip() == str([COUNT] * 3)


def test_paths_are_shown_as_given(places):
    assert lx.open('photos').path == 'photos'
    assert "'x.bin'" in repr(lx.FlatDataset('x.bin', np.int32))
    assert recordio.RecordIODataset('x.rec', label_width=0).path == 'x.rec'
    folder = folder_of_images()
    assert folder.root == 'pets' and folder.samples[0] == ('pets/cat/a.png', 0)
    both = lx.ConcatDataset(['x.npy', lx.SubsetDataset('x.npy', [0])])
    assert repr(both) == "ConcatDataset(['x.npy', SubsetDataset('x.npy', 1 indices)])"
    loader = lx.Loader(lx.ConcatDataset(['x.npy', 'x.npy']), batch_size=COUNT + 1)
    os.chdir(places / 'two')
    assert loader.explain(next(loader))[COUNT]['read'] == [('x.npy', 0)]


def test_dots_after_a_symbolic_link_lead_to_the_same_folder(places):
    (places / 'deep').mkdir()
    (places / 'deep' / 'x.npy').write_bytes((places / 'two' / 'x.npy').read_bytes())
    (places / 'deep' / 'folder').mkdir()
    os.symlink(places / 'deep' / 'folder', 'link')
    for kind in lx.NPDataset, lambda path: lx.ConcatDataset([path]):
        made = kind('link/../x.npy')
        assert made[0] == pickle.loads(pickle.dumps(made))[0] == 200


def test_names_in_a_table_are_no_paths(places):
    table = {'text': np.array(['a', 'b'], 'S1').view(np.uint8)}
    assert lx.ConcatDataset([table])._located[0]['text'] is table['text']
    assert located({'word': ['a', 'b']}) == {'word': ['a', 'b']}


def test_states_do_not_depend_on_the_path(places):
    def state(source):
        return lx.Loader(source, batch_size=2).state_dict()
    whole = places / 'one'
    for name in 'photos', 'x.npy':
        assert (state(name) == state(lx.ConcatDataset([name])._located[0])
                == state(str(whole / name)))


def test_an_absolute_path_needs_no_working_directory(places):
    os.mkdir('gone')
    os.chdir('gone')
    os.rmdir('../gone')
    made = lx.ConcatDataset([places / 'one' / 'x.npy'])
    assert pickle.loads(pickle.dumps(made))[0] == 100
