# SPDX-License-Identifier: MIT
"""Loaders, whose threads prefetch the batches of a source in a given order."""

from __future__ import annotations

import json
import os
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional,
                    Sequence, Tuple, Type, TypeVar, Union)

import numpy as np

from . import _core
from ._check import UINT64_MAX, boolean, natural
from ._arrangement import after_arranging, arrangement, choose_forms
from ._explain import Planner
from ._fixed import Fixed
from ._loader_stats import LoaderStats
from ._missing import missing_rules
from ._output_names import choose_output
from ._outputs import Output
from ._passes import Passes
from ._tracing import Trace
from ._types import BYTE_STRINGS, find_dtype, varies
from .batch import Batch, register_batches
from .errors import LoaderxError
from .orders import Budgeted, Order, Sequential
from .orders.order import to_json
from .ranks import choose_rank
from .sources.null import NullDataset
from .sources.records import refuse_own_method
from .sources.source import as_source, describe

__all__ = ['Loader', 'generator']

_Self = TypeVar('_Self', bound='Loader')


def choose_fields(source: _core.Source, fields: Optional[Sequence[str]]) -> Tuple[str, ...]:
    """Check that the fields exist; return the names of the columns to read."""
    known = [name for name, _, _ in source.columns]
    if isinstance(fields, (str, bytes)):
        raise TypeError(f'fields must be a list of names, not the single name {fields!r}')
    if fields is None:
        names = tuple(known)
    else:
        try:
            names = tuple(fields)
        except TypeError:
            raise TypeError(
                f'fields must be a list of names, not {type(fields).__name__}'
            ) from None
        if not names:
            raise ValueError('fields must have at least one name; None selects all fields')
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f'fields must be names (str), not {type(name).__name__}')
        if name not in known:
            raise ValueError(f'fields: {name!r} not found: the source has '
                             f'{", ".join(known) or "no fields"}')
        if name in names[:i]:
            raise ValueError(f'fields: {name!r} is listed twice')
    return names


def _sizes(length: int, batch_size: Optional[int], rank: int, world: int,
           last: str) -> List[Tuple[int, int]]:
    """Return the possible batch sizes, on this rank and over all ranks; [] for a Budgeted order.

    `last` is what happens to the last global batch: it is 'padded' to a multiple of `world`,
    'uneven', 'dropped' or 'full'.
    """
    if batch_size is None:
        return []
    rest = 0 if last == 'dropped' else length % (batch_size * world)
    if last == 'full':
        return [(batch_size, batch_size * world)] if length else []
    if last == 'padded':
        rest += -rest % world
    sizes = [(batch_size, batch_size * world)] if length >= batch_size * world else []
    size = (rest + world - 1 - rank) // world
    return sizes + ([(size, rest)] if size else [])


def _skipped_ranges(skip: Iterable[Tuple[int, int]]) -> Tuple[Tuple[int, int], ...]:
    """Check the ranges of positions that a loader skips."""
    try:
        ranges = [(first, end) for first, end in skip]
    except (TypeError, ValueError):
        raise TypeError('skip must be a sequence of pairs of positions (first, end), '
                        f'not {skip!r}') from None
    for first, end in ranges:
        if natural('a position in skip', first) >= natural('a position in skip', end):
            raise ValueError(f'skip: the range ({first}, {end}) is empty: its end must be greater '
                             'than its first position')
    return tuple((int(first), int(end)) for first, end in ranges)


def generator(key: Any) -> np.random.Generator:
    """Create a NumPy generator from the random key of a record.

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
    >>> images = {'image': np.zeros((8, 4, 4), np.uint8)}
    >>> loader = Loader(images, batch_size=8, transform=augment, keys=42)
    >>> next(loader)['image'].shape
    (8, 4, 4)
    """
    return np.random.Generator(np.random.Philox(key=np.asarray(key, dtype=np.uint64)))


def _fail_closed() -> Planner:
    raise LoaderxError('the loader is closed')


class Loader(Fixed):
    """An iterator over the batches of a source, which threads prefetch in a given order.

    >>> source = {'data': np.arange(8).reshape(4, 2), 'label': np.arange(4) * 10}
    >>> with Loader(source, fields=['label'], batch_size=3, order=Sequential()) as loader:
    ...     for batch in loader:
    ...         print(batch['label'])
    [ 0 10 20]
    [30]

    A batch is a `Batch`: a dict of arrays. Equal arguments produce the same bytes in the same
    order, whatever the number of threads. The caller owns the arrays and may write to them. They
    remain valid as long as they are referenced, even after the loader is closed.

    **Passes.** Each ``for`` loop, and each ``iter(loader)``, is a pass: it begins with the first
    batch of an epoch, and has `epochs` epochs; ``len(loader)`` is its number of batches. Its first
    epoch is the one passed to ``set_epoch()`` or, otherwise, the one after the last pass that
    returned a batch, even if that pass ended early with ``break``. With ``epochs=None``, a pass
    never ends, and the next pass begins with the first epoch that the earlier pass has not begun.
    Passes are independent: loops over one loader can be nested, and several threads can each have
    their own. Passes that are in use at the same time each have their own threads and prefetched
    batches. ``next(loader)`` continues the newest pass, ``peek()`` returns its next batch without
    advancing, and ``tell()`` and ``state_dict()`` describe it. To leave a loop and continue it
    later, keep its iterator: ``batches = iter(loader)``.

    Ranks must be in the same epoch. With `world` greater than 1, beginning a new pass after leaving
    one before its end is therefore an error, unless ``set_epoch()`` was called.

    The first pass after ``seek()`` or ``load_state_dict()``, or with `start`, continues at that
    position. The position alone determines where passes end, so a resumed run stops where an
    uninterrupted run would stop. If only other ranks have records left, that pass has no batches on
    this rank. A Nanoset is a whole training run, which is a single pass: after its last batch, or
    with a `start` beyond it, no loop yields any more batches. Beginning a new pass after leaving
    that pass before its end is an error, unless ``set_epoch(0)`` was called.

    **Positions** count the samples that all ranks together have returned from one global order;
    prefetched samples do not count. Each rank reads the positions of an epoch that are congruent to
    `rank` modulo `world`. With a `Budgeted` order, each rank reads the batches whose number in the
    epoch is congruent to `rank` modulo `world`.

    **Equal numbers of batches.** All ranks return the same number of batches, of equal sizes, so
    that collective operations never wait for a rank that has finished. If the last global batch of
    an epoch cannot be divided evenly among the ranks, those that are one record short repeat one
    from the start of the epoch, as in torch's ``DistributedSampler``. With a `Budgeted` order,
    ranks that are one batch short repeat a batch. With `pad_last`, each rank repeats as many
    records as its last batch lacks. ``batch.real`` marks the repeated records. They have no
    positions: states do not count them, and only the `world` with which the epoch ends
    determines which records are repeated.

    **Ranks.** `rank` and `world` are the data-parallel rank and the number of data-parallel ranks,
    not the global rank and the total number of processes; `loaderx.world` returns them. Processes
    with the same data-parallel rank (because of tensor, sequence, expert or pipeline parallelism)
    pass the same numbers and get the same records in the same batches. Each process reads only the
    fields that it needs; a process that needs no fields reads a `NullDataset`. After the same
    number of batches, all processes are at the same position. The state of any process is therefore
    the state of the run: every process can load it, even on a different mesh.

    **Signals.** Ctrl-C interrupts ``next()`` while it waits, without losing a batch: the next call
    returns the batch, and until then ``tell()`` and ``state_dict()`` count it as not returned.

    Parameters
    ----------
    source : loaderx dataset, array, tensor, table, path, tuple, list or dict
        The data to read. From an open dataset, the loader reads the current snapshot, even if the
        dataset is refreshed or closed later. From a live dataset, it reads the newest snapshot for
        each batch, but the length of the loader is fixed: if a record has been deleted in the
        meantime, reading it raises IndexError. An array, or a torch tensor in CPU memory, is read
        in place, without a copy. A pandas DataFrame, or a list with a dict for each record, is
        copied into an array for each column, and must not have missing values. A path to a
        directory names a dataset; any other path names an .npy file, or an .npz file, whose arrays
        are read into memory. Sources in a tuple or a dict have equal lengths and are read side by
        side. A name in a dict becomes that of a source's only field; of the fields x and y of a
        source named a, the names become ``a.x`` and ``a.y``. A dataset of a class that overrides
        `__getitem__`, `__getitems__` or `__len__` is refused, because the loader would not call
        them: pass `transform`.
    fields : list of str, optional
        The fields to read; None: all.
    batch_size : int, optional
        The number of records in a batch of this rank; None: 1. Must not be given with a `Budgeted`
        order, which determines the batches.
    order : Order, optional
        The order in which to read records; None: `Sequential`. The length of the order is the
        length of an epoch, and may differ from the number of records. An order that was created for
        a different number of records is refused: to read only some of the records, pass a
        `SubsetDataset`, or the order `Subset`. The order's own position is ignored: without
        `start`, a loader starts at position 0. With a `Budgeted` order, epochs may have different
        numbers of batches, and ``len()`` is the number in the newest pass.
    epochs : int, optional
        The number of epochs of a pass; None: passes are endless, and the loader has no ``len()``.
    start : int
        The position at which to start, as passed to ``seek()`` and returned by ``tell()``: the
        number of preceding samples over all ranks, including samples that `drop_last` omits. This
        number is sufficient to resume a run with equal arguments; `world` and `batch_size` may
        differ. For example, with ``epochs=3`` and 100 records per epoch, 250 leaves 50 samples for
        the first pass, and 300 starts the next three epochs.
    rank, world : int, optional
        The rank of this process, and the number of ranks that share each global batch, as returned
        by `loaderx.world`; None: 0 and 1, with a warning if there are several processes.
    drop_last : bool
        Whether to omit the last global batch of an epoch if it is not full, that is, if it contains
        fewer than `batch_size` records for each rank or, with a `Budgeted` order, fewer batches
        than there are ranks.
    uneven : bool
        Whether ranks may differ in the number of their batches and of the records in the last one,
        instead of repeating records. Collective operations after each batch would then wait
        forever.
    pad_last : bool
        Whether every batch has `batch_size` records, so that compilers see one shape: the last one
        of an epoch is filled with records from the start of the epoch and, with
        ``on_damage='skip'``, records of the batch take the place of damaged ones. ``batch.real``
        marks them, so an evaluation over all ranks counts each record exactly once. Cannot be
        combined with `drop_last`, `uneven` or a `Budgeted` order.
    ragged : {'ragged', 'list'}, Pad or dict
        How to return fields whose records vary in length. 'ragged': as a `Ragged`, without copying
        the values. 'list': as a list of bytes objects, of strs (for str and JSON fields) or of
        arrays. A `Pad`: as one array, padded to a common length. A dict maps the names of fields to
        one of these choices; for fields that it does not contain, 'ragged' applies. A `transform`
        receives the fields in this form.
    skip : list of (int, int)
        Ranges of positions, each as its first position and the one after its last. Batches that
        contain any of these positions are not returned; the other batches stay the same, and
        ``len()`` does not count the skipped ones. To pass over data that makes the loss spike, load
        a state from before the spike into a loader with `skip`, even with another batch size or
        number of ranks: ``batch.position`` and `explain` return the position of a batch. Positions
        count samples, not steps, and over all epochs: in the next epoch, the same records are
        returned again. The ranges are not part of a state: pass them again when the run is resumed.
    threads : int, optional
        The number of threads that prepare batches, from 0 to 64. With 0, the thread that waits for
        a batch prepares it. None: a number based on the CPUs that the process may use. Must not be
        given with `executor`.
    executor : Executor, optional
        The executor whose threads prepare batches; None: the loader creates its own threads.
    prefetch_bytes : int, optional
        The maximum total size, in bytes, of the batches that are ready or in preparation but not
        yet returned; None: 256 MiB. One batch is always allowed, whatever its size.
    transform : callable, optional
        ``transform(batch)`` receives the dict and may return any object. ``next()`` returns that
        object instead of the dict; the order of the batches does not change. The transform runs on
        the loader's threads and on threads that wait for a batch, concurrently for different
        batches. If it raises an exception, ``next()`` raises that exception instead of returning
        the batch, and the following call continues with the next batch (after a KeyboardInterrupt,
        with the same batch). The transform must not use the loader that calls it. A
        ``threading.local`` lives as long as its thread, and any of the threads can call the
        transform for any batch.
    on_damage : {'raise', 'skip', 'zeros'}
        What to do if a record is damaged. 'raise': ``next()`` raises CorruptError instead of
        returning the batch, and the following call continues with the next batch. 'skip': the batch
        omits the record; a batch without a readable record repeats the next readable record of the
        epoch, and ``batch.real`` marks it. 'zeros': zeros replace the values that cannot be read.
        ``stats()['damaged']`` counts the damaged records. Text or JSON that is invalid although its
        checksum is valid is returned as stored; only `Dataset.verify` and `Dataset.probe` find it.
        If the dataset itself was opened with ``on_damage='zeros'``, it reports no damage to the
        loader. A disk or a network that does not answer is not damage: ``next()`` raises OSError
        whatever this argument is, and the following call, or a loader that loads a state saved now,
        reads the same batch again.
    missing : {'raise', 'zeros', 'mask'}, number, array or dict
        What to do with missing values, which only datasets have. 'raise': the loader is not created
        if a record of the source has no value in a field that the loader reads; ValueError names
        the field and the record. (If a value of a live dataset becomes missing later, ``next()``
        raises ValueError instead of returning the batch that contains it.) 'mask': zeros stand for
        missing values, and ``batch.present[field]`` marks the values that are present. 'zeros':
        zeros stand for missing values, and nothing marks them. A number or an array replaces
        missing values. A dict maps the names of fields to one of these choices; for fields that it
        does not contain, 'raise' applies. Where records vary in length, missing values are empty
        instead of zeros, and no value can replace them. To leave out the records instead, read a
        `SubsetDataset`. `Dataset.gather` and `Column.filled` take the same.
    keys : int, optional
        The seed of ``batch['keys']``, an additional uint64 array of shape ``(records, 2)`` with a
        random key for each record; None: no keys. A key depends only on the seed, the epoch and the
        position of the record in the global order: it is the same for any number of threads and
        ranks and after a resume, and a record that occurs several times has several keys.
        `generator` creates a NumPy generator from a key.
    out : {'numpy', 'torch', 'jax'}
        The type of the arrays: NumPy arrays; tensors that share the memory of NumPy arrays; or JAX
        arrays on JAX's default device (for other devices, and about 64-bit values, see
        `loaderx.jax.Loader`). The conversion is the last step: a `transform` receives NumPy arrays,
        and the loader then converts the arrays in the dicts, lists and tuples that the transform
        returns. ``batch['keys']`` remains a NumPy array.
    pin_memory : bool
        Whether tensors are in pinned memory, from which ``tensor.to(device, non_blocking=True)``
        copies while the program continues. The loader reads records directly into memory that torch
        has pinned; only arrays that a `transform` has made are copied. torch owns the memory, and
        uses it again when all tensors over it are gone and all copies from it have ended. Needs
        ``out='torch'``. As in torch's DataLoader, there is a warning instead if there is no device.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid; the message names the argument.

    Examples
    --------
    >>> Loader(source, batch_size=2, order=Shuffle(seed=42), rank=1, world=2)
    <loaderx.Loader of {'data': ndarray int64[4, 2], 'label': ndarray int64[4]}, Shuffle(seed=42),
    batch_size=2, rank 1 of 2: at sample 0, 1 batches an epoch>
    >>> [batch.position for batch in Loader(np.arange(10), batch_size=2, skip=[(4, 8)])]
    [0, 2, 8]
    """

    _then = ', and continue with set_epoch() or load_state_dict()'

    _passes: Passes
    _source: Optional[_core.Source]   # what is read; None once the loader is closed
    _shown: Tuple[str, Order, str]    # the source, the order, and the batch size and the rank
    _varies: bool                     # whether epochs differ in their number of batches
    _skipped: Tuple[Tuple[int, int], ...]    # the ranges of positions that are left out
    _plan: Callable[[], Planner]      # makes the planner of explain()
    _planner: Optional[Planner] = None

    def __new__(
        cls: Type[_Self],
        source: Any,
        *,
        fields: Optional[Sequence[str]] = None,
        batch_size: Optional[int] = None,
        order: Optional[Order] = None,
        epochs: Optional[int] = 1,
        start: int = 0,
        rank: Optional[int] = None,
        world: Optional[int] = None,
        drop_last: bool = False,
        uneven: bool = False,
        pad_last: bool = False,
        skip: Iterable[Tuple[int, int]] = (),
        ragged: Any = 'ragged',
        threads: Optional[int] = None,
        executor: Optional[_core.Executor] = None,
        prefetch_bytes: Optional[int] = None,
        transform: Optional[Callable[[Batch], Any]] = None,
        on_damage: str = 'raise',
        missing: Any = 'raise',
        keys: Optional[int] = None,
        out: Union[str, Output] = 'numpy',
        pin_memory: bool = False,
    ) -> _Self:
        if batch_size is not None:
            batch_size = natural('batch_size', batch_size, minimum=1)
            if isinstance(order, Budgeted):
                raise ValueError('batch_size must not be given with a Budgeted order')
        pad_last = boolean('pad_last', pad_last)
        if pad_last and isinstance(order, Budgeted):
            raise ValueError('pad_last must not be given with a Budgeted order, whose batches '
                             'differ in size')
        rank, world = choose_rank(rank, world)
        if (batch_size or 1) * world > UINT64_MAX:
            raise ValueError('batch_size times world must be less than 2**64')
        if threads is not None:
            threads = natural('threads', threads, maximum=64)
            if executor is not None:
                raise ValueError('threads and executor are mutually exclusive: '
                                 'pass only one of them')
        if boolean('drop_last', drop_last) + boolean('uneven', uneven) + pad_last > 1:
            raise ValueError('drop_last, uneven and pad_last are mutually exclusive: pass only one '
                             'of them')
        if transform is not None and not callable(transform):
            raise TypeError(f'transform must be callable, not {type(transform).__name__}')
        if order is not None and not isinstance(order, Order):
            raise TypeError(f'order must be an Order or None, not {type(order).__name__}')
        output = choose_output(out, pin_memory)
        text = describe(source)
        for_loader = getattr(source, '_for_loader', None)
        if for_loader is not None:
            refuse_own_method(source, 'source')
            source, order = for_loader(order)
        core = as_source(source)
        names = choose_fields(core, fields)
        if keys is not None:
            keys = natural('keys', keys)
            if 'keys' in names:
                raise ValueError(
                    "keys: the source already has a field 'keys': select other fields"
                )
        order = Sequential() if order is None else order
        order_core = order._for_length(core.length)
        count = 0 if epochs is None else natural('epochs', epochs, minimum=1)
        ends = order._is_run and count != 0
        end = min(count * order_core.length, UINT64_MAX) if ends else UINT64_MAX
        chosen = [column for column in core.columns if column[0] in names]
        columns = {name: (find_dtype(kind), shape) for name, kind, shape in chosen
                   if not varies(kind, shape)}
        varying = [name for name, kind, shape in chosen if varies(kind, shape)]
        forms = choose_forms(ragged, varying, names)
        for name, form in forms.items():
            output.check_varying(name, form)
        if transform is None:
            for name, kind, _ in chosen:
                if kind not in BYTE_STRINGS:
                    output.check_dtype(name, find_dtype(kind))
            output.check(columns, _sizes(
                order_core.length, None if isinstance(order, Budgeted) else batch_size or 1, rank,
                world, 'dropped' if drop_last else 'uneven' if uneven else
                'full' if pad_last else 'padded'))
        register_batches()
        start = natural('start', start, maximum=UINT64_MAX - 1)
        uneven = boolean('uneven', uneven)
        if prefetch_bytes is not None:
            prefetch_bytes = natural('prefetch_bytes', prefetch_bytes)
        skipped = _skipped_ranges(skip)
        change, receive = after_arranging(arrangement(forms), transform), None
        if change is None and output.is_light:
            receive = output.convert
        else:
            change = output.after(change)
        rules = missing_rules(missing, columns, varying)

        def open_reader(position: int) -> _core.Loader:
            return _core.Loader(core, order_core, names, batch_size or 0, count, position, rank,
                                world, drop_last, uneven, pad_last, threads, executor,
                                prefetch_bytes, change, on_damage, keys, end, rules, skipped,
                                receive, output.allocate)

        made = super().__new__(cls)
        made._passes = Passes(open_reader, start, order._epoch or order_core.length, count, world,
                              ends)
        sizes = '' if isinstance(order, Budgeted) else f', batch_size={batch_size or 1}'
        made._shown = text, order, sizes if world == 1 else f'{sizes}, rank {rank} of {world}'
        made._source = core
        made._varies, made._skipped = isinstance(order, Budgeted), skipped
        made._plan = lambda: Planner(
            Loader(NullDataset._of(core), batch_size=batch_size, order=order._repeated(),
                   rank=rank, world=world, drop_last=drop_last, uneven=uneven,
                   pad_last=pad_last, threads=0),
            source, order, order_core, (batch_size or 1, rank, world), end if ends else None)
        return made

    def explain(self, step: Union[int, Batch]) -> List[Dict[str, Any]]:
        """Return which records are in a batch, and where they are read from, without reading them.

        The position of the loader does not change.

        Parameters
        ----------
        step : int or Batch
            A batch of this loader; or the number of a batch of this rank. Number 0 is the batch at
            position 0, and the following batches are counted with the batch size and the ranks of
            this loader. Finding a batch by its number takes constant time, except with a `Budgeted`
            order, for which all epochs up to the batch must be cut into batches.

        Returns
        -------
        list of dict
            For each record: ``index``, its index in the source; ``real``, False if it is padding;
            ``position``, the position at which the batch begins, as for `seek` and `skip`;
            if the order is a `Blend` or that of a Nanoset, or is built from one, ``set``, the index
            of the part that the record comes from (for a mixture of mixtures, a tuple of indices,
            beginning with the outermost mixture); and ``read``, a list of pairs, one for each of
            the sources that are read side by side: the path of the source, or its description if it
            has no path, and the index of the record in that source. For a sample of tokens, there
            is a pair for each file that contains some of them; with `separator`, a
            `PackedDataset` or a dataset of Megatron, for each file that may contain some. Records
            that are skipped because they are damaged are included.

        Raises
        ------
        IndexError
            The step is beyond the end of a Nanoset, or this rank has no batches.

        Examples
        --------
        >>> np.save('wiki.npy', np.arange(6))
        >>> both = ConcatDataset(['wiki.npy', np.arange(4)])
        >>> loader = Loader(both, batch_size=2, order=Sequential())
        >>> for record in loader.explain(3):
        ...     print(record)
        {'index': 6, 'real': True, 'position': 6, 'read': [('ndarray int64[4]', 0)]}
        {'index': 7, 'real': True, 'position': 6, 'read': [('ndarray int64[4]', 1)]}
        >>> loader.explain(2)[1]['read']
        [('wiki.npy', 5)]
        """
        if self._planner is None:
            self._planner = self._plan()
        return self._planner.explain(step)

    def __iter__(self) -> Iterator[Any]:
        register_batches()
        return self._passes.iterate()

    def __next__(self) -> Any:
        return next(self._passes.reader)

    def __len__(self) -> int:
        return self._passes.count_batches(self._varies, self._skipped)

    def peek(self) -> Any:
        """Return the batch that ``next()`` returns next, without changing the position.

        ``next()``, or the ``for`` loop that begins or continues there, then returns the same
        object. ``tell()`` and ``state_dict()`` do not count the batch. At the end of a pass, the
        call raises StopIteration, as ``next()`` does, but does not move ``tell()`` to the end. If
        the batch fails, the next call reads and transforms it again.

        Examples
        --------
        >>> loader = Loader(np.arange(6), batch_size=2)
        >>> loader.peek(), loader.tell(), [batch['data'].tolist() for batch in loader]
        ({'data': array([0, 1])}, 0, [[0, 1], [2, 3], [4, 5]])
        """
        return self._passes.reader._peek()

    def set_epoch(self, epoch: int) -> None:
        """Let the next pass begin with the first batch of an epoch, counted from 0.

        Only the next pass is affected: later ones continue with the following epochs. If the next
        pass would begin within this epoch anyway, because of `start`, ``seek()`` or
        ``load_state_dict()``, it still begins there. A loop that is running continues in its own
        epoch.

        To resume a run, do not call this function before the first loop: a state already says where
        that loop begins. A state that was saved after the last batch of an epoch says that the next
        epoch begins, so ``set_epoch()`` with the number of the completed epoch repeats it.

        Parameters
        ----------
        epoch : int
            The number of the epoch. With ``epochs=3``, it must be a multiple of 3, because a pass
            has three epochs.

        Examples
        --------
        >>> loader = Loader(np.arange(6), batch_size=2, order=Shuffle(seed=42))
        >>> first = [batch['data'].tolist() for batch in loader]
        >>> loader.set_epoch(0)
        >>> [batch['data'].tolist() for batch in loader] == first
        True

        A run of two epochs, resumed from a state that was saved after the last batch of the first:

        >>> loader.load_state_dict(loader.state_dict())
        >>> while loader.tell() < 2 * 6:
        ...     for batch in loader:
        ...         print('epoch', batch.position // 6, 'sample', batch.position)
        epoch 1 sample 6
        epoch 1 sample 8
        epoch 1 sample 10
        """
        self._passes.set_epoch(natural('epoch', epoch))

    def seek(self, samples: int) -> None:
        """Move the newest pass to a position: the number of preceding samples over all ranks.

        The next ``for`` loop continues there. If `drop_last` leaves out the rest of the epoch,
        ``tell()`` returns the end of the epoch.
        """
        self._passes.move(lambda reader: reader.seek(samples))

    def tell(self) -> int:
        """Return the position after the newest pass's last batch, in samples over all ranks."""
        return self._passes.reader.tell()

    def state_dict(self) -> Dict[str, Any]:
        """Return the position of the newest pass as a small JSON-compatible dict (version 1).

        The dict contains the position, the identities of the order and the source, and, for
        information only, the batch size, world and number of threads. loaderx-state(5) describes
        the format. If an older pass has returned a batch after the newest one, a UserWarning says
        so: a loop that calls ``next(iter(loader))`` is no longer the newest pass.
        """
        state: Dict[str, Any] = json.loads(self._passes.save())
        return state

    def load_state_dict(self, state: Mapping[str, Any], *,
                        changed: Literal['raise', 'allow'] = 'raise') -> None:
        """Move the newest pass to the position in a saved state, in constant time.

        The next ``for`` loop continues there. The batch size, the world and the number of threads
        may differ from those of the loader that saved the state. If `drop_last` leaves out the rest
        of the epoch, ``tell()`` returns the end of the epoch.

        Parameters
        ----------
        state : dict
            A dict that `state_dict` returned.
        changed : {'raise', 'allow'}
            What to do if records that the loader reads were changed, or deleted and replaced by
            others, after the state was saved. 'raise': raise ValueError. 'allow': continue with the
            records as they are now. If the tables of a dataset were rewritten in the meantime (by a
            rebalance, a recovery, a seal or a checkpoint), a change of any record counts, even of
            one that was appended after the state was saved. If a state was saved by a version
            that did not record enough for this, a warning is logged instead. The records of a live
            dataset are not compared.

        Raises
        ------
        ValueError
            The state belongs to a different order or source, or records changed; the message names
            the difference. If records were appended to a dataset, open it with the `length` that
            the message names, and the run continues with the same samples; from an array that has
            grown, pass the first records, as the message says. A dataset that has fewer records
            must get as many as it had: the order depends on their number.
        LoaderxError
            The state was saved in an unsupported format version.
        CorruptError
            The state is invalid, or was changed after it was saved.
        """
        text = to_json(state)
        self._passes.move(lambda reader: reader._restore(text, changed))

    def stats(self) -> LoaderStats:
        """Return the statistics of all passes together; ``print()`` shows who waits for whom.

        Returns
        -------
        LoaderStats
            A dict of numbers; its `summary` describes them in words. ``batches``: the number of
            batches returned. ``records`` and ``bytes``: the numbers of records and bytes in these
            batches and in batches whose transform raised an exception. ``failures``: the number of
            calls that failed instead of returning a batch. ``time_ns``: the time from the first
            call of ``next()`` to the end of the last, in each pass. ``wait_ns``: the part of that
            time during which ``next()`` waited for batches, including the time in which the caller
            prepared them itself. ``fill_ns`` and ``transform_ns``: the time spent filling and
            transforming batches, summed over all threads. ``map_ns``: the part of ``fill_ns`` in
            which columns were computed from others, as `loaderx.images` does when it decodes
            images. ``blocks``: the number of memory blocks created. ``block_bytes``: the number of
            bytes mapped now. ``prefetched``: the number of batches that are ready or in preparation
            now. ``damaged``: the number of damaged records that were skipped or read as zeros.
            ``read_ahead``: the number of records in batches that were not in memory and were
            therefore requested from the disk before they were copied.
            For ``.npy`` and token files, only page faults of the process tell, so after a page
            fault elsewhere, the number includes records that were in memory; the `summary` blames
            the disk only if copying was slower than from memory. ``remote``, if there are
            remote datasets: the sums of what `Dataset.remote_stats` returns for each of them.

        Examples
        --------
        >>> loader = Loader(np.arange(10), batch_size=5)
        >>> print(loader.stats())
        No batch has been requested yet.
        >>> for batch in loader:
        ...     pass
        >>> loader.stats()['records'], loader.stats().summary[:19]
        (10, 'The consumer waited')
        """
        source, numbers = self._source, self._passes.stats()
        return LoaderStats(numbers, source._remote_stats().values() if source else ())

    def trace(self, path: Union[str, bytes, os.PathLike[Any]]) -> Trace:
        """Record what each thread does, and write it to a file that Perfetto shows.

        The trace ends with the ``with`` block, with ``close()``, or when the loader is closed, and
        the file is written then: JSON in Chrome's trace event format, for ui.perfetto.dev or
        chrome://tracing. It shows when threads ``read`` and ``transform`` batches and ``read
        ahead`` from the disk, when ``next()`` had to ``wait``, how long the ``consumer`` took
        between two calls of ``next()``, and how many batches were ready. It begins with the batches
        that are not in preparation yet. A trace keeps about a million spans, in up to 80 MiB; later
        ones are dropped and counted. Recording a span takes about a fifth of a microsecond.

        Parameters
        ----------
        path : str, bytes or os.PathLike
            The file, which is replaced if it exists; its permissions are kept.

        Returns
        -------
        Trace
            A context manager with a method ``close()``.

        Raises
        ------
        LoaderxError
            The loader is closed, or is traced already.
        FileExistsError
            The path exists and is not a regular file.
        FileNotFoundError
            The directory of the file does not exist.

        Examples
        --------
        >>> loader = Loader(np.arange(6), batch_size=2)
        >>> with loader.trace('trace.json'):
        ...     for batch in loader:
        ...         pass
        >>> import json, pathlib
        >>> spans = json.loads(pathlib.Path('trace.json').read_text())['traceEvents']
        >>> [span['args']['records'] for span in spans if span['name'] == 'read']
        [2, 2, 2]
        """
        return self._passes.begin_trace(path)

    def cancel(self) -> None:
        """Make all current and later calls of ``next()`` raise LoaderxError (LX_ERR_CANCELED)."""
        self._passes.cancel()

    def close(self) -> None:
        """Close the loader, and end its passes.

        Any thread can close the loader at any time, except within the loader's own transform. A
        thread that waits for a batch gets a LoaderxError. The call waits only for running
        transforms and reads. Arrays of earlier batches remain valid. Further calls have no effect.
        """
        self._passes.close()
        self._planner, self._plan, self._source = None, _fail_closed, None    # they hold the source

    @property
    def closed(self) -> bool:
        """Whether the loader is closed."""
        return self._passes.reader.closed

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        source, order, sizes = self._shown
        place = ('closed' if self.closed else
                 f'at sample {self.tell()}, {len(self._passes.reader)} batches an epoch')
        return f'<loaderx.Loader of {source}, {order!r}{sizes}: {place}>'

    def __reduce__(self) -> Any:
        raise TypeError('a Loader cannot be pickled: save its state_dict() and create another one')
