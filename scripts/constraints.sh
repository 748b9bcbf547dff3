#!/usr/bin/env bash
# Writes requirements/constraints.txt anew: the newest versions that resolve together under
# requirements/pins.in. With --keep, versions already in the file stay where they are possible.
set -euo pipefail
ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib/common.sh
. "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/python.sh
. "$ROOT/scripts/lib/python.sh"

need_python
need_uv
cd -- "$ROOT"
new=$(mktemp)
sdk=$(mktemp)
trap 'rm -f -- "$new" "$sdk"' EXIT
[[ ${1:-} == --keep ]] && cp requirements/constraints.txt "$new"
# 3.11 is 3.11.0 here: Debian 12 has 3.11.2, which some newest releases no longer accept.
echo "mosaic-worker @ file://$ROOT/3rd_party/mosaic_worker_sdk" >"$sdk"
"$UV" pip compile -q pyproject.toml requirements/pins.in --extra gui --extra evdev --extra dev --extra ray --extra all-envs --extra envpool \
    --python "$PYTHON_BIN" --python-version 3.11 --overrides requirements/overrides.txt --overrides "$sdk" --no-header --no-annotate \
    --no-emit-package mosaic-gym-gui --no-emit-package mosaic-worker -o "$new" >/dev/null
{
    echo "# Exact versions that are used together; made by scripts/constraints.sh, not edited by hand."
    echo "# pip install -c requirements/constraints.txt …   (torch first: see CONTRIBUTING.md)"
    # A local version (+cpu) and the CUDA packages of a GPU build are the machine's choice, not a pin.
    sed 's/+[a-z0-9.]*$//' "$new" | grep -v -i -E '^(#|nvidia|cuda|triton)'
} > requirements/constraints.txt
say "requirements/constraints.txt: $(grep -c == requirements/constraints.txt) pins"
