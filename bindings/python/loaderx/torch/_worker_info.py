# SPDX-License-Identifier: MIT
"""What ``torch.utils.data.get_worker_info()`` says in threads.

torch keeps it in a global, of which a process of a worker has its own. Threads share one, and
datasets that give each worker a part of their data would give all of it in each. So once a
`DataLoader` with threads was begun, torch's function looks at the thread first. It is the function
itself that does, since whoever imported it by name holds it already.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator

from torch.utils.data._utils import worker as _worker

__all__ = ['WorkerInfo', 'hidden', 'install', 'set_info']

WorkerInfo = _worker.WorkerInfo

_here = threading.local()


def _of_thread(info: Any) -> Any:
    """This thread's, or that of the process."""
    return getattr(_here, 'info', info)


def install() -> None:
    """Have torch's function know of threads; again has no effect."""
    if hasattr(_worker, '_loaderx_of_thread'):
        return
    _worker._loaderx_of_thread = _of_thread

    # It runs among the globals of torch's module.
    def get_worker_info():  # type: ignore[no-untyped-def]
        return _loaderx_of_thread(_worker_info)  # type: ignore[name-defined]  # noqa: F821

    _worker.get_worker_info.__code__ = get_worker_info.__code__


def set_info(info: Any) -> None:
    """Say what this thread is."""
    _here.info = info


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """While torch's collation runs: it makes shared memory where it sees a worker."""
    info = getattr(_here, 'info', None)
    if info is None:
        yield
        return
    _here.info = None
    try:
        yield
    finally:
        _here.info = info
