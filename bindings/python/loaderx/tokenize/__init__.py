# SPDX-License-Identifier: MIT
"""Tokenization of texts by the tokenizers library: to files, or on the fly.

``python -m loaderx.tokenize`` and `write_tokens` write files of tokens, on all cores. `TokenStream`
tokenizes samples during training.
"""

from typing import TYPE_CHECKING, Any

from ._stream import TokenStream

if TYPE_CHECKING:
    from ._writing import write_tokens

__all__ = ['TokenStream', 'write_tokens']


def __getattr__(name: str) -> Any:
    # Lazy, because importing multiprocessing takes a tenth of `import loaderx`, and few programs
    # need it.
    if name != 'write_tokens':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from ._writing import write_tokens

    globals()[name] = write_tokens
    return write_tokens
