"""The environment variables that child processes inherit: a short list, plus those a worker's manifest names.

A user's environment contains keys and addresses under names that this program cannot guess (``GITHUB_PAT``,
``DATABASE_URL``). So MOSAIC passes on only variables that are known to be needed. A key that an experiment
names is sent in a message to the one worker that needs it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import Final

_NAMES: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TEMP", "TMP", "TZ", "TZDIR"),
        *("LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES"),
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"),
        *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "MPLBACKEND"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK", "CUBLAS_WORKSPACE_CONFIG"),
    }
)
_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"})
_FAMILIES: Final = (
    *("LC_", "XDG_", "PYTHON", "MOSAIC_", "SLURM_", "OMPI_", "PMI_"),
    *("CUDA_", "NVIDIA_", "NCCL_", "CUDNN_", "ROCR_", "ROCM_", "HIP_", "HSA_", "TORCH_", "PYTORCH_"),
    *("XLA_", "JAX_", "TF_CPP_", "TF_FORCE_", "TF_GPU_", "TF_XLA_", "TF_ENABLE_", "TF_DETERMINISTIC_"),
    *("OMP_", "MKL_", "KMP_", "GOMP_", "GOTO_", "BLIS_", "OPENBLAS_", "NUMEXPR_", "VECLIB_", "NUMBA_"),
    *("MALLOC_", "QT_", "QSG_", "SDL_", "PYGAME_", "MUJOCO_", "PYOPENGL_", "EGL_", "MESA_", "LIBGL_"),
    *("GALLIUM_", "__GL", "__EGL_", "__NV_", "VK_", "FONTCONFIG_", "COVERAGE_"),
)
_SECRET: Final = re.compile(
    r"(API_?KEY|(^|_)KEYS?($|_)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|JWT|(^|_)PAT($|_)|(^|_)PWD_|_PWD$)",
    re.IGNORECASE,
)
_withheld: set[str] = set()
_aside: dict[str, str] = {}


def withhold(variable: str) -> None:
    """Never pass ``variable`` to a child of this process from now on, whatever its name."""
    _withheld.add(variable)


def looks_secret(variable: str) -> bool:
    """Return whether a variable of this name is likely to hold a key or a password."""
    return _SECRET.search(variable) is not None


def inherited(named: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment variables that a child of this process receives.

    Args:
        named: Further variables that the child receives; a proxy named here keeps its password.
    """
    more = frozenset(named)
    return {
        name: value if name in more else _shareable(name, value)
        for name, value in {**os.environ, **_aside}.items()
        if name not in _withheld and not looks_secret(name) and _is_needed(name, more)
    }


def set_aside() -> None:
    """Remove variables that only children need from this process's environment, and keep them for children.

    For processes that start workers and also run the code of environments.
    """
    for name, value in list(os.environ.items()):
        if not _is_needed(name, ()):
            _aside[name] = os.environ.pop(name)
        elif (without := _shareable(name, value)) != value:
            _aside[name], os.environ[name] = value, without


def _is_needed(name: str, named: Collection[str]) -> bool:
    return name in named or name in _NAMES or name.lower() in _PROXIES or name.startswith(_FAMILIES)


def _shareable(name: str, value: str) -> str:
    """Return a proxy's address without user name and password, and any other value unchanged."""
    if name.lower() not in _PROXIES or "@" not in value:
        return value
    scheme, _, rest = value.rpartition("//")
    return f"{scheme}//{rest.rpartition('@')[2]}" if scheme else rest.rpartition("@")[2]
