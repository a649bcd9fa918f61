# SPDX-License-Identifier: MIT
"""Texts made tokens, by the library tokenizers.

``python -m loaderx.tokenize`` and `write_tokens` make files of tokens, on all cores.
"""

from ._writing import write_tokens

__all__ = ['write_tokens']
