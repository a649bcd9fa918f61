# SPDX-License-Identifier: MIT
"""The examples of docstrings run and print what they say."""

import doctest
import importlib

import pytest

import loaderx as lx

MODULES = ['field', 'orders.basic', 'orders.combined', 'orders.order']


@pytest.mark.parametrize('name', MODULES)
def test_the_examples_run(name):
    module = importlib.import_module(f'loaderx.{name}')
    names = {one: getattr(lx, one) for one in lx.__all__}
    result = doctest.testmod(module, extraglobs=names)
    assert result.attempted and not result.failed
