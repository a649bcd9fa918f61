# SPDX-License-Identifier: MIT
"""The examples of docstrings run and print the documented output."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import loaderx as lx

# Packages that the examples of these modules need; without them the examples are skipped.
NEEDS = {'torch': ['torch', 'nanoset._batches', 'nanoset._samplers'], 'jax': ['jax'],
         'tokenizers': ['tokenize'], 'loaderx._images': ['images'], 'dask': ['dask'],
         'loaderx._remote': ['dask', 'parts', 'publishing', 'sources.dataset']}
# Examples of these modules need the user's data; they do not run.
SKETCHES = {'ray': 'a cluster of Ray', 'spark': 'a session of Spark',
            'jax': 'a mesh of devices', 'torch._loader': 'images', 'torch._samplers': 'images',
            'torch._token_stream': 'a tokenizer', 'tokenize._stream': 'a tokenizer',
            'nanoset._batches': 'a parallel context', 'nanoset._samplers': 'a Nanoset',
            'nanoset._dataset': 'tokens of Nanotron', 'megatron._blended': 'tokens of Megatron',
            'megatron._samples': 'tokens of Megatron'}


def modules():
    """Return all modules of the package with examples."""
    found = [name[len('loaderx.'):] for _, name, _ in pkgutil.walk_packages(
        lx.__path__, 'loaderx.', onerror=lambda name: None)]
    return [name for name in found
            if not name.startswith(('_core', '_images', '_remote')) and has_examples(name)]


def has_examples(name):
    spec = importlib.util.find_spec(f'loaderx.{name}')
    with open(spec.origin, encoding='utf-8') as file:
        return '>>> ' in file.read()


@pytest.mark.parametrize('name', modules())
def test_the_examples_run(name, tmp_path, monkeypatch):
    if name in SKETCHES:
        pytest.skip(f'the examples need {SKETCHES[name]}')
    for package, parts in NEEDS.items():
        if any(name == part or name.startswith(part + '.') for part in parts):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f'loaderx.{name}')
    names = {**{one: getattr(lx, one) for one in lx.__all__}, 'np': np, 'lx': lx}
    result = doctest.testmod(module, extraglobs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted and not result.failed
