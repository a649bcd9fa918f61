# SPDX-License-Identifier: MIT
"""Tensors of JPEG images for training, compared with other packages.

    PYTHONPATH=... python3 tests/bench/bench-augment.py DIR [--bench PROGRAM] [--json FILE]

DIR is created if necessary, and keeps the files of photos.py for the next run; a tmpfs is best. All
cases read the files from memory, decode them, cut a random part of .08 to 1 of the area, resize it
to 224 x 224, mirror half of them, and normalize to float32, channels first, on two threads or
processes. A case runs one epoch in its turn, and does nothing while the others run. OpenCV does not
smooth while it shrinks, so it does less; so does FFCV, which resizes with OpenCV. A package that is
not installed is left out, with the reason. --bench names the program of `make bench`, of which
`augment` is run on the same files: it compares the loader with libjpeg-turbo alone.
"""

import argparse
import json
import math
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import cv2
import numpy as np
import torch
from PIL import Image
from torch.utils import data

import loaderx as lx
import photos
from loaderx import images
from turns import Case, add_arguments, compare, new_report, write_report

BATCH, SIDE, WORKERS = 64, 224, 2
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SCALE = np.float32(1 / 255) / np.float32(STD)
OFFSET = -np.float32(MEAN) / np.float32(STD)


def choose_part(width, height):
    """Return a random part, (left, top, width, height)."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    return 0, 0, width, height


def to_tensor(pixels):
    """Mirror half of the images, and normalize."""
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray((pixels * SCALE + OFFSET).transpose(2, 0, 1))


def by_pillow(path):
    image = Image.open(path).convert('RGB')
    left, top, width, height = choose_part(*image.size)
    part = image.crop((left, top, left + width, top + height))
    return to_tensor(np.asarray(part.resize((SIDE, SIDE), Image.BILINEAR)))


def by_opencv(path):
    image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    left, top, width, height = choose_part(image.shape[1], image.shape[0])
    return to_tensor(cv2.resize(image[top:top + height, left:left + width], (SIDE, SIDE)))


class Files(data.Dataset):
    """A dataset of torch that reads each file with a function."""

    def __init__(self, paths, read):
        self.paths, self.read = paths, read

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.from_numpy(self.read(self.paths[index]))


def in_threads(paths, read):
    """Return a function that reads an epoch with a pool of threads."""
    pool = ThreadPoolExecutor(WORKERS)

    def run():
        order = random.sample(paths, len(paths))
        for first in range(0, len(order), BATCH):
            np.stack(list(pool.map(read, order[first:first + BATCH])))
    return run


def in_processes(paths, read):
    """Return a function that reads an epoch with torch's DataLoader."""
    loader = data.DataLoader(Files(paths, read), BATCH, shuffle=True, num_workers=WORKERS,
                             persistent_workers=True)

    def run():
        for _ in loader:
            pass
    return run


def by_loaderx(path, **more):
    train = images.ImageDataset(path, [images.RandomResizedCrop(SIDE), images.Flip(),
                                       images.Normalize(MEAN, STD)], seed=1)
    loader = lx.Loader(train, batch_size=BATCH, order=lx.Shuffle(seed=1), threads=WORKERS, **more)

    def run():
        for _ in loader:
            pass
    return run


class Encoded(data.Dataset):
    """The files, each with the number 0, as FFCV's writer reads them."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return Image.open(self.paths[index]), 0


def by_ffcv(folder, paths):
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
    from ffcv.writer import DatasetWriter

    path = os.path.join(folder, 'data.beton')
    if not os.path.exists(path):
        fields = {'image': RGBImageField(write_mode='jpg', jpeg_quality=90), 'label': IntField()}
        DatasetWriter(path, fields, num_workers=1).from_indexed_dataset(Encoded(paths))
    steps = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(),
             NormalizeImage(np.float32(MEAN) * 255, np.float32(STD) * 255, np.float32),
             ToTensor(), ToTorchImage(channels_last=False)]
    loader = Loader(path, BATCH, num_workers=WORKERS, order=OrderOption.RANDOM, os_cache=True,
                    drop_last=False, pipelines={'image': steps, 'label': None})

    def run():
        for _ in loader:
            pass
    return run


def by_dali(paths):
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    @pipeline_def(batch_size=BATCH, num_threads=WORKERS, device_id=None, seed=1)
    def pipeline():
        files, _ = fn.readers.file(files=paths, random_shuffle=True, name='reader')
        decoded = fn.decoders.image_random_crop(files, random_area=[0.08, 1],
                                                random_aspect_ratio=[3 / 4, 4 / 3])
        resized = fn.resize(decoded, size=[SIDE, SIDE])
        return fn.crop_mirror_normalize(
            resized, mirror=fn.random.coin_flip(), dtype=types.FLOAT, output_layout='CHW',
            mean=[255 * number for number in MEAN], std=[255 * number for number in STD])

    loader = DALIGenericIterator(pipeline(), ['image'], reader_name='reader', auto_reset=True,
                                 last_batch_policy=LastBatchPolicy.PARTIAL)

    def run():
        for _ in loader:
            pass
    return run


def make_dataset(folder, paths):
    path = os.path.join(folder, 'dataset')
    if not os.path.exists(path):
        with lx.create(path, {'image': lx.Field('image')}) as writer:
            writer.extend({'image': [open(name, 'rb').read() for name in paths]})
    return path


def measure_c(report, program, folder, rounds):
    """Add what the benchmark of the C library finds."""
    path = os.path.join(folder, 'augment.json')
    subprocess.run([os.path.abspath(program), '--json', os.path.abspath(path), '--rounds',
                    str(rounds), 'augment'], cwd=folder, check=True)
    with open(path, encoding='utf-8') as file:
        report['groups'] += json.load(file)['groups']


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    add_arguments(parser)
    parser.add_argument('--bench', metavar='PROGRAM', help='the benchmarks of the C library')
    arguments = parser.parse_args()
    folder = os.path.join(arguments.folder, 'photos')
    if not os.path.exists(folder):
        photos.main(folder)
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    count = len(paths)
    cases = [Case('OpenCV, threads', in_threads(paths, by_opencv), count),
             Case('Pillow, threads', in_threads(paths, by_pillow), count),
             Case('torch DataLoader, OpenCV', in_processes(paths, by_opencv), count),
             Case('torch DataLoader, Pillow', in_processes(paths, by_pillow), count),
             Case('loaderx', by_loaderx(make_dataset(arguments.folder, paths)), count),
             Case('loaderx, out=torch',
                  by_loaderx(make_dataset(arguments.folder, paths), out='torch'), count)]
    versions = {'torch': torch.__version__, 'pillow': Image.__version__,
                'opencv': cv2.__version__}
    for name, package, make in (
            ('DALI', 'nvidia-dali-cuda120', lambda: by_dali(paths)),
            ('FFCV', 'ffcv', lambda: by_ffcv(arguments.folder, paths))):
        try:
            version = metadata.version(package)
            cases.append(Case(name, make(), count))
            versions[package] = version
        except ImportError as error:
            print(f'{name} is left out: {error}')
    report = new_report(arguments.rounds, arguments.folder, **versions)
    compare(report, f'epochs of {count} JPEG images of 500 x 400', cases, arguments.rounds)
    report['groups'][-1]['unit'] = 'image'
    if arguments.bench:
        measure_c(report, arguments.bench, arguments.folder, arguments.rounds)
    if arguments.json:
        write_report(report, arguments.json)


if __name__ == '__main__':
    main()
