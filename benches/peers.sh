#!/bin/sh
# Installs the programs beside which the benches measure, from the ordinary package registries: sqlite3 by the system's package
# manager, the Python packages by pip. What is there already stays.
set -eu

install_python() {
    # A system may keep its own Python for itself; a virtual environment is used then, and has to come first in PATH.
    python3 -m pip install --quiet "$@" 2>/dev/null || {
        python3 -m venv "${PEERS_VENV:=$HOME/.cache/fleetload-peers}"
        "$PEERS_VENV/bin/pip" install --quiet "$@"
        echo "before the benches: export PATH=\"$PEERS_VENV/bin:\$PATH\""
    }
}

if ! command -v sqlite3 >/dev/null; then
    if command -v apt-get >/dev/null; then
        sudo_or_not=$([ "$(id -u)" = 0 ] || echo sudo)
        $sudo_or_not apt-get update -qq
        $sudo_or_not apt-get install -y -qq sqlite3
    elif command -v brew >/dev/null; then
        brew install sqlite
    else
        echo "install sqlite3 by the package manager of this system" >&2
    fi
fi

install_python pandas openpyxl XlsxWriter frictionless
