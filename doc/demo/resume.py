# SPDX-License-Identifier: MIT
"""Kill a training with SIGKILL in the middle of an epoch, resume it, and compare.

Each batch after the resume, and the weights at the end, must be those of the run that was not
stopped, to the bit. A difference is exit status 1.
"""

import argparse
import json
import os
import signal
import subprocess
import sys

KILL_AT = 0.55  # of all steps: within the third of five epochs


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("test")
    parser.add_argument("--whole", required=True, help="folder of the run that was not stopped")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--resume-threads", type=int, required=True)
    return parser.parse_args()


def batches(folder):
    """Return {step: the rest of the line} of a run's log; a line cut short by the kill is left."""
    with open(os.path.join(folder, "batches")) as file:
        lines = [line.split(" ", 1) for line in file if line.endswith("\n")]
    return {int(step): rest.strip() for step, rest in lines}


def result(folder):
    with open(os.path.join(folder, "result.json")) as file:
        return json.load(file)


def train(wanted, threads, *more):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "train.py")
    command = [sys.executable, script, wanted.data, wanted.test, "--out", "killed"]
    return [*command, "--threads", str(threads), *more]


def kill_within(wanted, steps):
    """Start a training and kill it when it says that it has come to half of its steps."""
    run = subprocess.Popen(
        train(wanted, wanted.threads, "--tell"), stdout=subprocess.PIPE, text=True
    )
    for line in run.stdout:
        if line.startswith("step ") and int(line.split()[1]) >= KILL_AT * steps:
            run.send_signal(signal.SIGKILL)
            break
    run.stdout.close()
    status = run.wait()
    if status != -signal.SIGKILL:
        raise SystemExit(f"the training was not killed: it ended with status {status}")
    return max(batches("killed"))


def main():
    wanted = arguments()
    whole = batches(wanted.whole)
    last = kill_within(wanted, len(whole))
    print(f"killed by SIGKILL after step {last} of {len(whole)}, threads={wanted.threads}")
    subprocess.run(train(wanted, wanted.resume_threads, "--resume"), check=True)

    resumed = batches("killed")
    missing = set(range(min(resumed), len(whole) + 1)) - set(resumed)
    different = sorted(step for step in resumed if resumed[step] != whole.get(step))
    different += sorted(missing)
    weights = result(wanted.whole)["weights"], result("killed")["weights"]
    print(f"batches after the resume: {len(resumed)}, of which differ: {len(different)}")
    print(f"weights of the run that was not stopped: {weights[0]}")
    print(f"weights of the run that was resumed:     {weights[1]}")
    if different or weights[0] != weights[1]:
        for step in different[:3]:
            print(f"step {step}: {whole.get(step)} became {resumed.get(step)}")
        raise SystemExit("the resumed run is not the same")
    print("they are the same, to the bit")


if __name__ == "__main__":
    main()
