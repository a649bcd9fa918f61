# SPDX-License-Identifier: MIT
"""Datasets that are elsewhere, which the extension loaderx._remote opens."""

from __future__ import annotations

from typing import Any, Optional, Union

from ._check import UINT64_MAX, folder, natural, number, size
from ._installation import explain
from ._paths import is_url

__all__ = ['Size', 'make_opener']

Size = Union[int, str]


def make_opener(path: bytes, cache: Any, limit: Optional[Size], memory: Optional[Size],
                connections: Optional[int], patience: Optional[float]) -> Any:
    """Check the options of `Dataset` for a dataset that is elsewhere; return what opens it.

    The result is None if the dataset is read directly: the path is no URL, and no option is given.
    """
    if not is_url(path) and (cache, limit, memory, connections, patience) == (None,) * 5:
        return None
    make, most = _import()
    if limit is not None and cache is None:
        raise ValueError('limit requires cache: it is the most bytes in the cache')
    return make(
        folder('cache', cache),
        None if limit is None else size('limit', limit),
        None if memory is None else size('memory', memory),
        None if connections is None else natural('connections', connections, minimum=1,
                                                 maximum=most),
        None if patience is None else min(int(number('patience', patience) * 1e9), UINT64_MAX))


def _import() -> Any:
    """Return the function that makes openers, and the most connections."""
    try:
        from ._remote import MAX_CONNECTIONS, opener
    except ModuleNotFoundError as error:
        if error.name != 'loaderx._remote':
            raise
        raise ImportError('the Python package was installed without libloaderx-remote, which opens '
                          'datasets that are elsewhere: build and install libloaderx with it, and '
                          'then the Python package again') from None
    except ImportError as error:
        raise explain(error) from None
    return opener, MAX_CONNECTIONS
