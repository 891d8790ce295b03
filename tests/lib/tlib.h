/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every suite needs: time and scale, waiting for a condition, patterns, ports, folders,
 * programs.
 *
 * The environment of the test runner is honoured: ULNET_SCALE (amount of work), ULNET_SEED (random
 * tests), TMPDIR, ULNET_BUILD.
 */
#ifndef TEST_TLIB_H
#define TEST_TLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define TL_US 1000ull
#define TL_MS 1000000ull
#define TL_S  1000000000ull

/* ---- time, scale, chance -------------------------------------------------------------------- */

uint64_t tl_now(void); /* CLOCK_MONOTONIC, ns */
void tl_sleep(uint64_t ns);
/* ULNET_SCALE, 1 without it; 0.01..100. */
double tl_scale(void);
/* n times the scale, at least `least`. */
unsigned tl_scaled(unsigned n, unsigned least);
/* A bound for something that is normally quick: longer under a sanitizer. */
uint64_t tl_patience(uint64_t ns);
bool tl_sanitized(void);
/* ULNET_SEED, or one made from the time; never 0. Random tests print it. */
uint64_t tl_seed(void);

/* ---- waiting -------------------------------------------------------------------------------- */

/* Something that makes progress when its turn comes: loops in poll mode, a node, nothing (NULL: the
 * world moves by itself). turn returns the number of events it handled. */
struct tl_pump {
	int (*turn)(void *arg);
	void *arg;
};

/* One turn; naps for a moment when nothing happened. */
void tl_turn(const struct tl_pump *p);
/* Turns until cond(arg) is true. False: not within ns. */
bool tl_wait(const struct tl_pump *p, bool (*cond)(void *arg), void *arg, uint64_t ns);
/* The same for an expression. */
#define TL_UNTIL(pump, expr, ns)                                 \
	({                                                       \
		uint64_t tl_end_ = tl_now() + tl_patience(ns);   \
		bool tl_ok_;                                     \
		while (!(tl_ok_ = (expr)) && tl_now() < tl_end_) \
			tl_turn(pump);                           \
		tl_ok_;                                          \
	})
/* Turns for that long. */
void tl_run_for(const struct tl_pump *p, uint64_t ns);

/* ---- patterns ------------------------------------------------------------------------------- */

/* Bytes that say which message (seed) and which offset they belong to. */
void tl_fill(uint64_t seed, uint64_t off, void *buf, size_t len);
/* Offset of the first wrong byte, -1 when all are right. */
ssize_t tl_check(uint64_t seed, uint64_t off, const void *buf, size_t len);
/* The same in pieces: len bytes at skip bytes into iov. */
void tl_fill_iov(uint64_t seed, const struct iovec *iov, unsigned niov, size_t skip, size_t len);
ssize_t tl_check_iov(
        uint64_t seed, const struct iovec *iov, unsigned niov, size_t skip, size_t len);
/* Offset of the first byte that is not b, -1. */
ssize_t tl_not_byte(uint8_t b, const void *buf, size_t len);

/* ---- addresses, folders --------------------------------------------------------------------- */

/* A TCP port below the ephemeral range that is free now on each of the n addresses ("127.0.0.2");
 * -1: none found. */
int tl_free_port(const char *const *ips, unsigned n);
/* A new folder under TMPDIR; free() the path. NULL: errno. */
char *tl_tmpdir(void);
/* Remove a folder and what is in it. 0 or -errno. */
int tl_rmtree(const char *path);
/* Whole content of a file, NUL-terminated; free() it. NULL: errno. */
char *tl_read_file(const char *path, size_t *len);
int tl_write_file(const char *path, const char *text);
/* Number of open descriptors of this process. */
unsigned tl_count_fds(void);

/* ---- programs ------------------------------------------------------------------------------- */

/* Programs that this test started. They die with the test, and tl_procs_end() ends each by its pid.
 */
struct tl_proc {
	struct tl_proc *next;
	pid_t pid;
	int out;    /* its stdout and stderr; -1 = not captured or closed */
	char *text; /* what was read so far, NUL-terminated */
	size_t len, room;
	bool ended;
	int status; /* as of waitpid() */
};
struct tl_procs {
	struct tl_proc *first;
};

enum { TL_CAPTURE = 1u, /* keep stdout and stderr in text */ };
/* argv[0] is searched in PATH. env: "NAME=value" strings on top of ours, NULL-terminated, may be
 * NULL. NULL: could not be started. */
struct tl_proc *tl_spawn(
        struct tl_procs *ps, const char *const argv[], const char *const env[], unsigned flags);
/* Read what there is, notice the end. Never blocks. True: ended. */
bool tl_proc_poll(struct tl_proc *p);
/* Waits until it ended; false: not within ns. */
bool tl_proc_wait(struct tl_proc *p, uint64_t ns);
/* Waits until the text has this in it. */
bool tl_proc_says(struct tl_proc *p, const char *what, uint64_t ns);
/* 0, -errno; nothing is sent once it was reaped. */
int tl_proc_signal(struct tl_proc *p, int sig);
/* Exit status; 128 + signal; -1 still running. */
int tl_proc_code(const struct tl_proc *p);
/* SIGTERM, then SIGKILL, to those that still run; frees all. Returns how many had to be killed. */
unsigned tl_procs_end(struct tl_procs *ps);
/* Run to the end: the exit status, or -1 when it did not start or not end within ns. *out (may be
 * NULL) gets its text; free() it. */
int tl_run(const char *const argv[], uint64_t ns, char **out);

#endif
