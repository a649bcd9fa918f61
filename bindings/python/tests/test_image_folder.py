# SPDX-License-Identifier: MIT
"""Folders of images."""

import os
import pickle

import numpy as np
import pytest

import loaderx as lx

images = pytest.importorskip('loaderx.images')

PNG = bytes.fromhex('89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000d49'
                    '44415478da63f8cfc000440008fe01ff19c06be70000000049454e44ae426082')


@pytest.fixture
def root(tmp_path):
    """Three classes, with folders below them whose names sort unlike their paths."""
    for place, count in {'cat': 3, 'cat/b': 2, 'cat/b-x': 1, 'cat/b/c': 1, 'dog': 4, 'ape': 1}.items():
        (tmp_path / 'root' / place).mkdir(parents=True, exist_ok=True)
        for i in range(count):
            (tmp_path / 'root' / place / f'{i}.PNG').write_bytes(PNG)
    (tmp_path / 'root' / 'cat' / 'notes.txt').write_text('no image')
    (tmp_path / 'root' / 'LICENSE').write_text('no class')
    return tmp_path / 'root'


def test_lists_classes_and_samples(root):
    pets = images.ImageFolder(root)
    assert pets.classes == ['ape', 'cat', 'dog']
    assert pets.class_to_idx == {'ape': 0, 'cat': 1, 'dog': 2}
    assert pets.targets == [0] + [1] * 7 + [2] * 4
    assert len(pets) == 12
    assert pets[3] == {'image': PNG, 'label': 1}
    assert pets['label'][:].tolist() == pets.targets
    assert list(pets.fields) == ['image', 'label']


def test_lists_as_torchvision_does(root):
    folder = pytest.importorskip('torchvision.datasets').ImageFolder
    theirs, ours = folder(str(root)), images.ImageFolder(str(root))
    assert theirs.samples == ours.samples
    assert theirs.targets == ours.targets
    assert theirs.class_to_idx == ours.class_to_idx


def test_is_read_by_loaders(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train = images.ImageDataset(images.ImageFolder('root'), [images.Resize((2, 2))])
    monkeypatch.chdir('/')    # the folder is found again
    for threads in 0, 2:
        with lx.Loader(train, batch_size=5, order=lx.Shuffle(seed=42), threads=threads) as loader:
            seen = [batch['label'].copy() for batch in loader]
        assert sorted(np.concatenate(seen).tolist()) == images.ImageFolder(root).targets


def test_resumes_where_the_folder_has_moved(root, tmp_path):
    def loader(folder):
        return lx.Loader(images.ImageFolder(folder), batch_size=5, order=lx.Shuffle(seed=42))

    first = loader(root)
    next(first)
    state = first.state_dict()
    expected = next(first)['label'].tolist()
    root.rename(tmp_path / 'moved')
    second = loader(tmp_path / 'moved')
    second.load_state_dict(state)
    assert next(second)['label'].tolist() == expected
    (tmp_path / 'moved' / 'dog' / '9.png').write_bytes(PNG)
    with pytest.raises(ValueError):
        loader(tmp_path / 'moved').load_state_dict(state)


def test_can_be_pickled_and_combined(root):
    pets = images.ImageFolder(root)
    assert pickle.loads(pickle.dumps(pets))[11] == pets[11]
    both = pets + images.ImageFolder(root)
    assert len(both) == 24 and both[23] == pets[11]


def test_damaged_and_missing_files_are_named(root):
    train = images.ImageDataset(images.ImageFolder(root), [images.Resize((2, 2))])
    (root / 'dog' / '2.PNG').write_bytes(b'')
    with pytest.raises(lx.CorruptError, match='image'):
        list(lx.Loader(train, batch_size=4))
    with lx.Loader(train, batch_size=4, on_damage='skip') as loader:
        assert sum(len(batch['label']) for batch in loader) == 11
    os.remove(root / 'dog' / '2.PNG')
    with pytest.raises(FileNotFoundError, match='dog/2.PNG'):
        list(lx.Loader(train, batch_size=4))


def test_survives_links_that_lead_back(root):
    (root / 'cat' / 'b' / 'up').symlink_to(root / 'cat')
    (root / 'dog' / 'linked').symlink_to(root / 'ape')
    assert images.ImageFolder(root).targets == [0] + [1] * 7 + [2] * 5


def test_folders_can_have_the_suffix_of_an_image(root):
    (root / 'dog' / 'old.tif').mkdir()
    (root / 'dog' / 'old.tif' / '0.png').write_bytes(PNG)
    assert len(images.ImageFolder(root)) == 13


def test_refuses_folders_without_images(root, tmp_path):
    (tmp_path / 'empty').mkdir()
    with pytest.raises(FileNotFoundError, match='no sub-folders'):
        images.ImageFolder(tmp_path / 'empty')
    with pytest.raises(FileNotFoundError):
        images.ImageFolder(tmp_path / 'absent')
    (tmp_path / 'empty' / 'bird').mkdir()
    with pytest.raises(FileNotFoundError, match='empty have no images'):
        images.ImageFolder(tmp_path / 'empty')


def test_folders_without_images_are_classes(root, caplog):
    (root / 'bird').mkdir()
    pets = images.ImageFolder(root)
    assert pets.classes == ['ape', 'bird', 'cat', 'dog']
    assert pets.targets == [0] + [2] * 7 + [3] * 4
    assert caplog.messages == [f"classes without images in {root}: 1, such as 'bird'",
                               *left_out(root)]


def left_out(root):
    """The warnings of the files that are no images of a class."""
    return [f'files that are no images were left out of {root}: .txt 1',
            f'files that are in no sub-folder were left out of {root}: none 1']


def test_images_are_found_by_any_name_and_by_their_first_bytes(root, caplog):
    """Nothing is left out without a word."""
    jpeg = images.encode(np.zeros((2, 2, 3), np.uint8), 'jpeg')
    webp = images.encode(np.zeros((2, 2, 3), np.uint8), 'webp')
    for name, data in {'a.JPG': jpeg, 'b.jpe': jpeg, 'c.JFIF': jpeg, 'd.WebP': webp, 'e': PNG,
                       'f.dat': webp, 'g.tif': jpeg}.items():
        (root / 'ape' / name).write_bytes(data)
    for name in 'x.csv', 'y.CSV', 'z.json', 'empty':
        (root / 'dog' / name).write_bytes(b'')
    pets = images.ImageFolder(root)
    assert pets.targets == [0] * 8 + [1] * 7 + [2] * 4
    assert caplog.messages[0] == (f'files that are no images were left out of {root}: .csv 2, '
                                  '.json 1, .txt 1, none 1')
    assert len(list(lx.Loader(images.ImageDataset(pets, [images.Resize((2, 2))]),
                              batch_size=1))) == 19


def test_refuses_images_that_cannot_be_decoded(root):
    (root / 'bird').mkdir()
    for name in 'x.bmp', 'y.TIFF', 'z.tiff':
        (root / 'bird' / name).write_bytes(b'BM')
    with pytest.raises(ValueError, match=r'x.bmp cannot be decoded: .* \(.bmp 1, .tiff 2\)'):
        images.ImageFolder(root)


def test_hidden_names_are_left_out(root, caplog):
    for name in '.ipynb_checkpoints/0.png', 'ape/._0.png', 'dog/.DS_Store':
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(PNG)
    pets = images.ImageFolder(root)
    assert pets.classes == ['ape', 'cat', 'dog'] and len(pets) == 12
    assert caplog.messages == [f'names that begin with a dot were left out of {root}: 3',
                               *left_out(root)]
    caplog.clear()
    both = images.ImageFolder(root, hidden=True)
    for folder in both, pickle.loads(pickle.dumps(both)):
        assert folder.classes == ['.ipynb_checkpoints', 'ape', 'cat', 'dog'] and len(folder) == 15
    assert caplog.messages == left_out(root) * 2
