// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/file.h"
#include "grain/grain.h"
#include "shared/portable.h"
#include "unit/test.h"

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
    ENSURE_OK(file_read(path, INT64_MAX, &data, &bytes));
    int same = bytes == 4 && memcmp(data, "sand", 5) == 0; // with the zero byte behind it
    alloc_free(data);

    // Of so many bytes and no more.
    ENSURE_OK(file_read(path, 4, &data, &bytes));
    alloc_free(data);
    ENSURE_FAILS(file_read(path, 3, &data, &bytes), GRAIN_ERROR_IO, "4 bytes");
    ENSURE(data == NULL && bytes == 0);

    // Abandoned: the old file stays, nothing is left beside it.
    ENSURE_OK(file_create(&file, path));
    ENSURE_OK(file_write(&file, "dust and more", 13));
    file_abandon(&file);
    ENSURE_OK(file_read(path, INT64_MAX, &data, &bytes));
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
    ENSURE_FAILS(file_read("/nowhere at all/y", INT64_MAX, &data, &bytes), GRAIN_ERROR_IO, "missing");
    ENSURE_FAILS(file_read(test_folder(), INT64_MAX, &data, &bytes), GRAIN_ERROR_IO, "not a file");
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

// --- the door -------------------------------------------------------------------------------------

static char *path_in(const char *name)
{
    char *path;
    return file_join(test_folder(), name, &path) == GRAIN_OK ? path : NULL;
}

static GrainResult put(const char *path, const char *text)
{
    FileWriter file;
    GrainResult result = file_create(&file, path);
    if (result == GRAIN_OK) result = file_write(&file, text, strlen(text));
    return result == GRAIN_OK ? file_commit(&file) : result;
}

static int has(const char *path, const char *text)
{
    char *found;
    int64_t bytes;
    if (file_read(path, INT64_MAX, (void **)&found, &bytes) != GRAIN_OK) return 0;
    int is_same = strcmp(found, text) == 0;
    alloc_free(found);
    return is_same;
}

TEST(what_lies_in_the_way_of_a_new_file_is_replaced_and_never_followed)
{
    char *precious = path_in("precious"), *path = path_in("a"), *part = path_in("a.part");
    ENSURE_OK(put(precious, "years of work"));
    // At the name of the .part file, then at the name itself: a link, a link to nothing, a pipe.
    for (int i = 0; i < 6; i++) {
        char *at = i < 3 ? part : path;
        int made = i % 3 == 2 ? portable_make_pipe(at) : portable_make_link(i % 3 ? "nothing" : precious, at);
        GrainResult result = made ? put(path, "sand") : GRAIN_OK;
        int is_well = has(path, "sand") && has(precious, "years of work") && !file_exists(part);
        GrainResult removed = file_remove(path);
        if (!made) alloc_free(path), alloc_free(part), alloc_free(precious);
        if (!made) SKIP("there are no links or pipes here");
        ENSURE_OK(result);
        ENSURE(is_well);
        ENSURE_OK(removed);
    }
    char *nothing = path_in("nothing");
    int is_there = file_exists(nothing);
    GrainResult made = file_make_folder(part), result = put(path, "sand");
    int names_folder = strstr(grain_last_error(), "a.part") && strstr(grain_last_error(), "folder");
    alloc_free(path), alloc_free(part), alloc_free(precious), alloc_free(nothing);
    ENSURE(!is_there && names_folder);
    ENSURE_EQUAL(made, GRAIN_OK);
    ENSURE_EQUAL(result, GRAIN_ERROR_IO);
}

TEST(only_regular_files_are_read_and_nothing_waits)
{
    char *precious = path_in("precious"), *link = path_in("link"), *pipe = path_in("pipe");
    void *data = NULL, *chosen = NULL;
    int64_t bytes;
    ENSURE_OK(put(precious, "years of work"));
    int made = portable_make_link(precious, link) && portable_make_pipe(pipe);
    GrainResult through_link = made ? file_read(link, INT64_MAX, &data, &bytes) : GRAIN_OK;
    int names_link = strstr(grain_last_error(), "is a link") != NULL;
    GrainResult from_pipe = made ? file_read(pipe, INT64_MAX, &data, &bytes) : GRAIN_OK; // nobody ever writes into it
    int names_pipe = strstr(grain_last_error(), "a pipe") != NULL;
    GrainResult as_chosen = made ? file_read_chosen(link, &chosen, &bytes) : GRAIN_OK;
    if (chosen) alloc_free(chosen);
    alloc_free(precious), alloc_free(link), alloc_free(pipe);
    if (!made) SKIP("there are no links or pipes here");
    ENSURE_EQUAL(through_link, GRAIN_ERROR_IO);
    ENSURE_EQUAL(from_pipe, GRAIN_ERROR_IO);
    ENSURE_EQUAL(as_chosen, GRAIN_OK);
    ENSURE(names_link && names_pipe);
}

TEST(a_folder_inside_is_not_entered_through_a_link)
{
    char *elsewhere = path_in("elsewhere"), *link = path_in("link"), *entered = NULL;
    ENSURE_OK(file_make_folder(elsewhere));
    int made = portable_make_link(elsewhere, link);
    GrainResult direct = file_enter(test_folder(), "elsewhere", &entered);
    alloc_free(entered);
    GrainResult missing = file_enter(test_folder(), "not yet", &entered);
    alloc_free(entered);
    GrainResult linked = made ? file_enter(test_folder(), "link", &entered) : GRAIN_OK;
    int names_link = strstr(grain_last_error(), "link' is a link") != NULL;
    GrainResult removed = file_remove(link);
    int stays = file_exists(elsewhere);
    alloc_free(elsewhere), alloc_free(link);
    ENSURE_EQUAL(direct, GRAIN_OK);
    ENSURE_EQUAL(missing, GRAIN_OK);
    ENSURE_EQUAL(removed, GRAIN_OK);
    if (!made) SKIP("there are no links here");
    ENSURE_EQUAL(linked, GRAIN_ERROR_IO);
    ENSURE(names_link && !entered && stays);
}

// Two that write the same file: the second one's is what stays, and the first learns of it.
TEST(a_file_that_another_program_replaces_is_not_renamed)
{
    char *path = path_in("a"), *part = path_in("a.part");
    FileWriter first, second;
    ENSURE_OK(file_create(&first, path));
    ENSURE_OK(file_write(&first, "old", 3));
    GrainResult made = file_create(&second, path);
    if (!portable_frees_open_names()) { // nobody's stays there, and both learn of it
        GrainResult lost = file_commit(&first);
        int nothing = !file_exists(path) && !file_exists(part);
        alloc_free(path), alloc_free(part);
        ENSURE_EQUAL(made, GRAIN_ERROR_BUSY);
        ENSURE(lost != GRAIN_OK && nothing);
        return;
    }
    ENSURE_EQUAL(made, GRAIN_OK);
    ENSURE_OK(file_write(&second, "ne", 2));
    ENSURE_FAILS(file_commit(&first), GRAIN_ERROR_BUSY, "another program");
    int untouched = file_has_size(part, 2) && !file_exists(path);
    ENSURE_OK(file_write(&second, "w", 1));
    ENSURE_OK(file_commit(&second));
    int is_second = has(path, "new") && !file_exists(part);
    alloc_free(path), alloc_free(part);
    ENSURE(untouched && is_second);
}

TEST(a_file_that_is_removed_before_it_is_complete_is_named)
{
    char *path = path_in("a"), *part = path_in("a.part");
    FileWriter file;
    ENSURE_OK(file_create(&file, path));
    ENSURE_OK(file_write(&file, "new", 3));
    remove(part);
    int is_gone = !file_exists(part); // where open files keep their names, it is not
    GrainResult result = file_commit(&file);
    int is_there = file_exists(path);
    alloc_free(path), alloc_free(part);
    if (!is_gone) SKIP("open files keep their names here");
    ENSURE_FAILS(result, GRAIN_ERROR_IO, "a.part' was removed before it was complete");
    ENSURE(!is_there);
}
