# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the signature inside a Mach-O file as macOS does before it runs a page of it: every hash is computed anew.

Layout: xnu's cs_blobs.h. All numbers are big-endian. An arm64 Mac kills a program whose signature is missing or wrong.
"""
from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

EMBEDDED_SIGNATURE, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
DIRECTORY_SLOT = 0
AD_HOC = 0x2
SHA256 = 2


def code_directory(signature: bytes) -> bytes | None:
    if len(signature) < 12:
        return None
    magic, length, count = struct.unpack_from(">III", signature)
    if magic != EMBEDDED_SIGNATURE or length > len(signature) or 12 + 8 * count > length:
        return None
    for k in range(count):
        slot, offset = struct.unpack_from(">II", signature, 12 + 8 * k)
        if slot == DIRECTORY_SLOT and offset + 44 <= length:
            blob_magic, blob_length = struct.unpack_from(">II", signature, offset)
            if blob_magic == CODE_DIRECTORY and offset + blob_length <= length:
                return signature[offset:offset + blob_length]
    return None


def complaints(content: bytes, offset: int, size: int) -> Iterator[str]:
    """About the signature at this place of a file."""
    directory = code_directory(content[offset:offset + size])
    if directory is None:
        yield "has a signature without a code directory"
        return
    flags, hashes, identifier, _special, pages, limit = struct.unpack_from(">6I", directory, 12)
    hash_size, hash_kind, _platform, page_shift = struct.unpack_from("4B", directory, 36)
    if not flags & AD_HOC:
        yield f"has a signature that is not ad hoc (flags {flags:#x}), and nobody's certificate"
    if hash_kind != SHA256 or hash_size != 32:
        yield f"is signed with hashes of kind {hash_kind} instead of SHA-256"
        return
    if limit != offset:
        yield f"has a signature over {limit} bytes instead of the {offset} before it"
    page = 1 << page_shift
    if pages != -(-limit // page):
        yield f"has a signature of {pages} pages instead of {-(-limit // page)}"
        return
    if hashes + pages * hash_size > len(directory):
        yield "has a signature that is cut short"
        return
    if not 0 < identifier < len(directory) or directory[identifier] == 0:
        yield "is signed without an identifier"
    for k in range(pages):
        expected = directory[hashes + k * hash_size:hashes + (k + 1) * hash_size]
        if hashlib.sha256(content[k * page:min((k + 1) * page, limit)]).digest() != expected:
            yield f"has a signature that does not fit page {k} of {pages}"
