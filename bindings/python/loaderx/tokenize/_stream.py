# SPDX-License-Identifier: MIT
"""Samples from texts that are tokenized during training."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, Mapping, Optional, Type, TypeVar, Union

import numpy as np

from .._check import natural
from .._fixed import Fixed
from .._states import VERSION, check, checksum, number, other_length
from ..errors import CorruptError, LoaderxError
from ..orders import Order, Sequential
from ..prefetching import Prefetcher
from ..ranks import choose_rank
from ..sources.tokens import wide_of
from ._packing import Place, Samples, count_in, cursor_of
from ._sources import texts_of
from ._tokenizer import Encoder, choose_errors, fingerprint, load, token_id, vocabulary

__all__ = ['TokenStream']

_KIND = 'TokenStream'
# The default limit on the size of prefetched samples, in bytes.
_AHEAD = 4 << 20

_Self = TypeVar('_Self', bound='TokenStream')


class TokenStream(Fixed):
    """Samples of equal length from concatenated texts, which are tokenized on the fly.

    Documents are read in the given order, and the separator, if there is one, follows each
    document. Samples have ``sequence_length + 1`` tokens, and the last token of a sample is the
    first token of the next sample, as with a `TokenDataset` over files of the same tokens. A thread
    prefetches samples; the tokenizer's threads use all cores, unless the environment variable
    TOKENIZERS_PARALLELISM prevents this.

    **Iteration.** A ``for`` loop yields the rest of the current epoch (or of the current `epochs`
    epochs); the next loop continues with the following samples. A sample can contain documents of
    two epochs; the tokens left over at the end of a loop are dropped. After a ``break``, the next
    loop continues where the previous loop stopped. If an error occurs, ``next()`` first returns all
    samples before the error, and then raises the error; the following call tries again.

    **Ranks.** Each rank packs the documents at the positions of each epoch that are congruent to
    `rank` modulo `world`, so each text is tokenized only once. Ranks can have different numbers of
    samples in an epoch; with ``epochs=None``, no rank ends before the others. A state belongs to
    one rank, and can be loaded only with the same `rank` and `world`. To continue with a different
    number of ranks, write the tokens with `write_tokens` and use a `TokenDataset`.

    After ``fork()``, the child continues at the same position with its own thread. All methods are
    thread-safe.

    Parameters
    ----------
    texts : Dataset, path, Column, or sequence
        The texts: the field `field` in the current snapshot of a dataset; or a sequence of str, of
        UTF-8 bytes, or of dicts that contain one of these under the key `field`. Texts that are
        None or have no tokens are skipped.
    tokenizer : path, tokenizers.Tokenizer, or fast tokenizer of transformers
        The tokenizer, or the path of a ``tokenizer.json`` or of the directory that contains it. The
        tokenizer's truncation and padding settings are ignored.
    sequence_length : int
        The number of tokens in an input.
    field : str, optional
        The str or bytes field of a dataset, by default its only one; or the key of the text in
        dicts.
    separator : int or str, optional
        A token to insert after each document, given by ID or by name.
    special_tokens : bool, optional
        Whether to add the special tokens of the tokenizer's post-processor to each text.
    errors : {'strict', 'replace'}, optional
        What to do with bytes that are not UTF-8: raise CorruptError, or replace them with U+FFFD.
    order : Order, optional
        The order of documents; None: `Sequential`. The length of the order is the length of an
        epoch.
    epochs : int, optional
        The number of epochs per ``for`` loop; None: the loop is endless.
    rank, world : int, optional
        The rank of this process, and the number of ranks, as returned by `loaderx.world`; None: 0
        and 1, with a warning if there are several processes.
    batch_size : int, optional
        The number of samples in a batch, which is an array with two axes; the last batch can be
        smaller. None: single samples, which are one-dimensional arrays.
    out : dtype or str, optional
        The dtype of the samples: ``int32`` or ``int64``.
    prefetch_bytes : int, optional
        The maximum total size of prefetched samples, in bytes; None: 4 MiB. One batch is always
        allowed, regardless of its size.

    Examples
    --------
    >>> stream = lx.TokenStream('wiki', 'tokenizer.json', 4096, field='text',
    ...                         separator='<|endoftext|>', order=lx.Shuffle(seed=42), epochs=None,
    ...                         batch_size=8)
    >>> for batch in stream:
    ...     inputs, labels = batch['tokens'][:, :-1], batch['tokens'][:, 1:]
    ...     state = stream.state_dict()
    """

    vocabulary: int
    separator: Optional[int]
    sequence_length: int
    batch_size: Optional[int]
    epochs: Optional[int]

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
        rank: Optional[int] = None,
        world: Optional[int] = None,
        batch_size: Optional[int] = None,
        out: Any = np.int32,
        prefetch_bytes: Optional[int] = None,
    ) -> None:
        self._closed = True
        made = load(tokenizer)
        self.vocabulary = vocabulary(made)
        self.separator = token_id(made, 'separator', separator)
        self.sequence_length = natural('sequence_length', sequence_length,
                                       minimum=1, maximum=2**31 - 2)
        self.batch_size = batch_size if batch_size is None else natural(
            'batch_size', batch_size, minimum=1)
        self.epochs = epochs if epochs is None else natural('epochs', epochs, minimum=1)
        if order is not None and not isinstance(order, Order):
            raise TypeError(f'order must be an Order or None, not {type(order).__name__}')
        source = texts_of(texts, field)
        self._order = Sequential() if order is None else order
        cursor = cursor_of(self._order, len(source), *choose_rank(rank, world))
        dtype = np.dtype(np.int64 if wide_of(out) else np.int32)
        self._samples = Samples(source, Encoder(made, self.separator, special_tokens),
                                choose_errors(errors), cursor, self.sequence_length + 1,
                                self.batch_size or 1, dtype)
        size = dtype.itemsize * (self.sequence_length + 1) * (self.batch_size or 1)
        limit = _AHEAD if prefetch_bytes is None else natural('prefetch_bytes', prefetch_bytes)
        self._maximum = max(1, limit // size)
        self._configuration = {
            'sequence_length': self.sequence_length, 'separator': self.separator,
            'special_tokens': self._samples.encoder.special, 'errors': errors,
            'rank': cursor.rank, 'world': cursor.world, 'order': cursor.description,
            'tokenizer': fingerprint(made), 'data': source.identity()}
        self._place = Place(0)
        self._prefetcher: Optional[Prefetcher[Any]] = None
        self._pid = os.getpid()
        self._lock = threading.Lock()    # protects _place, _prefetcher and _pid
        self._closed = False

    def __iter__(self: _Self) -> _Self:
        return self

    def __next__(self) -> Dict[str, np.ndarray[Any, Any]]:
        if self._pid != os.getpid():    # fork() copies neither the thread nor a lock's holder
            self._prefetcher, self._pid, self._lock = None, os.getpid(), threading.Lock()
        with self._lock:
            if self._closed:
                raise LoaderxError('the stream is closed')
            if self._prefetcher is None:
                self._prefetcher = self._begin()
                if self._closed:    # close() may not have seen the new prefetcher
                    self._prefetcher.close()
            try:
                batch, self._place = next(self._prefetcher)
            except BaseException as error:
                self._leave()
                if self._closed:
                    raise LoaderxError('another thread closed the stream') from None
                if isinstance(error, StopIteration):
                    self._place = Place(self._end() or 0)
                raise
        return {'tokens': batch[0] if self.batch_size is None else batch}

    def _begin(self) -> Prefetcher[Any]:
        samples, place, end = self._samples, self._place, self._end()
        return Prefetcher(lambda is_stopped: samples.run(place, end, is_stopped), self._maximum)

    def _end(self) -> Optional[int]:
        """Return the position at which a ``for`` loop ends if it starts at the current position."""
        if self.epochs is None:
            return None
        length = self.epochs * self._samples.cursor.length
        return (self._place.position // length + 1) * length

    def _leave(self) -> None:
        if self._prefetcher is not None:
            self._prefetcher.close()
            self._prefetcher = None

    def state_dict(self) -> Dict[str, Any]:
        """Return the position of the stream as a small JSON-compatible dict (version 1).

        The dict contains no tokens. It contains the document and the token at which the next sample
        begins, and the identities of the tokenizer, the texts and the order.
        """
        place = self._place
        state = {'state': _KIND, 'version': VERSION, **self._configuration,
                 'position': place.position, 'offset': place.offset, 'text_crc32': place.crc}
        state['crc32'] = checksum(state)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue at the position in a state.

        One document is tokenized again. The first ``next()`` raises CorruptError if the text of
        that document has changed.

        Raises
        ------
        ValueError
            The tokenizer, the texts, the order or an argument differs; the message names the
            difference. If records were appended to a dataset, open it with the `length` that the
            message names.
        LoaderxError
            The state was saved in an unsupported format version.
        CorruptError
            The state was changed after it was saved, or is invalid.
        """
        check(state, _KIND, self._configuration, self._explain)
        place = Place(number(state, 'position'), number(state, 'offset'),
                      None if state.get('text_crc32') is None else
                      number(state, 'text_crc32', maximum=2**32 - 1))
        started = place.crc is not None
        if (started and self._samples.cursor.align(place.position) != place.position) or (
                not started and (place.offset or place.position % self._samples.cursor.length)):
            raise CorruptError('the state is damaged: its "position" is invalid')
        with self._lock:
            self._leave()
            self._place = place

    def _explain(self, key: str, state: Mapping[str, Any]) -> Optional[ValueError]:
        """Say how to continue if the order has another length because the dataset has."""
        texts, cursor = self._samples.texts, self._samples.cursor
        if key != 'order' or texts.path is None or state.get('data') != self._configuration['data']:
            return None
        saved = count_in(state.get(key), self._order, cursor.rank, cursor.world)
        return None if saved is None else other_length(texts.path, saved, len(texts))

    def close(self) -> None:
        """Stop the thread after its current step; further calls have no effect."""
        self._closed = True
        ahead = self._prefetcher
        if ahead is not None:
            ahead.close()

    @property
    def closed(self) -> bool:
        """Whether the stream is closed."""
        return self._closed

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *details: object) -> None:
        self.close()

    def __copy__(self: _Self) -> _Self:
        """Return a second stream over the same texts, at the same position."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _prefetcher=None, _lock=threading.Lock(),
                             _pid=os.getpid())
        return made

    def __deepcopy__(self: _Self, memo: Any) -> _Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError('a TokenStream cannot be pickled; save its state_dict() instead')

    def __repr__(self) -> str:
        return (f'TokenStream({len(self._samples.texts)} texts, samples of {self.sequence_length} '
                '+ 1 tokens)')
