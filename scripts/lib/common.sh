# shellcheck shell=bash
# Messages of the scripts. Everything goes to stderr, so that a program's output stays its own.

STARTED_AT=${STARTED_AT:-$SECONDS}

# say TEXT: a progress line with the seconds since the start.
say() { printf '[%4ds] %s\n' "$((SECONDS - STARTED_AT))" "$*" >&2; }

# die TEXT [FIX]: what went wrong and the way out, without a traceback; exit status 2.
die() {
    printf 'error: %s\n' "$1" >&2
    [[ -n ${2:-} ]] && printf '       %s\n' "$2" >&2
    exit 2
}

is_root() { [[ $(id -u) == 0 ]]; }

# quietly WHAT COMMAND…: runs it, shows its output only where it fails.
quietly() {
    local what=$1 log rc=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 || rc=$?
    if ((rc)); then
        printf '%s failed (exit status %d):\n' "$what" "$rc" >&2
        tail -n 40 -- "$log" >&2
    fi
    rm -f -- "$log"
    return "$rc"
}
