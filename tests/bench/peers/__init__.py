# SPDX-License-Identifier: MIT
"""The packages that bench-peers.py compares, and the rows of its table."""
