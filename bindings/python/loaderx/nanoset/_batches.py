# SPDX-License-Identifier: MIT
"""Batches of language-model samples for each stage of a pipeline."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from .._check import boolean, natural

__all__ = ['DataCollatorForCLM', 'TensorPointer', 'Unfit', 'arrays_of', 'choose_out']

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
    """Return the arrays unchanged, or tensors that share the memory of the arrays."""
    if out == 'numpy':
        return arrays
    import torch
    return [torch.from_numpy(array) for array in arrays]


@dataclasses.dataclass
class DataCollatorForCLM:
    """A collator that creates inputs and labels for causal language modeling.

    Only the pipeline ranks that need the inputs or the labels create them. A batch contains
    ``input_ids``, all tokens of each sample except the last token; ``label_ids``, all tokens except
    the first token; and the masks ``input_mask`` and ``label_mask``, which are True everywhere. On
    a pipeline rank that needs no inputs, ``input_ids`` and ``input_mask`` are each a
    `TensorPointer` to the rank that holds the inputs; the same applies to the labels.

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
    current_pp_rank : int, optional
        The pipeline rank of this process; an alternative to `parallel_context`.
    out : {'torch', 'numpy'}, optional
        The type of batches. None: tensors if PyTorch is installed, or arrays if not.
    use_numpy : bool, optional
        Nanotron's name for the choice: True stands for ``out='numpy'``, and False for
        ``out='torch'``. (Nanotron's default is True, and its training loop converts the arrays to
        tensors.)

    Raises
    ------
    RuntimeError
        Raised by a call if `parallel_context` has no process group for this process.
    ValueError
        Raised by a call if samples do not have ``sequence_length + 1`` tokens, have fields other
        than ``input_ids``, or are not empty on a rank that needs no samples. The exception is also
        an AssertionError, as in Nanotron.

    Examples
    --------
    >>> collate = DataCollatorForCLM(4096, 0, 3, parallel_context)
    >>> torch.utils.data.DataLoader(nanoset, batch_size=8, collate_fn=collate)
    >>> lx.Loader(nanoset, batch_size=8, transform=collate)
    """

    sequence_length: int
    input_pp_rank: int
    output_pp_rank: int
    parallel_context: Any = None
    current_pp_rank: Optional[int] = None
    out: Optional[str] = None
    use_numpy: Optional[bool] = None

    def __post_init__(self) -> None:
        self.sequence_length = natural('sequence_length', self.sequence_length, minimum=1)
        self.input_pp_rank = natural('input_pp_rank', self.input_pp_rank)
        self.output_pp_rank = natural('output_pp_rank', self.output_pp_rank)
        if (self.parallel_context is None) == (self.current_pp_rank is None):
            raise ValueError('pass either parallel_context or current_pp_rank, to specify the '
                             'rank of this process in the pipeline')
        if self.current_pp_rank is not None:
            self.current_pp_rank = natural('current_pp_rank', self.current_pp_rank)
        if self.use_numpy is not None:
            out = 'numpy' if boolean('use_numpy', self.use_numpy) else 'torch'
            if self.out not in (None, out):
                raise ValueError(f'use_numpy={self.use_numpy} contradicts out={self.out!r}')
            self.out = out
        self.out = choose_out(self.out)

    def __call__(
        self, examples: Union[Sequence[Mapping[str, Any]], Mapping[str, Any]]
    ) -> Dict[str, Any]:
        """Create a batch.

        Parameters
        ----------
        examples : sequence of dict, or dict
            Samples, each ``{'input_ids': tokens}``; or a batch from a `Loader`, with one field of
            shape ``(samples, sequence_length + 1)``. On a rank that needs no samples, each sample
            or the batch must be empty.
        """
        rank = (_rank_of(self.parallel_context, 'pp_pg') if self.current_pp_rank is None
                else self.current_pp_rank)
        result: Dict[str, Any] = {
            'input_ids': TensorPointer(group_rank=self.input_pp_rank),
            'input_mask': TensorPointer(group_rank=self.input_pp_rank),
            'label_ids': TensorPointer(group_rank=self.output_pp_rank),
            'label_mask': TensorPointer(group_rank=self.output_pp_rank),
        }
        if rank not in (self.input_pp_rank, self.output_pp_rank):
            if any(len(one) for one in _as_list(examples)):
                raise Unfit(f'pipeline rank {rank} must not get samples, but got some: '
                            'use an EmptyInfiniteDataset, or a NullDataset for a Loader')
            return result
        tokens = self._stack(examples)
        if rank == self.input_pp_rank:
            self._put(result, 'input_ids', 'input_mask', tokens[:, :-1])
        if rank == self.output_pp_rank:
            self._put(result, 'label_ids', 'label_mask', tokens[:, 1:])
        return result

    def _stack(self, examples: Any) -> np.ndarray[Any, Any]:
        """Return the samples as one array; unsigned integers become int64, for torch."""
        if isinstance(examples, Mapping):
            if list(examples) not in (['tokens'], ['input_ids']):
                raise Unfit(f'a batch must have only the field tokens, not {list(examples)}')
            tokens = np.asarray(next(iter(examples.values())))
            lengths = {tokens.shape[1] if tokens.ndim == 2 else -1}
        else:
            for example in examples:
                if list(example) != ['input_ids']:
                    raise Unfit(f'samples must have only input_ids, not {list(example)}')
            parts = [np.asarray(example['input_ids']) for example in examples]
            if not parts:
                raise Unfit('the batch has no samples')
            lengths = {len(part) for part in parts}
        for length in lengths - {self.sequence_length + 1}:
            raise Unfit(f'Samples should be of length {self.sequence_length + 1} (seq_len+1), but '
                        f'got {length}')
        if not isinstance(examples, Mapping):
            tokens = np.stack(parts)
        return tokens.astype(np.int64) if tokens.dtype.kind == 'u' else tokens

    def _put(self, result: Dict[str, Any], name: str, mask: str,
             tokens: np.ndarray[Any, Any]) -> None:
        size = getattr(self.parallel_context, 'context_parallel_size', 1)
        if size != 1:
            part = _rank_of(self.parallel_context, 'cp_pg')
            tokens = tokens[:, part * self.sequence_length // size:
                            (part + 1) * self.sequence_length // size]
        assert self.out is not None    # set by __post_init__
        result[name], result[mask] = arrays_of([tokens, np.ones(tokens.shape, np.bool_)], self.out)


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
