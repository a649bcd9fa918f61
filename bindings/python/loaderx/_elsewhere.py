# SPDX-License-Identifier: MIT
"""Remote datasets, which the extension loaderx._remote opens."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._check import UINT64_MAX, boolean, folder, integer, natural, number, size
from ._installation import explain
from ._paths import check_target, is_url

__all__ = ['Credentials', 'Size', 'get_credentials', 'make_opener', 'make_target', 'prune_target',
           'release_credentials']

Size = Union[int, str]
Credentials = Callable[[], Any]

# The functions for credentials of all datasets that are open. Threads of the library know a
# function by its number, so that none can call one that was released.
_functions: Dict[int, Credentials] = {}
_numbers = itertools.count(1)


def make_opener(path: bytes, cache: Any, limit: Optional[Size], memory: Optional[Size],
                connections: Optional[int], patience: Optional[float],
                tier: Optional[Sequence[str]], endpoint: Optional[str], region: Optional[str],
                anonymous: Optional[bool], credentials: Optional[Credentials]) -> Any:
    """Check the options of `Dataset` for a remote dataset; return what opens it.

    The result is None if the dataset is read directly: the path is no URL, and no option is given.
    """
    public = anonymous is not None and boolean('anonymous', anonymous)
    _check_servers(path, endpoint, region, public, credentials)
    nodes = _check_tier(path, tier)
    if not is_url(path) and (cache, limit, memory, connections, patience) == (None,) * 5:
        return None
    return _make(_import(), cache, limit, memory, connections, patience, nodes, endpoint, region,
                 public, credentials)


def make_target(url: bytes, connections: Optional[int], patience: Optional[float],
                endpoint: Optional[str], region: Optional[str], anonymous: bool,
                credentials: Optional[Credentials]) -> Any:
    """Check the options of `push` and `prune`; return the opener for the URL or path."""
    public = boolean('anonymous', anonymous)
    check_target(url)
    _check_servers(url, endpoint, region, public, credentials)
    return _make(_import(), None, None, None, connections, patience, (), endpoint, region, public,
                 credentials)


def prune_target(url: bytes, target: Any, older: int, dry_run: bool) -> List[Tuple[str, int, int]]:
    """Remove files at a URL; return their names, sizes and times."""
    found: List[Tuple[str, int, int]] = _import().prune(url, target, older, dry_run)
    return found


def _make(remote: Any, cache: Any, limit: Optional[Size], memory: Optional[Size],
          connections: Optional[int], patience: Optional[float], nodes: Tuple[str, ...],
          endpoint: Optional[str], region: Optional[str], public: bool,
          credentials: Optional[Credentials]) -> Any:
    """Return an opener with these options."""
    if limit is not None and cache is None:
        raise ValueError('limit requires cache: it is the most bytes in the cache')
    options = (
        folder('cache', cache),
        None if limit is None else size('limit', limit),
        None if memory is None else size('memory', memory),
        None if connections is None else natural('connections', connections, minimum=1,
                                                 maximum=remote.MAX_CONNECTIONS),
        None if patience is None else min(int(number('patience', patience) * 1e9), UINT64_MAX),
        nodes, endpoint, region, public)
    if credentials is None:
        return remote.opener(*options, None)
    _prepare_threads(remote)
    key = next(_numbers)
    _functions[key] = credentials
    try:
        return remote.opener(*options, key)
    except BaseException:
        release_credentials(key)
        raise


@functools.lru_cache(maxsize=None)
def _prepare_threads(remote: Any) -> None:
    """Allow threads of the library to call functions, also in children of fork()."""
    remote.prepare_threads()
    os.register_at_fork(after_in_child=remote.prepare_threads)


def _check_servers(path: bytes, endpoint: Optional[str], region: Optional[str], anonymous: bool,
                   credentials: Optional[Credentials]) -> None:
    """Check the options for servers, which must suit the URL."""
    for name, text in ('endpoint', endpoint), ('region', region):
        if text is not None and not isinstance(text, str):
            raise TypeError(f'{name} must be a str, not {type(text).__name__}')
    if credentials is not None and not callable(credentials):
        raise TypeError('credentials must be a function that returns them, not '
                        f'{type(credentials).__name__}')
    if anonymous and credentials is not None:
        raise ValueError('pass credentials or anonymous=True, not both')
    if not path.startswith(b's3://'):
        for name, given in (('endpoint', endpoint is not None), ('region', region is not None),
                            ('anonymous', anonymous)):
            if given:
                raise ValueError(f'{name} requires a URL such as s3://bucket/prefix')
        if credentials is not None and not path.startswith((b'https://', b'http://')):
            raise ValueError('credentials require a URL of s3://, https:// or http://')


def _check_tier(path: bytes, tier: Optional[Sequence[str]]) -> Tuple[str, ...]:
    """Check the nodes of a tier, whose form the library checks."""
    if isinstance(tier, (str, bytes)) or not isinstance(tier, (type(None), Sequence)):
        raise TypeError(f'tier must be a list of URLs, not {type(tier).__name__}')
    for node in tier or ():
        if not isinstance(node, str):
            raise TypeError(f'tier must be a list of str, not of {type(node).__name__}')
    if tier and not path.startswith((b's3://', b'https://', b'http://')):
        raise ValueError('tier requires a URL of s3://, https:// or http://')
    return tuple(tier or ())


def get_credentials(key: int) -> Tuple[str, str, str, int]:
    """Call the function with this number: return key, secret, token and when they expire."""
    found = _functions[key]()
    if not isinstance(found, Mapping):
        found = {name: getattr(found, name, None)
                 for name in ('access_key', 'secret_key', 'token', 'expires')}
    texts = [_text(name, found.get(name)) for name in ('access_key', 'secret_key', 'token')]
    if texts == [''] * 3:
        raise ValueError('it must return a mapping or an object with access_key and secret_key, or '
                         'with token')
    return texts[0], texts[1], texts[2], _seconds(found.get('expires'))


def _text(name: str, value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError(f'{name} must be a str, not {type(value).__name__}')
    return value or ''


def _seconds(expires: Any) -> int:
    if expires is None:
        return 0
    if isinstance(expires, datetime):
        if expires.tzinfo is None:
            raise ValueError('expires must have a time zone, such as datetime.timezone.utc')
        expires = expires.timestamp()
    return int(number('expires', expires)) if isinstance(expires, float) else \
        natural('expires', integer('expires', expires))


def release_credentials(key: int) -> None:
    """Forget the function with this number."""
    _functions.pop(key, None)


def _import() -> Any:
    """Return the extension."""
    try:
        return importlib.import_module('loaderx._remote')
    except ModuleNotFoundError as error:
        if error.name != 'loaderx._remote':
            raise
        raise ImportError('the Python package was installed without libloaderx-remote, which opens '
                          'remote datasets: build and install libloaderx with it, and '
                          'then the Python package again') from None
    except ImportError as error:
        raise explain(error) from None
