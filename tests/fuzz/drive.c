// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz target without libFuzzer: the corpus, the seeds, then mutations of both from fixed random numbers.
//
//     fuzz_mesh --runs 1000 --seconds 10 --seed 1 CORPUS_FOLDER     prints `ok fuzz/mesh` or `not ok fuzz/mesh: ...`
//     fuzz_mesh INPUT_FILE                             tries one input again
//     fuzz_mesh --write-seeds FOLDER                   for libFuzzer to start from
#include "base/rng.h"
#include "base/run.h"
#include "fuzz/fuzz.h"
#include "grain/grain.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_INPUT 16384
#define MAX_KEPT 512
// An input that takes longer hangs; the slowest of some thousands takes a tenth of it.
#define SECONDS_FOR_ONE 20
// No target asks for work that needs more.
#define MEMORY_LIMIT ((int64_t)256 << 20)

typedef struct Input {
    size_t size;
    uint8_t data[LONGEST_INPUT];
} Input;

static Input kept[MAX_KEPT], current;
static int kept_count;
static const char *target_name = "";
static int64_t run_number;

// --- every array ends at a page that may not be touched ---------------------------------------------

static _Atomic int64_t held;

static uint64_t whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void *guarded_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user;
    uint64_t pages = whole_pages(bytes), guard = whole_pages(1);
    if (atomic_fetch_add(&held, (int64_t)pages) + (int64_t)pages > MEMORY_LIMIT)
        fuzz_found("more than %lld MB of memory, %llu at once", (long long)(MEMORY_LIMIT >> 20),
                   (unsigned long long)bytes);
    char *base = mmap(NULL, pages + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return NULL;
    mprotect(base + pages, guard, PROT_NONE);
    return base + (pages - (bytes + alignment - 1) / alignment * alignment);
}

static void guarded_release(void *user, void *memory, uint64_t bytes)
{
    (void)user;
    uint64_t pages = whole_pages(bytes), guard = whole_pages(1);
    char *base = (char *)((uintptr_t)memory / guard * guard);
    atomic_fetch_sub(&held, (int64_t)pages);
    munmap(base, pages + guard);
}

// --- keeping the input that found something -----------------------------------------------------------

static void keep_and_report(int signal_number)
{
    char path[256], text[512];
    snprintf(path, sizeof path, "fuzz_found_%s", target_name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ssize_t written = file >= 0 ? write(file, current.data, current.size) : 0;
    if (file >= 0) close(file);
    int length =
        snprintf(text, sizeof text, "not ok fuzz/%s: input %lld %s; kept as %s\n", target_name, (long long)run_number,
                 signal_number == SIGALRM   ? "takes too long"
                 : signal_number == SIGABRT ? "breaks a promise"
                                            : "touches memory that is not its own",
                 path);
    written = write(STDOUT_FILENO, text, (size_t)length);
    (void)written;
    _exit(1);
}

static void watch_signals(void)
{
    const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) signal(watched[i], keep_and_report);
}

static void try_current(void)
{
    alarm(SECONDS_FOR_ONE);
    LLVMFuzzerTestOneInput(current.data, current.size);
    alarm(0);
    if (grain_allocated_bytes() != 0) fuzz_found("%lld bytes left behind", (long long)grain_allocated_bytes());
    run_number++;
}

// --- inputs -------------------------------------------------------------------------------------------

static void keep(const uint8_t *data, size_t size)
{
    if (kept_count == MAX_KEPT || size > LONGEST_INPUT) return;
    memcpy(kept[kept_count].data, data, size);
    kept[kept_count++].size = size;
}

static int keep_file(const char *path)
{
    static uint8_t data[LONGEST_INPUT];
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    keep(data, size);
    return 1;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// A file, or all in a folder in the order of their names. Target folders without a corpus yet are not there.
static void keep_path(const char *path)
{
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) {
        keep_file(path);
        return;
    }
    int count = scandir(path, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        keep_file(name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

static int write_seeds(const char *folder)
{
    static uint8_t data[LONGEST_INPUT];
    size_t size;
    for (int index = 0; (size = fuzz_seed(index, data, sizeof data)) > 0; index++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/seed_%02d", folder, index);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

// --- mutations ----------------------------------------------------------------------------------------

typedef struct Dice {
    uint64_t seed, run;
    uint32_t draw;
} Dice;

static uint32_t roll(Dice *dice, size_t sides)
{
    return sides > 0 ? (uint32_t)(rng_at(dice->seed, dice->run, RNG_STREAM_TEST, dice->draw++).word[0] % sides) : 0;
}

static void replace(Input *input, size_t at, size_t removed, const void *data, size_t size)
{
    if (at + removed > input->size || input->size - removed + size > LONGEST_INPUT) return;
    memmove(input->data + at + size, input->data + at + removed, input->size - at - removed);
    if (size > 0) memcpy(input->data + at, data, size);
    input->size = input->size - removed + size;
}

// A number written out becomes another one.
static void replace_number(Input *input, Dice *dice)
{
    static const char *const numbers[] = {
        "0",     "-1",   "1",          "2147483647", "-2147483648", "4294967296",
        "1e38",  "1e39", "-1e-45",     "nan",        "inf",         "0.333333",
        "1e400", "255",  "4000000000", "1e6",        "100000.5",    "99999999999999999999"};
    size_t at = roll(dice, input->size), length = 0;
    while (at < input->size && (input->data[at] < '0' || input->data[at] > '9')) at++;
    while (at + length < input->size && strchr("0123456789.eE+-", input->data[at + length]) && input->data[at + length])
        length++;
    const char *number = numbers[roll(dice, sizeof numbers / sizeof *numbers)];
    if (length > 0) replace(input, at, length, number, strlen(number));
}

// Four bytes that are a count or a coordinate somewhere become another one.
static void replace_word(Input *input, Dice *dice)
{
    static const uint32_t words[] = {0,          1,          0xFFFFFFFF, 0x7FFFFFFF, 0x80000000,
                                     0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x00000001,
                                     0x3F800000, 0x00010000, 0x47C35000, 0x358637BD};
    uint32_t word = words[roll(dice, sizeof words / sizeof *words)];
    if (input->size >= 4) replace(input, roll(dice, input->size - 3), 4, &word, 4);
}

static void mutate(Input *input, Dice *dice)
{
    size_t at = roll(dice, input->size), length = 1 + roll(dice, 64);
    if (at + length > input->size) length = input->size - at;
    static uint8_t piece[LONGEST_INPUT];
    switch (roll(dice, 8)) {
    case 0: // a bit
        if (at < input->size) input->data[at] ^= (uint8_t)(1u << roll(dice, 8));
        break;
    case 1: // a byte
        if (at < input->size) input->data[at] = (uint8_t)roll(dice, 256);
        break;
    case 2:
        replace(input, at, length, NULL, 0);
        break;
    case 3: // a piece once more, elsewhere
        memcpy(piece, input->data + at, length);
        replace(input, roll(dice, input->size + 1), 0, piece, length);
        break;
    case 4:
        replace_number(input, dice);
        break;
    case 5:
        replace_word(input, dice);
        break;
    case 6: // the tail of another input
    {
        const Input *other = &kept[roll(dice, (size_t)kept_count)];
        size_t from = roll(dice, other->size);
        replace(input, at, input->size - at, other->data + from, other->size - from);
        break;
    }
    default: // cut off; rarely, or nothing is left
        if (roll(dice, 4) == 0) input->size = at;
        break;
    }
}

// The same inputs on every machine; a slow one, or one with sanitizers, may not come to the last of them.
static void run_all(uint64_t seed, int64_t runs, double seconds)
{
    double begin = run_clock();
    int given = kept_count;
    static uint8_t data[LONGEST_INPUT];
    size_t size;
    for (int index = 0; (size = fuzz_seed(index, data, sizeof data)) > 0; index++) keep(data, size);
    for (int i = 0; i < kept_count; i++) {
        current = kept[i];
        try_current();
    }
    printf("# %s: %d inputs of the corpus, %d seeds\n", target_name, given, kept_count - given);
    for (int64_t run = 0; run < runs && run_clock() - begin < seconds; run++) {
        Dice dice = {seed, (uint64_t)run, 0};
        current = kept[roll(&dice, (size_t)kept_count)];
        for (uint32_t times = 1 + roll(&dice, 6); times > 0; times--) mutate(&current, &dice);
        try_current();
    }
}

int main(int argument_count, char **arguments)
{
    const char *base = strrchr(arguments[0], '/');
    target_name = base ? base + 1 : arguments[0];
    if (strncmp(target_name, "fuzz_", 5) == 0) target_name += 5;
    uint64_t seed = 1;
    int64_t runs = 0;
    double seconds = 3600.0;
    for (int i = 1; i < argument_count; i++) {
        int has_value = i + 1 < argument_count;
        if (strcmp(arguments[i], "--write-seeds") == 0 && has_value) return write_seeds(arguments[i + 1]);
        if (strcmp(arguments[i], "--runs") == 0 && has_value)
            runs = atoll(arguments[++i]);
        else if (strcmp(arguments[i], "--seconds") == 0 && has_value)
            seconds = atof(arguments[++i]);
        else if (strcmp(arguments[i], "--seed") == 0 && has_value)
            seed = strtoull(arguments[++i], NULL, 10);
        else
            keep_path(arguments[i]);
    }
    GrainAllocator guarded = {guarded_allocate, guarded_release, NULL};
    grain_set_allocator(&guarded);
    watch_signals();
    run_all(seed, runs, seconds);
    printf("ok fuzz/%s: %lld inputs\n", target_name, (long long)run_number);
    return 0;
}
