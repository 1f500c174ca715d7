// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/team.h"
#include "base/system.h"

#include <stdatomic.h>
#include <stdlib.h>

// How often a thread looks for work, or for the others to be done, before it sleeps. Waking it takes microseconds,
// which short loops would mostly spend on that; but one that looks on takes the core from somebody. Seconds for a bake
// of 5,800 particles on two cores:
//                                     looking on   1000 looks, then sleeping   sleeping
//     alone                             0.46              0.58                 0.93
//     with four other busy threads     14.5               2.7                  1.1
#define LOOKS 1000

#define APART 128 // bytes: processors fetch lines in pairs

typedef struct Sleeper {
    _Atomic int sleeps;
    pthread_mutex_t mutex;
    pthread_cond_t woken;
} Sleeper;

typedef struct Worker {
    _Alignas(APART) _Atomic uint32_t calls; ///< goes up when there is work
    Sleeper sleeper;
} Worker;

typedef struct Work {
    void (*run)(void *data);
    void *data;
    int thread_count;
    TeamLoop loop;
} Work;

static struct {
    _Atomic int is_taken, looks;
    int worker_count; ///< of the threads that have been started
    Work work;
    _Alignas(APART) _Atomic int64_t taken;    ///< pieces of the loop
    _Alignas(APART) _Atomic int working;      ///< workers that are not done
    _Alignas(APART) _Atomic uint32_t endings; ///< goes up when all are
    Sleeper owner;
} pool;
static Worker workers[TEAM_MOST_THREADS]; // from 1 on: thread 0 is the one that calls team_run

// Of the environment, as OpenMP has it: OMP_WAIT_POLICY and OMP_THREAD_LIMIT.
static int usual_looks, most_threads, core_count;

/// What a thread is doing.
typedef struct Place {
    const Work *work; ///< NULL: it is alone
    int index;
    TeamLoop loop;
    int64_t taken; ///< of the loop, alone
} Place;
static _Thread_local Place here;

// --- waiting and waking -------------------------------------------------------------------------

static void pause_shortly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); // `yield` takes no time on most of these
#endif
}

static void sleeper_begin(Sleeper *sleeper)
{
    atomic_store(&sleeper->sleeps, 0);
    pthread_mutex_init(&sleeper->mutex, NULL);
    pthread_cond_init(&sleeper->woken, NULL);
}

// Its flag goes up before the last look at the number, and is looked at after the number has changed: one of the two
// sees the other. An exchange: C is content with a store, but qemu on x86 lets arm64's pass behind the load that
// follows (1,500 times in 300,000 tries), and both miss each other.
static void wait_while(_Atomic uint32_t *number, uint32_t value, Sleeper *sleeper)
{
    int looks = atomic_load_explicit(&pool.looks, memory_order_relaxed);
    for (int look = 0; look <= looks; look++) {
        if (atomic_load_explicit(number, memory_order_acquire) != value) return;
        pause_shortly();
    }
    pthread_mutex_lock(&sleeper->mutex);
    atomic_exchange(&sleeper->sleeps, 1);
    while (atomic_load(number) == value) pthread_cond_wait(&sleeper->woken, &sleeper->mutex);
    atomic_store(&sleeper->sleeps, 0);
    pthread_mutex_unlock(&sleeper->mutex);
}

static void change(_Atomic uint32_t *number, Sleeper *sleeper)
{
    atomic_fetch_add(number, 1);
    if (!atomic_load(&sleeper->sleeps)) return;
    pthread_mutex_lock(&sleeper->mutex);
    pthread_cond_signal(&sleeper->woken);
    pthread_mutex_unlock(&sleeper->mutex);
}

// --- the pool -----------------------------------------------------------------------------------

static void *run_worker(void *pointer)
{
    Worker *self = pointer;
    for (uint32_t done = 0;; done++) {
        wait_while(&self->calls, done, &self->sleeper);
        here = (Place){.work = &pool.work, .index = (int)(self - workers), .loop = pool.work.loop};
        pool.work.run(pool.work.data);
        if (atomic_fetch_sub(&pool.working, 1) == 1) change(&pool.endings, &pool.owner);
    }
    return NULL;
}

static int is_word(const char *text, const char *word)
{
    while (*word && (*text | 0x20) == *word) text++, word++;
    return *word == 0 && *text == 0;
}

// A forked process has none of the threads.
static void forget_workers(void)
{
    pool.worker_count = 0;
    atomic_store(&pool.is_taken, 0);
    sleeper_begin(&pool.owner);
}

static void prepare(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY"), *limit = getenv("OMP_THREAD_LIMIT");
    usual_looks = policy && is_word(policy, "passive") ? 0 : LOOKS;
    int wanted = limit ? atoi(limit) : 0;
    most_threads = wanted > 0 && wanted < TEAM_MOST_THREADS ? wanted : TEAM_MOST_THREADS;
    core_count = system_core_count();
    sleeper_begin(&pool.owner);
    system_after_fork(forget_workers);
    system_keep_loaded(workers);
}

static void start_workers(int count)
{
    while (pool.worker_count < count) {
        Worker *worker = &workers[pool.worker_count + 1];
        pthread_t thread;
        atomic_store(&worker->calls, 0);
        sleeper_begin(&worker->sleeper);
        if (system_thread_start(&thread, run_worker, worker) != 0) return;
        pthread_detach(thread);
        pool.worker_count++;
    }
}

// The pool for this thread, and how many workers it then has; 0: not to be had, or of no use.
static int take_pool(int thread_count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int is_taken = 0;
    if (thread_count < 2 || here.work) return 0;
    pthread_once(&once, prepare);
    if (thread_count > most_threads) thread_count = most_threads;
    if (thread_count < 2 || !atomic_compare_exchange_strong(&pool.is_taken, &is_taken, 1)) return 0;
    start_workers(thread_count - 1);
    // With more threads than cores each look is taken from somebody who works.
    atomic_store_explicit(&pool.looks, thread_count > core_count ? 0 : usual_looks, memory_order_relaxed);
    int worker_count = pool.worker_count < thread_count - 1 ? pool.worker_count : thread_count - 1;
    if (worker_count == 0) atomic_store(&pool.is_taken, 0);
    return worker_count;
}

void team_run(int thread_count, void (*work)(void *data), void *data, const TeamLoop *loop)
{
    const TeamLoop none = {0};
    const Place outside = here;
    int worker_count = take_pool(thread_count);
    here = (Place){.loop = loop ? *loop : none};
    if (worker_count == 0) {
        work(data);
        here = outside;
        return;
    }
    pool.work = (Work){work, data, worker_count + 1, here.loop};
    here.work = &pool.work;
    uint32_t endings = atomic_load(&pool.endings);
    atomic_store(&pool.taken, 0);
    atomic_store(&pool.working, worker_count);
    for (int i = 1; i <= worker_count; i++) change(&workers[i].calls, &workers[i].sleeper);
    work(data);
    here = outside;
    wait_while(&pool.endings, endings, &pool.owner);
    atomic_store(&pool.is_taken, 0);
}

// --- inside the work ----------------------------------------------------------------------------

int team_thread_index(void) { return here.index; }

int team_thread_count(void) { return here.work ? here.work->thread_count : 1; }

void team_set_loop(const TeamLoop *loop) { here.loop = *loop; }

int team_take(int64_t *first, int64_t *end)
{
    int64_t piece = here.work ? atomic_fetch_add_explicit(&pool.taken, 1, memory_order_relaxed) : here.taken++;
    *first = here.loop.first + piece * here.loop.step;
    if (*first >= here.loop.end) return 0;
    *end = *first + here.loop.step < here.loop.end ? *first + here.loop.step : here.loop.end;
    return 1;
}

// Deeper than loops of ours are within each other.
#define MOST_NESTED 32
static _Thread_local Place left[MOST_NESTED];
static _Thread_local int left_count;

void team_enter_alone(void)
{
    if (left_count == MOST_NESTED) abort(); // the code has changed, and every test of it ends here
    left[left_count++] = here;
    here = (Place){.work = NULL};
}

void team_leave_alone(void) { here = left[--left_count]; }
