# SPDX-License-Identifier: MIT
"""Train a small language model on real text, on several processes; kill it with -9, resume it on
the same and on other numbers of processes, and compare with an uninterrupted run.

In each step all runs must see the same samples in the same order. On the same number of processes,
the losses and the final weights must be bit-identical. Otherwise the exit status is 1.
"""

import argparse
import collections
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time

for needed in 'loaderx', 'tokenizers', 'torch':
    if importlib.util.find_spec(needed) is None:
        sys.exit(f'language-model: {needed} is not installed for {sys.executable}')

import texts

Run = collections.namedtuple('Run', 'name world steps weights')

CLOSE = 0.01  # tolerance of losses with another number of processes (rounding)
KILL_AT = 0.55  # fractions of all steps


def arguments():
    parser = argparse.ArgumentParser(description=' '.join(__doc__.split('\n\n')[0].split()))
    parser.add_argument('work', help='a folder, for the tokens, which stay, and the runs')
    parser.add_argument('--steps', type=int, default=200)
    parser.add_argument('--checkpoint-steps', type=int, default=20)
    parser.add_argument('--vocabulary', type=int, default=4096)
    parser.add_argument('--world', type=int, default=2, choices=(1, 2, 4, 8, 16),
                        help='processes of the run that is killed')
    parser.add_argument('--resume-worlds', type=int, nargs='+', default=[2, 1, 4],
                        choices=(1, 2, 4, 8, 16), metavar='WORLD')
    wanted = parser.parse_args()
    if wanted.checkpoint_steps < 1 or int(KILL_AT * wanted.steps) <= wanted.checkpoint_steps:
        parser.error(f'it is killed at {KILL_AT} of the steps, which must be after a checkpoint')
    return wanted


def start(wanted, name, world, resume):
    """Start the processes of a run; rank 0 prints its steps."""
    here = os.path.dirname(os.path.abspath(__file__))
    out = os.path.join(wanted.work, name)
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    command = [sys.executable, os.path.join(here, 'train.py'),
               os.path.join(wanted.work, 'corpus.bin'), out,
               '--vocabulary', str(wanted.vocabulary), '--steps', str(wanted.steps),
               '--checkpoint-steps', str(wanted.checkpoint_steps), '--world', str(world)]
    if resume:
        command += ['--resume', resume]
    return [subprocess.Popen([*command, '--rank', str(rank)], universal_newlines=True,
                             stdout=subprocess.PIPE if rank == 0 else None)
            for rank in range(world)]


def run(wanted, name, world, resume, kill_at):
    """Run to the end, or to the step in which all are killed."""
    processes = start(wanted, name, world, resume)
    weights = None
    begun = time.monotonic()
    try:
        for line in processes[0].stdout:
            what, value = line.split()
            if what == 'weights':
                weights = value
            elif int(value) == kill_at:
                break
        if kill_at is None and any(process.wait() for process in processes):
            raise SystemExit(f'{name}: a process has failed')
    finally:
        for process in processes:
            process.kill()
        ends = [process.wait() for process in processes]
        processes[0].stdout.close()
    if kill_at is not None and ends[0] != -signal.SIGKILL:
        raise SystemExit(f'{name}: it had ended before it was killed')
    print(f'{name}: {time.monotonic() - begun:.0f} s', flush=True)
    return Run(name, world, read_steps(os.path.join(wanted.work, name), world), weights)


def read_steps(folder, world):
    """Return {step: (samples of all processes in the global order, checksums, loss)} of a run.

    Ignores lines that the kill truncated, and steps that some process did not write.
    """
    ranks = []
    for rank in range(world):
        with open(os.path.join(folder, f'rank{rank}.jsonl')) as file:
            lines = [json.loads(line) for line in file if line.endswith('\n')]
        ranks.append({line['step']: line for line in lines})
    steps = {}
    for step in sorted(set(ranks[0]).intersection(*ranks)):
        lines = [rank[step] for rank in ranks]
        samples = [number for group in zip(*(line['samples'] for line in lines))
                   for number in group]
        steps[step] = samples, [line['checksum'] for line in lines], lines[0]['loss']
    return steps


def compare(whole, other):
    """Print which results of two runs are equal; return whether all required ones are."""
    steps, same_world = other.steps, other.world == whole.world
    if other.weights is not None and [*steps] != [*range(min(steps), max(whole.steps) + 1)]:
        raise SystemExit(f'{other.name}: it has not made each step once')
    pairs = [(whole.steps[step], steps[step]) for step in steps]
    samples = all(one[0] == two[0] for one, two in pairs)
    if same_world:  # then the tokens of each process are equal, too
        samples = samples and all(one[1] == two[1] for one, two in pairs)
    apart = max(abs(one[2] - two[2]) for one, two in pairs)
    same_weights = other.weights in (None, whole.weights)
    shown = 'the same to the bit' if apart == 0 else f'{apart:.1e} apart at most'
    shown_weights = '-' if other.weights is None else 'the same' if same_weights else 'others'
    print(f'{other.name:16} {other.world:9}  {f"{min(steps)} to {max(steps)}":11}  '
          f'{"the same" if samples else "OTHERS":9}  {shown:23}  {shown_weights}')
    return samples and (apart == 0 and same_weights if same_world else apart <= CLOSE)


def main():
    wanted = arguments()
    os.makedirs(wanted.work, exist_ok=True)
    try:
        texts.prepare(wanted.work, wanted.vocabulary)
    except texts.Missing as error:
        raise SystemExit(f'language-model: {error}') from None
    checkpoint = os.path.join(wanted.work, 'killed', 'checkpoint')
    plan = [('never-stopped', wanted.world, None, None),
            ('killed', wanted.world, None, int(KILL_AT * wanted.steps))]
    plan += [(f'resumed-on-{world}', world, checkpoint, None) for world in wanted.resume_worlds]

    whole, *others = [run(wanted, *planned) for planned in plan]
    print('\nrun              processes  steps        samples    losses                   weights')
    print(f'{whole.name:16} {whole.world:9}  1 to {wanted.steps}')
    same = [compare(whole, other) for other in others]
    curves = {each.name: (each.world, [(step, loss) for step, (_, _, loss) in each.steps.items()])
              for each in (whole, *others)}
    with open(os.path.join(wanted.work, 'curves.json'), 'w') as file:
        json.dump(curves, file)
    if not all(same):
        raise SystemExit('the runs are not the same')


if __name__ == '__main__':
    main()
