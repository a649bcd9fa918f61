# SPDX-License-Identifier: MIT
"""Command line of the crash model: `python3 -m model`, from the folder tests.

Without options, the short form: the protocol without faults in all scenarios, sweeps and random
runs, all of which must pass; then each planted fault, which must be found. The exit status is 0 on
success, 1 otherwise.
"""

import argparse
import functools
import multiprocessing
import sys
import time

from .directed import direct
from .faults import FAULTS, WORLDS
from .play import run
from .sweep import SCRIPTS, killed_run, sweep

SHORT_RUNS = 1000
SHORT_SWEEPS = 2        # of each script in each world; more with more runs
FAULT_RUNS = 400        # until the fault is found
FAULT_SWEEPS = 20
SHOWN = 10


def parse_arguments():
    parser = argparse.ArgumentParser(prog='python3 -m model', description='Crash model of zrecord.')
    parser.add_argument('--runs', type=int, default=SHORT_RUNS,
                        help='random runs in each world (default %(default)s)')
    parser.add_argument('--jobs', type=int, default=1, help='processes for random runs (default 1)')
    parser.add_argument('--world', choices=WORLDS, help='only this world')
    parser.add_argument('--fault', metavar='NAME[,NAME]', type=parse_faults,
                        help='plant only these faults, and count the runs that find them')
    parser.add_argument('--seed', type=int,
                        help='print the trace of one run (default world: power)')
    parser.add_argument('--script', choices=SCRIPTS,
                        help='with --seed and --step: one run of a sweep')
    parser.add_argument('--step', type=int, default=0)
    parser.add_argument('--list', action='store_true', help='list worlds, scripts and faults')
    return parser.parse_args()


def parse_faults(text):
    names = frozenset(text.split(','))
    if not names <= set(FAULTS):
        raise argparse.ArgumentTypeError(f'unknown fault: {", ".join(sorted(names - set(FAULTS)))}')
    return names


def list_all():
    for name, world in WORLDS.items():
        print(f'world   {name:16} {world.description}')
    for name in SCRIPTS:
        print(f'script  {name}')
    for name, fault in FAULTS.items():
        print(f'fault   {name:16} {fault.description} (world {fault.world})')
    return 0


def one_run(seed, world_name, faults):
    return seed, run(seed, WORLDS[world_name], faults)


def random_runs(world, faults, runs, jobs=1):
    """Yield (options that repeat it, failure) for each random run that fails."""
    task = functools.partial(one_run, world_name=world, faults=faults)
    if jobs == 1:
        results = map(task, range(runs))
        yield from ((f'--seed {seed}', wrong) for seed, wrong in results if wrong)
        return
    with multiprocessing.Pool(jobs) as pool:
        results = pool.imap_unordered(task, range(runs), chunksize=50)
        yield from ((f'--seed {seed}', wrong) for seed, wrong in results if wrong)


def swept_runs(world, faults, times):
    """Yield (options that repeat it, failure) for each sweep that fails."""
    for seed in range(times):
        for script in SCRIPTS:
            wrong, step = sweep(script, seed, WORLDS[world], faults)
            if wrong:
                yield f'--script {script!r} --step {step} --seed {seed}', wrong


def check_protocol(worlds, runs, jobs):
    """Test the protocol without faults; return the number of failures."""
    bad = 0
    wrong = direct()
    if wrong:
        bad += 1
        print(f'WRONG  scenario {wrong}')
    sweeps = max(SHORT_SWEEPS, SHORT_SWEEPS * runs // SHORT_RUNS)
    for world in worlds:
        begin = time.monotonic()
        found = list(random_runs(world, frozenset(), runs, jobs))
        found += swept_runs(world, frozenset(), sweeps)
        bad += len(found)
        print(f'{world:6} {len(found)} wrong of {runs} random runs and {sweeps} sweeps of '
              f'{len(SCRIPTS)} scripts ({time.monotonic() - begin:.0f} s)', flush=True)
        for how, wrong in found[:SHOWN]:
            print(f'WRONG  --world {world} {how}: {wrong}')
    return bad


def attempts(name):
    """Yield each failure that a planted fault causes: in scenarios, random runs, then sweeps."""
    world, faults = FAULTS[name].world, frozenset([name])
    wrong = direct(faults)
    if wrong:
        yield 'scenario', wrong
    yield from random_runs(world, faults, FAULT_RUNS)
    yield from swept_runs(world, faults, FAULT_SWEEPS)


def check_faults():
    """Plant each fault; return the number of faults that are not found."""
    missed = 0
    for name in FAULTS:
        how, wrong = next(attempts(name), ('NOT FOUND', ''))
        missed += not wrong
        print(f'fault  {name:15} {how}: {wrong}', flush=True)
    return missed


def count_fault(faults, worlds, runs, jobs):
    """Print how often these faults are found; return 1 if never."""
    scenario = direct(faults)
    print(f'scenario {scenario}' if scenario else 'no scenario fails')
    total = 0
    for world in worlds:
        found = list(random_runs(world, faults, runs, jobs))
        total += len(found)
        print(f'{world:6} {len(found)} wrong of {runs}', flush=True)
        for how, wrong in found[:SHOWN]:
            print(f'       {how}: {wrong}')
    return 0 if total or scenario else 1


def show(arguments):
    """Print one run with its trace."""
    trace = []
    seed, faults = arguments.seed, arguments.fault or frozenset()
    world = WORLDS[arguments.world or 'power']
    if arguments.script:
        wrong, _ = killed_run(arguments.script, arguments.step, seed, world, faults, trace)
    else:
        wrong = run(seed, world, faults, trace)
    print('\n'.join(trace))
    print('WRONG: ' + wrong if wrong else 'nothing wrong')
    return 1 if wrong else 0


def main():
    arguments = parse_arguments()
    worlds = [arguments.world] if arguments.world else list(WORLDS)
    if arguments.list:
        return list_all()
    if arguments.seed is not None:
        return show(arguments)
    if arguments.fault:
        return count_fault(arguments.fault, worlds, arguments.runs, arguments.jobs)
    bad = check_protocol(worlds, arguments.runs, arguments.jobs)
    missed = check_faults()
    print(f'{bad} wrong, {missed} of {len(FAULTS)} faults not found')
    return 1 if bad or missed else 0


if __name__ == '__main__':
    sys.exit(main())
