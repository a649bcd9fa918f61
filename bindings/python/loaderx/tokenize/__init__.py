# SPDX-License-Identifier: MIT
"""Texts made tokens, by the library tokenizers: written to files, or on the fly.

``python -m loaderx.tokenize`` and `write_tokens` make files of tokens, on all cores. `TokenStream`
makes samples of texts while a model trains.
"""

from ._stream import TokenStream
from ._writing import write_tokens

__all__ = ['TokenStream', 'write_tokens']
