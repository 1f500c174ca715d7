// SPDX-License-Identifier: GPL-3.0-or-later
#include "console.h"

#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After windows.h, which it needs.
#include <shellapi.h>

// The C runtime would end with 3, which is the code for a job that cannot be read.
static void end_as_crash(int number)
{
    (void)number;
    TerminateProcess(GetCurrentProcess(), (UINT)STATUS_FATAL_APP_EXIT);
}

char **console_arguments(int *count, char **given)
{
    int words_count = 0;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &words_count);
    char **arguments = words ? calloc((size_t)words_count + 1, sizeof *arguments) : NULL;
    for (int i = 0; arguments && i < words_count; i++) {
        int bytes = WideCharToMultiByte(CP_UTF8, 0, words[i], -1, NULL, 0, NULL, NULL);
        arguments[i] = malloc((size_t)bytes);
        if (!arguments[i] || !WideCharToMultiByte(CP_UTF8, 0, words[i], -1, arguments[i], bytes, NULL, NULL))
            return given;
    }
    _setmode(_fileno(stdout), _O_BINARY); // lines end as everywhere
    _setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    signal(SIGABRT, end_as_crash);
    if (!arguments) return given;
    *count = words_count;
    return arguments;
}

static void (*stop_handler)(int);

static BOOL WINAPI on_console_event(DWORD event)
{
    stop_handler(SIGTERM);
    // The program ends when this returns; main() gets the seconds that Windows grants to write its checkpoint.
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT) Sleep(INFINITE);
    return TRUE;
}

void console_catch_stop(void (*on_stop)(int signal))
{
    stop_handler = on_stop;
    SetConsoleCtrlHandler(on_console_event, TRUE);
}

// Whether something can be read is told of pipes only, and not of all of them; a thread that reads finds out of any
// input. It ends with the process.
static _Atomic int input = CONSOLE_INPUT_NONE;

static DWORD WINAPI wait_for_input(void *unused)
{
    char byte;
    DWORD got = 0;
    BOOL is_read = ReadFile(GetStdHandle(STD_INPUT_HANDLE), &byte, 1, &got, NULL);
    (void)unused;
    atomic_store(&input, is_read && got > 0 ? CONSOLE_INPUT_CAME : CONSOLE_INPUT_ENDED);
    return 0;
}

ConsoleInput console_input(void)
{
    static HANDLE thread;
    if (!thread) thread = CreateThread(NULL, 0, wait_for_input, NULL, 0, NULL);
    return (ConsoleInput)atomic_load(&input);
}

double console_seconds(void)
{
    LARGE_INTEGER now, per_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_second);
    return (double)now.QuadPart / (double)per_second.QuadPart;
}
