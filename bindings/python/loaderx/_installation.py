# SPDX-License-Identifier: MIT
"""Errors for installations that cannot work.

The subpackages import this module first, in case another package has replaced ``__init__.py``.
"""

from __future__ import annotations

import os
import re
import sys

from ._version import __version__

__all__ = ['check_folder', 'explain']

# Our distribution is libloaderx. On PyPI, the distribution loaderx installs a different package of
# the same name.
_ADVICE = ('install each of them in its own virtual environment; to repair this one, run '
           '`pip uninstall loaderx libloaderx`, and install libloaderx again')


def check_folder(package: str) -> None:
    """Raise ImportError if the distribution loaderx is installed in the folder of our package.

    Each of the two distributions overwrites files of the other, and uninstalling either one removes
    these files.
    """
    folder = os.path.dirname(os.path.abspath(package))
    for name in os.listdir(folder):
        if re.match(r'loaderx-.*\.(dist|egg)-info$', name):
            raise ImportError(f'{package} contains files of two distributions, libloaderx and '
                              f'loaderx ({os.path.join(folder, name)}): {_ADVICE}')


def explain(error: ImportError) -> ImportError:
    """Return the error to raise in place of `error`, which importing the extension raised."""
    if error.name == 'loaderx._core' and isinstance(error, ModuleNotFoundError):
        return ImportError(f'{error}: the package was not built for this Python, or another '
                           f'distribution with a package named loaderx has replaced it: {_ADVICE}')
    if re.match(r'libloaderx-image\S*\.so', str(error)) and _is_wheel():
        return ImportError("images are a package of their own: run `pip install "
                           f"'libloaderx[images]=={__version__}'`")
    if re.match(r'libloaderx\S*\.so', str(error)):
        return ImportError(f'{error}. The dynamic linker cannot find this library: install it, if '
                           'your distribution has it in a package of its own, run ldconfig, or add '
                           'its directory to LD_LIBRARY_PATH.')
    return error


def _is_wheel() -> bool:
    """Return whether the package contains the libraries."""
    return os.path.isdir(os.path.join(os.path.dirname(__file__), 'lib'))


if not hasattr(sys.modules[__name__.rpartition('.')[0]], '_is_libloaderx'):
    raise ImportError('another distribution with a package named loaderx has replaced '
                      f'{os.path.join(os.path.dirname(__file__), "__init__.py")}: {_ADVICE}')
