#!/bin/sh
# SPDX-License-Identifier: MIT
#SBATCH --job-name=loaderx-join
# join.sh URL NAMES: joins the parts in the order of the jobs that wrote them.
set -eu
url=$1 names=$2
IFS='
'
exec loaderx join "$url" $(cat "$names"/[0-9]*)
