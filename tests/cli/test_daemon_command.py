"""``mosaic daemon`` and ``mosaic train --background``, as a person uses them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.rpc.address import TlsAddress
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import Address, find
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import TrainingRecord
from tests.support.commands import COMMAND, Mosaic
from tests.support.training import search_trainer
from tests.support.waiting import eventually


@pytest.fixture
def store(mosaic: Mosaic) -> Iterator[Store]:
    """The data folder of the command line, with a training worker in it."""
    store = Store()
    search_trainer(store.data_dir("workers", "search_trainer"))
    yield store
    stop_daemon(store)
    for folder in (store.data / "training").glob("*/"):
        try:
            TrainingProcess.attach(folder).kill()
        except MosaicError:
            continue


def only_run(store: Store) -> TrainingRecord:
    """What the daemon says of its one run."""
    (run,) = runs_of(store)
    return run


def runs_of(store: Store) -> list[TrainingRecord]:
    """What the daemon says of its runs, oldest first."""

    async def ask() -> list[TrainingRecord]:
        client = await TrainerClient.connect(store, start=False)
        try:
            return await client.runs()
        finally:
            await client.close()

    return asyncio.run(ask())


def test_a_training_in_the_background(mosaic: Mosaic, store: Store) -> None:
    none = mosaic("daemon", "--status")
    assert (none.status, none.out.splitlines()) == (
        1,
        ["No trainer daemon is running. It starts with the first training in the background."],
    )
    command = ["train", "--worker", "search_trainer", "--algo", "search", "--env", "CartPole-v1"]
    queued = mosaic(*command, "--steps", "1000000000", "--background", "--priority", "3")
    assert queued.status == 0, queued.err
    run_id = queued.out.split()[1]
    assert f"Cancel:  mosaic daemon --cancel {run_id}" in queued.out
    eventually(lambda: only_run(store).step > 0, "it trains")
    shown = mosaic("daemon", "--status")
    assert shown.status == 0
    assert f"{run_id}  running   search in CartPole-v1" in shown.out
    assert "1 on the machine, 0 waiting" in shown.out
    (run,) = mosaic("daemon", "--status", "--json").json()["runs"]
    assert (run["priority"], run["settings"]) == (3, {"total_steps": 1000000000})
    assert mosaic("daemon", "--cancel", run_id).status == 0
    eventually(lambda: only_run(store).state == "stopped", "it is stopped")
    again = mosaic("daemon", "--cancel", run_id)
    assert (again.status, again.line) == (
        2,
        f"mosaic: run {run_id} is over (stopped). Resume it, or start a new one",
    )
    folder = store.data / "training" / run_id
    more = mosaic("train", "--resume", str(folder), "--steps", "2", "--background", "--json")
    assert more.json()["run_id"] == run_id
    eventually(lambda: only_run(store).state == "completed", "it went on")
    stopped = mosaic("daemon", "--stop")
    assert stopped.status == 0
    assert "Running trainings go on." in stopped.out
    assert mosaic("daemon", "--stop").out == "No trainer daemon is running.\n"
    assert find(store) is None


def test_a_group_in_the_background(mosaic: Mosaic, store: Store) -> None:
    command = ["train", "--worker", "search_trainer", "--algo", "search", "--env", "CartPole-v1"]
    command += ["--steps", "100", "--background"]
    first = mosaic(*command, "--seeds", "2", "--json").json()
    assert first["group"] == "search_CartPole-v1"
    eventually(lambda: {run.state for run in runs_of(store)} == {"completed"}, "both are trained")
    # What is done is left as it is, and a larger group has more seeds.
    again = mosaic(*command, "--seeds", "3", "--json").json()
    assert [row["run_id"] for row in again["trainings"][:2]] == [row["run_id"] for row in first["trainings"]]
    eventually(lambda: [run.state for run in runs_of(store)] == ["completed"] * 3, "the third is trained")
    assert {(run.seed, run.group) for run in runs_of(store)} == {(1, "search"), (2, "search"), (3, "search")}
    other = mosaic(*command, "--seeds", "4", "--set", "spread=2")
    assert other.status == 2
    assert "of this group was trained with other settings: spread 2 in place of 1.0" in other.err
    told = mosaic("report", "search_CartPole-v1", "--json").json()
    assert [len(each["scores"]) for each in told["algorithms"][0]["trained"]] == [3]
    assert told["report"] is None  # its trainings lie among others


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["daemon", "--status", "--stop"], "--status, --stop and --cancel cannot be combined"),
        (["daemon", "--cancel", "x"], "no trainer daemon serves"),
        (["daemon", "--tcp", "127.0.0.1:0"], "only with TLS. Give a certificate and its key"),
        (["daemon", "--tcp", "h:0", "--cert", "no.pem", "--key", "no.pem"], "no.pem cannot be used"),
        (["daemon", "--queue", "0"], "--queue"),
        (
            ["train", "--env", "CartPole-v1", "--background", "--out", "x"],
            "--out and --overwrite cannot be combined",
        ),
        (["train", "--env", "CartPole-v1", "--background", "--set", "gama=1"], "gamma"),
    ],
)
def test_what_cannot_be_done_is_one_line(mosaic: Mosaic, arguments: list[str], words: str) -> None:
    done = mosaic(*arguments)
    assert done.status == 2
    assert words in done.line
    assert find(Store()) is None


def test_a_folder_of_the_foreground_goes_on_there(mosaic: Mosaic, store: Store) -> None:
    command = ["train", "--worker", "search_trainer", "--algo", "search", "--env", "CartPole-v1"]
    assert mosaic(*command, "--steps", "50", "--out", "mine").status == 0
    done = mosaic("train", "--resume", "mine", "--steps", "99", "--background")
    assert done.status == 2
    assert "was not trained in the background. Resume it in the foreground" in done.line


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


async def test_over_tcp_there_is_tls_and_the_token(
    mosaic: Mosaic, store: Store, certificate: tuple[Path, Path]
) -> None:
    cert, key = certificate
    options = ["daemon", "--tcp", "localhost:0", "--cert", str(cert), "--key", str(key)]
    process = subprocess.Popen([*COMMAND, *options], stderr=subprocess.PIPE, text=True)
    address: Address = eventually(lambda: find(store), "it listens")
    token = Path(address.token).read_text()
    there = TlsAddress(address.tcp, cert.read_bytes())
    client, stranger = TrainerClient(there, token, "it"), TrainerClient(there, "guessed", "stranger")
    assert (await client.health()).pid == process.pid == address.pid
    with pytest.raises(UsageError, match="the token is wrong"):
        await stranger.health()
    await client.close()
    await stranger.close()
    # Without TLS nothing is understood there; with another authority's trust it is not believed.
    host, _, port = address.tcp.rpartition(":")
    with socket.create_connection((host, int(port))) as plain:
        plain.settimeout(20)
        plain.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        answer = plain.recv(100)
        assert answer[:1] in (b"", b"\x15")  # closed, or a TLS alert
    strict = ssl.create_default_context()
    with socket.create_connection((host, int(port))) as raw, pytest.raises(ssl.SSLCertVerificationError):
        strict.wrap_socket(raw, server_hostname="localhost")
    taken = mosaic.process(
        *[*options[:2], address.tcp, *options[3:]], MOSAIC_DATA_DIR=str(cert.parent / "other")
    )
    assert taken.status == 2
    assert f"{address.tcp} cannot be listened on. Choose another port" in taken.err
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert f"and on {address.tcp}" in said
    assert "Traceback" not in said
    assert not Path(address.socket).parent.exists()


def test_ctrl_c_ends_one_in_the_foreground(store: Store) -> None:
    process = subprocess.Popen([sys.executable, "-m", "gym_gui", "daemon"], stderr=subprocess.DEVNULL)
    eventually(lambda: find(store), "it listens")
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 0
    assert find(store) is None
