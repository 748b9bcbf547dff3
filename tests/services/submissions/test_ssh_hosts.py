"""Hosts as people have them, behind a real sshd: login shells, homes with blanks, text at each login."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.ssh.ssh import SshHost
from gym_gui.services.submissions.submission_errors import HostUnreachableError
from tests.support.debian import need_programs
from tests.support.sshd import Sshd, sshd

pytestmark = pytest.mark.full

SFTP = "/usr/lib/openssh/sftp-server"
"""By the login shell, as Debian has it."""


def spoken(server: Sshd, say: Callable[[SshHost], Awaitable[str]]) -> str:
    async def speak() -> str:
        host = SshHost("one", str(server.config))
        try:
            return await say(host)
        finally:
            await host.close()

    return asyncio.run(speak())


def login(folder: Path, home: Path, shell: str, first: str = ":") -> str:
    """What stands for a login shell: each command comes to it, as sshd has it."""
    (folder / "home").write_text(str(home))
    file = folder / "login"
    file.write_text(
        f'#!/bin/sh\nexport HOME="$(cat {folder}/home)"; cd "$HOME"; {first}\n'
        f'exec {shell} -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize("shell", ["bash", "fish", "tcsh"])
def test_any_login_shell_home_and_banner_will_do(tmp_path: Path, shell: str) -> None:
    need_programs(shell, packages=(shell,))
    home = tmp_path / "a 'home' $(touch ran); [x]"
    home.mkdir()
    (tmp_path / "banner").write_text("*** Authorised use only ***\n")
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "file").write_text("content")

    async def there_and_back(host: SshHost) -> str:
        said = await host.run('pwd\necho "a  b"\n')
        await host.send(tmp_path / "sent", f"{home}/new $x")
        await host.fetch(f"{home}/new $x", tmp_path / "back")
        return said

    force = login(tmp_path, home, shell)
    with sshd(
        tmp_path / "sshd", Banner=tmp_path / "banner", ForceCommand=force, Subsystem=f"sftp {SFTP}"
    ) as one:
        assert spoken(one, there_and_back) == f"{home}\na  b\n"
    assert (tmp_path / "back" / "file").read_text() == "content"
    assert not (home / "ran").exists()


def test_text_at_each_login_is_passed_over_and_named_where_it_breaks_copies(tmp_path: Path) -> None:
    force = login(tmp_path, tmp_path, "bash", "echo Welcome")
    (tmp_path / "sent").mkdir()

    async def copied(host: SshHost) -> str:
        assert await host.run("echo said\n") == "Welcome\nsaid\n"
        await host.send(tmp_path / "sent", f"{tmp_path}/new")
        return ""

    refused = pytest.raises(HostUnreachableError, match="produces no output for non-interactive sessions")
    with sshd(tmp_path / "sshd", ForceCommand=force, Subsystem=f"sftp {SFTP}") as one, refused:
        spoken(one, copied)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("IdentityFile", "/dev/null", "Permission denied .*ssh-copy-id one"),
        ("UserKnownHostsFile", "/dev/null", "Host key verification failed. Run ssh one once by hand"),
        ("Port", "1", "Connection refused"),
        ("HostName", "nowhere.invalid", "Could not resolve hostname .*Write a name of"),
    ],
)
def test_a_host_that_would_ask_is_named_with_the_reason(
    tmp_path: Path, key: str, value: str, reason: str
) -> None:
    with sshd(tmp_path / "sshd") as one:
        lines = [line for line in one.config.read_text().splitlines() if not line.startswith(key)]
        one.config.write_text("\n".join([*lines, f"{key} {value}"]) + "\n")
        with pytest.raises(HostUnreachableError, match=f"one cannot be reached: .*{reason}"):
            spoken(one, lambda host: host.run("true\n"))


def test_a_folder_that_does_not_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (tmp_path / "run" / "steps.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    target = tmp_path / "back"

    async def copied(host: SshHost) -> str:
        await host.fetch(str(tmp_path / "run"), target, what="shard 3 of 8", most=1 << 20)
        return ""

    with sshd(tmp_path / "sshd") as one, pytest.raises(UsageError) as told:
        spoken(one, copied)
    assert told.value.message == "shard 3 of 8 of one has more than 0.000977 GiB"
    size = (target / "steps.jsonl").stat().st_size
    assert size < 16 << 30
    (target / "steps.jsonl").unlink()
