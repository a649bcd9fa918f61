# SPDX-License-Identifier: MIT
"""Progress of long operations, shown as a bar or passed to the caller's function."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Optional, Union

Progress = Union[bool, None, Callable[[int, int], object]]

_Report = Callable[[int, int], object]


def _in_notebook() -> bool:
    """Return whether this process is a notebook kernel, in which stderr is not a terminal."""
    ipython = sys.modules.get('IPython')
    shell = ipython.get_ipython() if ipython is not None else None
    return 'IPKernelApp' in getattr(shell, 'config', ())


def open_bar(what: str, unit: str, total: Optional[int] = None) -> Any:
    """Return a tqdm bar on a terminal or in a notebook, if tqdm is installed; otherwise, None."""
    notebook = _in_notebook()
    if not (notebook or sys.stderr.isatty()):
        return None
    try:
        # Outside a notebook, tqdm.auto has the same class, but takes longer to import.
        if notebook:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        else:
            from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return tqdm(total=total, desc=what, unit=unit, unit_scale=unit == 'B', file=sys.stderr)


@contextlib.contextmanager
def reporting(progress: Progress, what: str, unit: str = ' records') -> Iterator[Optional[_Report]]:
    """Yield a function to call with `done` and `total`, or None if progress is not shown."""
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise TypeError(f'progress must be True, False or callable, not '
                            f'{type(progress).__name__}')
        yield progress
        return
    bar = open_bar(what, unit) if progress else None
    if bar is None:
        yield None
        return

    def advance(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        bar.close()
