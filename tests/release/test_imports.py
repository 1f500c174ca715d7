# SPDX-License-Identifier: GPL-3.0-or-later
"""Every imported library, every symbol version and every export of every released binary; nothing else is allowed.

That a rule can fail is tried each time: on the native build, which needs libraries of this machine, and on copies of
the released binaries in which a name or a bit was changed.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import elf_rules
import lief
import macho_rules
import pe_rules
import program_rules
import release

LISTING = release.ROOT / "build/package/imports.txt"


def rules(platform: str) -> ModuleType:
    return {"linux": elf_rules, "windows": pe_rules, "macos": macho_rules}[platform.split("-")[0]]


def complaints(path: Path, platform: str) -> list[str]:
    return list(rules(platform).complaints(path, platform))


def listing(platform: str, path: Path) -> str:
    found = rules(platform).interface(path)
    lines = [f"{platform}/{path.name}"]
    lines += [f"    library {name}" for name in found.libraries] + [f"    version {name}" for name in found.versions]
    lines += [f"    import  {name}" for name in found.imports] + [f"    export  {name}" for name in found.exports]
    return "\n".join(lines) + "\n"


def test_binaries_ask_for_nothing_but_the_system(_: Path) -> None:
    found = release.binaries()
    LISTING.parent.mkdir(parents=True, exist_ok=True)
    LISTING.write_text("".join(listing(platform, path) for platform, path in found))
    problems = [f"{platform}/{path.name} {text}" for platform, path in found for text in complaints(path, platform)]
    assert not problems, "; ".join(problems)


def test_the_native_build_would_not_pass(_: Path) -> None:
    folder = release.NATIVE / "bin"
    assert "needs libjansson.so.4" in set(complaints(folder / "libgrain.so", "linux-x64"))
    volumes = complaints(folder / "libgrain_vdb.so", "linux-x64")
    assert {"needs libopenvdb.so.10.0", "needs libtbb.so.12", "needs libstdc++.so.6"} <= set(volumes), volumes
    assert any("GLIBCXX" in text for text in volumes) and any("newer than 2.28" in text for text in volumes), volumes
    assert "has the section .symtab: it is not stripped" in volumes, volumes


# --- rules that bite ------------------------------------------------------------------------------

def changed(platform: str, name: str, folder: Path, change: Callable[[bytes], bytes]) -> list[str]:
    """What is said of a binary with a change that was not said without it."""
    original = release.BINARIES / platform / "bin" / name
    before, copy = original.read_bytes(), folder / name
    copy.write_bytes(change(before))
    assert copy.read_bytes() != before, f"nothing was changed in {platform}/{name}"
    return [text for text in complaints(copy, platform) if text not in complaints(original, platform)]


def renaming(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    assert len(old) == len(new)
    return lambda content: content.replace(old, new)


def inexact(imports: tuple[str, ...]) -> Callable[[bytes], bytes]:
    """Makes a sine of one of the functions that are imported."""
    name = max(imports, key=len)
    return renaming(f"{name}\0".encode(), f"{'sin':_>{len(name)}}\0".encode())


def stray(exports: tuple[str, ...]) -> tuple[Callable[[bytes], bytes], str]:
    """Gives one of the functions that are exported another name."""
    name = exports[0]
    return renaming(f"\0{name}\0".encode(), f"\0stray{name[5:]}\0".encode()), f"exports stray{name[5:]}"


def adding(text: bytes) -> Callable[[bytes], bytes]:
    """Appends bytes, which a loader does not look at but a reader of the file does."""
    return lambda content: content + b"\0" + text + b"\0"


def test_linux_rules_bite(folder: Path) -> None:
    for platform in ("linux-x64", "linux-arm64"):
        found = elf_rules.interface(release.BINARIES / platform / "bin/libgrain.so")
        minor = found.versions[0].split(": GLIBC_2")[1]
        version = f"GLIBC_2{minor}\0".encode()
        cases: list[tuple[Callable[[bytes], bytes], str]] = [
            (renaming(b"\0libc.so.6\0", b"\0libx.so.6\0"), "needs libx.so.6"),
            (renaming(version, version.replace(b"_2", b"_3", 1)), f"GLIBC_3{minor}, newer than 2.28"),
            (renaming(version, version.replace(b"GLIBC", b"CXXAB")), f": CXXAB_2{minor}"),
            stray(found.exports),
            (inexact(found.imports), "from the system's mathematics"),
            (adding(b"/home/somebody/grain/libgrain/src/base/error.c"), "names the path /home/somebody"),
            (adding(str(release.ROOT).encode()), "a name of the machine it was built on"),
        ]
        for change, expected in cases:
            said = changed(platform, "libgrain.so", folder, change)
            assert any(expected in text for text in said), f"{platform}: '{expected}' not in {said}"
    said = complaints(release.BINARIES / "linux-x64/bin/grain", "linux-arm64")
    assert any(text.startswith("is for") for text in said), said


def test_a_library_search_path_is_found(folder: Path) -> None:
    binary = lief.ELF.parse(str(release.BINARIES / "linux-x64/bin/libgrain.so"))
    binary.add(lief.ELF.DynamicEntryRunPath("$ORIGIN:/usr/local/lib"))
    binary.write(str(folder / "libgrain.so"))
    said = complaints(folder / "libgrain.so", "linux-x64")
    assert "looks for libraries in /usr/local/lib" in said and "looks for libraries in $ORIGIN" not in said, said


def without_protection(content: bytes) -> bytes:
    """Clears the characteristics of a DLL in its optional header."""
    start, = struct.unpack_from("<I", content, 0x3C)
    place = start + 4 + 20 + 70
    return content[:place] + b"\0\0" + content[place + 2:]


def with_time(content: bytes) -> bytes:
    start, = struct.unpack_from("<I", content, 0x3C)
    return content[:start + 8] + struct.pack("<I", 1700000000) + content[start + 12:]


def test_windows_rules_bite(folder: Path) -> None:
    found = pe_rules.interface(release.BINARIES / "windows-x64/bin/grain.dll")
    cases: list[tuple[Callable[[bytes], bytes], str]] = [
        (renaming(b"KERNEL32.dll\0", b"libgcc_1.dll\0"), "needs libgcc_1.dll"),
        (without_protection, "is without ASLR"),
        (without_protection, "is without NX"),
        (with_time, "carries the time of its linking"),
        stray(found.exports),
        (inexact(found.imports), "from the system's mathematics"),
        (adding(b"/root/.cache/zig/o/1234/a.o"), "names the path /root/.cache"),
    ]
    for change, expected in cases:
        said = changed("windows-x64", "grain.dll", folder, change)
        assert any(expected in text for text in said), f"'{expected}' not in {said}"


def test_mac_rules_bite(folder: Path) -> None:
    for platform in ("macos-arm64", "macos-x64"):
        library = release.BINARIES / platform / "bin/libgrain.dylib"
        binary = macho_rules.parse(library)
        cases: list[tuple[Callable[[bytes], bytes], str]] = [
            (renaming(b"libSystem.B.dylib", b"libSystem.C.dylib"), "needs /usr/lib/libSystem.C.dylib"),
            (renaming(b"@rpath/libgrain.dylib", b"/build/libgrain.dylib"), "has the install name /build/libgrain"),
            (renaming(struct.pack("<II", 1, 0x000B0000), struct.pack("<II", 1, 0x000E0000)), "is for macOS 14"),
            (lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:], "does not fit page"),
        ]
        for change, expected in cases:
            said = changed(platform, "libgrain.dylib", folder, change)
            assert any(expected in text for text in said), f"{platform}: '{expected}' not in {said}"
        place = binary.code_signature
        said = changed(platform, "libgrain.dylib", folder,
                       lambda content, at=place.data_offset: content[:at] + bytes(64) + content[at + 64:])
        assert any("without a code directory" in text for text in said), said
    said = complaints(release.BINARIES / "macos-x64/bin/grain", "macos-arm64")
    assert any(text.startswith("is for") for text in said), said


def test_the_oldest_mac_has_what_is_imported(folder: Path) -> None:
    later = "strchrnul"  # from 15.4 on
    for platform in ("macos-arm64", "macos-x64"):
        imports = {name for of, path in release.binaries() if of == platform for name in macho_rules.interface(path).imports}
        found = macho_rules.newer_imports({*imports, later}, release.BINARIES / platform / "tools/cc", folder)
        assert found.pop(later, "") and not found, f"{platform}: {found}"


def test_names_of_inexact_functions(_: Path) -> None:
    """By C's names in all precisions, and by those glibc gives them; what is exact may be imported."""
    bad = ["sin", "sinf", "powl", "__exp_finite", "sincosf", "cbrt", "lgamma_r"]
    said = list(program_rules.inexact_imports(bad))
    assert len(said) == len(bad), said
    good = ["sqrt", "floorf", "fmal", "rintf", "ldexp", "modff", "printf", "isinf", "logbf", "copysignf"]
    assert not list(program_rules.inexact_imports(good))
