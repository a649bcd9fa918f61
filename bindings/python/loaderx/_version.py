# SPDX-License-Identifier: MIT
"""The version of the Python package; `loaderx.library_version` is the library's version."""

__version__ = '0.1.0'
