// SPDX-License-Identifier: GPL-3.0-or-later
// Names of jobs, objects and files are made by strangers. A terminal takes some characters for commands: it would move
// its cursor, change its title, or show a line backwards.
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The character that starts here, and how many bytes it has; 0 bytes: this is not UTF-8.
static int take_character(const unsigned char *at, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int bytes = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF8 ? 4 : 0;
    if (bytes == 0) return 0;
    *character = bytes == 1 ? at[0] : at[0] & (0x7Fu >> bytes);
    for (int i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0; // the closing zero too
        *character = *character << 6 | (at[i] & 0x3F);
    }
    int is_one = *character >= least[bytes] && *character <= 0x10FFFF && (*character < 0xD800 || *character > 0xDFFF);
    return is_one ? bytes : 0;
}

static int is_command(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) // controls
           || c == 0x200E || c == 0x200F       // the direction of writing
           || (c >= 0x2028 && c <= 0x202E)     // ends of lines and paragraphs, and directions
           || (c >= 0x2066 && c <= 0x2069);
}

void cli_clean(char *text)
{
    unsigned char *from = (unsigned char *)text, *to = from;
    while (*from) {
        uint32_t character = 0;
        int bytes = take_character(from, &character);
        if (bytes == 0 || is_command(character)) {
            from += bytes ? bytes : 1;
            *to++ = '?';
        } else {
            memmove(to, from, (size_t)bytes);
            from += bytes, to += bytes;
        }
    }
    *to = 0;
}

void cli_print(FILE *to, const char *format, ...)
{
    char short_text[1024], *text = short_text;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(short_text, sizeof short_text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof short_text && (text = malloc((size_t)length + 1)))
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (!text) text = short_text; // cut short
    size_t shown = strlen(text);
    int ends_line = shown > 0 && text[shown - 1] == '\n';
    if (ends_line) text[shown - 1] = 0;
    cli_clean(text); // which makes it no longer
    if (ends_line) strcat(text, "\n");
    fputs(text, to); // at once: errors go out unbuffered, and there may be many
    if (text != short_text) free(text);
}
