#!/usr/bin/env bash
# Sets up what is missing and starts MOSAIC. Needs no argument; run it as often as you like.
#
#   ./scripts/run.sh                 the window
#   ./scripts/run.sh --headless      the quickstart experiment and its comparison, without a display
#   ./scripts/run.sh COMMAND …       any command of `mosaic`, for example: run FILE, workers list
#   --gpu                            before any of these: torch with CUDA (several GB)
#   PYTHON=python3.12                another interpreter, from 3.11 to 3.13
set -euo pipefail
ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib/common.sh
. "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/python.sh
. "$ROOT/scripts/lib/python.sh"
# shellcheck source=scripts/lib/setup.sh
. "$ROOT/scripts/lib/setup.sh"

gpu=0
headless=0
while (($#)); do
    case $1 in
        --gpu) gpu=1 ;;
        --headless) headless=1 ;;
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) break ;;
    esac
    shift
done

ensure_environment run "$gpu"
mosaic="$VENV/bin/mosaic"
if ((headless)); then
    "$mosaic" run "$ROOT/docs/examples/quickstart.py" "$@"
    printf '\nNext: . %q, then: mosaic run FILE\n' "${VENV#"$PWD/"}/bin/activate"
    exit 0
fi
exec "$mosaic" "$@"
