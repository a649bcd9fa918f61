# SPDX-License-Identifier: MIT
"""Samples of texts that are tokenized while a model trains."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, Mapping, Optional, Type, TypeVar, Union

import numpy as np

from .._check import natural
from .._states import VERSION, check, checksum, number
from ..errors import CorruptError, LoaderxError
from ..orders import Order, Sequential
from ..sources.tokens import wide_of
from ._prefetch import Prefetcher
from ._packing import Place, Samples, walk_of
from ._sources import texts_of
from ._tokenizer import Encoder, choose_errors, fingerprint, load, token_id, vocabulary

__all__ = ['TokenStream']

_KIND = 'TokenStream'
# Bytes of samples that are made ahead.
_AHEAD = 4 << 20

_Self = TypeVar('_Self', bound='TokenStream')


class TokenStream:
    """Samples of one length of texts, which are tokenized on the fly and packed one behind the
    other.

    Documents come in an order, each with a separator behind it. Samples have ``sequence_length +
    1`` tokens, and the last token of one is the first one of the next, as those of a `TokenDataset`
    over files of the same tokens. A thread makes them ahead; the tokenizer's own threads use all
    cores, if the variable TOKENIZERS_PARALLELISM does not keep them from it.

    **Iteration.** ``for`` goes through what is left of the epoch (or of `epochs`), and ends; the
    next ``for`` goes on with what follows. Documents that begin in one epoch may end a sample
    with those of the next one; where a ``for`` ends, what is left is no sample, and is given up. A
    loop that was left by ``break`` is gone on with where it was left. What goes wrong comes out of
    ``next()`` behind all samples that were whole before, and the next call tries it again.

    **Ranks.** A rank has the documents at the positions of each epoch that are `rank` modulo
    `world`, and packs them by itself, so that each text is tokenized once. Ranks may come to
    different numbers of samples in an epoch: with ``epochs=None`` none ends before the others. A
    state is that of one rank, and is loaded with the same `rank` and `world`; whoever wants to go
    on with another number of ranks tokenizes before, by `write_tokens`, and has a `TokenDataset`.

    It belongs to one process; in a child of ``fork()`` it goes on from where it was, with a thread
    of its own. Any threads may ask it for samples.

    Parameters
    ----------
    texts : Dataset, path, Column, or sequence
        Where the texts are: a dataset in the state that it shows now, of which `field` is read; or
        a sequence of str, of UTF-8 in bytes, or of dicts that have one of these at `field`. One
        that is None, or has no tokens, is left out.
    tokenizer : path, tokenizers.Tokenizer, or fast tokenizer of transformers
        A path is that of a ``tokenizer.json``, or of the folder that it is in. What it has of
        truncation and padding is left out.
    sequence_length : int
        Tokens of an input.
    field : str, optional
        A field of bytes, which need not be given where a dataset has one of these.
    separator : int or str, optional
        A token that is put behind each document, by number or by name.
    special_tokens : bool, optional
        Whether the tokens are added that the tokenizer's post-processor puts around a text.
    errors : {'strict', 'replace'}, optional
        What is done about bytes that are not UTF-8: CorruptError, or U+FFFD in their place.
    order : Order, optional
        In what order documents come; None: `Sequential`. Its length is an epoch.
    epochs : int, optional
        How many of them a ``for`` goes through; None: without end.
    rank, world : int, optional
        Which share of the documents this process takes, of how many.
    batch_size : int, optional
        How many samples are handed out at a time, as an array of two axes; what is left at an end
        is a smaller batch. None: one, as an array of one axis.
    out : dtype or str, optional
        Of the samples: ``int32`` or ``int64``.
    prefetch_bytes : int, optional
        Bound on the bytes of samples that are made ahead; None: 4 MiB. One batch is always allowed.

    Examples
    --------
    >>> stream = lx.TokenStream('wiki', 'tokenizer.json', 4096, field='text',
    ...                         separator='<|endoftext|>', order=lx.Shuffle(seed=42), epochs=None,
    ...                         batch_size=8)
    >>> for batch in stream:
    ...     inputs, labels = batch['tokens'][:, :-1], batch['tokens'][:, 1:]
    ...     state = stream.state_dict()
    """

    def __init__(
        self,
        texts: Any,
        tokenizer: Any,
        sequence_length: int,
        *,
        field: Optional[str] = None,
        separator: Union[int, str, None] = None,
        special_tokens: bool = False,
        errors: str = 'strict',
        order: Optional[Order] = None,
        epochs: Optional[int] = 1,
        rank: int = 0,
        world: int = 1,
        batch_size: Optional[int] = None,
        out: Any = np.int32,
        prefetch_bytes: Optional[int] = None,
    ) -> None:
        self._closed = True
        made = load(tokenizer)
        self.vocabulary = vocabulary(made)
        self.separator = token_id(made, 'separator', separator)
        self.sequence_length = natural('sequence_length', sequence_length, least=1, most=2**31 - 2)
        self.batch_size = batch_size if batch_size is None else natural(
            'batch_size', batch_size, least=1)
        self.epochs = epochs if epochs is None else natural('epochs', epochs, least=1)
        if order is not None and not isinstance(order, Order):
            raise TypeError(f'order must be an Order or None, not {type(order).__name__}')
        source = texts_of(texts, field)
        walk = walk_of(Sequential() if order is None else order, len(source), rank, world)
        dtype = np.dtype(np.int64 if wide_of(out) else np.int32)
        self._samples = Samples(source, Encoder(made, self.separator, special_tokens),
                                choose_errors(errors), walk, self.sequence_length + 1,
                                self.batch_size or 1, dtype)
        size = dtype.itemsize * (self.sequence_length + 1) * (self.batch_size or 1)
        given = _AHEAD if prefetch_bytes is None else natural('prefetch_bytes', prefetch_bytes)
        self._most = max(1, given // size)
        self._configuration = {
            'sequence_length': self.sequence_length, 'separator': self.separator,
            'special_tokens': self._samples.encoder.special, 'errors': errors,
            'rank': walk.rank, 'world': walk.world, 'order': walk.description,
            'tokenizer': fingerprint(made), 'data': source.identity()}
        self._place = Place(0)
        self._prefetcher: Optional[Prefetcher] = None
        self._pid = os.getpid()
        self._lock = threading.Lock()    # guards the three above
        self._closed = False

    def __iter__(self: _Self) -> _Self:
        return self

    def __next__(self) -> Dict[str, np.ndarray[Any, Any]]:
        if self._pid != os.getpid():    # a child has neither the thread nor whoever holds the lock
            self._prefetcher, self._pid, self._lock = None, os.getpid(), threading.Lock()
        with self._lock:
            if self._closed:
                raise LoaderxError('the stream is closed')
            if self._prefetcher is None:
                self._prefetcher = self._begin()
                if self._closed:    # it did not see this thread
                    self._prefetcher.close()
            try:
                batch, self._place = self._prefetcher.take()
            except BaseException as error:
                self._leave()
                if self._closed:
                    raise LoaderxError('the stream was closed meanwhile') from None
                if isinstance(error, StopIteration):
                    self._place = Place(self._end() or 0)
                raise
        return {'tokens': batch[0] if self.batch_size is None else batch}

    def _begin(self) -> Prefetcher:
        samples, place, end = self._samples, self._place, self._end()
        return Prefetcher(lambda is_stopped: samples.run(place, end, is_stopped), self._most)

    def _end(self) -> Optional[int]:
        """The position at which a ``for`` that goes on from here ends."""
        if self.epochs is None:
            return None
        length = self.epochs * self._samples.walk.length
        return (self._place.position // length + 1) * length

    def _leave(self) -> None:
        if self._prefetcher is not None:
            self._prefetcher.close()
            self._prefetcher = None

    def state_dict(self) -> Dict[str, Any]:
        """Return where the stream is, as a small dict that JSON can hold (version 1).

        It has no tokens: it tells the document and the token of it at which the next sample begins,
        and what the tokenizer, the texts and the order must be for that to make sense.
        """
        place = self._place
        state = {'state': _KIND, 'version': VERSION, **self._configuration,
                 'position': place.position, 'offset': place.offset, 'text_crc32': place.crc}
        state['crc32'] = checksum(state)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where a stream was. The one document at which it stands is tokenized again.

        Whether that is still the same text is found out by the first ``next()``, which raises
        CorruptError if it is not.

        Raises
        ------
        ValueError
            The tokenizer, the texts, the order or an argument is another; the message names the
            difference.
        LoaderxError
            The state is of another version.
        CorruptError
            The state was changed, or is none.
        """
        check(state, _KIND, self._configuration)
        place = Place(number(state, 'position'), number(state, 'offset'),
                      None if state.get('text_crc32') is None else
                      number(state, 'text_crc32', most=2**32 - 1))
        begun = place.crc is not None
        if (begun and self._samples.walk.own(place.position) != place.position) or (
                not begun and (place.offset or place.position % self._samples.walk.length)):
            raise CorruptError('the state is damaged: its "position" cannot be')
        with self._lock:
            self._leave()
            self._place = place

    def close(self) -> None:
        """End the thread, once it has done what it is at; a second call does nothing."""
        self._closed = True
        ahead = self._prefetcher
        if ahead is not None:
            ahead.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *details: object) -> None:
        self.close()

    def __copy__(self: _Self) -> _Self:
        """Another one at the same place, over the same texts."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _prefetcher=None, _lock=threading.Lock(),
                             _pid=os.getpid())
        return made

    def __deepcopy__(self: _Self, memo: Any) -> _Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError('a TokenStream cannot be pickled; save its state_dict() and make it anew')

    def __repr__(self) -> str:
        return (f'TokenStream({len(self._samples.texts)} texts, samples of {self.sequence_length} '
                '+ 1 tokens)')
