# SPDX-License-Identifier: MIT
"""The data-parallel rank of this process, and the warning about ranks that were not given."""

import os
import types
import warnings

import numpy as np
import pytest

import loaderx as lx
from loaderx import ranks
from processes import run_script

NAMES = [*(name for pair in ranks._VARIABLES for name in pair), *ranks._SLURM,
         *ranks._RANKS_ALONE, 'SLURM_STEP_ID', 'TORCHELASTIC_RUN_ID']


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Neither a launcher nor a library that knows of several processes."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name in 'torch.distributed', 'jax':
        monkeypatch.delitem(ranks.sys.modules, name, raising=False)
    monkeypatch.setattr(ranks, '_has_warned', False)


@pytest.fixture
def launch(monkeypatch):
    def launch(**variables):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
    return launch


@pytest.fixture
def module(monkeypatch):
    """Replace a module by one with these attributes."""
    def module(name, **attributes):
        monkeypatch.setitem(ranks.sys.modules, name, types.SimpleNamespace(**attributes))
    return module


def torch_of(rank, size, initialized=True):
    return {'is_available': lambda: True, 'is_initialized': lambda: initialized,
            'get_rank': lambda group=None: rank if group is None else group[0],
            'get_world_size': lambda group=None: size if group is None else group[1]}


def jax_of(rank, size, **more):
    return {'process_index': lambda: rank, 'process_count': lambda: size, **more}


def test_one_process_is_rank_0_of_1():
    assert lx.world() == (0, 1)
    rank, size = lx.world()
    assert (rank, size) == (lx.world().rank, lx.world().world) == (0, 1)
    loader = lx.Loader(np.arange(4), **lx.world()._asdict())
    assert len(loader) == 4


def test_variables_of_launchers(launch):
    launch(RANK=3, WORLD_SIZE=8)
    assert lx.world() == (3, 8) and lx.world(replicas=2) == (1, 4)
    for rank, size in ranks._VARIABLES:
        launch(**{rank: 1, size: 2})
        assert lx.world() == (1, 2)
    for name in ranks._RANKS_ALONE:
        launch(**{name: 0})
        assert lx.world() == (0, 1)
    launch(RANK=3, WORLD_SIZE=8, OMPI_COMM_WORLD_RANK=0, OMPI_COMM_WORLD_SIZE=1)
    assert lx.world() == (3, 8)    # torchrun within mpirun


def test_slurm_counts_only_within_srun(launch):
    launch(SLURM_PROCID=0, SLURM_NTASKS=4)    # a batch script
    assert lx.world() == (0, 1)
    launch(SLURM_PROCID=0, SLURM_NTASKS=4, SLURM_STEP_ID=2**32 - 6)    # the shell of salloc
    assert lx.world() == (0, 1)
    slurm = {'SLURM_PROCID': 2, 'SLURM_NTASKS': 4}
    launch(**slurm, SLURM_STEP_ID=0)
    assert lx.world() == (2, 4)
    launch(**slurm, SLURM_STEP_ID=0, RANK=5, WORLD_SIZE=8)
    assert lx.world() == (5, 8)    # torchrun within srun


@pytest.mark.parametrize('variables, text', [
    ({'RANK': 1}, 'RANK is set, but WORLD_SIZE is not: set or unset both'),
    ({'WORLD_SIZE': 1}, 'WORLD_SIZE is set, but RANK is not: set or unset both'),
    ({'RANK': 4, 'WORLD_SIZE': 4}, 'RANK is 4, but must be less than WORLD_SIZE, which is 4'),
    ({'RANK': 0, 'WORLD_SIZE': 0}, 'RANK is 0, but must be less than WORLD_SIZE, which is 0'),
    ({'RANK': 'x', 'WORLD_SIZE': 4}, "RANK must be a number, not 'x'"),
    ({'RANK': '', 'WORLD_SIZE': 4}, "RANK must be a number, not ''"),
    ({'RANK': -1, 'WORLD_SIZE': 4}, "RANK must be a number, not '-1'"),
    ({'SLURM_STEP_ID': 0, 'SLURM_PROCID': 0}, 'SLURM_PROCID is set, but SLURM_NTASKS is not'),
    ({'SLURM_PROCID': 3, 'SLURM_NTASKS': 8}, 'SLURM_PROCID is 3 without SLURM_STEP_ID.*other proc'),
    ({'PMIX_RANK': 1}, 'PMIX_RANK is 1, so there are other processes.*set RANK and WORLD_SIZE'),
    ({'PALS_RANKID': 2}, 'PALS_RANKID is 2, so there are other processes'),
    ({'RANK': 0, 'WORLD_SIZE': 1, 'PMI_RANK': 3, 'PMI_SIZE': 8},
     'contradict each other: RANK=0, WORLD_SIZE=1, PMI_RANK=3, PMI_SIZE=8'),
])
def test_variables_that_contradict_are_errors(launch, variables, text):
    launch(**variables)
    with pytest.raises(ValueError, match=text):
        lx.world()


def test_torchrun_may_make_groups_in_the_processes_of_another_launcher(launch):
    launch(RANK=1, WORLD_SIZE=2, PMI_RANK=3, PMI_SIZE=8, TORCHELASTIC_RUN_ID='none')
    assert lx.world() == (1, 2)


def test_replicas_divide_the_number_of_ranks(launch):
    launch(RANK=3, WORLD_SIZE=6)
    assert [lx.world(replicas=n) for n in (1, 2, 3, 6)] == [(3, 6), (1, 3), (1, 2), (0, 1)]
    with pytest.raises(ValueError, match=r'replicas \(4\) must divide .* 6 \(.*WORLD_SIZE\)'):
        lx.world(replicas=4)
    with pytest.raises(ValueError, match='replicas must be from 1 to'):
        lx.world(replicas=0)
    with pytest.raises(TypeError, match='replicas must be an int'):
        lx.world(replicas='2')


def test_torch_counts_before_variables_once_it_is_initialized(launch, module):
    launch(RANK=3, WORLD_SIZE=8)
    module('torch.distributed', **torch_of(5, 16, initialized=False))
    assert lx.world() == (3, 8)
    module('torch.distributed', **torch_of(5, 16))
    assert lx.world() == (5, 16) and lx.world(replicas=4) == (1, 4)
    assert lx.world(group=(1, 2)) == (1, 2)
    with pytest.raises(ValueError, match='group does not contain this process'):
        lx.world(group=(-1, 2))


def test_groups_and_meshes_require_torch(module):
    for name in 'group', 'mesh':
        with pytest.raises(ValueError, match=f'{name} requires torch.distributed.*init_process'):
            lx.world(**{name: object()})
    module('torch.distributed', **torch_of(0, 2))
    with pytest.raises(ValueError, match='group and mesh are mutually exclusive'):
        lx.world(group=object(), mesh=object())
    with pytest.raises(TypeError, match='mesh must be a DeviceMesh of torch, not str'):
        lx.world(mesh='dp')


def test_a_mesh_has_one_dimension_and_contains_this_process(module):
    def mesh(place, *shape, names=None):
        return types.SimpleNamespace(get_coordinate=lambda: place, ndim=len(shape),
                                     size=lambda: int(np.prod(shape)), mesh_dim_names=names)
    module('torch.distributed', **torch_of(0, 8))
    assert lx.world(mesh=mesh([3], 4)) == (3, 4)
    with pytest.raises(ValueError, match=r"2 dimensions \(dp, tp\): .* for example mesh\['dp'\]"):
        lx.world(mesh=mesh([3, 1], 4, 2, names=('dp', 'tp')))
    with pytest.raises(ValueError, match='mesh does not contain this process'):
        lx.world(mesh=mesh(None, 4))


def test_jax_counts_before_variables_only_if_its_processes_are_connected(launch, module):
    module('jax', **jax_of(1, 2))
    assert lx.world() == (1, 2)
    launch(RANK=3, WORLD_SIZE=8)
    assert lx.world() == (3, 8)
    for initialized, expected in (False, (3, 8)), (True, (1, 2)):
        connected = types.SimpleNamespace(is_initialized=lambda: initialized)
        module('jax', **jax_of(1, 2, distributed=connected))
        assert lx.world() == expected


def test_imports_neither_torch_nor_jax():
    run_script("""
        lx.world()
        assert not {'torch', 'jax'} & set(sys.modules)
    """)


WORKER = """
import os, sys, torch
import torch.distributed as dist
import loaderx as lx
rank = int(sys.argv[1])
dist.init_process_group('gloo', init_method='file://' + sys.argv[2], rank=rank, world_size=4)
groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
assert lx.world() == (rank, 4) and lx.world(replicas=2) == (rank // 2, 2)
assert lx.world(group=groups[rank % 2]) == (rank // 2, 2)
try:
    lx.world(group=groups[1 - rank % 2])
except ValueError as error:
    assert 'does not contain this process' in str(error)
else:
    raise AssertionError
try:
    from torch.distributed.device_mesh import init_device_mesh
except ImportError:
    pass
else:
    mesh = init_device_mesh('cpu', (2, 2), mesh_dim_names=('dp', 'tp'))
    assert lx.world(mesh=mesh['dp']) == (rank // 2, 2)
    assert lx.world(mesh=mesh['tp']) == (rank % 2, 2)
dist.barrier()
"""


def test_processes_of_torch(tmp_path):
    pytest.importorskip('torch')
    run_script(f"""
        import subprocess
        runs = [subprocess.Popen([sys.executable, '-c', {WORKER!r}, str(rank), {str(tmp_path)!r}
                                  + '/store']) for rank in range(4)]
        assert [run.wait() for run in runs] == [0] * 4
    """)


def warnings_of(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        make()
    return [str(one.message) for one in caught], [one.filename for one in caught]


def test_a_loader_without_rank_warns_once(launch):
    def two():
        lx.Loader(np.arange(4))
        lx.Loader(np.arange(4), world=2)
    assert warnings_of(two) == ([], [])
    launch(RANK=0, WORLD_SIZE=2)
    assert warnings_of(lambda: lx.Loader(np.arange(4), rank=0, world=1)) == ([], [])
    texts, files = warnings_of(two)
    assert len(texts) == 1 and 'loaderx.world()' in texts[0] and 'one of 2 processes' in texts[0]
    assert os.path.samefile(files[0], __file__)


def test_torch_without_variables_warns(module):
    module('torch.distributed', **torch_of(0, 2))
    texts, _ = warnings_of(lambda: lx.Loader(np.arange(4), rank=0))
    assert len(texts) == 1 and '(torch.distributed)' in texts[0]


def test_variables_that_contradict_do_not_stop_a_loader_but_it_warns(launch):
    launch(PMIX_RANK=3)
    texts, _ = warnings_of(lambda: lx.Loader(np.arange(4)))
    assert len(texts) == 1 and 'PMIX_RANK is 3' in texts[0] and 'loaderx.world()' in texts[0]


def test_a_rank_is_checked_with_the_world_given():
    for rank in 1, 2:
        with pytest.raises(ValueError, match=f'^rank is {rank}, but world, the number of ranks, '
                                             'was not given: pass both, as in "rank, world = '
                                             r'loaderx.world\(\)"$'):
            lx.Loader(np.arange(4), rank=rank)
    with pytest.raises(ValueError, match='rank must be from 0 to 1, not 2'):
        lx.Loader(np.arange(4), rank=2, world=2)
    with pytest.raises(TypeError, match='rank must be an int'):
        lx.Loader(np.arange(4), rank=1.5)
    assert len(lx.Loader(np.arange(4), rank=0)) == 4
    assert len(lx.Loader(np.arange(4), rank=None, world=None)) == 4


def test_a_token_stream_without_rank_warns(launch):
    tokenizers = pytest.importorskip('tokenizers')
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({'a': 0}, unk_token='a'))
    launch(RANK=0, WORLD_SIZE=2)
    texts, files = warnings_of(lambda: lx.TokenStream([b'a'], made, 1).close())
    assert len(texts) == 1 and os.path.samefile(files[0], __file__)


def test_a_loader_of_jax_without_rank_warns(launch, monkeypatch):
    monkeypatch.undo()
    pytest.importorskip('jax')
    import loaderx.jax
    monkeypatch.setattr(ranks, '_has_warned', False)
    launch(RANK=0, WORLD_SIZE=2)
    texts, files = warnings_of(lambda: loaderx.jax.Loader(np.arange(4)))
    assert len(texts) == 1 and os.path.samefile(files[0], __file__)
