// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// No exception gets out of the shim: what every call of it runs its work through.
#include "vdb_failure.h"

#include <openvdb/openvdb.h>
#include <tbb/task_arena.h>

#include <cstdio>
#include <ios>
#include <new>
#include <string>
#include <system_error>

inline void say(VdbMessage *message, const char *text)
{
    if (message) snprintf(message->text, sizeof message->text, "%s", text);
}

// Runs the work and turns whatever it throws into a code and a text. On this thread alone: where memory runs out, TBB's
// workers throw while they start each other, nothing catches it, and the process ends.
template <typename Work> int32_t guarded(VdbMessage *message, Work work)
{
    say(message, "");
    try {
        tbb::task_arena alone(1);
        alone.execute([&] {
            openvdb::initialize();
            work();
        });
        return VDB_OK;
    } catch (const Failure &failure) {
        say(message, failure.text.c_str());
        return failure.code;
    } catch (const openvdb::IoError &error) {
        say(message, error.what());
        return VDB_ERROR_IO;
    } catch (const std::ios_base::failure &) {
        say(message, "the file is damaged or cut short");
        return VDB_ERROR_FORMAT;
    } catch (const std::bad_alloc &) {
        say(message, "not enough memory");
        return VDB_ERROR_MEMORY;
    } catch (const std::system_error &error) { // of a thread or a lock that the system did not grant
        say(message, error.what());
        return VDB_ERROR_MEMORY;
    } catch (const std::exception &error) {
        say(message, error.what());
        return VDB_ERROR_OTHER;
    } catch (...) {
        say(message, "OpenVDB failed without saying why");
        return VDB_ERROR_OTHER;
    }
}
