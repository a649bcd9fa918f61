# SPDX-License-Identifier: MIT
"""Folders of images, read in three ways and by torchvision: all give the same classes and labels.

``LOADERX_PROPERTY_EXAMPLES=5000`` makes the test long.
"""

import inspect
import json
import logging
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

pytest.importorskip('hypothesis')

from hypothesis import given, settings, strategies as st

import loaderx as lx

images = pytest.importorskip('loaderx.images')

EXAMPLES = int(os.environ.get('LOADERX_PROPERTY_EXAMPLES', 40))
PNG = bytes.fromhex('89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000d49'
                    '44415478da63f8cfc000440008fe01ff19c06be70000000049454e44ae426082')
LEFT_OUT = 'names that begin with a dot were left out of '

# Names that sort differently by byte, by code point of what Python makes of them, in a locale and
# without regard to case. Those with \udc.. are not UTF-8.
NAMES = ['.git', '.ipynb_checkpoints', '..a', 'B', 'a', 'a-x', 'a b', 'é', '\ufffd', '\U0001f600',
         '\udcff', '\udc80x']
FILES = ['1.png', '2.JPG', '._1.jpg', '.DS_Store', 'notes.txt', 'deep/3.webp', 'deep/.4.png',
         '.deep/5.png', 'deep.png/6.jpeg', 'linked.png', 'elsewhere', '7.jfif', '8', '9.tif']
TEXTS = '.DS_Store', 'notes.txt'
TREES = st.dictionaries(st.sampled_from(NAMES),
                        st.one_of(st.lists(st.sampled_from(FILES), unique=True), st.just('link')))


@pytest.fixture
def command():
    tools = pathlib.Path(os.environ.get('top_builddir', '.')).resolve() / 'tools' / 'loaderx'
    found = shutil.which('loaderx') or shutil.which(tools)
    if found is None:
        pytest.skip('the command loaderx is not in PATH')
    return found


def make(folder, tree):
    """Make a tree of classes; 'elsewhere' and classes that are a link lead to a folder."""
    outside = folder / 'outside' / 'sub'
    outside.mkdir(parents=True)
    (outside / '7.png').write_bytes(PNG)
    (outside / '.8.png').write_bytes(PNG)
    (folder / 'root').mkdir()
    (folder / 'root' / '.hidden').write_text('no class')
    for name, files in tree.items():
        place = folder / 'root' / name
        if files == 'link':
            place.symlink_to(folder / 'outside')
            continue
        place.mkdir()
        for file in files:
            (place / file).parent.mkdir(exist_ok=True)
            if file == 'linked.png':
                (place / file).symlink_to(outside / '7.png')
            elif file == 'elsewhere':
                (place / file).symlink_to(folder / 'outside')
            else:
                (place / file).write_bytes(b'text' if file in TEXTS else PNG)
    return folder / 'root'


def is_text(name):
    return not any('\udc80' <= character <= '\udcff' for character in name)


def read_folder(root, hidden):
    """Return the classes, and the label of each image by its name in the folder."""
    folder = images.ImageFolder(root, hidden=hidden)
    assert folder.class_to_idx == {name: i for i, name in enumerate(folder.classes)}
    labels = {os.path.relpath(path, root): label for path, label in folder.samples}
    assert len(labels) == len(folder)
    return folder.classes, labels


def read_import(root, hidden, folder):
    lx.import_folder(root, folder / 'd', hidden=hidden, on_bad='skip', progress=False,
                     fields={'data': 'bytes'})
    with lx.open(folder / 'd') as dataset:
        names = json.loads(dataset.card['classes']) if 'classes' in dataset.card else None
        found = dataset.where(dataset['label'].present())
        labels = dict(zip(found['name'][:], found['label'][:].tolist()))
        assert [name.split('/')[0] for name in labels] == list(found['class'][:])
        images_of = {name: label for (name, label), data in zip(labels.items(), found['data'][:])
                     if data == PNG}
    return names, images_of


def read_pack(root, hidden, folder, command):
    done = subprocess.run([command, 'pack', root, folder / 'all.lst', '-q',
                           *['--hidden'] * hidden], stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = os.fsdecode((folder / 'all.lst').read_bytes()).split('\n')[:-1]
    entries = [line.split('\t') for line in lines]
    return os.fsdecode(done.stderr), {name: float(label) for _, label, name in entries}


@settings(max_examples=EXAMPLES, deadline=None)
@given(tree=TREES, hidden=st.booleans())
def check(command, caplog, tree, hidden):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = make(folder, tree)
        expected = sorted((name for name in tree if hidden or name[0] != '.'), key=os.fsencode)
        caplog.clear()
        try:
            classes, labels = read_folder(root, hidden)
        except FileNotFoundError:    # no classes, or no images
            return
        assert classes == expected
        texts = {name: label for name, label in labels.items() if is_text(name)}
        if texts:
            names, imported = read_import(root, hidden, folder)
            assert names == (expected if all(map(is_text, expected)) else None)
            assert imported == texts
        warning, packed = read_pack(root, hidden, folder, command)
        assert packed == labels
        counts = {line.rpartition(': ')[2] for line in [*caplog.messages, *warning.splitlines()]
                  if LEFT_OUT in line}
        assert len(counts) == (not hidden)


def test_all_ways_give_the_same_labels(command, caplog):
    caplog.set_level(logging.WARNING, 'loaderx')
    check(command, caplog)


@settings(max_examples=EXAMPLES, deadline=None)
@given(tree=TREES)
def check_torchvision(kind, tree):
    with tempfile.TemporaryDirectory() as name:
        tree = {name: files for name, files in tree.items() if is_text(name)}    # sorted otherwise
        root = make(pathlib.Path(name), tree)
        try:
            theirs = kind(str(root), allow_empty=True,
                          is_valid_file=lambda path: pathlib.Path(path).read_bytes() == PNG)
        except FileNotFoundError:
            return
        if theirs.samples:
            ours = images.ImageFolder(root, hidden=True)
            assert theirs.samples == ours.samples and theirs.class_to_idx == ours.class_to_idx


def test_hidden_names_as_torchvision():
    kind = pytest.importorskip('torchvision.datasets').ImageFolder
    if 'allow_empty' not in inspect.signature(kind).parameters:
        pytest.skip('this torchvision refuses folders without images')
    check_torchvision(kind)


def test_options_are_checked(tmp_path):
    root = make(tmp_path, {'a': ['1.png']})
    for value in 'yes', 1, None:
        with pytest.raises(TypeError, match='hidden must be True or False'):
            images.ImageFolder(root, hidden=value)
        with pytest.raises(TypeError, match='hidden must be True or False'):
            lx.import_folder(root, tmp_path / 'd', hidden=value, progress=False)
