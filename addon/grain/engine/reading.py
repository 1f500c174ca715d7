# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON that anybody may have written: parsed within bounds, and every value asked for by its type and range before it is used."""
import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, Optional

MOST_DIGITS = 20  # of a whole number: those of 2^64
MOST_TEXT = 4096  # characters
BIGGEST = 2 ** 63 - 1


class Unfit(ValueError):
    """The text says which value, and what is wrong with it."""


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:  # a million digits take Python minutes
        raise Unfit("a number has too many digits")
    return int(digits)


def _fraction(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):  # 1e999
        raise Unfit("a number is not finite")
    return value


def _constant(name: str) -> float:
    raise Unfit(f"{name} is not a number")


def parse(data: bytes) -> "Block":
    """A JSON object. Raises Unfit."""
    try:
        found = json.loads(data.decode("utf-8"), parse_int=_whole, parse_float=_fraction, parse_constant=_constant)
        if b"\\u" in data:  # half of a pair, which nobody can write again, can only be written so
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except Unfit:
        raise
    except RecursionError as error:
        raise Unfit("it is nested too deeply") from error
    except ValueError as error:  # UnicodeError is one, too
        raise Unfit("it is not JSON") from error
    return Block(found)


def integer(value: Any, low: int = -BIGGEST, high: int = BIGGEST) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Unfit(f"is not a whole number from {low} to {high}")
    return value


def number(value: Any, low: float, high: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
        raise Unfit(f"is not a number from {low:g} to {high:g}")
    return float(value)


def text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise Unfit(f"is not a text of at most {MOST_TEXT} characters")
    return value


class Block:
    """An object of a document, asked for its values by key. Without a default a key is required. Every question raises Unfit."""

    def __init__(self, values: Any, name: str = "") -> None:
        if not isinstance(values, dict):
            raise Unfit(f"{name or 'it'} is not an object")
        self.values, self.name = values, name

    def _name_of(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def _ask(self, question: Any, key: str, default: Any, *bounds: Any) -> Any:
        if key not in self.values:
            if default is None:
                raise Unfit(f"{self._name_of(key)} is missing")
            return default
        try:
            return question(self.values[key], *bounds)
        except Unfit as error:
            raise Unfit(f"{self._name_of(key)} {error}") from None

    def integer(self, key: str, low: int = -BIGGEST, high: int = BIGGEST, default: Optional[int] = None) -> int:
        return int(self._ask(integer, key, default, low, high))

    def number(self, key: str, low: float, high: float, default: Optional[float] = None) -> float:
        return float(self._ask(number, key, default, low, high))

    def text(self, key: str, default: Optional[str] = None) -> str:
        return str(self._ask(text, key, default))

    def entries(self, key: str) -> list[Any]:
        """Empty where the key is missing."""
        values = self.values.get(key, [])
        if not isinstance(values, list):
            raise Unfit(f"{self._name_of(key)} is not a list")
        return values

    def texts(self, key: str) -> tuple[str, ...]:
        try:
            return tuple(text(value) for value in self.entries(key))
        except Unfit as error:
            raise Unfit(f"{self._name_of(key)}: one {error}") from None

    def blocks(self, key: str) -> "Iterator[Block]":
        """Those of a list."""
        name = self._name_of(key)
        return (Block(values, f"{name}[{at}]") for at, values in enumerate(self.entries(key)))

    def column(self, key: str, of: str, low: int, high: int) -> list[int]:
        """A whole number of each block in a list; of thousands of them in a few milliseconds."""
        try:
            found = [row[of] for row in self.entries(key)]
            if all(type(value) is int and low <= value <= high for value in found):
                return found
        except (TypeError, KeyError):
            pass  # what is wrong is told below
        return [block.integer(of, low, high) for block in self.blocks(key)]

    def block(self, key: str) -> "Block":
        """Empty where the key is missing."""
        return Block(self.values.get(key, {}), self._name_of(key))
