# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as an artist reads them. A no-break space keeps a number and its unit on one line."""

_SPACE = "\N{NO-BREAK SPACE}"


def count(number: int) -> str:
    """29800 -> '29,800'."""
    return f"{number:,}"


def about(number: float) -> str:
    """An estimate, without digits nobody can promise: 29837 -> '30,000', 1234567 -> '1.2 million'."""
    if number >= 1_000_000:
        return f"{number / 1e6:.2g}{_SPACE}million" if number < 1e8 else f"{number / 1e6:,.0f}{_SPACE}million"
    digits = max(0, len(str(int(number))) - 2)
    return count(int(round(number, -digits)))


def size(number: float) -> str:
    """Bytes with the unit disks are sold in: 1500000 -> '1.5 MB'."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            break
        number /= 1000
    return f"{number:.0f}{_SPACE}{unit}" if number >= 100 or unit == "bytes" else f"{number:.2g}{_SPACE}{unit}"


def duration(seconds: float) -> str:
    """Two units at most: '4 s', '1 min 3 s', '2 h 5 min'."""
    whole = int(round(seconds))
    if whole < 60:
        return f"{whole}{_SPACE}s"
    if whole < 3600:
        return f"{whole // 60}{_SPACE}min {whole % 60}{_SPACE}s"
    return f"{whole // 3600}{_SPACE}h {whole % 3600 // 60}{_SPACE}min"


def per_frame(seconds: float) -> str:
    return f"{seconds:.2g}{_SPACE}s/frame" if seconds < 10 else f"{duration(seconds)}/frame"


def plural(number: int, word: str) -> str:
    """(1, 'frame') -> '1 frame', (3, 'frame') -> '3 frames'."""
    return f"{count(number)} {word}" if number == 1 else f"{count(number)} {word}s"


def listing(words: list[str]) -> str:
    """['a', 'b', 'c'] -> 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
