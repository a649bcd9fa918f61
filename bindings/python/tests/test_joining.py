# SPDX-License-Identifier: MIT
"""join(): one dataset of many, whose payloads stay where they are."""

import os
import random

import numpy as np
import pytest

import loaderx as lx

FIELDS = {
    'image': lx.Field('uint8', (3, 4)),
    'label': lx.Field('int64'),
    'flate': lx.Field('int32', (50,), compress='flate'),
    'zstd': lx.Field('str', compress='zstd'),
    'blob': lx.Field('bytes'),
    'text': lx.Field('str', compress='flate'),
    'boxes': lx.Field('float32', (None, 4)),
    'data': lx.Field('json'),
}


def make_value(draw, name):
    """Return a value of any kind: missing, empty, inline, stored or compressed."""
    field = FIELDS[name]
    if name != 'label' and draw.random() < .1:
        return None
    if name == 'boxes':
        return np.random.default_rng(draw.getrandbits(32)).random((draw.randrange(5), 4), 'f4')
    if field.shape:
        return np.full(field.shape, draw.randrange(100), field.dtype)
    if name == 'label':
        return draw.randrange(-1000, 1000)
    if name == 'data':
        return {'a': list(range(draw.randrange(40)))}
    data = bytes(draw.randrange(97, 123) for _ in range(draw.choice([0, 1, 7, 8, 9, 60, 700])))
    data = data * draw.choice([1, 1, 20])
    return data if name == 'blob' else data.decode()


def make(path, names, count, seed, chunk_records):
    draw = random.Random(seed)
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with lx.create(path, {name: FIELDS[name] for name in names},
                   chunk_records=chunk_records) as writer:
        for _ in range(count):
            writer.append({name: make_value(draw, name) for name in sorted(names)})
    writer = lx.open(path, 'a')
    writer.seal()
    writer.close()


def make_parts(folder, draw, names):
    """Make parts with their fields in any order; return their paths."""
    paths = []
    for i in range(draw.randrange(1, 7)):
        path = os.path.join(folder, draw.choice(['', 'part/', 'a/b/']) + f'p{i}')
        make(path, draw.sample(names, len(names)), draw.choice([0, 1, 5, 40]), draw.random(),
             draw.choice([1, 3, 1000]))
        paths.append(path)
    return paths


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize('seed', range(12))
def test_a_joined_dataset_is_a_copy_of_its_parts(seed):
    draw = random.Random(seed)
    names = draw.sample(sorted(FIELDS), draw.randrange(1, len(FIELDS) + 1))
    parts = make_parts('all', draw, names)
    lx.join('all', parts, progress=False)
    lx.copy(parts, 'copy', progress=False)
    with lx.open('all') as joined, lx.open('copy') as copied:
        joined.verify(progress=False)    # or CorruptError
        assert joined.digest(progress=False) == copied.digest(progress=False)
        assert len(joined) == sum(len(lx.open(part)) for part in parts)
        assert list(joined.fields) == list(lx.open(parts[0]).fields)


def test_loaders_read_it_and_resume():
    for i in range(3):
        make(f'all/part/{i}', ['image', 'label', 'text'], 40, i, 7)
    parts = [f'all/part/{i}' for i in range(3)]
    lx.join('all', parts, progress=False)
    lx.copy(parts, 'copy', progress=False)

    def batches(path, order):
        loader = lx.Loader(lx.open(path), batch_size=8, order=order, fields=['label'])
        return [batch['label'].tolist() for batch in loader]

    for order in lx.Shuffle(n=120, seed=3), lx.Lanes(n=120, lanes=4, block=5, seed=1):
        assert batches('all', order) == batches('copy', order)

    order = lx.Shuffle(n=120, seed=3)
    loader = lx.Loader(lx.open('all'), batch_size=8, order=order, fields=['label'])
    first = iter(loader)
    for _ in range(4):
        next(first)
    state, wanted = loader.state_dict(), next(first)['label'].tolist()
    os.rename('all', 'moved')
    again = lx.Loader(lx.open('moved'), batch_size=8, order=order, fields=['label'])
    again.load_state_dict(state)
    assert next(iter(again))['label'].tolist() == wanted


def test_joining_again_makes_the_same_dataset():
    make('all/a', ['label', 'text'], 10, 1, 3)
    make('all/b', ['label', 'text'], 10, 2, 3)
    parts = ['all/a', 'all/b']
    lx.join('all', parts, progress=False)
    first = lx.open('all').identity['uuid']
    with pytest.raises(FileExistsError):
        lx.join('all', parts, progress=False)
    os.remove('all/meta.json')
    for name in os.listdir('all'):
        if os.path.isfile(f'all/{name}'):
            os.remove(f'all/{name}')
    lx.join('all', parts, progress=False)
    assert lx.open('all').identity['uuid'] == first


def test_cards():
    for name, license in ('a', 'MIT'), ('b', 'CC0-1.0'):
        with lx.create(name, {'x': FIELDS['label']},
                       card={'source': 'here', 'license': license}) as writer:
            writer.append({'x': 1})
        writer = lx.open(name, 'a')
        writer.seal()
        writer.close()
        os.renames(name, f'all/{name}')
    lx.join('all', ['all/a', 'all/b'], progress=False)
    assert lx.open('all').card == {'source': 'here'}


def test_arguments():
    make('all/a', ['label'], 1, 1, 3)
    make('other/b', ['label'], 1, 1, 3)
    with pytest.raises(TypeError, match='not a single path'):
        lx.join('all', 'all/a')
    with pytest.raises(ValueError, match="'other/b' is not inside 'all'"):
        lx.join('all', ['all/a', 'other/b'])
    with pytest.raises(ValueError, match='cannot write over HTTP'):
        lx.join('https://host/all', ['https://host/all/part/0'])
    with pytest.raises(ValueError, match='scratch requires a URL'):
        lx.join('all', ['all/a'], scratch='.')
    with pytest.raises(ValueError, match='nothing to join'):
        lx.join('all', [])


def test_an_exception_of_progress_ends_it():
    make('all/a', ['label'], 5, 1, 3)

    def report(done, total):
        raise KeyError((done, total))

    with pytest.raises(KeyError, match='5, 5'):
        lx.join('all', ['all/a'], progress=report)
    assert not os.path.exists('all/meta.json')
    lx.join('all', ['all/a'], progress=False)
    assert len(lx.open('all')) == 5


def test_joins_at_a_url(tmp_path):
    pytest.importorskip('loaderx._remote')
    url = f'file://{tmp_path}/there'
    for i in range(3):
        make(f'part-{i}', ['label', 'text', 'image'], 20, i, 7)
        lx.push(f'part-{i}', f'{url}/part/{i}', progress=False)
    os.mkdir('scratch')
    parts = [f'{url}/part/{i}' for i in range(3)]
    lx.join(url, parts, scratch='scratch', progress=False)
    assert os.listdir('scratch') == []
    lx.copy([f'part-{i}' for i in range(3)], 'copy', progress=False)
    with lx.open(url) as joined, lx.open('copy') as copied:
        joined.verify(progress=False)    # or CorruptError
        assert joined.digest(progress=False) == copied.digest(progress=False)
    lx.join(url, parts, scratch='scratch', progress=False)    # which has nothing to send
    with pytest.raises(FileExistsError):
        lx.join(url, parts[::-1], scratch='scratch', progress=False)


def test_many_remote_parts_are_joined_in_groups(tmp_path, monkeypatch):
    pytest.importorskip('loaderx._remote')
    url = f'file://{tmp_path}/there'
    names = ['label', 'text']
    for i in range(8):
        make(f'part-{i}', names, 5 * (i % 3), i, 2)
        lx.push(f'part-{i}', f'{url}/part/{i}', progress=False)
    monkeypatch.setattr('loaderx.joining._GROUP', 3)
    parts = (f'{url}/part/{i}' for i in range(8))
    counts = []
    os.mkdir('scratch')
    lx.join(url, parts, scratch='scratch', progress=lambda done, total: counts.append(done))
    assert os.listdir('scratch') == [] and counts
    lx.copy([f'part-{i}' for i in range(8)], 'copy', progress=False)
    with lx.open(url) as joined, lx.open('copy') as copied:
        joined.verify(progress=False)    # or CorruptError
        assert joined.digest(progress=False) == copied.digest(progress=False)
    lx.join(url, [f'{url}/part/{i}' for i in range(8)], progress=False)    # nothing to send
    with pytest.raises(FileNotFoundError, match='none'):
        lx.join(url, [f'{url}/part/{i}' for i in range(7)] + [f'{url}/part/none'], progress=False)
    with pytest.raises(ValueError, match='given twice'):
        lx.join(url, [f'{url}/part/{i}' for i in (1, 2, 4, 5, 1)], progress=False)
