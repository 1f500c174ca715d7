// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A path as it comes over the C border, in UTF-8, as one that files can be opened by.
#include <filesystem>
#include <string>

inline std::filesystem::path path_of(const char *utf8)
{
#ifdef _WIN32
    // Plain paths end at 260 characters there. With this prefix they do not, but must be whole and are taken literally.
    auto path = std::filesystem::absolute(std::filesystem::u8path(utf8)).lexically_normal().make_preferred();
    const std::wstring &text = path.native();
    if (text.compare(0, 4, LR"(\\?\)") == 0 || text.compare(0, 4, LR"(\\.\)") == 0) return path;
    if (text.compare(0, 2, LR"(\\)") == 0) return LR"(\\?\UNC\)" + text.substr(2);
    return LR"(\\?\)" + text;
#else
    return utf8;
#endif
}
