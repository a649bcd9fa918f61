# SPDX-License-Identifier: MIT
"""Token streams as iterable datasets for torch."""

from __future__ import annotations

from typing import Any

from torch.utils import data

from .. import tokenize

__all__ = ['TokenStream']


class TokenStream(tokenize.TokenStream, data.IterableDataset):
    """A `loaderx.TokenStream` for torch's DataLoader and the DataLoader of this module.

    The stream's own thread prefetches samples, so a DataLoader needs no workers; each additional
    worker would return all samples again. The state of this module's DataLoader includes the
    stream's state.

    Examples
    --------
    >>> stream = TokenStream('wiki', 'tokenizer.json', 4096, order=lx.Shuffle(seed=42))
    >>> for batch in DataLoader(stream, batch_size=8):
    ...     inputs, labels = batch['tokens'][:, :-1], batch['tokens'][:, 1:]
    """

    def __iter__(self) -> Any:
        info = data.get_worker_info()
        if info is not None and info.num_workers > 1:
            raise ValueError(f'num_workers must be 0 or 1 for a TokenStream, not '
                             f'{info.num_workers}: each worker would return all samples')
        return super().__iter__()
