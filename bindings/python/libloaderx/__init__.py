# SPDX-License-Identifier: MIT
"""The package loaderx, under a name that no other distribution has.

If another distribution has replaced files of `loaderx`, this import raises ImportError, which says
what to do.

Examples
--------
>>> import libloaderx as lx
>>> import loaderx
>>> lx is loaderx
True
"""

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

import loaderx
from loaderx import *    # for type checkers  # noqa: F401, F403
from loaderx import _installation    # raises if loaderx is not ours  # noqa: F401


class _Finder(MetaPathFinder):
    """Finds the module libloaderx.x as loaderx.x, which would otherwise be loaded twice."""

    def find_spec(self, fullname, path, target=None):    # type: ignore[no-untyped-def]
        return ModuleSpec(fullname, self) if fullname.startswith(f'{__name__}.') else None

    def create_module(self, spec):    # type: ignore[no-untyped-def]
        module = import_module(spec.name[len('lib'):])
        spec.loader_state = module.__spec__    # which importlib replaces
        return module

    def exec_module(self, module):    # type: ignore[no-untyped-def]
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, _Finder())
sys.modules[__name__] = loaderx
