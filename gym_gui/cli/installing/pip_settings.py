"""Translates pip's configured index, wheel folders and certificates to settings of uv, as shell lines.

uv does not read pip's configuration. Without this module, a machine that has its CPU wheels of torch in a
folder (``find-links``) would download several GB of CUDA packages instead. As in pip, options come from
files, the more specific ones later, then from ``PIP_*``. A ``UV_*`` variable that is set stays unchanged.

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
    """Return pip's options from its files and ``PIP_*``: lists of words, by the option's name."""
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
    """Return ``UV_*`` variables that match pip's configuration and move the cache if home is not writable."""
    options = pip_options(environ)
    found: dict[str, str] = {}
    for option, (variable, joint) in _NAMES.items():
        words = options.get(option)
        if words and variable not in environ:
            found[variable] = joint.join(words)
    if "UV_INDEX" in found and "UV_INDEX_STRATEGY" not in environ:
        # pip takes the best version of all indexes; uv by default uses only the first that has the package.
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return found | _cache(environ, checkout)


def _cache(environ: dict[str, str], checkout: Path) -> dict[str, str]:
    """Return variables for uv's cache if the usual folder is not writable: another folder, or no cache."""
    if "UV_CACHE_DIR" in environ or "UV_NO_CACHE" in environ:
        return {}
    usual = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "/")) / ".cache")
    if _is_writable(usual / "uv"):
        return {}
    tools = checkout / ".tools"
    kept = tools.is_dir() and _is_writable(tools)
    return {"UV_CACHE_DIR": str(tools / "uv-cache")} if kept else {"UV_NO_CACHE": "1"}


def _is_writable(folder: Path) -> bool:
    """Return whether a folder can be written to, or created if it does not exist."""
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))  # noqa: PTH110  # no error
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def without_index(environ: dict[str, str]) -> bool:
    """Return whether pip is configured with ``no-index``; uv has this option, but no variable for it."""
    words = pip_options(environ).get("no-index", ["0"])
    return words[0].lower() not in {"0", "false", "no", "off"}


def main() -> None:
    """Print uv's settings as ``export NAME=value`` lines."""
    for name, value in uv_variables(dict(os.environ)).items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


if __name__ == "__main__":
    main()
