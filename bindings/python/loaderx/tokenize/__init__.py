# SPDX-License-Identifier: MIT
"""Tokenization of texts with the tokenizers library, either to files or on the fly.

``python -m loaderx.tokenize`` and `write_tokens` tokenize on all cores and write token files.
`TokenStream` tokenizes during training.
"""

from typing import TYPE_CHECKING, Any

from .. import _installation    # raises ImportError if another package has replaced ours
from ._stream import TokenStream

if TYPE_CHECKING:
    from ._writing import write_tokens

__all__ = ['TokenStream', 'write_tokens']


def __getattr__(name: str) -> Any:
    # Imported on first use, because importing multiprocessing takes a tenth of the time that
    # `import loaderx` takes, and few programs need write_tokens.
    if name != 'write_tokens':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from ._writing import write_tokens

    globals()[name] = write_tokens
    return write_tokens
