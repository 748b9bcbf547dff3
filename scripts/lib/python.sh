# shellcheck shell=bash
# Finds an interpreter and uv. Expects ROOT and common.sh; sets PYTHON_BIN and UV.

TOOLS="$ROOT/.tools"

_python_fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1
}

# need_python: PYTHON where it is set, else the first interpreter on PATH that fits.
need_python() {
    local candidate
    PYTHON_BIN=
    if [[ -n ${PYTHON:-} ]]; then
        _python_fits "$PYTHON" || die "PYTHON=$PYTHON is not a Python from 3.11 to 3.13" \
            "Set PYTHON to another interpreter, or leave it unset to have one chosen."
        PYTHON_BIN=$(command -v "$PYTHON")
    else
        # A name may be a shim that only says "not installed": each candidate has to run.
        for candidate in python3 python3.11 python3.12 python3.13; do
            _python_fits "$candidate" && PYTHON_BIN=$(command -v "$candidate") && break
        done
    fi
    if [[ -z $PYTHON_BIN ]] && is_root && command -v apt-get >/dev/null; then
        say "Installing Debian's Python"
        apt_install python3 python3-venv || true
        _python_fits python3 && PYTHON_BIN=$(command -v python3)
    fi
    [[ -n $PYTHON_BIN ]] || die "no Python 3.11, 3.12 or 3.13 found" \
        "Debian, Ubuntu: apt-get install python3 python3-venv. Elsewhere: PYTHON=/path/to/python $0"
}

# apt_install PACKAGE…: as root, without recommends and without questions.
apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    quietly "apt-get update" apt-get update -q && quietly "apt-get install" apt-get install -y -q --no-install-recommends "$@"
}

# need_uv: the one on PATH, or one from PyPI in .tools (with pip, or with venv where pip is missing).
need_uv() {
    local ours="$TOOLS/uv/bin/uv"
    # uv reads no pip configuration: hand on the index, the wheel folders and the rest.
    eval "$("$PYTHON_BIN" -I "$ROOT/gym_gui/cli/installing/pip_settings.py")"
    export UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
    UV=$(command -v uv || true)
    [[ -n $UV ]] && "$UV" --version >/dev/null 2>&1 && return
    UV=$ours
    [[ -x $UV ]] && "$UV" --version >/dev/null 2>&1 && return
    say "Fetching uv, the installer, from the package index"
    rm -rf -- "${TOOLS:?}/uv" "${TOOLS:?}/boot"
    mkdir -p -- "$TOOLS"
    if "$PYTHON_BIN" -m pip --version >/dev/null 2>&1; then
        quietly "pip install uv" "$PYTHON_BIN" -m pip install -q --target "$TOOLS/uv" uv && return
    fi
    if ! "$PYTHON_BIN" -c 'import ensurepip' >/dev/null 2>&1; then
        is_root && command -v apt-get >/dev/null || die "this Python has neither pip nor venv" \
            "Debian, Ubuntu: sudo apt-get install python3-venv"
        apt_install python3-venv || die "could not install python3-venv" "apt-get install python3-venv"
    fi
    quietly "venv" "$PYTHON_BIN" -m venv "$TOOLS/boot" &&
        quietly "pip install uv" "$TOOLS/boot/bin/python" -m pip install -q --target "$TOOLS/uv" uv ||
        die "could not install uv" "Check the network, or install uv and put it on PATH."
    rm -rf -- "${TOOLS:?}/boot"
}
