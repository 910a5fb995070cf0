/* Fails the n-th call of a kind on files below given folders, once or from then on, in the process that it is preloaded into and in no other.
 *
 * FAULT = KIND:N:ERROR:TIMES    KIND write, sync, rename, open, truncate, unlink, mkdir or close; N from 1 (0: none fails);
 *                               ERROR an errno, 0 for half of a write; TIMES how many calls fail from the N-th on, 0 for all of them
 * FAULT_UNDER                   the folders, with ":" between them
 * FAULT_LOG                     gets one letter (the first of KIND) for every call that is counted
 *
 * All of it is taken out of the environment before the program sees it, so nothing that it starts inherits it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind, under[8192];
static long first, times, seen;
static int fault, journal = -1;
static pid_t self;

__attribute__((constructor)) static void begin(void) {
    const char *told = getenv("FAULT"), *folders = getenv("FAULT_UNDER"), *file = getenv("FAULT_LOG");
    char word[16];
    if (told && sscanf(told, "%15[a-z]:%ld:%d:%ld", word, &first, &fault, &times) == 4) kind = word[0];
    if (folders) snprintf(under, sizeof under, "%s", folders);
    if (file) journal = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    self = getpid();
    unsetenv("FAULT");
    unsetenv("FAULT_UNDER");
    unsetenv("FAULT_LOG");
    unsetenv("LD_PRELOAD");
}

static int ours(const char *path) {
    for (const char *at = under; *at;) {
        size_t length = strcspn(at, ":");
        if (length && !strncmp(path, at, length) && (path[length] == '/' || !path[length])) return 1;
        at += length + (at[length] == ':');
    }
    return 0;
}

/* Whether this call has to fail. */
static int fails(char of, const char *path) {
    if (!kind || getpid() != self || !ours(path)) return 0;
    if (journal >= 0) syscall(SYS_write, journal, &of, 1);
    if (of != kind) return 0;
    long number = __sync_add_and_fetch(&seen, 1);
    return first > 0 && number >= first && (!times || number < first + times);
}

static int fails_at(char of, int descriptor) {
    char link[64], path[4096];
    if (!kind || descriptor < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return fails(of, path);
}

#define REAL(name) ((__typeof__(&name))next(#name))
static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }
static int failed(void) { errno = fault; return -1; }

#define WRITES(name, type) \
    ssize_t name(int fd, const void *data, size_t size, type offset) { \
        if (!fails_at('w', fd)) return REAL(name)(fd, data, size, offset); \
        return fault ? failed() : REAL(name)(fd, data, size > 1 ? size / 2 : size, offset); \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t size) {
    if (!fails_at('w', fd)) return REAL(write)(fd, data, size);
    return fault ? failed() : REAL(write)(fd, data, size > 1 ? size / 2 : size);
}

#define ON_DESCRIPTOR(letter, name, arguments, values) \
    int name arguments { return fails_at(letter, fd) ? failed() : REAL(name) values; }
ON_DESCRIPTOR('s', fsync, (int fd), (fd))
ON_DESCRIPTOR('s', fdatasync, (int fd), (fd))
ON_DESCRIPTOR('t', ftruncate, (int fd, off_t size), (fd, size))
ON_DESCRIPTOR('t', ftruncate64, (int fd, off64_t size), (fd, size))

/* What is closed is closed, whatever it says. */
int close(int fd) {
    int fail = fails_at('c', fd), done = REAL(close)(fd);
    return fail ? failed() : done;
}

#define ON_PATH(letter, name, arguments, values) \
    int name arguments { return fails(letter, path) ? failed() : REAL(name) values; }
ON_PATH('r', rename, (const char *path, const char *to), (path, to))
ON_PATH('r', renameat, (int from, const char *path, int at, const char *to), (from, path, at, to))
ON_PATH('u', unlink, (const char *path), (path))
ON_PATH('u', unlinkat, (int at, const char *path, int flags), (at, path, flags))
ON_PATH('m', mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH('m', mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))

#define OPENS(name, before, at) \
    int name(before const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return flags & (O_WRONLY | O_RDWR) && fails('o', path) ? failed() : REAL(name)(at path, flags, mode); \
    }
#define NONE
#define FOLDER int folder,
#define GIVEN folder,
OPENS(open, NONE, NONE)
OPENS(open64, NONE, NONE)
OPENS(openat, FOLDER, GIVEN)
OPENS(openat64, FOLDER, GIVEN)
