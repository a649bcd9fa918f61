# SPDX-License-Identifier: MIT
"""The data-parallel rank of this process, from torch.distributed, JAX or the launcher.

This module imports neither torch nor JAX: it uses them only if the caller has imported them.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NamedTuple, Optional, Tuple

from ._check import natural

__all__ = ['World', 'choose_rank', 'world']

# The variables of the rank and of the number of processes: of torchrun, Open MPI, MVAPICH, MPICH,
# Flux and IBM's JSM. The first pair that is set counts: torchrun may run within mpirun or srun, and
# mpirun within srun.
_VARIABLES = (
    ('RANK', 'WORLD_SIZE'),
    ('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'),
    ('MV2_COMM_WORLD_RANK', 'MV2_COMM_WORLD_SIZE'),
    ('PMI_RANK', 'PMI_SIZE'),
    ('FLUX_TASK_RANK', 'FLUX_JOB_SIZE'),
    ('JSM_NAMESPACE_RANK', 'JSM_NAMESPACE_SIZE'),
)
_SLURM = ('SLURM_PROCID', 'SLURM_NTASKS')
# Ranks without a number of processes: of PMIx, and of HPE's PALS.
_RANKS_ALONE = ('PMIX_RANK', 'PALS_RANKID')
# Slurm numbers the steps of batch scripts and interactive shells from here. In these steps,
# SLURM_NTASKS is the number of tasks of the allocation, although only one process runs.
_FIRST_SPECIAL_STEP = 2**32 - 16

_PACKAGE = os.path.dirname(os.path.abspath(__file__))

_has_warned = False


class World(NamedTuple):
    """A data-parallel rank, and the number of data-parallel ranks."""

    rank: int
    world: int


def world(group: Any = None, mesh: Any = None, replicas: int = 1) -> World:
    """Return the data-parallel rank of this process and the number of data-parallel ranks.

    The result is what `Loader` expects as `rank` and `world`. The rank and the number of ranks come
    from the first of these that applies:

    1. torch.distributed, if it is initialized;
    2. JAX, if ``jax.distributed`` is initialized;
    3. the variables of the launcher: ``RANK`` and ``WORLD_SIZE`` (torchrun),
       ``OMPI_COMM_WORLD_RANK`` and ``_SIZE`` (Open MPI), ``MV2_COMM_WORLD_RANK`` and ``_SIZE``
       (MVAPICH), ``PMI_RANK`` and ``PMI_SIZE`` (MPICH), ``FLUX_TASK_RANK`` and ``FLUX_JOB_SIZE``,
       ``JSM_NAMESPACE_RANK`` and ``_SIZE``, or, within srun, ``SLURM_PROCID`` and
       ``SLURM_NTASKS``;
    4. JAX, if it is imported, as on a TPU pod. This initializes the devices of JAX.

    If none of them applies, this is the only process: rank 0 of 1. The function imports neither
    torch nor JAX.

    All of these sources count processes. If some processes need the same data, as in tensor,
    context or pipeline parallelism, say so with `group`, `mesh` or `replicas`. With a sharding of
    JAX, `loaderx.jax.Loader` finds the rank itself.

    Parameters
    ----------
    group : torch.distributed.ProcessGroup, optional
        The data-parallel group of this process; None: all processes.
    mesh : torch.distributed.device_mesh.DeviceMesh, optional
        The data-parallel dimension of a mesh, for example ``mesh['dp']``; an alternative to
        `group`.
    replicas : int
        The number of adjacent ranks that need the same data, for example the tensor-parallel size
        if tensor-parallel ranks are adjacent. The rank and the number of ranks are divided by this
        number.

    Returns
    -------
    World
        A named tuple of `rank` and `world`.

    Raises
    ------
    ValueError
        The result would be wrong: the number of processes is not a multiple of `replicas`, only one
        of a pair of variables is set, a variable is out of range, variables contradict each other,
        a rank above 0 has no number of ranks, this process does not belong to `group` or `mesh`, or
        these were given but torch.distributed is not initialized.

    Examples
    --------
    >>> rank, size = world()
    >>> loader = Loader(np.arange(8), batch_size=4, rank=rank, world=size)
    """
    replicas = natural('replicas', replicas, minimum=1)
    if group is not None and mesh is not None:
        raise ValueError('group and mesh are mutually exclusive: pass only one of them')
    rank, size, where = (_from_torch(group, mesh) or _from_jax() or _from_launcher()
                         or _from_devices() or (0, 1, 'this is the only process'))
    if size % replicas:
        raise ValueError(f'replicas ({replicas}) must divide the number of ranks, which is {size} '
                         f'({where})')
    return World(rank // replicas, size // replicas)


_Found = Optional[Tuple[int, int, str]]    # the rank, the number of ranks, and their origin


def _from_torch(group: Any, mesh: Any) -> _Found:
    distributed = sys.modules.get('torch.distributed')
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        if group is None and mesh is None:
            return None
        name = 'mesh' if group is None else 'group'
        raise ValueError(f'{name} requires torch.distributed, which is not initialized: call '
                         'torch.distributed.init_process_group() first')
    if mesh is not None:
        return _from_mesh(mesh)
    rank = distributed.get_rank(group)
    if rank < 0:
        raise ValueError('group does not contain this process: pass the data-parallel group of '
                         'this process')
    return rank, distributed.get_world_size(group), 'torch.distributed'


def _from_mesh(mesh: Any) -> _Found:
    if not hasattr(mesh, 'get_coordinate'):
        raise TypeError(f'mesh must be a DeviceMesh of torch, not {type(mesh).__name__}')
    if mesh.ndim != 1:
        names = getattr(mesh, 'mesh_dim_names', None)
        named = f' ({", ".join(names)})' if names else ''
        raise ValueError(f'mesh has {mesh.ndim} dimensions{named}: pass only the data-parallel '
                         "dimension, for example mesh['dp']")
    place = mesh.get_coordinate()
    if place is None:
        raise ValueError('mesh does not contain this process')
    return place[0], mesh.size(), 'mesh'


def _from_jax() -> _Found:
    """Ask JAX only if its processes are connected, since asking initializes its devices."""
    distributed = getattr(sys.modules.get('jax'), 'distributed', None)
    is_initialized = getattr(distributed, 'is_initialized', None)    # older versions have none
    return _from_devices() if is_initialized is not None and is_initialized() else None


def _from_devices() -> _Found:
    jax = sys.modules.get('jax')
    return None if jax is None else (jax.process_index(), jax.process_count(), 'JAX')


def _from_launcher() -> _Found:
    pairs = [*_VARIABLES, _SLURM] if _is_within_srun() else _VARIABLES
    found = [(*_read_pair(names), names) for names in pairs
             if any(name in os.environ for name in names)]
    if not found:
        return _refuse_rank_alone()
    rank, size, names = found[0]
    # A launcher within another one makes more processes of each, not fewer. Only torchrun may make
    # a group of its own in each, such as the trials of a search.
    if size < max(one[1] for one in found) and not (names[0] == 'RANK'
                                                    and 'TORCHELASTIC_RUN_ID' in os.environ):
        shown = ', '.join(f'{name}={os.environ[name]}' for *_, pair in found for name in pair)
        raise ValueError(f'environment variables contradict each other: {shown}: pass rank and '
                         'world, or unset the wrong ones')
    return rank, size, f'the environment variable {names[1]}'


def _read_pair(names: Tuple[str, str]) -> Tuple[int, int]:
    for name, other in zip(names, names[::-1]):
        if name not in os.environ:
            raise ValueError(f'the environment variable {other} is set, but {name} is not: '
                             'set or unset both')
    rank, size = (_number(name, os.environ[name]) for name in names)
    if rank >= size:
        raise ValueError(f'the environment variable {names[0]} is {rank}, but must be less '
                         f'than {names[1]}, which is {size}: correct or unset both')
    return rank, size


def _refuse_rank_alone() -> None:
    """Raise an error if this is not the only process, but the number of processes is unknown."""
    names = [*_RANKS_ALONE, *([] if 'SLURM_STEP_ID' in os.environ else _SLURM[:1])]
    for name in names:
        if _number(name, os.environ.get(name, '0')) > 0:
            hint = ' without SLURM_STEP_ID' if name == _SLURM[0] else ''
            raise ValueError(f'the environment variable {name} is {os.environ[name]}{hint}, so '
                             'there are other processes, but how many is not known: set RANK and '
                             'WORLD_SIZE, or pass rank and world')


def _is_within_srun() -> bool:
    step = os.environ.get('SLURM_STEP_ID', '')
    return step.isdecimal() and int(step) < _FIRST_SPECIAL_STEP


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f'the environment variable {name} must be a number, not {text!r}')
    return int(text)


def choose_rank(rank: Optional[int], size: Optional[int]) -> Tuple[int, int]:
    """Check the rank and the number of ranks that a caller passed to a loader.

    If either is missing although there are several processes, warn once per process.
    """
    if rank is None or size is None:
        _warn_if_several()
    if size is None and rank is not None and natural('rank', rank) > 0:
        raise ValueError(f'rank is {rank}, but world, the number of ranks, was not given: pass '
                         'both, as in "rank, world = loaderx.world()"')
    size = 1 if size is None else natural('world', size, minimum=1)
    return 0 if rank is None else natural('rank', rank, maximum=size - 1), size


def _warn_if_several() -> None:
    global _has_warned
    try:
        found = None if _has_warned else (_from_torch(None, None) or _from_jax()
                                          or _from_launcher())
    except ValueError as error:
        why = str(error)
    else:
        if found is None or found[1] == 1:
            return
        why = f'this is one of {found[1]} processes ({found[2]})'
    _has_warned = True
    warnings.warn(
        f'{why}; rank and world were not given, so every process reads all records: pass rank and '
        'world, as in "rank, world = loaderx.world()". If all processes need the same records, '
        'pass rank=0, world=1.',
        UserWarning, stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """Return the `stacklevel` that makes a warning by the caller point outside this package."""
    depth = 1
    while os.path.abspath(sys._getframe(depth).f_code.co_filename).startswith(_PACKAGE + os.sep):
        depth += 1
    return depth
