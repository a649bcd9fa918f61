#!/bin/sh
# SPDX-License-Identifier: MIT
# Modules include and call only what the table `layers` allows, and no cycle of calls or includes
# connects two files. Clients use the public headers alone. See doc/architecture.md.
set -eu
cd "$top_srcdir"

# The command, the bindings and the examples are clients.
for folder in tools bindings doc/examples; do
    [ -d "$folder" ] || continue
    if grep -rnE --include='*.[ch]' '#include "(base|sampler|executor|zrecord|importer|recordio|remote|loader|parity|image)/' "$folder"; then
        echo "^ $folder uses private headers: it must use the public ones" >&2
        exit 1
    fi
done

[ "${PYTHON:-:}" != : ] || {
    echo "no Python: the table of layers is not checked"
    exit 77
}
exec "$PYTHON" -B tests/house/layers.py "$top_builddir"
