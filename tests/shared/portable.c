// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/portable.h"
#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/stat.h>
#endif
#include <unistd.h>
#include <utime.h>

int portable_make_folder(char *path, int bytes)
{
    static int count;
    const char *root = getenv("TMPDIR") ? getenv("TMPDIR") : getenv("TEMP") ? getenv("TEMP") : "/tmp";
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(path, (size_t)bytes, "%s/grain_test_%d_%d", root, system_process_id(), count++);
        if (system_make_folder(path) == 0) return 1;
    }
    return 0;
}

void portable_remove_folder(const char *path)
{
    SystemFolder *listing = system_folder_open(path);
    const char *name;
    while (listing && (name = system_folder_next(listing))) {
        char inside[4096];
        SystemInfo info;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        snprintf(inside, sizeof inside, "%s/%s", path, name);
        if (system_info_of_link(inside, &info) == 0 && info.kind == SYSTEM_FOLDER)
            portable_remove_folder(inside);
        else
            system_remove_in(listing, name);
    }
    if (listing) system_folder_close(listing);
    rmdir(path);
}

int portable_frees_open_names(void)
{
    char path[256];
    SystemInfo info;
    if (!portable_make_folder(path, sizeof path)) return 0;
    SystemFolder *folder = system_folder_open(path);
    int file = folder ? system_open_in(folder, "open", SYSTEM_MAKE) : -1;
    int is_free = file >= 0 && system_remove_in(folder, "open") == 0 && system_info_in(folder, "open", &info) != 0;
    if (file >= 0) system_close(file);
    if (folder) system_folder_close(folder);
    portable_remove_folder(path);
    return is_free;
}

void portable_set_variable(const char *name, const char *value)
{
#ifdef _WIN32
    _putenv_s(name, value ? value : "");
#else
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

int portable_age_file(const char *path, int seconds)
{
    struct utimbuf old = {time(NULL) - seconds, time(NULL) - seconds};
    return utime(path, &old) == 0;
}

#ifdef _WIN32
int portable_make_link(const char *target, const char *path) { return !target && !path; }
int portable_make_pipe(const char *path) { return !path; }
int portable_make_name(const char *file, const char *path) { return CreateHardLinkA(path, file, NULL); }
#else
int portable_make_link(const char *target, const char *path) { return symlink(target, path) == 0; }
int portable_make_pipe(const char *path) { return mkfifo(path, 0666) == 0; }
int portable_make_name(const char *file, const char *path) { return link(file, path) == 0; }
#endif
