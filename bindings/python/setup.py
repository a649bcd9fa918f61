# SPDX-License-Identifier: MIT
"""Builds loaderx._core against the installed libraries, which pkg-config finds as `loaderx-parity`,
`loaderx-import` and `loaderx-recordio`, the modules that require all others; and loaderx._images
and loaderx._remote, if pkg-config also finds `loaderx-image` and `loaderx-remote`."""

import glob
import os
import shlex
import subprocess
import sys

from setuptools import Extension, setup

MODULES = ['loaderx-parity', 'loaderx-import', 'loaderx-recordio']
OLDEST = '1.0.0'    # the first library with all functions that the extension calls


def run_pkg_config(*arguments):
    command = shlex.split(os.environ.get('PKG_CONFIG') or 'pkg-config')
    try:
        return subprocess.run([*command, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)
    except OSError as error:
        sys.exit(f'Cannot run {command[0]} ({error.strerror}), which finds the installed '
                 f'libloaderx; set PKG_CONFIG to another command.')


def pkg_config(modules, *arguments):
    """Return the output of pkg-config for the libraries, split as by a shell."""
    done = run_pkg_config(*arguments, *modules)
    if done.returncode != 0:
        sys.exit(f'pkg-config does not find {" and ".join(modules)} {OLDEST} or newer:\n'
                 f'{done.stderr.strip()}\n'
                 f'Install libloaderx first (./configure && make && make install). If it is not '
                 f'in a standard directory, add its lib/pkgconfig to PKG_CONFIG_PATH.')
    return shlex.split(done.stdout)


def extension(name, folder, modules):
    """Return the extension of the sources in a folder."""
    pkg_config(modules, '--atleast-version', OLDEST, '--print-errors')
    here = os.path.dirname(os.path.abspath(__file__))
    pattern = os.path.join(glob.escape(here), folder, '*.c')
    sources = [os.path.relpath(path, here) for path in glob.glob(pattern)]
    headers = [os.path.relpath(path, here) for path in glob.glob(pattern[:-1] + 'h')]
    return Extension(name, sorted(sources), depends=sorted(headers),
                     extra_compile_args=['-std=gnu11', '-fvisibility=hidden', '-Wall', '-Wextra',
                                         # casts between kinds of method are CPython's interface
                                         '-Wno-cast-function-type',
                                         '-Wno-missing-field-initializers',
                                         # errors in newer compilers
                                         '-Werror=incompatible-pointer-types',
                                         '-Werror=int-conversion',
                                         *pkg_config(modules, '--cflags')],
                     extra_link_args=pkg_config(modules, '--libs'))


extensions = [extension('loaderx._core', 'ext', MODULES)]
for module, folder in (('image', 'images'), ('remote', 'remote')):
    if run_pkg_config('--exists', f'loaderx-{module}').returncode == 0:
        extensions.append(extension(f'loaderx._{folder}', f'ext/{folder}', [f'loaderx-{module}']))
# packaging/build-wheel adds the command and its manual; distributions install those of the library.
setup(ext_modules=extensions, scripts=glob.glob('scripts/*'),
      data_files=[(f'share/{folder}', glob.glob(f'{folder}/*')) for folder in glob.glob('man/*')])
