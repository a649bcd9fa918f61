# SPDX-License-Identifier: MIT
"""Datasets that one build has written are read, changed and read again by another.

Usage: exchange.py BUILD BUILD, two build folders. For each seed, make-golden and make-changed make
the same dataset with each build. build-ports runs this in the chroot of the ports.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SEEDS = range(12)
TIMEOUT = 300


def run(build, program, *arguments, **options):
    """Run a program of a build; return its output."""
    return subprocess.run([build / program, *arguments], check=True, timeout=TIMEOUT,
                          stdout=subprocess.PIPE, text=True, **options).stdout


def contents(build, dataset):
    """Return all values of a dataset as text, read and verified by a build."""
    answer = run(build, "tests/reader/dump-dataset", input=f"{dataset}\n")
    head, _, text = answer.partition("\n")
    assert head.split()[1] == "LX_OK", answer
    return text


def digest(build, dataset):
    """Return the digest of a dataset, and verify all that can be verified."""
    run(build, "tools/loaderx", "verify", "--quiet", dataset)
    return json.loads(run(build, "tools/loaderx", "digest", "--quiet", "--json", dataset))["digest"]


def stored(dataset):
    """Return the bytes of offset tables and chunks; those of other files depend on a random uuid."""
    return {path.relative_to(dataset): path.read_bytes() for path in dataset.rglob("*")
            if path.suffix in (".offset", ".zr")}


def exchange(maker, seed, builds, folder):
    """Make a dataset with each build; the other one reads it, writes it anew, and seals it."""
    made = []
    for writer, reader in (builds, builds[::-1]):
        dataset = folder / f"{len(made)}"
        made.append(dataset)
        run(writer, f"tests/reader/{maker}", "random", str(seed), dataset)
        wanted = dataset.with_suffix(".txt").read_text("ascii")
        expected = digest(writer, dataset)
        copy = shutil.copytree(dataset, folder / f"{dataset.name}-changed")
        for words in ([], ["unseal"], ["rebalance", "--quiet"], ["seal", "--quiet"]):
            if words:
                run(reader, "tools/loaderx", *words, copy)
            for build in builds:
                assert contents(build, copy) == wanted, words
                assert digest(build, copy) == expected, words
    assert made[0].with_suffix(".txt").read_text() == made[1].with_suffix(".txt").read_text()
    assert stored(made[0]) == stored(made[1]), "stored bytes differ"


def main():
    builds = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    failed = 0
    for maker in "make-golden", "make-changed":
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    exchange(maker, seed, builds, pathlib.Path(folder))
                except (AssertionError, subprocess.SubprocessError) as error:
                    failed += 1
                    print(f"{maker} random {seed}: {error!r}")
    count = 2 * len(SEEDS)
    print(f"# exchanged datasets: {count - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
