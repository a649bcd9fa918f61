#!/bin/sh
# SPDX-License-Identifier: MIT
# The images that the unit test of resizing expects are those of Pillow.
set -eu
[ "${PYTHON:-:}" != : ] || {
    echo "Python not found"
    exit 77
}
exec "$PYTHON" -B "$top_srcdir/tests/golden/resizes.py" --check "$top_srcdir/tests/unit/image/pixel/pillow.h"
