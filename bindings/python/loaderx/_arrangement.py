# SPDX-License-Identifier: MIT
"""The forms in which a loader returns fields whose records vary in length."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .batch import Batch
from .errors import CorruptError
from .ragged import Pad

__all__ = ['after_arranging', 'arrangement', 'choose_forms']

_Transform = Callable[[Batch], Any]
_Form = Union[str, Pad]


def choose_forms(ragged: Any, varying: Sequence[str], fields: Sequence[str]) -> Dict[str, _Form]:
    """Return the form of each field in `varying`, as the argument `ragged` of a loader says."""
    if not isinstance(ragged, Mapping):
        _check_form('ragged', ragged)
        forms: Dict[str, Any] = dict.fromkeys(varying, ragged)
    else:
        forms = {**dict.fromkeys(varying, 'ragged'), **ragged}
    for name, form in forms.items():
        if name not in varying:
            what = 'a field of a fixed length' if name in fields else 'not a field of the loader'
            raise ValueError(f'ragged: {name!r} is {what}')
        _check_form(f'ragged[{name!r}]', form)
        if isinstance(form, Pad) and form.mask and f'{name}_mask' in fields:
            raise ValueError(f'ragged: the mask of {name!r} has the name of a field, '
                             f'{name + "_mask"!r}: select other fields')
    return forms


def arrangement(forms: Mapping[str, _Form]) -> Optional[_Transform]:
    """Return a function that brings the fields of a batch into their forms; None if all are."""
    others = {name: form for name, form in forms.items() if form != 'ragged'}
    return _Arrangement(others) if others else None


def _check_form(argument: str, form: Any) -> None:
    if not isinstance(form, Pad) and form not in ('ragged', 'list'):
        raise ValueError(f"{argument} must be 'ragged', 'list' or a Pad, not {form!r}")


class _Arrangement:
    def __init__(self, forms: Mapping[str, _Form]) -> None:
        self._forms = forms

    def __call__(self, batch: Batch) -> Batch:
        for name, form in self._forms.items():
            if isinstance(form, Pad):
                batch[name], mask = form.with_mask(batch[name])
                if mask is not None:
                    batch[f'{name}_mask'] = mask
            else:
                batch[name] = _listed(batch, name)
        return batch


def _listed(batch: Batch, name: str) -> List[Any]:
    """Return the values of a field as a list; an error names a text that is not UTF-8."""
    ragged = batch[name]
    try:
        return list(ragged)
    except UnicodeDecodeError:
        for row in range(len(ragged)):
            try:
                ragged[row]
            except UnicodeDecodeError as error:
                raise _damage(name, int(batch.index[row]), error) from None
        raise


def _damage(name: str, record: int, error: UnicodeDecodeError) -> CorruptError:
    message = f'the value is no valid str: {error}'
    made = CorruptError(f'field {name!r}, record {record}: {message}')
    made.status, made.field, made.record, made.message = 'LX_ERR_CORRUPT', name, record, message
    return made


def after_arranging(arrange: Optional[_Transform],
                    transform: Optional[_Transform]) -> Optional[_Transform]:
    """Return a function that arranges a batch and then transforms it; None if it does nothing."""
    if arrange is None or transform is None:
        return transform if arrange is None else arrange
    first, second = arrange, transform
    return lambda batch: second(first(batch))
