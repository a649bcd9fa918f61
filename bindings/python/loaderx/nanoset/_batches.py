# SPDX-License-Identifier: MIT
"""Batches of language-model samples for each stage of a pipeline."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from .._check import boolean, natural

__all__ = ['DataCollatorForCLM', 'DataCollatorForCLMWithPositionIds', 'TensorPointer', 'Unfit',
           'arrays_of', 'choose_out']

_Array = np.ndarray[Any, Any]

try:
    from nanotron.parallel.pipeline_parallel.tensor_pointer import TensorPointer
except ImportError:

    @dataclasses.dataclass
    class TensorPointer:    # type: ignore[no-redef]
        """A placeholder for a tensor that a different pipeline rank holds.

        If Nanotron is installed, Nanotron's own class is used instead.

        Attributes
        ----------
        group_rank : int
            The rank that holds the tensor.
        """

        group_rank: int


class Unfit(AssertionError, ValueError):
    """An error for an invalid argument or sample for which Nanotron raises AssertionError."""


def choose_out(out: Optional[str]) -> str:
    """Return 'torch' or 'numpy'; None selects 'torch' if PyTorch is installed."""
    if out not in (None, 'torch', 'numpy'):
        raise ValueError(f"out must be 'torch' or 'numpy', not {out!r}")
    if out == 'numpy':
        return out
    try:
        import torch    # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != 'torch':
            raise
        if out is not None:
            raise ImportError("out='torch' needs PyTorch, but the module torch is not found: "
                              "install it, or use out='numpy'", name='torch') from None
        return 'numpy'
    return 'torch'


def arrays_of(arrays: List[np.ndarray[Any, Any]], out: str) -> List[Any]:
    """Return the arrays unchanged, or tensors that share their memory."""
    if out == 'numpy':
        return arrays
    import torch
    return [torch.from_numpy(array) for array in arrays]


class _Collator:
    """What the collators have in common."""

    _second: ClassVar[str]    # the name of the field that accompanies the inputs
    sequence_length: int
    input_pp_rank: int
    output_pp_rank: int
    parallel_context: Any
    current_pp_rank: Optional[int]
    out: Optional[str]

    def __post_init__(self) -> None:
        self.sequence_length = natural('sequence_length', self.sequence_length, minimum=1)
        self.input_pp_rank = natural('input_pp_rank', self.input_pp_rank)
        self.output_pp_rank = natural('output_pp_rank', self.output_pp_rank)
        if (self.parallel_context is None) == (self.current_pp_rank is None):
            raise ValueError('pass either parallel_context or current_pp_rank, to specify the '
                             'rank of this process in the pipeline')
        if self.current_pp_rank is not None:
            self.current_pp_rank = natural('current_pp_rank', self.current_pp_rank)
        if self.out is not None:
            choose_out(self.out)

    def __call__(
        self, examples: Union[Sequence[Mapping[str, Any]], Mapping[str, Any]]
    ) -> Dict[str, Any]:
        """Create a batch.

        Parameters
        ----------
        examples : sequence of dict, or dict
            Samples, each ``{'input_ids': tokens}``, with or without ``positions``; or a batch from
            a `Loader`, with ``tokens`` of shape ``(samples, sequence_length + 1)``, with or without
            ``positions``. On a rank that needs no samples, each sample or the batch must be empty.
        """
        second = self._second
        rank = (_rank_of(self.parallel_context, 'pp_pg') if self.current_pp_rank is None
                else self.current_pp_rank)
        result: Dict[str, Any] = {
            'input_ids': TensorPointer(group_rank=self.input_pp_rank),
            second: TensorPointer(group_rank=self.input_pp_rank),
            'label_ids': TensorPointer(group_rank=self.output_pp_rank),
            'label_mask': TensorPointer(group_rank=self.output_pp_rank),
        }
        if rank not in (self.input_pp_rank, self.output_pp_rank):
            if any(len(one) for one in _as_list(examples)):
                raise Unfit(f'pipeline rank {rank} must not get samples, but got some: '
                            'use an EmptyInfiniteDataset, or a NullDataset for a Loader')
            return result
        tokens, positions = self._stack(examples)
        arrays: Dict[str, _Array] = {}
        if rank == self.input_pp_rank:
            arrays['input_ids'] = self._part(tokens[:, :-1])
            arrays[second] = self._accompany(positions, len(tokens))
        if rank == self.output_pp_rank:
            arrays['label_ids'] = self._part(tokens[:, 1:])
            arrays['label_mask'] = self._part(self._mask_labels(positions, len(tokens)))
        for name, array in arrays.items():
            result[name], = arrays_of([array], self.out or self._kind_of(name))
        return result

    def _kind_of(self, name: str) -> str:
        """Return the type of a field in Nanotron: 'numpy' or 'torch'."""
        return 'numpy'

    def _accompany(self, positions: Optional[_Array], count: int) -> _Array:
        """Return the field that accompanies the inputs."""
        raise NotImplementedError

    def _mask_labels(self, positions: Optional[_Array], count: int) -> _Array:
        """Mask the labels that begin a document: the preceding token does not predict them."""
        if positions is None:
            return np.ones((count, self.sequence_length), np.bool_)
        mask: _Array = positions[:, 1:] != 0
        return mask

    def _stack(self, examples: Any) -> Tuple[_Array, Optional[_Array]]:
        """Return the tokens and, if there are any, the positions, each as one array.

        Unsigned integers become int64, for torch.
        """
        if isinstance(examples, Mapping):
            names = [name for name in examples if name != 'positions']
            if names not in (['tokens'], ['input_ids']):
                raise Unfit('a batch must have only the field tokens and, optionally, positions, '
                            f'not {list(examples)}')
            tokens = np.asarray(examples[names[0]])
            lengths = {tokens.shape[1] if tokens.ndim == 2 else -1}
            positions = (np.asarray(examples['positions']) if 'positions' in examples else None)
            self._check_lengths(lengths)
        else:
            tokens, positions = self._stack_samples(examples)
        if positions is not None and positions.shape != tokens.shape:
            raise Unfit(f'positions must have the shape of the tokens, {tokens.shape}, not '
                        f'{positions.shape}')
        return (tokens.astype(np.int64) if tokens.dtype.kind == 'u' else tokens,
                None if positions is None else positions.astype(np.int64, copy=False))

    def _stack_samples(self, examples: Sequence[Mapping[str, Any]]) -> Tuple[_Array, Any]:
        if not examples:
            raise Unfit('the batch has no samples')
        placed = 'positions' in examples[0]
        expected = {'input_ids', 'positions'} if placed else {'input_ids'}
        for example in examples:
            if set(example) != expected:
                raise Unfit('samples must have only input_ids and, optionally, positions, and all '
                            f'must have the same fields: one has {list(example)}')
        parts = [np.asarray(example['input_ids']) for example in examples]
        self._check_lengths({len(part) for part in parts})
        places = [np.asarray(example['positions']) for example in examples] if placed else []
        for one in places:
            self._check_lengths({len(one)})
        return np.stack(parts), np.stack(places) if placed else None

    def _check_lengths(self, lengths: Set[int]) -> None:
        for length in lengths - {self.sequence_length + 1}:
            raise Unfit(f'Samples should be of length {self.sequence_length + 1} (seq_len+1), but '
                        f'got {length}')

    def _part(self, columns: _Array) -> _Array:
        """Return the part of each sequence that belongs to this context-parallel rank."""
        size = getattr(self.parallel_context, 'context_parallel_size', 1)
        if size == 1:
            return columns
        part, length = _rank_of(self.parallel_context, 'cp_pg'), self.sequence_length
        return columns[:, part * length // size:(part + 1) * length // size]


@dataclasses.dataclass
class DataCollatorForCLM(_Collator):
    """A collator that creates inputs and labels for causal language modeling.

    Only the pipeline ranks that need the inputs or the labels create them. A batch contains
    ``input_ids``, all tokens of each sample except the last token; ``label_ids``, all tokens except
    the first token; and the masks ``input_mask`` and ``label_mask``. The masks are True everywhere,
    except that the label mask of samples with ``positions`` is False where the label is the first
    token of a document, as in Nanotron. On a pipeline rank that needs no inputs, ``input_ids`` and
    ``input_mask`` are each a `TensorPointer` to the rank that holds the inputs; the same applies to
    the labels.

    Use the collator as ``collate_fn`` of torch's DataLoader or as ``transform`` of a `Loader`. In a
    `Loader`, inputs and labels are views of the batch, not copies.

    With Nanotron's context parallelism, each rank gets its part of each sequence.

    Parameters
    ----------
    sequence_length : int
        The number of tokens in an input; a sample contains one more token.
    input_pp_rank, output_pp_rank : int
        The pipeline rank that needs the inputs, and the pipeline rank that needs the labels.
    parallel_context : object, optional
        Nanotron's ParallelContext, or any object whose attribute ``pp_pg`` has a method ``rank()``.
        If the object has an attribute ``context_parallel_size``, it also needs an attribute
        ``cp_pg`` with a method ``rank()``.
    use_numpy : bool
        True: the fields are NumPy arrays. False: they are tensors, except for ``label_mask``, which
        is always an array. Both are as in Nanotron, whose training loop converts arrays to tensors.
    current_pp_rank : int, optional
        The pipeline rank of this process; an alternative to `parallel_context`.
    out : {'torch', 'numpy'}, optional
        The type of all fields; None: `use_numpy` decides.

    Raises
    ------
    RuntimeError
        Raised by a call if `parallel_context` has no process group for this process.
    ValueError
        Raised by a call if samples do not have ``sequence_length + 1`` tokens, have fields other
        than ``input_ids`` and ``positions``, or are not empty on a rank that needs no samples. The
        exception is also an AssertionError, as in Nanotron.

    Examples
    --------
    >>> collate = DataCollatorForCLM(4096, 0, 3, parallel_context)
    >>> torch.utils.data.DataLoader(nanoset, batch_size=8, collate_fn=collate)
    >>> lx.Loader(nanoset, batch_size=8, transform=collate)
    """

    _second = 'input_mask'
    sequence_length: int
    input_pp_rank: int
    output_pp_rank: int
    parallel_context: Any = None
    use_numpy: bool = True
    current_pp_rank: Optional[int] = None
    out: Optional[str] = None

    def __post_init__(self) -> None:
        if not boolean('use_numpy', self.use_numpy) and self.out is None:
            choose_out('torch')
        super().__post_init__()

    def _kind_of(self, name: str) -> str:
        return 'numpy' if self.use_numpy or name == 'label_mask' else 'torch'

    def _accompany(self, positions: Optional[_Array], count: int) -> _Array:
        return self._part(np.ones((count, self.sequence_length), np.bool_))


@dataclasses.dataclass
class DataCollatorForCLMWithPositionIds(_Collator):
    """A collator like `DataCollatorForCLM` that also creates position ids, as in Nanotron.

    A batch contains ``input_ids``, ``position_ids``, ``label_ids`` and ``label_mask``. Samples with
    ``positions`` keep their positions except the last one, and the label mask is False where the
    label is the first token of a document. Other samples have the positions 0, 1 and so on, and a
    label mask that is True everywhere. On a pipeline rank that does not need a field, the field is
    a `TensorPointer`.

    With Nanotron's context parallelism, each rank gets its part of each sequence.

    Parameters
    ----------
    sequence_length : int
        The number of tokens in an input; a sample contains one more token.
    input_pp_rank, output_pp_rank : int
        The pipeline rank that needs the inputs, and the pipeline rank that needs the labels.
    parallel_context : object, optional
        See `DataCollatorForCLM`.
    use_doc_masking : bool, optional
        False or None: ignore the ``positions`` of samples.
    cp_return_global_position_ids : bool
        Whether each context-parallel rank gets the position ids of whole sequences instead of those
        of its part.
    current_pp_rank : int, optional
        The pipeline rank of this process; an alternative to `parallel_context`.
    out : {'torch', 'numpy'}, optional
        The type of all fields; None: NumPy arrays, as in Nanotron.

    Raises
    ------
    RuntimeError
        Raised by a call if `parallel_context` has no process group for this process.
    ValueError
        Raised by a call; see `DataCollatorForCLM`.

    Examples
    --------
    >>> collate = DataCollatorForCLMWithPositionIds(4096, 0, 3, parallel_context)
    >>> torch.utils.data.DataLoader(nanoset, batch_size=8, collate_fn=collate)
    """

    _second = 'position_ids'
    sequence_length: int
    input_pp_rank: int
    output_pp_rank: int
    parallel_context: Any = None
    use_doc_masking: Optional[bool] = True
    cp_return_global_position_ids: bool = True
    current_pp_rank: Optional[int] = None
    out: Optional[str] = None

    def __post_init__(self) -> None:
        if self.use_doc_masking is not None:    # as in Nanotron's training script
            boolean('use_doc_masking', self.use_doc_masking)
        boolean('cp_return_global_position_ids', self.cp_return_global_position_ids)
        super().__post_init__()

    def _stack(self, examples: Any) -> Tuple[_Array, Optional[_Array]]:
        tokens, positions = super()._stack(examples)
        return tokens, positions if self.use_doc_masking else None

    def _accompany(self, positions: Optional[_Array], count: int) -> _Array:
        if positions is None:
            positions = np.tile(np.arange(self.sequence_length + 1), (count, 1))
        inputs = positions[:, :-1]
        return inputs if self.cp_return_global_position_ids else self._part(inputs)


def _as_list(examples: Any) -> Sequence[Any]:
    return [examples] if isinstance(examples, Mapping) else examples


def _rank_of(context: Any, name: str) -> int:
    """Return the rank of this process in the process group `name` of a context."""
    given = getattr(getattr(context, name, None), 'rank', None)
    if given is None:
        raise RuntimeError(f'parallel_context has no process group {name} from which to get the '
                           'rank of this process: create the context after '
                           'torch.distributed.init_process_group() or, outside of distributed '
                           'training, pass current_pp_rank instead')
    rank = given() if callable(given) else given
    if rank < 0:
        raise RuntimeError(f'this process is not in the group {name} of parallel_context')
    return int(rank)
