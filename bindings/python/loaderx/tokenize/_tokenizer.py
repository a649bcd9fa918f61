# SPDX-License-Identifier: MIT
"""Loads, inspects and uses tokenizers from the tokenizers library."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from .._check import boolean, natural
from ..errors import LoaderxError

__all__ = ['ERRORS', 'Encoder', 'choose_errors', 'fingerprint', 'load', 'token_id', 'vocabulary']

ERRORS = ('strict', 'replace')

# A text that tokenizers with equal vocabularies may split differently.
_PROBE = ("Don't  PANIC:\n\n\tx_1 += 3.14159 * 12345678;\r\n naïve ﬁne Ünïcode, 東京、"
          'Привет мир! 🙂🙂 <b>end</b>   ')


def load(tokenizer: Any) -> Any:
    """Load a copy of a tokenizer, with truncation and padding disabled.

    Parameters
    ----------
    tokenizer : path, tokenizers.Tokenizer, or fast tokenizer of transformers
        The tokenizer, or the path of a ``tokenizer.json`` or of the directory that contains it.
    """
    library = _library()
    if isinstance(tokenizer, (str, bytes, os.PathLike)):
        made = _read(library, os.fsdecode(tokenizer))
    else:
        backend = getattr(tokenizer, 'backend_tokenizer', tokenizer)
        if not isinstance(backend, library):
            raise TypeError('tokenizer must be a path, a tokenizers.Tokenizer or a fast tokenizer '
                            f'of transformers, not {type(tokenizer).__name__}')
        made = library.from_str(backend.to_str())
    made.no_truncation()
    made.no_padding()
    return made


def _library() -> Any:
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        if error.name != 'tokenizers':
            raise
        raise ImportError('loaderx.tokenize needs the tokenizers library: '
                          'pip install tokenizers',
                          name='tokenizers') from None
    return Tokenizer


def _read(library: Any, path: str) -> Any:
    if os.path.isdir(path):
        path = os.path.join(path, 'tokenizer.json')
    with open(path, 'rb') as file:
        data = file.read()
    try:
        return library.from_str(data.decode())
    except Exception as cause:    # the library raises plain instances of Exception
        error = LoaderxError(f'{path}: the tokenizers library cannot read this tokenizer '
                             f'({cause}): pass a tokenizer.json')
        error.path = path
        raise error from None


def vocabulary(tokenizer: Any) -> int:
    """Return the size of the vocabulary: the largest token ID plus one."""
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)


def token_id(tokenizer: Any, name: str, token: Union[int, str, None]) -> Optional[int]:
    """Return the ID of a token, which is given as a name, an ID, or a string of digits."""
    if token is None:
        return None
    if not isinstance(token, str):
        number = natural(name, token, maximum=2**32 - 1)
    elif token.isdecimal() and token.isascii():
        number = natural(name, int(token), maximum=2**32 - 1)
    else:
        found = tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f'{name}: the tokenizer has no token {token!r}')
        return int(found)
    if tokenizer.id_to_token(number) is None:
        raise ValueError(f'{name}: the tokenizer has no token {number}: its vocabulary has '
                         f'{vocabulary(tokenizer)} tokens')
    return number


def fingerprint(tokenizer: Any) -> str:
    """Return the identity of a tokenizer, which does not depend on the library version."""
    known = sorted(tokenizer.get_vocab(with_added_tokens=True).items())
    made: List[Any] = []
    for special in False, True:
        try:
            made.append(tokenizer.encode(_PROBE, add_special_tokens=special).ids)
        except Exception:    # for example, a vocabulary of words without an unknown token
            made.append(None)
    return hashlib.sha256(json.dumps([known, made]).encode()).hexdigest()[:32]


def choose_errors(errors: Any) -> str:
    """Check and return the action for bytes that are not UTF-8."""
    if errors not in ERRORS:
        raise ValueError(f"errors must be 'strict' or 'replace', not {errors!r}")
    return str(errors)


class Encoder:
    """Tokenizes many texts at a time, on the library's threads.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        A tokenizer that `load` returned.
    end : int, optional
        A token to insert after each text.
    special : bool
        Whether to add the special tokens of the post-processor to each text.
    """

    def __init__(self, tokenizer: Any, end: Optional[int], special: bool) -> None:
        self.tokenizer = tokenizer
        self.special = boolean('special_tokens', special)
        self._end = [] if end is None else [end]
        # The fast method does not compute offsets. Older versions of the library lack this method.
        self._many = getattr(tokenizer, 'encode_batch_fast', tokenizer.encode_batch)

    def encode(self, texts: List[str]) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the tokens of all texts, and the number of tokens per text."""
        numbers: List[List[int]] = []
        for text, made in zip(texts, self._many(texts, add_special_tokens=self.special)):
            ids = made.ids if text else []
            numbers.append(ids + self._end if ids else ids)
        lengths = np.fromiter(map(len, numbers), np.int64, len(numbers))
        flat = itertools.chain.from_iterable(numbers)
        return np.fromiter(flat, np.uint32, int(lengths.sum())), lengths
