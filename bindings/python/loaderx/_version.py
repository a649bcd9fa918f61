# SPDX-License-Identifier: MIT
"""The version of the Python package; `loaderx.library_version` is that of the library in use."""

__version__ = '1.0.0rc1'
