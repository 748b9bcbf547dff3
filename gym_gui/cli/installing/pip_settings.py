"""Prints pip's configured index, wheel folders and certificates as settings for uv, as shell lines.

uv does not read pip's configuration. Without this module, a machine that has its CPU wheels of torch in a
folder (``find-links``) would download several GB of CUDA packages instead. Options are read as pip does: from
files, the more specific ones later, then from ``PIP_*``. A UV_* variable that is already set stays unchanged.

scripts/lib/python.sh runs this file before anything is installed, so it uses only the standard library.
"""

from __future__ import annotations

import configparser
import os
import shlex
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[3]

# pip's option -> uv's variable, and the separator of several values in it.
_NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
}


def config_files(environ: dict[str, str]) -> list[Path]:
    """Return pip's configuration files, the more specific ones later."""
    home = Path(environ.get("HOME", "/"))
    xdg_dirs = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    xdg_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    particular = environ.get("PIP_CONFIG_FILE")
    if particular == os.devnull:
        return []
    files = [Path(folder) / "pip" / "pip.conf" for folder in xdg_dirs.split(":") if folder]
    files += [Path("/etc/pip.conf"), home / ".pip" / "pip.conf", xdg_home / "pip" / "pip.conf"]
    files.append(Path(sys.prefix) / "pip.conf")
    return [*files, Path(particular)] if particular else files


def pip_options(environ: dict[str, str]) -> dict[str, list[str]]:
    """Return the options by pip's name, each as a list of words, from the files and ``PIP_*``."""
    options: dict[str, list[str]] = {}
    for file in config_files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, OSError) as error:
            sys.stderr.write(f"pip's configuration {file} is not readable: {error}\n")
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                options |= {key.replace("_", "-"): value.split() for key, value in parser.items(section)}
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            options[name[4:].lower().replace("_", "-")] = value.split()
    return options


def uv_variables(environ: dict[str, str], checkout: Path = _CHECKOUT) -> dict[str, str]:
    """Return uv variables that match pip's configuration, and a cache folder if home cannot have one."""
    options = pip_options(environ)
    found: dict[str, str] = {}
    for option, (variable, joint) in _NAMES.items():
        words = options.get(option)
        if words and variable not in environ:
            found[variable] = joint.join(words)
    if "UV_INDEX" in found and "UV_INDEX_STRATEGY" not in environ:
        # pip takes the best version of all indexes; uv by default asks only the first that knows the name.
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return found | _cache(environ, checkout)


def _cache(environ: dict[str, str], checkout: Path) -> dict[str, str]:
    """Return a cache variable: uv needs a cache, and the set-up has one if home cannot be written to."""
    if "UV_CACHE_DIR" in environ or "UV_NO_CACHE" in environ:
        return {}
    usual = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "/")) / ".cache")
    if _takes_files(usual / "uv"):
        return {}
    tools = checkout / ".tools"
    kept = tools.is_dir() and _takes_files(tools)
    return {"UV_CACHE_DIR": str(tools / "uv-cache")} if kept else {"UV_NO_CACHE": "1"}


def _takes_files(folder: Path) -> bool:
    """Return whether a folder can be written to, or created if it does not exist."""
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))  # noqa: PTH110  # no error
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def without_index(environ: dict[str, str]) -> bool:
    """Return whether only wheel folders may be used: uv has ``--no-index`` for this, but no variable."""
    words = pip_options(environ).get("no-index", ["0"])
    return words[0].lower() not in {"0", "false", "no", "off"}


def main() -> None:
    """Write ``export NAME=value`` lines."""
    for name, value in uv_variables(dict(os.environ)).items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


if __name__ == "__main__":
    main()
