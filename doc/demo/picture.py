# SPDX-License-Identifier: MIT
"""Draw the loss and the accuracy of a run, and a batch of what it learned from."""

import argparse
import json
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import loaderx as lx

NAMES = "top trousers pullover dress coat sandal shirt sneaker bag boot".split()
ROWS, COLUMNS = 6, 8
SMOOTH = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("run", help="the folder of a run")
    parser.add_argument("out", help="the PNG file")
    wanted = parser.parse_args()
    with open(os.path.join(wanted.run, "batches")) as file:
        losses = np.array([float(line.split()[3]) for line in file])
    with open(os.path.join(wanted.run, "result.json")) as file:
        steps, accuracies = zip(*json.load(file)["accuracies"])
    with lx.open(wanted.data) as data, lx.Loader(
        data, batch_size=ROWS * COLUMNS, order=lx.Shuffle(seed=42)
    ) as loader:
        batch = loader.peek()

    figure = plt.figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.plot(losses, color="0.8", linewidth=0.7)
    mean = np.convolve(losses, np.ones(SMOOTH) / SMOOTH, mode="valid")
    axes.plot(np.arange(SMOOTH - 1, len(losses)), mean, label=f"loss, mean of {SMOOTH} batches")
    axes.plot(steps, accuracies, "o-", label="accuracy on the test images")
    axes.set(xlabel="step", ylim=(0, 1.2), title="Fashion-MNIST, two layers in NumPy")
    axes.legend()
    for cell, image, label in zip(
        right.subplots(ROWS, COLUMNS).flat, batch["data"], batch["label"]
    ):
        cell.imshow(255 - image, cmap="gray")
        cell.set_title(NAMES[int(label)], fontsize=7, pad=2)
        cell.axis("off")
    figure.savefig(wanted.out, dpi=110)
    print(f"{wanted.out}: {os.path.getsize(wanted.out):,} bytes")


if __name__ == "__main__":
    main()
