#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that the project needs, where they are missing.
# usage: cmake/install-packages.sh [--no-install] [--list] GROUP...      GROUP: build demo test
# With everything there it needs neither network nor root. --no-install names what is missing and
# fails; --list prints the packages and does nothing.
set -euo pipefail

# The one list of packages. "a|b": any of them will do, the first that the archive has is installed.
# "?name": wanted, but the work goes on without it (what needs it is then skipped, visibly).
build_packages=(build-essential cmake ninja-build "pkgconf|pkg-config" libtbb-dev libhwy-dev
    libhdf5-dev libdeflate-dev zlib1g-dev libboost-program-options-dev nlohmann-json3-dev libfmt-dev)
demo_packages=(hdf5-tools)
test_packages=(git ccache libgtest-dev libbenchmark-dev libboost-context-dev hdf5-tools python3 python3-numpy python3-h5py
    python3-pytest python3-pandas python3-tables python3-scipy "?hdf5-plugin-lzf"
    "?clang-format-14" "?clang-tidy-16|clang-tidy-19")

install=yes
list=no
packages=()
for argument in "$@"; do
    case "$argument" in
        --no-install) install=no ;;
        --list) list=yes ;;
        build) packages+=("${build_packages[@]}") ;;
        demo) packages+=("${demo_packages[@]}") ;;
        test) packages+=("${test_packages[@]}") ;;
        *) echo "install-packages.sh: error: unknown argument '$argument'" >&2; exit 2 ;;
    esac
done
if [ "$list" = yes ]; then
    printf '%s\n' "${packages[@]}" | sort -u
    exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "install-packages.sh: no apt here; going on with what is installed (needed: ${packages[*]})" >&2
    exit 0
fi

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
is_available() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

missing=()
for entry in "${packages[@]}"; do
    IFS='|' read -ra names <<<"${entry#\?}"
    found=no
    for name in "${names[@]}"; do
        if is_installed "$name"; then found=yes; fi
    done
    if [ "$found" = no ]; then missing+=("$entry"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if [ "$install" = no ]; then
    echo "install-packages.sh: not installed: ${missing[*]}" >&2
    # Only what the work cannot do without is an error.
    for entry in "${missing[@]}"; do
        if [ "${entry#\?}" = "$entry" ]; then exit 1; fi
    done
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-packages.sh: error: neither root nor sudo; install by hand: ${missing[*]}" >&2
        exit 1
    }
    echo "install-packages.sh: sudo installs: ${missing[*]}" >&2
    as_root=(sudo)
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A repository of someone else's that fails to update is no reason to stop: the install tells.
apt update >"$log" 2>&1 || tail -n 5 "$log" >&2
names_to_install=()
for entry in "${missing[@]}"; do
    IFS='|' read -ra names <<<"${entry#\?}"
    chosen=
    for name in "${names[@]}"; do
        if [ -z "$chosen" ] && is_available "$name"; then chosen=$name; fi
    done
    if [ -n "$chosen" ]; then
        names_to_install+=("$chosen")
    elif [ "${entry#\?}" != "$entry" ]; then
        echo "install-packages.sh: this system has no ${entry#\?}; going on without" >&2
    else
        echo "install-packages.sh: error: this system has no package ${entry}" >&2
        exit 1
    fi
done
if [ ${#names_to_install[@]} -gt 0 ]; then
    echo "Installing ${names_to_install[*]}" >&2
    if ! apt install --no-install-recommends "${names_to_install[@]}" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "install-packages.sh: error: apt-get install failed (its last lines are above)" >&2
        exit 1
    fi
fi
