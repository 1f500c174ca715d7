# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as an artist reads them. A no-break space keeps a number and its unit on one line. And words of others, made fit to be shown."""
import unicodedata

_SPACE = "\N{NO-BREAK SPACE}"


def count(number: int) -> str:
    """29800 -> '29,800'."""
    return f"{number:,}"


def about(number: float) -> str:
    """An estimate, without digits that cannot be promised: 29837 -> '30,000', 1234567 -> '1.2 million'."""
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


# Ways to turn the reading direction around: with them a name shows as another.
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = ("Cc", "Cs", "Cn", "Zl", "Zp")  # control characters, halves of a pair, what is no character, line ends


def clean(words: str, most: int = 1000) -> str:
    """Text from a file or a program as it may be shown, printed and logged: on one line, nothing in it that a terminal obeys, that
    turns the direction or that cannot be encoded; at most this many characters."""
    if words.isprintable() and len(words) <= most:  # which none of those is
        return words
    shown = "".join("?" if letter in _TURNS or unicodedata.category(letter) in _UNSEEN else letter
                    for letter in words[:most].replace("\r\n", " ").replace("\n", " ").replace("\t", " "))
    return shown if len(words) <= most else f"{shown}..."
