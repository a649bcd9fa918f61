# SPDX-License-Identifier: MIT
"""Train the classifier, from the start or from a checkpoint.

Each batch leaves a line in OUT/batches: the step, the position in the global order that it reached,
a digest of the batch's bytes, and the loss. Every 20 steps OUT/checkpoint.npz is replaced: the
weights, and the loader's state beside them.
"""

import argparse
import json
import os
import zlib

import numpy as np

import loaderx as lx
from model import Classifier

BATCH = 256
CHECKPOINT_STEPS = 20
RATE = 0.1  # at first; it falls to 0 with the last step


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="the dataset to learn from")
    parser.add_argument("test", help="the dataset to test with")
    parser.add_argument("--out", required=True, help="folder of logs and checkpoints")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--resume", action="store_true", help="go on from OUT/checkpoint.npz")
    parser.add_argument("--tell", action="store_true", help="print each step, for who watches")
    return parser.parse_args()


def save(path, model, state, step):
    """Replace the checkpoint at once: whoever kills us leaves the old one or the new one."""
    with open(path + ".new", "wb") as file:
        np.savez(file, state=json.dumps(state), step=step, **model.arrays())
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def load(path, model, loader):
    with np.load(path) as saved:
        model.load(saved)
        loader.load_state_dict(json.loads(str(saved["state"])))
        return int(saved["step"])


def main():
    wanted = arguments()
    os.makedirs(wanted.out, exist_ok=True)
    checkpoint = os.path.join(wanted.out, "checkpoint.npz")
    model = Classifier(seed=1)
    accuracies = []
    step = 0

    with lx.open(wanted.test) as test:
        test_images, test_labels = np.asarray(test["data"]), np.asarray(test["label"])
    with lx.open(wanted.data) as data, lx.Loader(
        data,
        batch_size=BATCH,
        order=lx.Shuffle(seed=42),
        epochs=wanted.epochs,
        threads=wanted.threads,
    ) as loader, open(os.path.join(wanted.out, "batches"), "w") as log:
        if wanted.resume:
            step = load(checkpoint, model, loader)
            print(f"resumed after step {step}, position {loader.tell()}, threads={wanted.threads}")
        per_epoch = len(loader) // wanted.epochs
        for batch in loader:
            digest = zlib.crc32(batch["label"], zlib.crc32(batch["data"]))
            rate = RATE * (1 - step / len(loader))
            loss = model.step(batch["data"], batch["label"], rate)
            step += 1
            log.write(f"{step} {loader.tell()} {digest:08x} {loss!r}\n")
            log.flush()
            if step % CHECKPOINT_STEPS == 0:
                save(checkpoint, model, loader.state_dict(), step)
            if step % per_epoch == 0:
                accuracies.append((step, model.accuracy(test_images, test_labels)))
                print(f"epoch {step // per_epoch}: test accuracy {accuracies[-1][1]:.2%}")
            if wanted.tell:
                print(f"step {step}", flush=True)

    result = {"steps": step, "weights": model.digest(), "accuracies": accuracies}
    with open(os.path.join(wanted.out, "result.json"), "w") as file:
        json.dump(result, file)
    print(f"steps {step}, digest of the weights {result['weights']}")
    if accuracies[-1][1] < 0.85:
        raise SystemExit("the test accuracy is below 85 %: something is wrong with the data")


if __name__ == "__main__":
    main()
