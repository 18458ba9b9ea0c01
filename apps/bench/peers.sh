#!/usr/bin/env bash
# Makes the Python environment of lookback-bench's peers: numpy >= 2 (np.sort there is x86-simd-sort)
# and the newest h5py, from PyPI. Usage: apps/bench/peers.sh [FOLDER], default build/bench/peers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$root/build/bench/peers}
if ! "$folder/bin/python" -c 'import h5py, numpy' 2>/dev/null; then
    /usr/bin/python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check 'numpy>=2' h5py
fi
"$folder/bin/python" "$root/apps/bench/peers.py" versions
