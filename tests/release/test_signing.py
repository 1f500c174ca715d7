# SPDX-License-Identifier: GPL-3.0-or-later
"""The signer of macOS binaries: what it signs is what the checker, which shares no code with it, takes for signed."""
from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import code_signature
import macho_rules
import release

SIGNER = release.ROOT / "libgrain/platforms/sign_macho.py"


def sign(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SIGNER), str(path)], capture_output=True, text=True)


def unsigned(path: Path) -> bytes:
    """A signed file as the linker left it: without the last load command and the bytes it points to."""
    content, binary = bytearray(path.read_bytes()), macho_rules.parse(path)
    place = binary.code_signature
    count, size = struct.unpack_from("<II", content, 16)
    assert place.command_offset + place.size == 32 + size, "the signature's load command is not the last one"
    struct.pack_into("<II", content, 16, count - 1, size - place.size)
    content[place.command_offset:place.command_offset + place.size] = bytes(place.size)
    segment = binary.get_segment("__LINKEDIT")
    struct.pack_into("<Q", content, segment.command_offset + 48, place.data_offset - segment.file_offset)
    return bytes(content[:place.data_offset])


def signature_complaints(path: Path) -> list[str]:
    binary = macho_rules.parse(path)
    if not binary.has_code_signature:
        return ["not signed"]
    place = binary.code_signature
    return list(code_signature.complaints(path.read_bytes(), place.data_offset, place.data_size))


def test_what_is_signed_checks(folder: Path) -> None:
    for platform in ("macos-arm64", "macos-x64"):
        for name in release.FILES[platform]:
            path = folder / name
            path.write_bytes(unsigned(release.BINARIES / platform / "bin" / name))
            assert signature_complaints(path) == ["not signed"], name
            done = sign(path)
            assert done.returncode == 0, done.stderr
            assert not signature_complaints(path), f"{platform}/{name}: {signature_complaints(path)}"
            assert not list(macho_rules.complaints(path, platform)), f"{platform}/{name}"
            before = path.read_bytes()
            assert sign(path).returncode == 0 and path.read_bytes() == before, "what is signed is left alone"


def test_other_files_are_refused(folder: Path) -> None:
    whole = unsigned(release.BINARIES / "macos-x64/bin/libgrain.dylib")
    cases = {"empty": b"", "text": b"not a library" * 10, "cut": whole[:200], "longer": whole + bytes(100)}
    for name, content in cases.items():
        (folder / name).write_bytes(content)
        done = sign(folder / name)
        assert done.returncode == 1 and "Traceback" not in done.stderr, f"{name}: {done}"
        assert f"sign_macho.py: {folder / name}: " in done.stderr, done.stderr
        assert (folder / name).read_bytes() == content, f"{name} was changed"
