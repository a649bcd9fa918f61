# SPDX-License-Identifier: MIT
"""``torch.utils.data.get_worker_info()`` in threads.

torch keeps the worker info in a global variable of each worker process. Threads share this
variable, so a dataset that splits its data by worker would return all of the data in each thread.
For this reason, the first `DataLoader` with threads changes torch's function so that it looks up
the info of the calling thread first. The change replaces the code of the function, because other
modules may have imported the function by name.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator

from torch.utils.data._utils import worker as _worker

__all__ = ['WorkerInfo', 'forget', 'hidden', 'install', 'set_info']

WorkerInfo = _worker.WorkerInfo

_here = threading.local()


def _of_thread(info: Any) -> Any:
    """Return the info of this thread; if there is none, return the info of the process."""
    return getattr(_here, 'info', info)


def install() -> None:
    """Make torch's function look up the info of the calling thread; further calls do nothing."""
    if hasattr(_worker, '_loaderx_of_thread'):
        return
    _worker._loaderx_of_thread = _of_thread

    # This code runs with the globals of torch's module.
    def get_worker_info():  # type: ignore[no-untyped-def]
        return _loaderx_of_thread(_worker_info)  # type: ignore[name-defined]  # noqa: F821

    _worker.get_worker_info.__code__ = get_worker_info.__code__


def set_info(info: Any) -> None:
    """Set the info of this thread."""
    _here.info = info


def forget() -> None:
    """Forget the info of this thread, in a process that one of the worker threads forked."""
    _here.__dict__.pop('info', None)


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Hide the worker info while torch collates; otherwise torch would use shared memory."""
    info = getattr(_here, 'info', None)
    if info is None:
        yield
        return
    _here.info = None
    try:
        yield
    finally:
        _here.info = info
