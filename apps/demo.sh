#!/usr/bin/env bash
# Installs what is missing (Debian, Ubuntu), builds, and sorts the flights of 2013 by two keys.
# usage: apps/demo.sh [--no-install] [-j N]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=()
jobs=$(nproc)
while [ $# -gt 0 ]; do
    case "$1" in
        --no-install) install=(--no-install) ;;
        -j) jobs=$2; shift ;;
        -h | --help) sed -n '2,3s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "demo.sh: error: unknown argument '$1' (see --help)" >&2; exit 2 ;;
    esac
    shift
done

cmake/install-packages.sh "${install[@]}" build demo

mkdir -p build
log=build/demo.log
echo "Building (the first time takes a few minutes; $log has the details)"
if ! { cmake --preset demo ${LOOKBACK_CMAKE_ARGS:-} && cmake --build build/demo -j "$jobs" --target h5sort; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "demo.sh: error: the build failed (its last lines are above, all of it is in $log)" >&2
    exit 1
fi

sorted=build/demo/flights-by-delay.h5
report=build/demo/report.json
command=(build/demo/apps/h5sort data/flights.h5 -k origin -k dep_delay:desc -o "$sorted" --truncate
    --json "$report")
echo
echo "\$ ${command[*]}"
"${command[@]}"

value_of() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$report"; }
echo "$(value_of rows_out) flights sorted in $(value_of seconds | cut -c1-5) s, reading and writing included," \
    "by the $(value_of backend) backend with $(value_of threads) threads"

# The values of one column of the result, one a line, by the tools of HDF5 itself.
first_rows() {
    h5dump -A 0 --noindex -w 1 -d "/flights/$1" -s 0 -c "$2" "$sorted" |
        sed -n '/DATA {/,/}/{/DATA {/d;/}/d;s/^ *//;s/,\{0,1\} *$//;s/"//g;p}'
}

echo
echo "The first rows: the longest delays from Newark (EWR)"
columns=(origin dep_delay month day carrier flight dest)
for column in "${columns[@]}"; do
    echo "$column" "$(first_rows "$column" 8 | tr '\n' ' ')"
done | awk '{for (row = 1; row <= NF; ++row) cell[row, NR] = $row}
    END {for (row = 1; row <= NF; ++row)
             for (column = 1; column <= NR; ++column)
                 printf "%-11s%s", cell[row, column], column < NR ? "" : "\n"}'
