"""Small files that ask for much memory, and what their readers take: run in a process of its own.

``python -m tests.support.bombs CASE…`` prints a line of JSON for each: what was said, and by how many MB its
peak was above what was there before. What makes a file writes it in small pieces.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import io
import json
import re
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

MB = 1 << 20
ZEROS = bytes(MB)
LONG = 256
"""MB that a bomb unpacks to, where it is packed."""

Reader = Callable[[], object]


def _member(archive: zipfile.ZipFile, name: str, part: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    with archive.open(info, "w", force_zip64=True) as member:
        for _ in range(LONG * MB // len(part)):
            member.write(part)


def own_policy(folder: Path) -> Reader:
    """An export of a policy whose weights are zeros."""
    from gym_gui.core.errors import MosaicError
    from gym_gui.services.policies.policy_exchange import import_shared_policy
    from gym_gui.services.policies.policy_library import PolicyLibrary
    from gym_gui.services.store import Store
    from mosaic_worker.checkpoint import DESCRIPTION, WEIGHTS

    file = folder / "policy.zip"
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        archive.writestr(DESCRIPTION, "{}")
        _member(archive, WEIGHTS, ZEROS, zipfile.ZIP_BZIP2)
    library = PolicyLibrary(Store(data=folder / "data"))
    return _refused(lambda: import_shared_policy(library, file), MosaicError)


def sb3_data(folder: Path) -> Reader:
    """A file of Stable-Baselines3 whose JSON is packed."""
    from mosaic_worker.learning.importing import ImportRefused
    from sb3_worker.sb3_zip import read_zip

    file = folder / "model.zip"
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        _member(archive, "data", b"[[],[],[],[],[],[],[],[],[]],   "[:32] * 1024)
        archive.writestr("policy.pth", b"")
    return _refused(lambda: read_zip(file), ImportRefused)


def packed_weights(folder: Path) -> Reader:
    """Packed tensors in a file of torch's, which torch reads."""
    from mosaic_worker.learning.importing import ImportRefused
    from mosaic_worker.learning.torch_files import read_torch_file

    packed = _deflated_pth(folder)
    return _refused(lambda: read_torch_file(packed, packed.stat().st_size), ImportRefused)


def making_pickle(folder: Path) -> Reader:
    """A pickle in such a file that makes what it does not hold: torch lets it."""
    import torch

    from mosaic_worker.learning.importing import ImportRefused
    from mosaic_worker.learning.torch_files import read_torch_file

    file = folder / "model.pt"
    torch.save({"a": torch.zeros(1)}, file)
    changed = folder / "bomb.pt"
    greedy = b"\x80\x02cbuiltins\nbytearray\nJ" + struct.pack("<i", 1 << 30) + b"\x85R."
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(changed, "w") as target:
        for name in whole.namelist():
            target.writestr(name, greedy if name.endswith("data.pkl") else whole.read(name))
    return _refused(lambda: read_torch_file(changed, LONG * MB), ImportRefused)


def _deflated_pth(folder: Path) -> Path:
    import torch

    file, packed = folder / "model.pt", folder / "packed.pt"
    torch.save({"a": torch.zeros(LONG * MB // 16)}, file)
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(packed, "w", compresslevel=1) as target:
        for name in whole.namelist():
            target.writestr(name, whole.read(name), zipfile.ZIP_DEFLATED)
    return packed


def pickle_copies(folder: Path) -> Reader:
    """A megabyte of pickle that has its half copied again and again."""
    from mosaic_worker.unpickling import UnpicklingRefused, read_pickle

    half = (
        b"\x80\x02](cbuiltins\nbytearray\nq\x01B" + struct.pack("<I", MB // 2) + bytes(MB // 2) + b"q\x0200"
    )
    data = half + b"h\x01h\x02\x85R" * 1000 + b"e."
    return _refused(lambda: read_pickle(data), UnpicklingRefused)


def pickle_objects(folder: Path) -> Reader:
    """A megabyte of pickle, each byte of which is an object."""
    from mosaic_worker.unpickling import UnpicklingRefused, read_pickle

    data = b"\x80\x02](" + b"}" * MB + b"e."
    return _refused(lambda: read_pickle(data), UnpicklingRefused)


def space(folder: Path) -> Reader:
    """An observation of 1,000 MB, as a worker or a server of environments describes it."""
    from mosaic_worker.gymnasium_spaces import build
    from mosaic_worker.spaces import Space

    told = {"kind": "Box", "dtype": "float32", "shape": [250 * MB], "low": 0, "high": 1}
    return _refused(lambda: build(Space.from_json(told)), ValueError)


def many_spaces(folder: Path) -> Reader:
    """The same, in many parts."""
    from mosaic_worker.gymnasium_spaces import build
    from mosaic_worker.spaces import Space

    part = {"kind": "Box", "dtype": "uint8", "shape": [MB], "low": 0, "high": 1}
    told = {"kind": "Tuple", "spaces": [part] * 300}
    return _refused(lambda: build(Space.from_json(told)), ValueError)


def nested_sequences(folder: Path) -> Reader:
    """A value of sequences of nothing, each of which says that it is long."""
    from mosaic_worker.codec import Codec
    from mosaic_worker.spaces import Space

    empty = Space("Box", np.dtype(np.float32), (0,), np.zeros(0), np.zeros(0))
    inner = Space("Sequence", spaces={"element": empty})
    codec = Codec(Space("Sequence", spaces={"element": inner}))
    count = 200
    each = struct.pack("<II", 4, 1 << 16)
    value = struct.pack("<I", count) + each * count
    return _refused(lambda: codec.decode((value,)), ValueError)


def graph_head(folder: Path) -> Reader:
    """An array whose shape says more than its bytes."""
    from mosaic_worker.codec import Codec
    from mosaic_worker.spaces import Space

    node = Space("Discrete", np.dtype(np.int64), n=2)
    codec = Codec(Space("Graph", spaces={"node": node}))
    head = b"\x03<f4\x02" + struct.pack("<II", 1 << 31, 1 << 31) + b"\0\0"
    return _refused(lambda: codec.decode((head,)), ValueError)


def log_entries(folder: Path) -> Reader:
    """Three log entries of 100 MB."""
    from gym_gui.wire import pb
    from gym_gui.wire.channel import Frames

    heard: list[Any] = []
    size = 100 * MB
    head = struct.pack("<I", size + 5) + b"\x32" + b"\xfb\xff\xff\x2f"

    def feed() -> str:
        receiver = Frames(heard.append, heard.append)
        for _ in range(3):
            receiver.data_received(head)
            piece = b"x" * (1 << 16)
            for _ in range(size // len(piece)):
                receiver.data_received(piece)
        texts = [each.log.text for each in heard if isinstance(each, pb.FromWorker)]
        return f"refused: {texts}"

    return feed


def rllib_array(folder: Path) -> Reader:
    """A deflated array in the state of a checkpoint of RLlib."""
    from ray_worker.connectors import array_of

    packer = zlib.compressobj(1)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "|u1", "fortran_order": False, "shape": (LONG * MB,)}
    )
    parts = [packer.compress(head.getvalue()), *(packer.compress(ZEROS) for _ in range(LONG)), packer.flush()]
    packed = base64.b64encode(b"".join(parts)).decode()
    return _refused(lambda: array_of(packed), ValueError)


def packed_rows(folder: Path) -> Reader:
    """Compressed rows of one line that does not end."""
    from gym_gui.analysis.records.jsonl import read_lines

    file = bomb_rows(folder / "run" / "operators" / "a" / "steps.jsonl.zst")
    from gym_gui.core.errors import MosaicError

    return _refused(lambda: list(read_lines(file.with_suffix(""))), MosaicError)


def packed_rows_of_another_program(folder: Path) -> Reader:
    """The same, without a table of where frames are."""
    from backports.zstd import compress

    from gym_gui.analysis.records.jsonl import read_lines
    from gym_gui.core.errors import MosaicError

    file = folder / "run" / "operators" / "a" / "steps.jsonl.zst"
    file.parent.mkdir(parents=True)
    file.write_bytes(compress(b'{"a":[' + b"[]," * (LONG * MB // 3)))
    return _refused(lambda: list(read_lines(file.with_suffix(""))), MosaicError)


def long_line(folder: Path) -> Reader:
    """A line as long as one may be, of the smallest values: read, with what that takes."""
    from gym_gui.analysis.records.jsonl import read_lines
    from mosaic_worker.plain_files import LONGEST_LINE

    file = folder / "run" / "operators" / "a" / "steps.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"a":[' + b"[]," * (LONGEST_LINE // 3 - 8) + b"[]]}\n")
    return lambda: f"refused: {sum(1 for _ in read_lines(file))} lines"


def bomb_rows(file: Path, megabytes: int = LONG) -> Path:
    """Write compressed rows that are one long line of small values."""
    from gym_gui.analysis.records.packed_rows import FRAME, pack

    file.parent.mkdir(parents=True, exist_ok=True)
    block = b"[]," * (FRAME // 3 + 1)

    class Source:
        left = megabytes

        def read(self, size: int) -> bytes:
            self.left -= 1
            begin = b'{"a":[' if self.left == megabytes - 1 else b""
            return (begin + block)[:size] if self.left >= 0 else b""

    file.write_bytes(b"".join(pack(Source())))  # type: ignore[arg-type]
    return file


def _refused(read: Reader, kind: type[BaseException]) -> Reader:
    def tried() -> str:
        try:
            read()
        except kind as error:
            return f"refused: {error}"
        return "was read"

    return tried


CASES: dict[str, Callable[[Path], Reader]] = {
    each.__name__: each
    for each in (
        *(own_policy, pickle_copies, pickle_objects, space, many_spaces, nested_sequences, graph_head),
        *(log_entries, rllib_array, long_line, packed_rows, packed_rows_of_another_program),
        *(sb3_data, packed_weights, making_pickle),
    )
}


def peak_above(read: Reader) -> tuple[str, float]:
    """What a reader says, and by how many MB the peak of this process was above what it had."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    try:
        said = str(read())
    except MemoryError as error:
        said = f"not told: {error!r}"
    return said, _memory("VmHWM") - before


def _memory(key: str) -> float:
    found = re.search(rf"^{key}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert found is not None
    return int(found[1]) / 1024


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def main() -> None:
    """Tell of each case that is named."""
    for name in sys.argv[1:]:
        with _folder() as folder:
            read = CASES[name](folder)
            said, peak = peak_above(read)
        print(json.dumps({"case": name, "said": said[:300], "peak_mb": round(peak)}), flush=True)


if __name__ == "__main__":
    main()
