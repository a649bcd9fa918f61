# SPDX-License-Identifier: MIT
"""The imports of the package: its modules form no cycle, and errors say what is wrong."""

import ast
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import loaderx

ROOT = pathlib.Path(loaderx.__file__).parent


def name_of(path):
    parts = ['loaderx', *path.relative_to(ROOT).with_suffix('').parts]
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


MODULES = {name_of(path): path for path in ROOT.rglob('*.py')}


def targets(node, package):
    """Return the modules of the package that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    up = package[:len(package) - node.level + 1] if node.level else []
    base = '.'.join([*up, *([node.module] if node.module else [])])
    within = [f'{base}.{alias.name}' for alias in node.names]
    return [one if one in MODULES else base for one in within]


def imports_of(name, path):
    """Return all modules that a module imports, also in functions and for types; with packages.

    The module's own packages are imported before it.
    """
    own = name.split('.')
    package = own if path.name == '__init__.py' else own[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        for target in targets(node, package):
            parts = target.split('.')
            found.update('.'.join(parts[:k]) for k in range(1, len(parts) + 1))
    before = {'.'.join(own[:k]) for k in range(1, len(own))}
    return (found & set(MODULES)) - before - {name}


def find_cycle(graph):
    """Return a cycle of modules, each of which imports the next; or None."""
    done = set()

    def visit(module, path):
        if module in path:
            return path[path.index(module):]
        if module in done:
            return None
        for target in sorted(graph[module]):
            cycle = visit(target, [*path, module])
            if cycle:
                return cycle
        done.add(module)
        return None

    return next(filter(None, (visit(module, []) for module in sorted(graph))), None)


def test_the_test_finds_a_circle():
    assert find_cycle({'a': {'b'}, 'b': {'c'}, 'c': {'b'}}) == ['b', 'c']
    assert imports_of('loaderx.loader', MODULES['loaderx.loader']) > {'loaderx.orders'}


def test_modules_import_one_another_without_a_circle():
    assert find_cycle({name: imports_of(name, path) for name, path in MODULES.items()}) is None


@pytest.fixture
def installed(tmp_path):
    """A copy of the packages in their own folder."""
    for name in 'loaderx', 'libloaderx':
        shutil.copytree(ROOT.parent / name, tmp_path / name,
                        ignore=shutil.ignore_patterns('__pycache__'))
    return tmp_path


def error_of_import(folder, module='loaderx'):
    result = subprocess.run(
        [sys.executable, '-c', f'import {module}'], capture_output=True, text=True, timeout=60,
        env={**os.environ, 'PYTHONPATH': str(folder), 'PYTHONDONTWRITEBYTECODE': '1'})
    return result.stderr.strip().rpartition('\n')[2]


def test_reports_another_distribution_in_the_same_folder(installed):
    (installed / 'libloaderx-0.1.0.dist-info').mkdir()
    (installed / 'downloaderx-1.0.dist-info').mkdir()
    (installed / 'loaderx_tools-1.0.dist-info').mkdir()
    assert error_of_import(installed) == ''
    (installed / 'loaderx-2.8.19.dist-info').mkdir()
    error = error_of_import(installed)
    assert error.startswith('ImportError') and 'loaderx-2.8.19.dist-info' in error
    assert 'pip uninstall loaderx libloaderx' in error


def test_reports_a_missing_extension_module(installed):
    for path in (installed / 'loaderx').glob('_core*.so'):
        path.unlink()
    error = error_of_import(installed)
    assert error.startswith('ImportError') and "'loaderx._core'" in error
    assert 'not built for this Python' in error and 'pip uninstall' in error


@pytest.mark.parametrize('module', ['torch', 'nanoset', 'megatron', 'tokenize', 'jax'])
def test_reports_a_package_that_replaced_ours(installed, module):
    """The other distribution was installed last: only its files replace ours."""
    (installed / 'loaderx' / '__init__.py').write_text('class DataLoader: pass\n')
    assert error_of_import(installed) == ''
    error = error_of_import(installed, f'loaderx.{module}')
    assert error.startswith('ImportError: another distribution') and '__init__.py' in error
    assert 'pip uninstall loaderx libloaderx' in error


SAME = '''
import libloaderx as lx
import libloaderx.sources.arrays as arrays
from libloaderx.orders import Shuffle
import loaderx.sources.arrays
assert lx is loaderx and arrays is loaderx.sources.arrays and Shuffle is lx.Shuffle
assert arrays.__spec__.name == 'loaderx.sources.arrays' and lx.__name__ == 'loaderx'
'''


def test_the_other_name_is_the_same_package():
    run = subprocess.run([sys.executable, '-c', SAME], capture_output=True, text=True, timeout=60,
                         check=False)
    assert run.stderr == ''


def test_the_other_name_reports_a_package_that_replaced_ours(installed):
    (installed / 'loaderx' / '__init__.py').write_text('class DataLoader: pass\n')
    error = error_of_import(installed, 'libloaderx')
    assert error.startswith('ImportError: another distribution') and '__init__.py' in error


def test_a_wheel_without_images_says_how_to_install_them(installed):
    """The extension then finds no library of images."""
    for path in (installed / 'loaderx').glob('_images*.so'):
        path.unlink()
    (installed / 'loaderx' / 'lib').mkdir(exist_ok=True)
    (installed / 'loaderx' / '_images.py').write_text(
        "raise ImportError('libloaderx-image.so.0: cannot open shared object file')\n")
    error = error_of_import(installed, 'loaderx.images')
    assert error.startswith('ImportError: images are') and 'pip install' in error
