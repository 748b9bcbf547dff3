"""Version of the package, in a module without imports."""

from __future__ import annotations

__version__ = "0.1.0"
