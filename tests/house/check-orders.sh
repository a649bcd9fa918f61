#!/bin/sh
# SPDX-License-Identifier: MIT
# The goldens of the orders are what a second implementation, written from doc/orders.md, gives.
set -eu
[ "${PYTHON:-:}" != : ] || {
    echo "Python is not there"
    exit 77
}
exec "$PYTHON" -B "$top_srcdir/tests/golden/orders.py" "$top_srcdir/tests/data/orders/orders-1.json"
