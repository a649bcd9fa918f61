#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#SBATCH --job-name=loaderx-share --cpus-per-task=2 --requeue
"""Write the share of one job of a SLURM array: the lines of some of the text files.

`share.py URL NAMES FILE...` writes a part of the dataset at URL, and the part's URL to the file
`NAMES/<id>`. If SLURM runs the job again, the URL of the new part replaces that of the old one. The
part is first written to TMPDIR, which should be on a local disk. `submit.sh` submits the array, and
the job that joins the parts.
"""

import os
import sys

import loaderx as lx

FIELDS = {'text': lx.Field(str, compress='zstd')}


def write_share(url, files, job, jobs):
    """Write the lines of adjacent files, so that all parts together have the order of the files."""
    with lx.PartWriter(url, FIELDS, order=job) as part:
        for path in files[len(files) * job // jobs : len(files) * (job + 1) // jobs]:
            with open(path, encoding='utf-8') as file:
                for line in file:
                    part.append({'text': line.rstrip('\n')})
    return part.result


def save_name(url, part, folder, job):
    """Save the URL of the part. The file appears as a whole, or not at all."""
    with open(f'{folder}/.{job}', 'w', encoding='utf-8') as file:
        if part.name is not None:    # otherwise, the job had no lines
            file.write(f'{url}/{part.name}\n')
        file.flush()
        os.fsync(file.fileno())
    os.replace(f'{folder}/.{job}', f'{folder}/{job:06d}')


def main():
    if len(sys.argv) < 4 or 'SLURM_ARRAY_TASK_ID' not in os.environ:
        sys.exit('usage: share.py URL NAMES FILE..., in a job of a SLURM array: see submit.sh')
    url, names, *files = sys.argv[1:]
    job = int(os.environ['SLURM_ARRAY_TASK_ID'])
    jobs = int(os.environ['SLURM_ARRAY_TASK_COUNT'])
    part = write_share(url, files, job, jobs)
    save_name(url, part, names, job)
    print(f'job {job} of {jobs}: {part.length} records')


main()
