#!/bin/sh
# SPDX-License-Identifier: MIT
# submit.sh URL FILE...: writes the lines of text files to a dataset, with an array of JOBS jobs.
# SLURM may run them on any nodes, and run them again. Once all have succeeded, another job joins
# their parts.
#
# URL is a prefix in an object store or a directory, such as s3://bucket/texts or file:///nfs/texts.
# All nodes must see it, the files, and the current directory, which gets a folder with the URLs of
# the parts.
set -eu
url=$1
shift
here=$(dirname "$0")
names=$(mktemp -d "$PWD/parts.XXXXXX")
array=$(sbatch --parsable --array="0-$((${JOBS:-64} - 1))" "$here/share.py" "$url" "$names" "$@")
sbatch --dependency="afterok:$array" "$here/join.sh" "$url" "$names"
