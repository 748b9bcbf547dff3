"""Files that ``mosaic workers install`` fetches, from a server of the test's own; and builds."""

from __future__ import annotations

import hashlib
import http.server
import shutil
import ssl
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gym_gui.workers.discovery import discover
from gym_gui.workers.launch import Launch
from gym_gui.workers.own_files import files_folder
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.commands import Mosaic

BUILD = '''
[build]
command = ["sh", "-c", """test -s source || { echo 'source: error: it is empty' >&2; exit 1; }
cp source {files}/made"""]
sources = ["source"]
'''


def archive(path: Path, version: str = "3.2.2", member: str = "mind/Agent.class") -> bytes:
    """A library as a registry of Java's has it."""
    path.parent.mkdir(exist_ok=True, parents=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\nImplementation-Version: {version}\r\n"
        )
        file.writestr(member, "")
    return path.read_bytes()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        elsewhere = Path(f"{self.translate_path(self.path)}.elsewhere")
        if not elsewhere.exists():
            super().do_GET()
            return
        self.send_response(302)
        self.send_header("Location", elsewhere.read_text())
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def published(tmp_path: Path, mosaic: Mosaic) -> Iterator[tuple[Path, str]]:
    """A folder that is served over TLS, and its address."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    folder = tmp_path / "published"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    mosaic.env |= {"SSL_CERT_FILE": str(cert), "no_proxy": "localhost", "NO_PROXY": "localhost"}
    yield folder, f"https://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The same without TLS."""
    folder = tmp_path / "plain"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def worker(
    mosaic: Mosaic, url: str, sha256: str, *, build: str = "", places: str = "", package: str = ""
) -> Path:
    """A worker that needs one file."""
    folder = mosaic.home / "data" / "workers" / "mind_worker"
    folder.mkdir(parents=True)
    (folder / "source").write_text("one\n")
    (folder / "worker.toml").write_text(
        f"""
id = "mind_worker"
kind = "bdi"
[launch]
command = ["true", "{{files}}/mind.jar"]
[files."mind.jar"]
url = "{url}/mind.jar"
sha256 = "{sha256}"
version = "3.2"
holds = ["mind/Agent.class"]
places = {[places] if places else []}
{f'package = "{package}"' if package else ""}
{build}"""
    )
    return folder


def test_where_a_file_cannot_be_fetched_the_package_that_brings_it_is_named(mosaic: Mosaic) -> None:
    worker(mosaic, "https://localhost:1", "0" * 64, package="libmind-java")
    done = mosaic("workers", "install", "mind_worker")
    assert done.status and "could not be downloaded" in done.err
    assert "Run: apt-get install libmind-java" in " ".join(done.err.split())


def test_it_is_fetched_checked_and_built_once(mosaic: Mosaic, published: tuple[Path, str]) -> None:
    served, address = published
    sha256 = hashlib.sha256(archive(served / "mind.jar")).hexdigest()
    folder = worker(mosaic, address, sha256, build=BUILD)
    assert "mind.jar is missing" in mosaic("workers", "list").out
    plan = mosaic("workers", "install", "mind_worker", "--dry-run")
    assert plan.out == f"Would download {address}/mind.jar\nWould build its program\n"
    done = mosaic("workers", "install", "mind_worker", "--json")
    assert done.status == 0, done.err
    assert done.json()["new"] == {"mind.jar": "3.2"}
    again = mosaic("workers", "install", "mind_worker")
    assert again.out == "mind_worker: nothing is missing.\n  mind.jar 3.2\n"
    (made,) = mosaic.home.rglob("made")
    assert made.read_text() == "one\n"
    (folder / "source").write_text("two\n")
    assert "its program is not built from the current sources and files" in mosaic("workers", "list").out
    assert mosaic("workers", "install", "mind_worker").status == 0
    assert made.read_text() == "two\n"


def test_its_folder_stands_in_the_command(
    mosaic: Mosaic, published: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker(mosaic, published[1], "published")
    monkeypatch.setenv("MOSAIC_DATA_DIR", mosaic.env["MOSAIC_DATA_DIR"])
    with WorkerTypeRegistry.isolated() as registry:
        discover()
        command = Launch(registry.require("mind_worker")).command(None)
    assert command == ["true", str(files_folder("mind_worker") / "mind.jar")]


def test_another_file_than_was_published_is_refused_and_nothing_is_left(
    mosaic: Mosaic, published: tuple[Path, str]
) -> None:
    archive(published[0] / "mind.jar")
    worker(mosaic, published[1], "0" * 64)
    done = mosaic("workers", "install", "mind_worker")
    assert done.status == 1
    assert "is not what was published: its sha256 is" in done.err
    assert not [path for path in (mosaic.home / "data" / "worker_files").rglob("*") if path.is_file()]


def test_the_checksum_that_lies_beside_it_is_asked_for(mosaic: Mosaic, published: tuple[Path, str]) -> None:
    served, address = published
    content = archive(served / "mind.jar")
    worker(mosaic, address, "published")
    missing = mosaic("workers", "install", "mind_worker")
    assert (missing.status, "mind.jar.sha1 could not be downloaded" in missing.err) == (1, True)
    (served / "mind.jar.sha1").write_text(hashlib.sha1(content).hexdigest() + "  mind.jar\n")
    assert mosaic("workers", "install", "mind_worker").status == 0
    archive(served / "mind.jar", member="mind/Other.class")
    (served / "mind.jar.sha256").write_text("1" * 64)
    shutil.rmtree(mosaic.home / "data" / "worker_files")
    assert "its sha256 is" in mosaic("workers", "install", "mind_worker").err


def test_one_that_is_there_is_taken_after_a_look_into_it(mosaic: Mosaic) -> None:
    worker(mosaic, "https://localhost:1", "published")
    archive(mosaic.home / "other.jar", member="mind/Other.class")
    archive(mosaic.home / "later.jar", version="3.3.0")
    archive(mosaic.home / "right.jar")
    (mosaic.home / "text.jar").write_text("no archive")
    for name, says in (
        ("other.jar", "it lacks mind/Agent.class"),
        ("later.jar", "it is version 3.3.0, where 3.2 is needed"),
        ("text.jar", "it is no archive"),
        ("nowhere.jar", "there is no file"),
    ):
        assert says in mosaic.refused("workers", "install", "mind_worker", "--from", mosaic.home / name)
    done = mosaic("workers", "install", "mind_worker", "--from", mosaic.home / "right.jar")
    assert done.out == "mind_worker is installed.\n  mind.jar 3.2\n"
    assert "needs no files" in mosaic.refused(
        "workers", "install", "operators", "--from", mosaic.home / "right.jar"
    )


def test_one_that_is_given_and_is_not_what_was_published_is_said(
    mosaic: Mosaic, published: tuple[Path, str]
) -> None:
    served, address = published
    content = archive(served / "mind.jar")
    shutil.copyfile(served / "mind.jar", mosaic.home / "same.jar")
    archive(mosaic.home / "built here.jar", version="3.2.9")
    worker(mosaic, address, "published")

    def said(name: str) -> list[str]:
        done = mosaic("workers", "install", "mind_worker", "--from", mosaic.home / name)
        assert (done.status, done.out) == (0, "mind_worker is installed.\n  mind.jar 3.2\n")
        return [line for line in done.err.splitlines() if line.startswith("Warning: ")]

    (unknown,) = said("same.jar")
    assert "same.jar is used unchecked: its checksum could not be looked up (" in unknown
    (served / "mind.jar.sha256").write_text(hashlib.sha256(content).hexdigest())
    assert said("same.jar") == []
    (other,) = said("built here.jar")
    assert f"built here.jar is not what was published at {address}/mind.jar: its sha256 is" in other


def test_where_the_system_has_it_it_is_taken_from_there(mosaic: Mosaic, tmp_path: Path) -> None:
    archive(tmp_path / "system" / "mind-3.jar")
    worker(mosaic, "https://localhost:1", "published", places=str(tmp_path / "system" / "mind-3.jar"))
    assert mosaic("workers", "install", "mind_worker").status == 0


def test_a_build_that_fails_says_why_and_can_be_repeated(mosaic: Mosaic) -> None:
    folder = worker(mosaic, "https://localhost:1", "published", build=BUILD)
    archive(mosaic.home / "right.jar")
    (folder / "source").write_text("")
    done = mosaic("workers", "install", "mind_worker", "--from", mosaic.home / "right.jar")
    assert done.status == 1
    assert "could not be built: source: error: it is empty" in done.err
    (folder / "source").write_text("three")
    assert mosaic("workers", "install", "mind_worker").status == 0


def test_a_file_is_fetched_over_tls_alone(mosaic: Mosaic) -> None:
    worker(mosaic, "http://localhost:1", "published")
    assert "an address with https://" in mosaic("workers", "list").out


def test_no_step_on_the_way_to_a_file_is_unencrypted(
    mosaic: Mosaic, published: tuple[Path, str], plain: tuple[Path, str]
) -> None:
    """A machine that answers such a step could send the file, and the checksum beside it, from anywhere."""
    (served, address), (open_folder, open_address) = published, plain
    sha256 = hashlib.sha256(archive(served / "there.jar")).hexdigest()
    (served / "mind.jar.elsewhere").write_text(f"{open_address}/mind.jar")
    (open_folder / "mind.jar.elsewhere").write_text(f"{address}/there.jar")
    worker(mosaic, address, sha256)
    done = mosaic("workers", "install", "mind_worker")
    assert done.status == 1
    assert f"redirects to {open_address}/mind.jar, which is not encrypted" in done.err
    (served / "mind.jar.elsewhere").write_text(f"{address}/there.jar")
    assert mosaic("workers", "install", "mind_worker").status == 0


@pytest.mark.parametrize("damage", ["encrypted", "packed in an unknown way", "cut off"])
def test_an_archive_that_cannot_be_looked_into_is_refused(mosaic: Mosaic, damage: str) -> None:
    worker(mosaic, "https://localhost:1", "published")
    content = bytearray(archive(mosaic.home / "right.jar"))
    for header, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        first = content.index(header)
        if damage == "encrypted":
            content[first + at] |= 1
        elif damage == "packed in an unknown way":
            content[first + at + 2] = 77
    if damage == "cut off":
        content[content.index(b"META-INF") + 20 :][:4] = b"xxxx"
        content[30 + 20 : 30 + 24] = b"xxxx"
    (mosaic.home / "right.jar").write_bytes(content)
    assert "it is no archive" in mosaic.refused(
        "workers", "install", "mind_worker", "--from", mosaic.home / "right.jar"
    )


def test_a_build_that_failed_is_not_taken_for_the_one_before(mosaic: Mosaic) -> None:
    folder = worker(mosaic, "https://localhost:1", "published", build=BUILD)
    archive(mosaic.home / "right.jar")
    assert mosaic("workers", "install", "mind_worker", "--from", mosaic.home / "right.jar").status == 0
    (folder / "source").write_text("")
    assert mosaic("workers", "install", "mind_worker").status == 1
    (folder / "source").write_text("one\n")
    assert "its program is not built" in mosaic("workers", "list").out


def test_what_a_build_says_need_not_be_utf_8(mosaic: Mosaic) -> None:
    build = """
[build]
command = ["sh", "-c", "printf 'source: error: \\\\351\\\\n' >&2; exit 1"]
"""
    worker(mosaic, "https://localhost:1", "published", build=build)
    archive(mosaic.home / "right.jar")
    done = mosaic("workers", "install", "mind_worker", "--from", mosaic.home / "right.jar")
    assert (done.status, "could not be built: source: error:" in done.err) == (1, True)


def test_sources_that_lead_out_of_the_folder_are_refused_and_others_are_listed(mosaic: Mosaic) -> None:
    for sources in ('["../other"]', '["/etc/hostname"]'):
        worker(mosaic, "https://localhost:1", "published", build=BUILD.replace('["source"]', sources))
        listed = mosaic("workers", "list")
        assert "a path within the worker's folder" in listed.out and "random" in listed.out
        shutil.rmtree(mosaic.home / "data" / "workers" / "mind_worker")


def test_a_source_that_cannot_be_read_makes_its_own_worker_incomplete_alone(mosaic: Mosaic) -> None:
    folder = worker(mosaic, "https://localhost:1", "published", build=BUILD)
    archive(mosaic.home / "right.jar")
    assert mosaic("workers", "install", "mind_worker", "--from", mosaic.home / "right.jar").status == 0
    (folder / "source").unlink()
    (folder / "source").symlink_to("/proc/self/mem")  # which no process can read from its beginning
    listed = mosaic("workers", "list")
    assert listed.status == 0 and "its program is not built" in listed.out
