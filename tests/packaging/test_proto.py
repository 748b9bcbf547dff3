"""The generated code is that of the schema: scripts/proto.sh was run after the last change."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "worker": "mosaic_worker.pb.worker_pb2",
    "environment": "mosaic_worker.pb.environment_pb2",
    "session": "gym_gui.host.pb.session_pb2",
    "trainer": "gym_gui.services.trainer.pb.trainer_pb2",
}


def test_each_schema_has_its_module() -> None:
    assert {path.stem for path in (ROOT / "proto" / "mosaic" / "v1").glob("*.proto")} == set(MODULES)


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """What the compiler makes of each schema, by name."""
    out = tmp_path_factory.mktemp("proto") / "set.pb"
    files = [f"mosaic/v1/{name}.proto" for name in MODULES]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--descriptor_set_out={out}", *files]
    subprocess.run(command, cwd=ROOT / "proto", check=True, capture_output=True)
    made = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    return {Path(file.name).stem: file for file in made}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_generated_code_is_current(name: str, schemas: dict[str, descriptor_pb2.FileDescriptorProto]) -> None:
    wanted = schemas[name]
    module = importlib.import_module(MODULES[name])
    found = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    # The command-line compiler spells out the JSON names that the embedded form leaves implicit.
    for message in _messages(wanted.message_type):
        for field in message.field:
            field.ClearField("json_name")
    assert found == wanted


def _messages(messages: object) -> list[descriptor_pb2.DescriptorProto]:
    result: list[descriptor_pb2.DescriptorProto] = []
    for message in messages:  # type: ignore[attr-defined]
        result += [message, *_messages(message.nested_type)]
    return result
