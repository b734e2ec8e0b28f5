/* Calls that touch files below a folder are counted, and the n-th one fails: for test_faults.py, by LD_PRELOAD.

   What is counted is what the process asks the system for, whoever in it asks: Python, Arrow, the core. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ONCE, FULL, SHORT };

static char folder[4096];
static size_t length;
static long at;
static int error, kind;
static long count;
static char calls[1 << 16];

/* From now on call number `n` (from 0) below `where` fails with `number`. `FULL`: with ENOSPC, and so does every later one that
   needs room. `SHORT`: it writes half of what it was given. */
void faults_arm(const char *where, long n, int number, int how) {
    snprintf(folder, sizeof folder, "%s", where);
    length = strlen(folder);
    at = n, error = number, kind = how, count = 0;
}

/* The calls since then, a letter each; none is counted any more. */
const char *faults_disarm(void) {
    length = 0;
    calls[count < (long)sizeof calls ? count : (long)sizeof calls - 1] = 0;
    return calls;
}

static int below(const char *path) { return length && path && strncmp(path, folder, length) == 0; }

static int below_fd(int fd) {
    char link[64], path[4096];
    if (!length || fd < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

static int below_at(int fd, const char *path) { return path && path[0] == '/' ? below(path) : below_fd(fd); }

/* Whether this call fails; `room` if it needs some. */
static int fails(char what, int room) {
    long n = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
    if (n < (long)sizeof calls - 1) calls[n] = what;
    if (kind == FULL ? !(n >= at && room) : n != at) return 0;
    if (kind == SHORT) return 0;
    errno = kind == FULL ? ENOSPC : error;
    return 1;
}

static int halved(void) { return kind == SHORT && count - 1 == at; }

#define NEXT(type, name, ...) \
    static type (*next)(__VA_ARGS__); \
    if (!next) next = dlsym(RTLD_NEXT, #name)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(int, name, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0; \
        va_end(rest); \
        if (below(path) && fails(flags & O_ACCMODE ? 'o' : 'O', flags & O_CREAT)) return -1; \
        return next(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int fd, const char *path, int flags, ...) { \
        NEXT(int, name, int, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0; \
        va_end(rest); \
        if (below_at(fd, path) && fails(flags & O_ACCMODE ? 'o' : 'O', flags & O_CREAT)) return -1; \
        return next(fd, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    NEXT(ssize_t, write, int, const void *, size_t);
    if (below_fd(fd)) {
        if (fails('w', 1)) return -1;
        if (halved() && size > 1) size /= 2;
    }
    return next(fd, data, size);
}

ssize_t read(int fd, void *data, size_t size) {
    NEXT(ssize_t, read, int, void *, size_t);
    if (below_fd(fd)) {
        if (fails('i', 0)) return -1;
        if (halved() && size > 1) size /= 2;
    }
    return next(fd, data, size);
}

#define PREAD(name, offset_t) \
    ssize_t name(int fd, void *data, size_t size, offset_t offset) { \
        NEXT(ssize_t, name, int, void *, size_t, offset_t); \
        if (below_fd(fd)) { \
            if (fails('i', 0)) return -1; \
            if (halved() && size > 1) size /= 2; \
        } \
        return next(fd, data, size, offset); \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define ON_FD(name, letter, room) \
    int name(int fd) { \
        NEXT(int, name, int); \
        if (below_fd(fd) && fails(letter, room)) return -1; \
        return next(fd); \
    }
ON_FD(fsync, 's', 0)
ON_FD(fdatasync, 's', 0)

/* The descriptor is gone whatever close says (close(2)). */
int close(int fd) {
    NEXT(int, close, int);
    int failed = below_fd(fd) && fails('c', 0);
    int told = next(fd);
    if (!failed) return told;
    errno = error;
    return -1;
}

#define TRUNCATE(name, offset_t) \
    int name(int fd, offset_t size) { \
        NEXT(int, name, int, offset_t); \
        if (below_fd(fd) && fails('t', 0)) return -1; \
        return next(fd, size); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int flock(int fd, int how) {
    NEXT(int, flock, int, int);
    if (below_fd(fd) && fails('k', 0)) return -1;
    return next(fd, how);
}

int mkdir(const char *path, mode_t mode) {
    NEXT(int, mkdir, const char *, mode_t);
    if (below(path) && fails('m', 1)) return -1;
    return next(path, mode);
}

int rename(const char *from, const char *to) {
    NEXT(int, rename, const char *, const char *);
    if (below(to) && fails('r', 0)) return -1;
    return next(from, to);
}

int link(const char *from, const char *to) {
    NEXT(int, link, const char *, const char *);
    if (below(to) && fails('l', 1)) return -1;
    return next(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    NEXT(int, linkat, int, const char *, int, const char *, int);
    if (below_at(to_fd, to) && fails('l', 1)) return -1;
    return next(from_fd, from, to_fd, to, flags);
}

int unlink(const char *path) {
    NEXT(int, unlink, const char *);
    if (below(path) && fails('u', 0)) return -1;
    return next(path);
}

int unlinkat(int fd, const char *path, int flags) {
    NEXT(int, unlinkat, int, const char *, int);
    if (below_at(fd, path) && fails('u', 0)) return -1;
    return next(fd, path, flags);
}
