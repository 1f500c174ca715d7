// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[256];

static void remove_folder(void)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); // which the folder itself and the one above it refuse
    }
    if (directory) closedir(directory);
    rmdir(folder);
}

const char *fuzz_folder(void)
{
    const char *root = getenv("TMPDIR");
    if (folder[0]) return folder;
    snprintf(folder, sizeof folder, "%s/grain_fuzz_XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(folder)) fuzz_found("no folder %s", folder);
    atexit(remove_folder);
    return folder;
}

void fuzz_path(const char *name, char path[300]) { snprintf(path, 300, "%s/%s", fuzz_folder(), name); }

void fuzz_write(const char *name, const void *data, size_t size)
{
    char path[300];
    fuzz_path(name, path);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) fuzz_found("could not write %s", path);
}

size_t fuzz_read(const char *name, void *data, size_t capacity)
{
    char path[300];
    fuzz_path(name, path);
    FILE *in = fopen(path, "rb");
    if (!in) fuzz_found("could not read %s", path);
    size_t size = fread(data, 1, capacity, in);
    fclose(in);
    return size;
}
