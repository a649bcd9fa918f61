#!/bin/sh
# SPDX-License-Identifier: MIT
# The golden orders equal those of a second implementation, written from doc/orders.md.
set -eu
[ "${PYTHON:-:}" != : ] || {
    echo "Python not found"
    exit 77
}
exec "$PYTHON" -B "$top_srcdir/tests/golden/orders.py" "$top_srcdir/tests/data/orders/orders-1.json"
