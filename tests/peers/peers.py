# SPDX-License-Identifier: MIT
"""The libraries and programs of others that judge our tests: which of them take part here.

    peers.py             two lines: those that this Python and the environment have, with versions
    peers.py packages    the packages that run-peers installs beside ours, the newest of each
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys

PACKAGES = ('numpy', 'torch', 'torchdata', 'torchvision', 'pyarrow', 'pillow', 'pandas', 'polars',
            'duckdb', 'datasets', 'webdataset', 'transformers', 'accelerate', 'lightning',
            'tokenizers', 'ray', 'jax', 'ml_dtypes', 'litdata', 'lmdb', 'tfrecord', 'dask', 'pyspark')
# In an interpreter that a variable names, since they need other versions of the packages above.
APART = {'mxnet': 'MXNET_PYTHON', 'mosaicml-streaming': 'MOSAIC_PYTHON'}
# Cannot be imported beside ours: a folder that a variable names.
ORIGINAL = {'loaderx': 'LOADERX_ORIGINAL'}
# Variables of tests/remote, the programs in PATH, and what prints their versions.
PROGRAMS = {'SEAWEEDFS': ('weed', 'version'), 'RCLONE': ('rclone', 'version'),
            'MOTO_SERVER': ('moto_server', '--version'), 'NGINX': ('nginx', '-v')}


def version_in(folders, name):
    for one in importlib.metadata.distributions(name=name, **folders):
        return one.version
    return None


def version_apart(python, name):
    code = f'import importlib.metadata as m; print(m.version({name!r}))'
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    done = subprocess.run([python, '-c', code], capture_output=True, text=True, timeout=60,
                          env=environment)
    return done.stdout.strip() or None


def version_of_program(variable, program, option):
    path = os.environ.get(variable) or shutil.which(program, path=os.environ['PATH'] + ':/usr/sbin')
    if path is None:
        return None
    done = subprocess.run([path, option], capture_output=True, text=True, timeout=60)
    words = (done.stdout + done.stderr).replace('/', ' ').split()
    return next((word for word in words if any(map(str.isdigit, word))), 'of unknown version')


def main():
    found = {name: version_in({}, name) for name in PACKAGES}
    found.update((name, os.environ.get(variable) and version_apart(os.environ[variable], name))
                 for name, variable in APART.items())
    found.update(
        (f'the original {name}', os.environ.get(variable) and
         version_in({'path': [os.environ[variable]]}, name)) for name, variable in ORIGINAL.items())
    found.update((program, version_of_program(variable, program, option))
                 for variable, (program, option) in PROGRAMS.items())
    python = '.'.join(map(str, sys.version_info[:3]))
    print('peers:', ', '.join([f'Python {python}', *(f'{name} {version}' for name, version
                                                     in found.items() if version)]))
    absent = [name for name, version in found.items() if not version]
    print('no peers here:', ', '.join(absent) or '-')


if sys.argv[1:] == ['packages']:
    print(*PACKAGES)
else:
    main()
