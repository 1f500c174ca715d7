// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/file.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

TEST(a_file_appears_only_when_committed)
{
    char *path, *part;
    ENSURE_OK(file_join(test_folder(), "frame.bin", &path));
    ENSURE_OK(file_join(test_folder(), "frame.bin.part", &part));
    FileWriter file;
    ENSURE_OK(file_create(&file, path));
    ENSURE_OK(file_write(&file, "sand", 4));
    int early = file_exists(path), beside = file_exists(part);
    ENSURE_OK(file_commit(&file));
    file_abandon(&file); // harmless afterwards
    int late = file_exists(path), left = file_exists(part);

    void *data;
    int64_t bytes;
    ENSURE_OK(file_read(path, &data, &bytes));
    int same = bytes == 4 && memcmp(data, "sand", 5) == 0; // with the zero byte behind it
    alloc_free(data);

    // Abandoned: the old file stays, nothing is left beside it.
    ENSURE_OK(file_create(&file, path));
    ENSURE_OK(file_write(&file, "dust and more", 13));
    file_abandon(&file);
    ENSURE_OK(file_read(path, &data, &bytes));
    int kept = bytes == 4 && !file_exists(part);
    alloc_free(data);
    alloc_free(path);
    alloc_free(part);
    ENSURE(!early && beside && late && !left && same && kept);
}

TEST(errors_name_the_path_and_the_reason)
{
    FileWriter file;
    void *data;
    int64_t bytes;
    ENSURE_FAILS(file_create(&file, "/nowhere at all/x"), GRAIN_ERROR_IO, "/nowhere at all/x");
    ENSURE_FAILS(file_read("/nowhere at all/y", &data, &bytes), GRAIN_ERROR_IO, "missing");
    ENSURE_FAILS(file_read(test_folder(), &data, &bytes), GRAIN_ERROR_IO, "not a file");
    ENSURE_OK(file_remove("/nowhere at all/z"));
}

TEST(full_device_has_its_own_error)
{
    FileWriter file = {.descriptor = -1};
    FILE *full = fopen("/dev/full", "w");
    if (!full) return; // not every system has one; tests/cli/test_errors.py fills a real disk
    file.path = ALLOC(char, 16);
    strcpy(file.path, "/dev/full");
    file.descriptor = fileno(full);
    GrainResult result = file_write(&file, "sand", 4);
    alloc_free(file.path);
    fclose(full);
    ENSURE_EQUAL(result, GRAIN_ERROR_DISK_FULL);
}
