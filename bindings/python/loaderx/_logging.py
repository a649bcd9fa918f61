# SPDX-License-Identifier: MIT
"""Passes the library's messages to the ``loaderx`` logger of Python's logging module."""

from __future__ import annotations

__all__ = ['log']


def log(text: str, warning: bool) -> None:
    """Log a message; the extension module calls this while it holds no lock of the library."""
    import logging    # imported here, because most processes log no message
    logging.getLogger('loaderx').log(logging.WARNING if warning else logging.INFO, text)
