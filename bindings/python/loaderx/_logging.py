# SPDX-License-Identifier: MIT
"""Passes the library's messages to Python's logging, as the logger ``loaderx``."""

from __future__ import annotations

__all__ = ['log']


def log(text: str, warning: bool) -> None:
    """Log a message; the extension module calls this function, outside all locks of the library."""
    import logging    # imported here, because most processes have no message
    logging.getLogger('loaderx').log(logging.WARNING if warning else logging.INFO, text)
