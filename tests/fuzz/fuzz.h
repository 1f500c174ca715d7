// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Bounded fuzzing. A target is one file fuzz_<name>.c with the two functions below and a line in tests/CMakeLists.txt;
/// whatever bytes it gets, it must come back soon, with little memory taken and all of it given back.
///
/// It is built twice. `./build.sh test` runs it with drive.c: mutations of the seeds from fixed random numbers, the
/// same on every machine, every array of the library ending at a page that may not be touched. `./build.sh fuzz` runs
/// it with clang's libFuzzer, led by coverage, under the address and undefined sanitizers. An input that found
/// something goes to corpus/<name>/ and is tried first from then on; <name>.dict, if there is one, has words for
/// libFuzzer to put in. A target whose input is a file finds a place for it in folder.h.
#include <stddef.h>
#include <stdint.h>

/// The target. Returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/// The index-th good example to start from, written to data; its size, 0 where there are no more.
size_t fuzz_seed(int index, uint8_t *data, size_t capacity);

/// Says what is wrong and ends the process, keeping the input.
void fuzz_found(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/// The input as a supply of numbers. Zeros once it has run out.
typedef struct FuzzBytes {
    const uint8_t *at, *end;
} FuzzBytes;

uint8_t fuzz_byte(FuzzBytes *bytes);
uint32_t fuzz_word(FuzzBytes *bytes);
/// Any float: infinities, denormals and what is no number included.
float fuzz_float(FuzzBytes *bytes);
