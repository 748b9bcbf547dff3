"""Cuts a process, and all that it starts, off from the network. Standard library only.

A filter of system calls (seccomp) lets no socket be made: neither one of the network nor one that
speaks with the person's other programs. Where there is none for this processor, the process gets a
network namespace of its own, in which there is no network. Run as a program, it says with its exit
status whether one of the two works here.
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
"""From here on, numbers are those of x86's other set of calls, under which the filter could be passed."""

# Architecture as the kernel names it; socket, ptrace; the others have one number everywhere:
# io_uring_setup makes sockets too, pidfd_getfd takes those of other processes.
_PROCESSORS: Final = {"x86_64": (0xC000003E, 41, 101), "aarch64": (0xC00000B7, 198, 117)}
_EVERYWHERE: Final = (425, 438)
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def close_network() -> bool:
    """Cut this process off, for good; its children too.

    Returns:
        Whether that was possible.
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
    # Each jump says how many lines it passes over where it holds, and where it does not.
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
    with suppress(OSError):  # without these, its own files seem to belong to no known user
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


if __name__ == "__main__":
    sys.exit(0 if close_network() else 1)
