# SPDX-License-Identifier: MIT
"""Compare batches per second of the loader with plain NumPy indexing of arrays in memory.

NumPy gets its shuffled indices for nothing; the loader's time has order, verification (as it is
after the first epoch) and delivery in it. The two take turns, and the medians are shown.
"""

import argparse
import statistics
import time

import numpy as np

import loaderx as lx

BATCH = 256
ROUNDS = 7


def numpy_epoch(images, labels, order):
    count = 0
    for start in range(0, len(order) - BATCH + 1, BATCH):
        index = order[start : start + BATCH]
        x, y = images[index], labels[index]
        count += len(y) == len(x)
    return count


def loader_epoch(loader):
    count = 0
    for batch in loader:
        x, y = batch["data"], batch["label"]
        count += len(y) == len(x)
    return count


def rate(work):
    start = time.perf_counter()
    count = work()
    return count / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    wanted = parser.parse_args()
    with lx.open(wanted.data) as data:
        images, labels = np.asarray(data["data"]), np.asarray(data["label"])
        order = np.random.default_rng(0).permutation(len(data))
        rates = {"NumPy, x[idx]; y[idx]": [], "loaderx, shuffled": []}
        with lx.Loader(
            data, batch_size=BATCH, order=lx.Shuffle(seed=1), epochs=None, drop_last=True
        ) as loader:
            batches = iter(loader)
            # In the first epoch, every CRC is checked.
            epoch = [next(batches) for _ in range(len(data) // BATCH)]
            for _ in range(ROUNDS):
                rates["NumPy, x[idx]; y[idx]"].append(
                    rate(lambda: numpy_epoch(images, labels, order))
                )
                rates["loaderx, shuffled"].append(
                    rate(lambda: loader_epoch(next(batches) for _ in range(len(epoch))))
                )
    medians = {name: statistics.median(values) for name, values in rates.items()}
    first, second = medians.values()
    for name, value in medians.items():
        print(f"{name:24} {value:10,.0f} batches/s  {value * BATCH:12,.0f} images/s")
    print(f"loaderx / NumPy = {second / first:.2f}")


if __name__ == "__main__":
    main()
