# SPDX-License-Identifier: GPL-3.0-or-later
"""Phrases that must not return to texts that users read: labels, tooltips, messages and documentation.

Each was in the tree once and sent readers astray: two words for one thing, or English that has to be decoded. The glossary in
.github/CONTRIBUTING.md says what to write instead. Comments and docstrings are not checked.
"""
from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Pattern, and what to write instead.
BANNED = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in (
    (r"\b(?:go|goes|going|went|gone) on (?:from|where|with|after|again)\b|\bto go on\b|\bgoes on[.,;:]?$", "continue, resume or restart"),
    (r"\bstop (?:it|the bake) first\b|\ba stopped bake\b", "pause"),
    (r"\bso many (?!that\b)(?:grains|particles|seconds|frames|cells|million)\b", "this many"),
    (r"\b(?:are|is|was|were) of (?:other|another) (?:settings|job|build|version)\b", "was made with other settings, belongs to another job"),
    (r"\bis nowhere\b|\bvertices are nowhere\b", "has no finite position"),
    (r"\bmakes? no sense\b", "is not valid"),
    (r"\bbelongs? to nobody\b|\bwho (?:comes|goes)\b", "a noun and a verb"),
    (r"\bState Interval\b|\bsaved states?\b", "restart point"),
    (r"\bis (?:missing or )?of another kind\b", "has another type, or another number of components"),
    (r"\bSand and Snow\b|\bSand, Dry and Wet\b", "Continuum, Smoothed Particles"),
)]

ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in BANNED), re.IGNORECASE | re.MULTILINE)
TEXT_OR_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
JOINED = re.compile(r'"\s*\n\s*"')


def problems() -> Iterator[str]:
    for path in _files():
        source = path.read_text("utf-8")
        if path.suffix != ".py" and path.suffix != ".md":
            source = JOINED.sub("", source)
        if ANY.search(source):  # most files end here: what follows is slow
            for text in _texts(path, source):
                for pattern, instead in BANNED:
                    if found := pattern.search(text):
                        yield f"{path.relative_to(ROOT)} says '{found[0]}' in \"{text[:60]}\"; write: {instead}"


def _files() -> Iterator[Path]:
    yield from sorted((ROOT / "addon/grain").rglob("*.py"))
    for folder in ("libgrain/src", "libgrain/cli", "libgrain/vdb"):
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".cpp"))
    yield from (ROOT / "README.md", ROOT / "example_blends/README.md")
    yield from sorted((*(ROOT / "addon/docs").glob("*.md"), *(ROOT / "libgrain/docs").rglob("*.md")))


def _texts(path: Path, source: str) -> list[str]:
    if path.suffix == ".md":
        return source.splitlines()
    if path.suffix == ".py":
        return python_texts(source)
    return [found[1] for found in TEXT_OR_COMMENT.finditer(source) if found[1] is not None]


def python_texts(source: str) -> list[str]:
    """String constants that are not docstrings; the pieces of an f-string one by one."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.body[0].value) for node in nodes
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
                  and node.body and isinstance(node.body[0], ast.Expr)}
    return [node.value for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings]
