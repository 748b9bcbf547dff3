"""Cuts a process and its children off from the network. It uses only the standard library.

A system call filter (seccomp) prevents the creation of sockets, both to the network and to the user's other
programs. If there is no filter for this processor, the process gets its own network namespace without a
network. Run as a program, the module reports by its exit status whether one of the two works here.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EACCES
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32: Final = 0x40000000
"""From this number on, system calls are those of x86's x32 ABI, which could bypass the filter."""

# Kernel's number of the architecture; numbers of socket and ptrace. The other calls have one number on all
# processors: io_uring_setup creates sockets too, and pidfd_getfd takes those of other processes.
_PROCESSORS: Final = {"x86_64": (0xC000003E, 41, 101), "aarch64": (0xC00000B7, 198, 117)}
_EVERYWHERE: Final = (425, 438)
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def close_network() -> bool:
    """Cut this process and its children off from the network for good.

    Returns:
        Whether this was possible.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return _filter_calls(libc) or _leave_network(libc)


def _filter_calls(libc: Any) -> bool:
    if platform.machine() not in _PROCESSORS or sys.maxsize < 2**32:
        return False
    architecture, *numbers = _PROCESSORS[platform.machine()]
    numbers += _EVERYWHERE
    # Each jump contains the number of lines to skip if it matches and if it does not.
    lines = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, len(numbers) + 3, architecture)]
    lines += [(_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, len(numbers) + 1, 0, _X32)]
    lines += [(_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.c_char_p(program), 0, 0) == 0


def _leave_network(libc: Any) -> bool:
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    with suppress(OSError):  # without this, its own files seem to belong to an unknown user
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


if __name__ == "__main__":
    sys.exit(0 if close_network() else 1)
