#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo: real images go into two datasets, a classifier learns from one of them and is tested on
# the other, and a training that is killed goes on as if nothing had been, also on another number of
# processes. Run by `./bootstrap demo`, in an empty folder, as a user of the installed library.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
examples=$(cd "$here/../examples" && pwd)
images=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
PYTHON=${PYTHON:-python3}

# Results are compared bit for bit: a matrix product on several threads may add in another order.
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export OPENBLAS_NUM_THREADS OMP_NUM_THREADS MKL_NUM_THREADS PYTHONDONTWRITEBYTECODE

bold='' plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

title() {
    printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

shown() {
    printf '$ %s\n' "$*"
    "$@"
}

if [ ! -f "$images/train-images-idx3-ubyte.gz" ]; then
    echo "demo: there are no images in $images: install Debian's package dataset-fashion-mnist," \
        "or set FASHION_MNIST to a folder with its four files" >&2
    exit 1
fi

title "1. Two datasets of real images, 60,000 to learn from and 10,000 to test with"
shown loaderx import fashion --idx data="$images/train-images-idx3-ubyte.gz" \
    --idx label="$images/train-labels-idx1-ubyte.gz"
shown loaderx import fashion-test --idx data="$images/t10k-images-idx3-ubyte.gz" \
    --idx label="$images/t10k-labels-idx1-ubyte.gz" --seal

title "2. What is in them"
shown loaderx stat fashion
shown loaderx verify fashion

title "3. A classifier of two layers, in NumPy, from shuffled batches of 256"
shown "$PYTHON" "$here/train.py" fashion fashion-test --out whole --threads 1

title "4. The same training, killed in the middle of an epoch, and resumed with other threads"
shown "$PYTHON" "$here/resume.py" fashion fashion-test --whole whole --threads 2 --resume-threads 3

title "5. Training on 1, 2 and 4 processes, killed with -9 and resumed on another number of them"
shown "$PYTHON" "$examples/elastic.py" fashion

title "6. How fast the batches come, beside NumPy's own indexing"
shown "$PYTHON" "$here/speed.py" fashion

title "7. A picture"
shown "$PYTHON" "$here/picture.py" fashion whole fashion.png
echo
echo "The datasets, the logs of the runs and fashion.png are in $(pwd)"
