// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What the C tests do to the system and libgrain never does.

/// A new folder among the system's temporary files, into a text of that many bytes. 0: it could not be made.
int portable_make_folder(char *path, int bytes);
/// Removes a folder with everything in it. Links are removed, not followed.
void portable_remove_folder(const char *path);
/// Whether the name of a file that is removed is free at once, though the file is open. Wine and some shares keep it
/// until it is closed.
int portable_frees_open_names(void);
/// NULL removes the variable.
void portable_set_variable(const char *name, const char *value);
/// A link at the path to the target, or a named pipe. 0: it could not be made, as on Windows.
int portable_make_link(const char *target, const char *path);
int portable_make_pipe(const char *path);
/// Another name (a hard link) for a file. 0: it could not be made.
int portable_make_name(const char *file, const char *path);
/// Sets the time of a file's last change to so many seconds ago.
int portable_age_file(const char *path, int seconds);
