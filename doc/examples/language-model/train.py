# SPDX-License-Identifier: MIT
"""One process of a training run, from the start or from a checkpoint.

Each step writes a line of JSON to OUT/rank*.jsonl: the samples of this process, a checksum of their
tokens, and the loss of the whole global batch. Rank 0 replaces OUT/checkpoint at regular intervals.
"""

import argparse
import datetime
import hashlib
import json
import os
import zlib

import numpy as np
import torch
from torch import distributed

import loaderx as lx
from model import Model

CONTEXT = 128
GLOBAL_BATCH = 16  # samples of all processes together
RATE, WARM = 2e-3, 20  # the learning rate, and its warm-up steps


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('tokens')
    parser.add_argument('out', help='a folder')
    parser.add_argument('--vocabulary', type=int, required=True)
    parser.add_argument('--steps', type=int, required=True)
    parser.add_argument('--checkpoint-steps', type=int, required=True)
    parser.add_argument('--rank', type=int, required=True)
    parser.add_argument('--world', type=int, required=True)
    parser.add_argument('--resume', metavar='CHECKPOINT')
    return parser.parse_args()


def open_loader(wanted):
    """Open a loader of token samples, each with its number."""
    samples = lx.TokenDataset(wanted.tokens, CONTEXT, out='int64', vocabulary=wanted.vocabulary)
    numbers = np.arange(len(samples))
    return lx.Loader((samples, numbers), batch_size=GLOBAL_BATCH // wanted.world,
                     order=lx.Shuffle(seed=42), epochs=None, drop_last=True, rank=wanted.rank,
                     world=wanted.world, threads=1, out='torch')


def save(path, checkpoint):
    """Replace a file atomically: a kill leaves the old one or the new one."""
    with open(path + '.new', 'wb') as file:
        torch.save(checkpoint, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + '.new', path)


def learn(model, optimizer, tokens, world):
    """Take one step of all processes together, and return the loss of the global batch.

    All gradients are summed as one tensor, so in the same order in each run with the same number of
    processes. (DistributedDataParallel rebuilds its buckets after its first step, so also after a
    resume.)
    """
    optimizer.zero_grad()
    loss = model(tokens)
    loss.backward()
    slopes = [weight.grad for weight in model.parameters()]
    everything = torch.cat([slope.flatten() for slope in slopes] + [loss.detach().view(1)])
    distributed.all_reduce(everything)
    everything /= world
    place = 0
    for slope in slopes:
        slope.copy_(everything[place:place + slope.numel()].view_as(slope))
        place += slope.numel()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(everything[-1])


def digest(model):
    """Return a digest of the weights, for comparison."""
    weights = b''.join(weight.detach().numpy().tobytes() for weight in model.parameters())
    return hashlib.sha256(weights).hexdigest()[:16]


def train(wanted, log):
    torch.manual_seed(1)
    model = Model(wanted.vocabulary, CONTEXT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, foreach=False)
    step = 0
    with open_loader(wanted) as loader:
        if wanted.resume:
            saved = torch.load(wanted.resume)
            model.load_state_dict(saved['model'])
            optimizer.load_state_dict(saved['optimizer'])
            loader.load_state_dict(saved['loader'])
            step = saved['step']
        for batch in loader:
            step += 1
            for group in optimizer.param_groups:
                group['lr'] = RATE * min(1, step / WARM)
            loss = learn(model, optimizer, batch['tokens'], wanted.world)
            json.dump({'step': step, 'loss': loss, 'samples': batch['label'].tolist(),
                       'checksum': zlib.crc32(batch['tokens'].numpy())}, log)
            log.write('\n')
            log.flush()
            if wanted.rank == 0:
                print('step', step, flush=True)
                if step % wanted.checkpoint_steps == 0:
                    save(os.path.join(wanted.out, 'checkpoint'),
                         {'model': model.state_dict(), 'optimizer': optimizer.state_dict(),
                          'loader': loader.state_dict(), 'step': step})
            if step == wanted.steps:
                break
    return digest(model)


def main():
    wanted = arguments()
    torch.set_num_threads(1)  # more threads might sum in another order
    torch.use_deterministic_algorithms(True)
    os.environ.setdefault('GLOO_SOCKET_IFNAME', 'lo')
    meeting = 'file://' + os.path.abspath(os.path.join(wanted.out, 'meeting'))
    distributed.init_process_group('gloo', init_method=meeting, rank=wanted.rank,
                                   world_size=wanted.world, timeout=datetime.timedelta(minutes=2))
    with open(os.path.join(wanted.out, f'rank{wanted.rank}.jsonl'), 'w') as log:
        weights = train(wanted, log)
    if wanted.rank == 0:
        print('weights', weights, flush=True)
    distributed.destroy_process_group()


if __name__ == '__main__':
    main()
