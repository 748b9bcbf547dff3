"""What pip is told about indexes and wheel folders reaches uv."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "gym_gui" / "cli" / "installing" / "pip_settings.py"


@pytest.fixture(scope="module")
def settings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pip_settings", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _environ(tmp_path: Path, text: str, **more: str) -> dict[str, str]:
    file = tmp_path / "pip.conf"
    file.write_text(text, encoding="utf-8")
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_DIRS": str(tmp_path / "none"),
        "PIP_CONFIG_FILE": str(file),
        **more,
    }


def test_a_file_is_translated(settings: ModuleType, tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://a/simple\nextra-index-url =\n    https://b/simple\n    https://c/simple\n"
    text += "[install]\nfind-links = /one /two\ntrusted-host = b\n"
    found = settings.uv_variables(_environ(tmp_path, text))
    assert found["UV_DEFAULT_INDEX"] == "https://a/simple"
    assert found["UV_INDEX"] == "https://b/simple https://c/simple"
    assert found["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert found["UV_FIND_LINKS"] == "/one,/two"
    assert found["UV_INSECURE_HOST"] == "b"


def test_the_environment_overrides_the_file(settings: ModuleType, tmp_path: Path) -> None:
    environ = _environ(tmp_path, "[global]\nfind_links = /file\n", PIP_FIND_LINKS="/env", PIP_NO_INDEX="0")
    found = settings.uv_variables(environ)
    assert found["UV_FIND_LINKS"] == "/env"
    assert not settings.without_index(environ)
    assert settings.without_index({**environ, "PIP_NO_INDEX": "true"})


def test_what_is_set_for_uv_stays(settings: ModuleType, tmp_path: Path) -> None:
    environ = _environ(tmp_path, "[global]\nindex-url = https://a\n", UV_DEFAULT_INDEX="https://mine")
    assert "UV_DEFAULT_INDEX" not in settings.uv_variables(environ)


def test_devnull_means_no_files(settings: ModuleType) -> None:
    assert settings.config_files({"PIP_CONFIG_FILE": os.devnull}) == []


def test_a_broken_file_is_named_and_skipped(
    settings: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = _environ(tmp_path, "no section\n", PIP_FIND_LINKS="/w")
    assert settings.uv_variables(environ)["UV_FIND_LINKS"] == "/w"
    assert "pip.conf" in capsys.readouterr().err


def test_the_shell_reads_every_value_back(tmp_path: Path) -> None:
    value = "https://user:pa'ss$(id)@host/simple"
    environ = _environ(tmp_path, f"[global]\nindex-url = {value}\n", PATH=os.environ["PATH"])
    command = shlex.join([sys.executable, "-I", str(SCRIPT)])
    code = f'eval "$({command})"; printf %s "$UV_DEFAULT_INDEX"'
    done = subprocess.run(["bash", "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == value


def _homeless(tmp_path: Path) -> dict[str, str]:
    """A home in which nothing can be made, for root neither."""
    home = tmp_path / "home"
    home.write_text("", encoding="utf-8")
    return _environ(tmp_path, "[global]\n") | {"HOME": str(home)}


def test_uv_has_a_cache_where_the_home_takes_none(settings: ModuleType, tmp_path: Path) -> None:
    environ = _homeless(tmp_path)

    def cache(**more: str) -> dict[str, str]:
        found = settings.uv_variables(environ | more, tmp_path)
        return {name: value for name, value in found.items() if "CACHE" in name}

    assert cache() == {"UV_NO_CACHE": "1"}
    (tmp_path / ".tools").mkdir()
    assert cache() == {"UV_CACHE_DIR": str(tmp_path / ".tools" / "uv-cache")}
    assert cache(UV_CACHE_DIR="/elsewhere") == cache(XDG_CACHE_HOME=str(tmp_path)) == {}
