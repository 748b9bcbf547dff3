# shellcheck shell=bash
# Makes .venv what a profile needs, and remembers that it did. Expects ROOT, common.sh and python.sh.
#
# A profile is a set of extras: `run` what the program needs, `dev` that and the checks. The stamp of a
# finished set-up is a hash of everything it was made from; where it still fits there is nothing to do,
# and that is found out with one `sha256sum`.

VENV="$ROOT/.venv"
VENV_PYTHON="$VENV/bin/python"
STATE="$VENV/.mosaic-setup"
RUN_EXTRAS="gui,rl,language,classic,toy-text,pettingzoo,mpe2,minigrid,multigrid,ini-multigrid,openspiel"
DEV_EXTRAS="dev"

# ensure_environment PROFILE GPU: returns at once where everything stands. An environment that was once
# asked for with CUDA keeps it.
ensure_environment() {
    local profile=$1 gpu=$2
    [[ -e $STATE/gpu ]] && gpu=1
    _is_done "$profile" "$gpu" && return
    mkdir -p -- "$TOOLS" || die "cannot write to $ROOT" "Put the checkout where you may write."
    exec 9>"$TOOLS/setup.lock"
    if command -v flock >/dev/null && ! flock -n 9; then
        say "Another set-up is at work in this folder; waiting for it"
        flock 9
    fi
    # 9>&-: what is started in there (uv, git, a compiler's server) must not keep the lock.
    _is_done "$profile" "$gpu" || _set_up "$profile" "$gpu"
    exec 9>&-
}

_set_up() {
    local profile=$1 gpu=$2 extras=$RUN_EXTRAS
    # An environment that has the checks keeps them.
    [[ $profile == dev || -e $STATE/has-dev ]] && extras=$DEV_EXTRAS
    say "Setting up $VENV"
    need_python
    need_uv 9>&-
    _make_venv 9>&-
    mkdir -p -- "$STATE"
    rm -f -- "$STATE"/*.stamp
    ((gpu)) && : >"$STATE/gpu"
    _install_torch "$gpu" 9>&- && rm -f -- "$STATE/without-torch" || : >"$STATE/without-torch"
    say "Installing MOSAIC and what it needs (extras: $extras)"
    _uv_install -e 3rd_party/mosaic_worker_sdk -e "${ROOT}[$extras]" 9>&- || die "the packages could not be installed" \
        "See above; when the cause is gone, start again: what is done is kept."
    _refuse_cuda "$gpu"
    _spell_paths
    _compile 9>&-
    install_system_libraries "$profile" 9>&-
    _warm 9>&-
    [[ $extras == "$DEV_EXTRAS" ]] && : >"$STATE/has-dev" && _stamp dev "$gpu" >"$STATE/dev.stamp"
    _stamp run "$gpu" >"$STATE/run.stamp"
    : >"$STATE/finished"
    say "Set-up done"
}

# What a set-up depends on. The path is in it because an environment does not survive a move.
_stamp() {
    local profile=$1 gpu=$2
    {
        printf '%s\n' "$profile" "$gpu" "$VENV"
        cat -- "$ROOT/pyproject.toml" "$ROOT/3rd_party/mosaic_worker_sdk/pyproject.toml" "$ROOT"/requirements/*.txt "$ROOT/scripts/lib/setup.sh"
        cat -- "$VENV/pyvenv.cfg"
    } 2>/dev/null | sha256sum
}

_is_done() {
    local stamp="$STATE/$1.stamp"
    [[ -x $VENV_PYTHON && -e $stamp ]] && [[ $(<"$stamp") == "$(_stamp "$1" "$2")" ]] &&
        [[ -z ${PYTHON:-} || $(_version "$PYTHON") == "$(_version "$VENV_PYTHON")" ]]
}

_version() { "$1" -c 'import sys; print(*sys.version_info[:2], sep=".")' 2>/dev/null || true; }

# A usable environment is kept, of another Python too where it was once complete and the user named none. One whose installation was cut off (`installing` is still there after
# kill -9 or a power cut) may hold half a package; from uv's cache a new one takes seconds.
_make_venv() {
    local want have
    want=$(_version "$PYTHON_BIN")
    have=$(_version "$VENV_PYTHON")
    if [[ -e $STATE/installing ]]; then
        say "The last set-up was cut off; making the environment anew"
    elif [[ $have == "$want" ]] || [[ -n $have && -z ${PYTHON:-} && -e $STATE/finished ]]; then
        return
    else
        say "Making an environment of Python $want"
    fi
    quietly "uv venv" "$UV" venv -q --clear --no-project --python "$PYTHON_BIN" "$VENV" ||
        die "could not make $VENV" "Is the disk full, or the folder read-only?"
}

_uv_install() {
    local rc=0
    : >"$STATE/installing"
    local overrides=(--overrides requirements/overrides.txt)
    [[ -e $STATE/without-torch ]] && overrides+=(--overrides requirements/without_torch.txt)
    (cd -- "$ROOT" && quietly "uv pip install" "$UV" pip install --python "$VENV_PYTHON" \
        --constraints requirements/constraints.txt "${overrides[@]}" "$@") || rc=$?
    rm -f -- "$STATE/installing"
    return "$rc"
}

# Under the locale C, Python reads the paths in an environment's .pth file as ASCII, and does not start at
# all where the checkout lies in a folder with an umlaut: such a path is written with escapes.
_spell_paths() {
    "$VENV_PYTHON" -I -S -c '
import pathlib, sys
for file in pathlib.Path(sys.argv[1]).glob("lib/*/site-packages/*mosaic_*.pth"):
    paths = file.read_text("utf-8").splitlines()
    if not all(map(str.isascii, paths)):
        file.write_text(f"import sys; sys.path += {ascii(paths)}\n", "utf-8")
' "$VENV"
}

# Compiled now, not at the first start of each process: a window and its hosts start twice as fast. uv's
# own --compile-bytecode gives up, and the installation with it, where a core is slow or shared.
_compile() { "$VENV_PYTHON" -m compileall -q -j 0 "$VENV/lib" >/dev/null 2>&1 || true; }

# torch first and by itself: PyPI's build for x86 brings 5 GB of CUDA. The CPU build carries the local
# version +cpu, so asking for exactly that can never fall back to the other one.
# Where there is no CPU build for this Python, set-up goes on without it.
_install_torch() {
    local gpu=$1 version spec
    rm -f -- "$STATE/without-torch"
    version=$(sed -n 's/^torch==//p' "$ROOT/requirements/constraints.txt")
    if ((gpu)); then
        say "Installing torch $version with CUDA"
        UV_FIND_LINKS='' _uv_install --reinstall-package torch "torch==$version" ||
            die "torch $version with CUDA could not be installed" "Leave --gpu out to use the CPU."
        return
    fi
    say "Installing torch $version (CPU)"
    spec="torch==$version"
    [[ $(uname -m) == x86_64 ]] && spec+="+cpu"
    _uv_install "$spec" 2>/dev/null && return
    # Wheels of +cpu are not on PyPI: they come from pip's find-links or, last, from PyTorch's own index.
    UV_HTTP_RETRIES=1 _uv_install --index https://download.pytorch.org/whl/cpu \
        --index-strategy unsafe-best-match "$spec" 2>/dev/null && return
    say "No CPU build of torch $version for $("$VENV_PYTHON" -V) was found, so cleanrl_worker and sb3_worker, which" \
        "train and play PyTorch policies, are left out; everything else works. To have them: point pip at one" \
        "(PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL), then mosaic workers install cleanrl_worker; or start with --gpu."
    return 1
}

_refuse_cuda() {
    local found
    (($1)) && return
    found=$(cd -- "$VENV" && find . -maxdepth 5 -iname 'nvidia_*.dist-info' -printf '%f ' )
    [[ -z $found ]] || die "CUDA packages were installed without --gpu: $found" "rm -r $VENV, and start again."
}

# What is looked for -> Debian's package. Libraries that Qt's and SDL's platforms load, and fonts: a bare
# system has none at all, and the one that the window brings has neither fixed width nor every sign.
_LIBRARIES="libEGL.so.1:libegl1 libGL.so.1:libgl1 libxkbcommon.so.0:libxkbcommon0 libdbus-1.so.3:libdbus-1-3
    libfontconfig.so.1:libfontconfig1 libxkbcommon-x11.so.0:libxkbcommon-x11-0 libxcb-cursor.so.0:libxcb-cursor0
    libxcb-icccm.so.4:libxcb-icccm4 libxcb-image.so.0:libxcb-image0 libxcb-keysyms.so.1:libxcb-keysyms1
    libxcb-randr.so.0:libxcb-randr0 libxcb-render-util.so.0:libxcb-render-util0 libxcb-shape.so.0:libxcb-shape0
    libxcb-xinerama.so.0:libxcb-xinerama0 libxcb-xkb.so.1:libxcb-xkb1"
_FONTS="DejaVuSans.ttf:fonts-dejavu-core"
# Those that the window is tried with.
_TEST_FONTS="NotoSans-Regular.ttf:fonts-noto-core LiberationSans-Regular.ttf:fonts-liberation"
# What the tests of the real window use beside them, and the chess engine.
_TEST_PROGRAMS="Xvfb:xvfb xdotool:xdotool openbox:openbox xprop:x11-utils import:imagemagick dbus-daemon:dbus stockfish:stockfish"

# install_system_libraries PROFILE
install_system_libraries() {
    local pair missing=() known
    command -v apt-get >/dev/null || return 0
    known=$(/sbin/ldconfig -p)
    for pair in $_LIBRARIES; do
        [[ $known == *"${pair%%:*}"* ]] || missing+=("${pair##*:}")
    done
    for pair in $_FONTS $([[ $1 == dev ]] && printf %s "$_TEST_FONTS"); do
        [[ -n $(find /usr/share/fonts -name "${pair%%:*}" -print -quit 2>/dev/null) ]] || missing+=("${pair##*:}")
    done
    if [[ $1 == dev ]]; then
        for pair in $_TEST_PROGRAMS; do
            # Debian puts chess engines where root's PATH does not look.
            PATH="$PATH:/usr/games" command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
        done
    fi
    ((${#missing[@]})) || return 0
    if is_root; then
        say "Installing Debian packages: ${missing[*]}"
        apt_install "${missing[@]}" || say "They are for the window; everything else works without."
    else
        say "For the window, these are missing: sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
}

_warm() {
    # Numba keeps the code beside the package, where `mosaic` finds it too when it is started without
    # run.sh; the list of environments goes into the user's cache.
    "$VENV_PYTHON" -W ignore -m gym_gui.cli.warm_up | while IFS= read -r line; do say "$line"; done ||
        say "MultiGrid could not be compiled; the first match in it will take half a minute longer."
}
