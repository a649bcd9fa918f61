# SPDX-License-Identifier: MIT
"""Loaders: batches of a source in an order, prepared ahead by threads."""

from __future__ import annotations

import json
from typing import (Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar,
                    Union)

import numpy as np

from . import _core
from ._check import UINT64_MAX, boolean, natural
from ._output_names import choose_output
from ._outputs import Output
from .orders import Budgeted, Order, Sequential
from .orders.order import to_json
from .sources.source import as_source

__all__ = ['Loader', 'generator']

_Self = TypeVar('_Self', bound='Loader')


def choose_fields(source: _core.Source, fields: Optional[Sequence[str]]) -> Tuple[str, ...]:
    """The names of the columns to read, which there are and which can be batched."""
    shapes = {name: dtype for name, dtype, _ in source.columns}
    if isinstance(fields, (str, bytes)):
        raise TypeError(f'fields must be a list of names, not the one {fields!r}')
    if fields is None:
        names = tuple(shapes)
    else:
        try:
            names = tuple(fields)
        except TypeError:
            raise TypeError(
                f'fields must be a list of names, not {type(fields).__name__}'
            ) from None
        if not names:
            raise ValueError('fields must have at least one name; None takes all')
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f'fields must be names, which are str, not {type(name).__name__}')
        if name not in shapes:
            there = ', '.join(shapes) or 'no fields'
            raise ValueError(f'fields: the source has {there}, but no {name!r}')
        if name in names[:place]:
            raise ValueError(f'fields: {name!r} is asked for twice')
        if shapes[name] is None:
            raise ValueError(
                f'the records of {name!r} vary in length and cannot be batched: '
                'choose fields without it'
            )
    return names


def _sizes(length: int, batch_size: Optional[int], rank: int, world: int,
           drop_last: bool) -> List[Tuple[int, int]]:
    """How many records batches have, of this rank and of all; a Budgeted order may have any."""
    if batch_size is None:
        return []
    rest = 0 if drop_last else length % (batch_size * world)
    sizes = [(batch_size, batch_size * world)] if length >= batch_size * world else []
    last = (rest + world - 1 - rank) // world
    return sizes + ([(last, rest)] if last else [])


def generator(key: Any) -> np.random.Generator:
    """Make a NumPy generator of a record's own random numbers.

    Parameters
    ----------
    key : array of two uint64
        A row of ``batch['keys']``.

    Examples
    --------
    >>> def augment(batch):
    ...     for image, key in zip(batch['image'], batch['keys']):
    ...         if generator(key).random() < 0.5:
    ...             image[:] = image[:, ::-1]
    ...     return batch
    >>> loader = Loader(ds, batch_size=256, transform=augment, keys=42)
    """
    return np.random.Generator(np.random.Philox(key=np.asarray(key, dtype=np.uint64)))


class Loader(_core.Loader):
    """Batches of a source in an order: dicts of arrays, prepared ahead by threads.

    The same arguments give the same bytes in the same order, whatever the number of threads. The
    arrays are the caller's: they may be written to, and stay valid as long as they are held, also
    after the loader is closed.

    **Iteration.** ``for`` goes through what is left of the current epoch (or of `epochs` of them),
    and ends; the next ``for`` goes on with the epoch that follows. A loop that was left by
    ``break`` is gone on with where it was left; behind the last batch of an epoch, that is the
    next epoch. Where epochs end follows from the position alone,
    so one that resumed stops where one that never stopped does; where only other ranks have
    records left of that epoch, its first ``for`` is without a batch. With ``epochs=None`` there is
    no end.

    **Positions** count the samples of the one global order, all ranks together, as handed out and
    never as prefetched. A rank takes the positions of an epoch that are `rank` modulo `world`; or
    where a `Budgeted` order makes the batches, those whose number in the epoch is.

    **Ranks.** `rank` and `world` are those of data parallelism, and not of all processes. Ranks
    that share one of these (of tensor, sequence or expert parallelism, or the stages of a pipeline)
    give the same numbers, and get the same records in the same batches: each reads what it needs,
    by `fields`, and one that needs nothing reads a `NullDataset`. All of them are at the same
    position after the same number of batches, so the state of any of them is that of the run, and
    is loaded by all of them, also where another mesh goes on. (With ``on_damage='skip'``, a batch
    of which no record is left is passed over by those alone that see it.)

    Parameters
    ----------
    source : Dataset, NPDataset, array, path, tuple, list or dict
        What is read: an open dataset in the state it shows now, whatever becomes of it (a live
        one in its newest state for each batch; the length stays, and a record that is deleted
        meanwhile is an IndexError), an array (its memory is read in place, not copied), or what is
        at a path: a directory is a dataset, a file an .npy array.
        A tuple or list puts several of one length side by side. Datasets keep the names of their
        fields, which must be unique; an array or .npy file has no name, and its column is called
        ``data`` in the first place and ``label`` in the second. A dict gives names: ``{'image':
        images, 'score': 'scores.npy'}``. A `nanoset.Nanoset` has an order of its own.
    fields : list of str, optional
        The fields to read; None: all. Fields of varying length cannot be batched.
    batch_size : int, optional
        Records of a batch of this rank; None: 1, or as many as a `Budgeted` order has in each of
        its batches, with which no number can be given.
    order : Order, optional
        Its length is an epoch, which may be more or less than the source has records; None:
        `Sequential`. Its position does not count: a loader begins at position 0. With a `Budgeted`
        one ``len()`` is that of the epoch in which the loader stands.
    epochs : int, optional
        How many of them a ``for`` goes through; None: without end.
    start : int
        The position at which it begins, as by ``seek(start)``: how many samples of all ranks lie
        behind, which is what ``tell()`` gave (those count that `drop_last` left out). So a run is
        resumed by a count alone, with the same arguments else, but any `world` and `batch_size`.
        With ``epochs=3`` of 100 records, 250 leaves the first ``for`` 50 samples, and 300 begins
        the three epochs that follow.
    rank, world : int
        Which share of each global batch this process takes, of how many.
    drop_last : bool
        Whether to leave out the last global batch of an epoch where it is not full: where there
        are not `batch_size` records for each rank, or of a `Budgeted` order not a batch for each.
    threads : int, optional
        Threads that prepare batches, 0 (who waits for a batch fills it) to 64; None: by the CPUs
        that the process may use. Not together with `executor`.
    executor : Executor, optional
        Whose threads prepare batches; None: the loader's own.
    prefetch_bytes : int, optional
        Bound on the bytes that are prepared and not yet handed out; None: 64 MiB. One batch is
        always allowed.
    transform : callable, optional
        ``transform(batch)`` gets the dict, and what it returns is handed out in place of it, in
        order; any object. It is called on the threads of the loader, and on those that wait for
        a batch, for several batches at a time. What it raises comes out of ``next()`` in the place
        of its batch, and the next call goes on (after a KeyboardInterrupt with the same batch). It
        must not use its own loader. A ``threading.local`` does not last from one call to the next.
    on_damage : {'raise', 'skip', 'zeros'}
        What is done about a damaged record. 'raise': ``next()`` raises CorruptError in the place of
        its batch, and the next call goes on. 'skip': it is left out, and its batch is shorter.
        'zeros': what cannot be read of it is zeros. ``stats()['damaged']`` counts them. A dataset
        that was itself opened with ``on_damage='zeros'`` has no damage that a loader could see.
    keys : int, optional
        A seed, with which each batch has ``batch['keys']``, uint64 of shape ``(records, 2)``: for
        each record the key of random numbers of its own, which depend on this seed, the epoch and
        the record, and not on threads, ranks or what was drawn before. `generator` makes a NumPy
        generator of one.
    out : {'numpy', 'torch', 'jax'}
        What kind of arrays: NumPy's; tensors, over the same memory; or arrays of JAX, on its
        default device (`loaderx.jax.Loader` places them on others). It is the last step: a
        `transform` gets arrays of NumPy, and the arrays of what it returns, in dicts, lists and
        tuples, are converted. ``batch['keys']`` stay with NumPy.

    Examples
    --------
    >>> with Loader(ds, fields=['data', 'label'], batch_size=256, order=Shuffle(seed=42)) as loader:
    ...     for batch in loader:
    ...         step(batch['data'], batch['label'])
    """

    def __new__(
        cls: Type[_Self],
        source: Any,
        *,
        fields: Optional[Sequence[str]] = None,
        batch_size: Optional[int] = None,
        order: Optional[Order] = None,
        epochs: Optional[int] = 1,
        start: int = 0,
        rank: int = 0,
        world: int = 1,
        drop_last: bool = False,
        threads: Optional[int] = None,
        executor: Optional[_core.Executor] = None,
        prefetch_bytes: Optional[int] = None,
        transform: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_damage: str = 'raise',
        keys: Optional[int] = None,
        out: Union[str, Output] = 'numpy',
    ) -> _Self:
        if batch_size is not None:
            batch_size = natural('batch_size', batch_size, least=1)
            if isinstance(order, Budgeted):
                raise ValueError('batch_size: a Budgeted order makes the batches; leave it out')
        world = natural('world', world, least=1)
        rank = natural('rank', rank, most=world - 1)
        if (batch_size or 1) * world > UINT64_MAX:
            raise ValueError('batch_size times world must be below 2**64')
        if threads is not None:
            threads = natural('threads', threads, most=64)
            if executor is not None:
                raise ValueError('threads are the executor\'s where one is given: set one of them')
        if transform is not None and not callable(transform):
            raise TypeError(f'transform must be callable, not {type(transform).__name__}')
        if order is not None and not isinstance(order, Order):
            raise TypeError(f'order must be an Order or None, not {type(order).__name__}')
        output = choose_output(out)
        own = getattr(source, '_for_loader', None)
        if own is not None:
            source, order = own(order)
        core = as_source(source)
        names = choose_fields(core, fields)
        if keys is not None:
            keys = natural('keys', keys)
            if 'keys' in names:
                raise ValueError(
                    "keys: the source has a field 'keys', too: choose fields without it"
                )
        order_core = (Sequential() if order is None else order)._for_length(core.length)
        if transform is None:
            output.check({name: (dtype, shape) for name, dtype, shape in core.columns
                          if name in names and dtype is not None},
                         _sizes(order_core.length, None if isinstance(order, Budgeted)
                                else batch_size or 1, rank, world, drop_last))
        return super().__new__(
            cls,
            core,
            order_core,
            names,
            batch_size or 0,
            0 if epochs is None else natural('epochs', epochs, least=1),
            natural('start', start, most=UINT64_MAX - 1),
            rank,
            world,
            boolean('drop_last', drop_last),
            threads,
            executor,
            None if prefetch_bytes is None else natural('prefetch_bytes', prefetch_bytes),
            output.after(transform),
            on_damage,
            keys,
        )

    def state_dict(self) -> Dict[str, Any]:
        """Return where the loader is, as a small dict that JSON can hold (version 1).

        It holds the position, what the order and the source must be for it to make sense, and for
        the record the batch size, world and threads. loaderx-state(5) describes it.
        """
        state: Dict[str, Any] = json.loads(self._save())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where a loader was; the same cost at any position, nothing is read again.

        Batch size, world and threads may be others than in the loader that saved it.

        Raises
        ------
        ValueError
            The order or the source is another; the message names the difference.
        LoaderxError
            The state is of another version.
        CorruptError
            The state was changed, or is none.
        """
        self._restore(to_json(state))

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return '<loaderx.Loader, closed>'
        return f'<loaderx.Loader at sample {self.tell()}, {len(self)} batches an epoch>'

    def __reduce__(self) -> Any:
        raise TypeError('a Loader cannot be pickled; save its state_dict() and make it anew')
