# SPDX-License-Identifier: MIT
"""Splits of documents and shares of samples, as in Megatron-LM."""

from __future__ import annotations

import math
import re
from typing import Any, Iterable, List, Optional, Tuple

import numpy as np

from .._check import natural, number, reals
from ..sources import Tokens

__all__ = ['normalize', 'samples_per_dataset', 'split_documents']

_Range = Tuple[int, int]


def split_documents(documents: Any, split: str) -> List[Optional[_Range]]:
    """Divide documents into training, validation and test sets, as Megatron does.

    Parameters
    ----------
    documents : int or Tokens
        The documents, or the number of documents.
    split : str
        The shares of the three sets, for example ``'969,30,1'``; omitted shares are 0.

    Returns
    -------
    list
        For each of the three sets, a pair ``(first, end)``: the set contains the documents from
        `first` up to but not including `end`. None if the share is 0. If a share is small, its
        range can be empty.

    Examples
    --------
    >>> split_documents(1000, '969,30,1')
    [(0, 969), (969, 999), (999, 1000)]
    """
    count = len(documents.documents) if isinstance(documents, Tokens) else documents
    total = natural('documents', count, maximum=2**31 - 1)
    if not isinstance(split, str):
        raise TypeError(f'split must be a str, not {type(split).__name__}')
    try:
        shares = [float(share) for share in re.findall(r'[.0-9]+', split)]
    except ValueError:
        raise ValueError(f'split must contain numbers, not {split!r}') from None
    if not 1 <= len(shares) <= 3:
        raise ValueError(f'split must contain one to three numbers, not {split!r}')
    parts = np.array(shares + [0.0] * (3 - len(shares)), np.float64)
    share_sum = parts.sum()
    if not 0 < share_sum < math.inf:
        raise ValueError('split must contain a positive number and have a finite sum, not '
                         f'{split!r}')
    end, ranges = 0.0, []
    for part in (parts / share_sum).tolist():
        begin, end = end, end + part
        ranges.append((int(round(begin * float(total))), int(round(end * float(total))))
                      if end > begin else None)
    return ranges


def samples_per_dataset(
    weights: Iterable[float], size: int, surplus: float = 0.0
) -> List[int]:
    """Return how many samples of each dataset a blend of `size` samples needs, as in Megatron.

    Parameters
    ----------
    weights : sequence of float
        The weights of the datasets, each above 0; they are divided by their sum.
    size : int
        The number of samples in the blend.
    surplus : float
        The fraction by which to increase each number, like Megatron's
        ``mid_level_dataset_surplus``.

    Returns
    -------
    list of int
        The number of samples of each dataset.

    Examples
    --------
    >>> samples_per_dataset([0.7, 0.3], 1000), samples_per_dataset([0.7, 0.3], 1000, 0.005)
    ([700, 300], [704, 302])
    """
    target = natural('size', size, maximum=2**53)
    more = number('surplus', surplus)
    return [int(math.ceil(math.ceil(target * weight) * (1 + more)))
            for weight in normalize(weights)]


def normalize(weights: Any) -> List[float]:
    """Return the weights divided by their sum."""
    values = reals('weights', list(weights) if not isinstance(weights, np.ndarray) else weights)
    if len(values) == 0 or not (values > 0).all():
        raise ValueError('weights must all be positive')
    with np.errstate(over='ignore'):
        total = np.sum(values)
    if not np.isfinite(total):
        raise ValueError('the sum of the weights exceeds the range of float64')
    shares: List[float] = (values / total).tolist()
    return shares
