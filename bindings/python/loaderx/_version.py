# SPDX-License-Identifier: MIT
"""The version of the Python package; that of the library is `loaderx.library_version`."""

__version__ = '0.1.0'
