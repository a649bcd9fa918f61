# SPDX-License-Identifier: MIT
"""Kill a training run on several processes with kill -9 repeatedly, and resume it on another number
of processes: each sample of an epoch is seen once, in the same step as without the kills.

Each process reads its share of every global batch, and writes a checkpoint at regular intervals:
the state of its loader, and the samples that it has seen since the previous one. Steps after the
last checkpoint that all processes have are repeated and not counted.

`elastic.py` generates images; `elastic.py DATASET` uses those of a dataset with a field `data`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

import loaderx as lx

GLOBAL_BATCH = 256
EPOCHS = 2
TEAMS = [2, 4, 1, 2, 4]  # numbers of processes; all teams but the last are killed
CHECKPOINT_STEPS = 10
SECONDS = 50  # time limit


def make_data(images):
    """Make a dataset in which each image contains its number, to record which were seen."""
    fields = {'image': lx.Field(images.dtype, images.shape[1:]), 'number': lx.Field('int64')}
    with lx.create('numbered', fields) as writer:
        writer.extend(image=images, number=np.arange(len(images)))


# ---- one process


def save(folder, position, checkpoint):
    """Write a file atomically and durably."""
    path = os.path.join(folder, f'{position}.json')
    with open(path + '.new', 'w') as file:
        json.dump(checkpoint, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + '.new', path)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def train(folder, rank, world, threads, state):
    """Train as one process of a team, from a state (None: the beginning)."""
    with lx.open('numbered') as data, lx.Loader(
            data, batch_size=GLOBAL_BATCH // world, order=lx.Shuffle(seed=42), epochs=EPOCHS,
            rank=rank, world=world, threads=threads) as loader:
        if state is not None:
            loader.load_state_dict(state)
        seen, since, steps = 0, [], 0  # in `since`: the position after each batch, and its samples
        for batch in loader:
            batch['image'].mean()  # a network would train here
            seen, steps = seen + len(batch['number']), steps + 1
            since.append((loader.tell(), batch['number'].tolist()))
            if steps % CHECKPOINT_STEPS == 0:
                save(folder, loader.tell(), {'state': loader.state_dict(), 'since': since})
                since = []
            # All processes wait for each other in each step, as for a sum of gradients.
            print(loader.tell(), seen, flush=True)
            if not sys.stdin.readline():
                return
        if since:
            save(folder, loader.tell(), {'state': loader.state_dict(), 'since': since})


# ---- the parent process


def start(team, world, state):
    """Start the processes of a team, each in its own folder."""
    processes = []
    for rank in range(world):
        folder = f'team{team}-rank{rank}'
        os.mkdir(folder)
        given = json.dumps([folder, rank, world, (team + rank) % 3, state])
        processes.append(subprocess.Popen([sys.executable, os.path.abspath(__file__), '--rank',
                                           given], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          universal_newlines=True))
    return processes


def kill(processes):
    """Kill all processes within a step: some have begun the next one, others have not."""
    for process in random.sample(processes, random.randrange(len(processes) + 1)):
        process.stdin.write('\n')
        process.stdin.flush()
    time.sleep(random.random() / 100)
    for process in processes:
        process.send_signal(signal.SIGKILL)
    last = [[line for line in process.stdout if line.endswith('\n')][-1:]
            for process in processes]
    if any(process.wait() != -signal.SIGKILL for process in processes):
        raise SystemExit('a process had ended before it was killed')
    return last


def lead(processes, kill_at):
    """Run step by step, to the end (None) or to the step in which all are killed.

    Returns the number of samples that they have reported.
    """
    reported = [[] for _ in processes]
    step = 0
    while True:
        lines = [process.stdout.readline() for process in processes]
        if not any(lines):
            break
        if not all(lines):
            raise SystemExit('some processes had fewer batches than others')
        reported, step = [[line] for line in lines], step + 1
        if step == kill_at:
            last = kill(processes)
            reported = [new or old for new, old in zip(last, reported)]
            break
        for process in processes:
            process.stdin.write('\n')
            process.stdin.flush()
    if kill_at is None and any(process.wait() != 0 for process in processes):
        raise SystemExit('a process has failed')
    return sum(int(line.split()[1]) for lines in reported for line in lines)


def read_checkpoints(team, world):
    """Return the samples up to the last checkpoint position that all processes of a team have."""
    kept = []
    for rank in range(world):
        folder = f'team{team}-rank{rank}'
        names = [name for name in os.listdir(folder) if name.endswith('.json')]
        kept.append({int(name[:-len('.json')]): os.path.join(folder, name) for name in names})
    common = set(kept[0]).intersection(*kept)
    if not common:
        return None, []
    batches = []
    for files in kept:
        for position in sorted(files):
            with open(files[position]) as file:
                checkpoint = json.load(file)
            if position <= max(common):
                batches += checkpoint['since']
            if position == max(common):
                state = checkpoint['state']
    return state, batches


def run(team, world, state, kill_at):
    """Run a team, print a summary, and return the kept state and the samples seen."""
    processes = start(team, world, state)
    try:
        reported = lead(processes, kill_at)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
    kept, batches = read_checkpoints(team, world)
    count = sum(len(numbers) for _, numbers in batches)
    print(f'{world:9}  {state["position"] if state else 0:12,}  {reported:10,}  '
          f'{"in step " + str(kill_at) if kill_at else "no":>12}  {count:10,}  '
          f'{reported - count:16,}', flush=True)
    return kept or state, batches


def by_step(batches):
    """Return the samples of each step, of all processes, by the position where it ends."""
    steps = {}
    for end, numbers in batches:
        steps.setdefault(end, []).extend(numbers)
    return {end: sorted(numbers) for end, numbers in steps.items()}


def check(n, whole, seen):
    """Check that each sample was seen, once, and in its step."""
    for epoch in range(EPOCHS):
        numbers = [number for end, batch in seen for number in batch
                   if epoch * n < end <= (epoch + 1) * n]
        twice = len(numbers) - len(set(numbers))
        missing = n - len(set(numbers))
        print(f'epoch {epoch + 1}: {len(numbers):,} samples seen, {missing} missing, {twice} twice')
        if missing or twice or max(numbers) != n - 1 or min(numbers) != 0:
            raise SystemExit('the run that was killed has not seen each sample once')
    steps = by_step(whole), by_step(seen)
    different = [end for end in steps[0].keys() | steps[1].keys()
                 if steps[0].get(end) != steps[1].get(end)]
    print(f'steps: {len(steps[0])}, of which {len(different)} had other samples than in the run '
          'that was never stopped')
    if different:
        raise SystemExit('the run that was killed is not the same')
    print('complete, without repeats, and the same in each step')


def too_long(*_):
    raise SystemExit(f'not done within {SECONDS} seconds')


def main():
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    if len(sys.argv) > 1:
        with lx.open(sys.argv[1]) as data:
            images = np.asarray(data['data'])
    else:
        images = np.random.default_rng(0).integers(0, 256, (30_000, 8, 8), dtype='uint8')
    make_data(images)
    n = len(images)
    steps = EPOCHS * -(-n // GLOBAL_BATCH)
    print('processes       from position  samples had  killed      kept  to be done again')
    whole = run(0, 1, None, None)[1]
    state, seen = None, []
    for team, world in enumerate(TEAMS, start=1):
        part = steps // len(TEAMS)
        kill_at = None if team == len(TEAMS) else random.randint(part // 2, part)
        state, batches = run(team, world, state, kill_at)
        seen += batches
    check(n, whole, seen)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--rank']:
        train(*json.loads(sys.argv[2]))
    else:
        main()
