# SPDX-License-Identifier: MIT
"""Photographs, from files to a trained network: pack them, augment them while a small convolutional
network trains, stop within an epoch, and resume exactly.

The network learns from which of twelve photographs a part was cut. The photographs are those of
Debian's package mate-backgrounds.
"""

import glob
import json
import os
import subprocess
import sys
import time

import numpy as np

import loaderx as lx

try:
    import torch
    from torch import nn

    from loaderx import images, recordio
    from loaderx.torch import DataLoader
except ImportError as error:
    print(f'{error}: nothing is shown')
    sys.exit(77)

PHOTOGRAPHS = '/usr/share/backgrounds/mate/nature/*.jpg'
PARTS = 48    # of each photograph
WIDTH, HEIGHT = 640, 512    # of a part, which is packed at a quarter of that
SIDE = 64    # of what the network sees
EPOCHS, BATCH = 4, 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def cut(paths, folder):
    """Cut random parts out of photographs, each into a folder of its own: its class."""
    draw = np.random.default_rng(0)
    for path in paths:
        with open(path, 'rb') as file:
            data = file.read()
        of_class = os.path.join(folder, os.path.splitext(os.path.basename(path))[0])
        os.makedirs(of_class)
        width, height = images.info(data)[1:3]
        for number in range(PARTS):
            left, top = draw.integers(width - WIDTH), draw.integers(height - HEIGHT)
            part = images.decode(data, region=(left, top, WIDTH, HEIGHT))
            with open(os.path.join(of_class, f'{number}.jpg'), 'wb') as file:
                file.write(images.encode(part, quality=90))


def open_parts(name, steps):
    return images.ImageDataset(recordio.RecordIODataset(f'parts_{name}.rec'), steps, seed=1)


class Training:
    """A network, its optimizer and the loader, which are saved and restored together."""

    def __init__(self, classes):
        torch.manual_seed(0)
        self.loader = DataLoader(open_parts('train', AUGMENTATION), batch_size=BATCH, shuffle=True,
                                 drop_last=True, num_workers=1,
                                 generator=torch.Generator().manual_seed(42))
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(64, classes))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 3e-3)
        self.wait = self.work = 0

    def run(self, stop=None):
        """Train until the epoch ends, or for some steps; return the losses."""
        losses = []
        clock = time.perf_counter()
        for batch in self.loader:
            begun = time.perf_counter()
            self.wait += begun - clock
            loss = nn.functional.cross_entropy(self.model(batch['image']), batch['label'].long())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            clock = time.perf_counter()
            self.work += clock - begun
            if len(losses) == stop:
                break
        return losses

    def save(self, path):
        torch.save({'model': self.model.state_dict(), 'optimizer': self.optimizer.state_dict(),
                    'loader': json.dumps(self.loader.state_dict())}, path)

    def restore(self, path):
        saved = torch.load(path)
        self.model.load_state_dict(saved['model'])
        self.optimizer.load_state_dict(saved['optimizer'])
        self.loader.load_state_dict(json.loads(saved['loader']))


def count_right(model):
    """The share of the test images, whose middle is shown, that are recognized."""
    test = open_parts('test', [images.CenterCrop(2 * SIDE), images.Resize((SIDE, SIDE)),
                               images.Normalize(MEAN, STD)])
    with torch.no_grad():
        right = [(model(batch['image']).argmax(1) == batch['label']).float()
                 for batch in DataLoader(test, batch_size=BATCH)]
    return torch.cat(right).mean().item()


def measure(steps):
    """The time in which a thread prepares a batch, in seconds."""
    with lx.Loader(open_parts('train', steps), batch_size=BATCH, order=lx.Shuffle(seed=1),
                   threads=1) as loader:
        for _ in loader:
            pass
        return loader.stats()['map_ns'] / 1e9 / len(loader)


AUGMENTATION = [images.RandomResizedCrop(SIDE, scale=(0.3, 1)), images.Flip(),
                images.ColorJitter(0.2, 0.2, 0.2), images.Normalize(MEAN, STD)]


def main():
    torch.set_num_threads(1)
    paths = sorted(glob.glob(PHOTOGRAPHS))
    if not paths:
        print('no photographs: install mate-backgrounds')
        sys.exit(77)
    cut(paths, 'parts')
    subprocess.run(['loaderx', 'pack', 'parts', 'parts.rec', '--shuffle', '--quiet',
                    '--resize', str(HEIGHT // 4), '--fractions', 'train=0.9,test=0.1'], check=True)

    # Train without a stop.
    whole = Training(len(paths))
    losses = []
    for epoch in range(EPOCHS):
        losses += whole.run()
        print(f'epoch {epoch}: loss {np.mean(losses[-len(whole.loader):]):.2f}, '
              f'{100 * count_right(whole.model):.0f}% of the test images are right')

    # Again, but stop within the second epoch, and resume from the file.
    first = Training(len(paths))
    again = first.run() + first.run(stop=5)
    first.save('checkpoint.pt')
    resumed = Training(len(paths))
    resumed.restore('checkpoint.pt')
    while len(again) < len(losses):
        again += resumed.run()
    print(f'stopped after step {len(whole.loader) + 5} and resumed: all {len(losses)} losses are',
          'the same' if again == losses else 'OTHERS')

    decode, prepare = (1e3 * measure(steps) for steps in (AUGMENTATION[:1], AUGMENTATION))
    work, wait = (1e3 * seconds / len(losses) for seconds in (whole.work, whole.wait))
    print(f'a step: {work:.1f} ms in the network, {wait:.1f} ms waiting; at the same time, in the '
          f"loader's thread: {decode:.1f} ms to decode and crop, "
          f'{prepare - decode:.1f} ms to augment')

    batch = next(iter(whole.loader))
    images.write_sheet('batch.png', batch['image'], mean=MEAN, std=STD)
    print('batch.png: a batch as the network sees it')
    assert again == losses


main()
