/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole files in and out.
 */
#ifndef LNC_FILE_H
#define LNC_FILE_H

#include "lnet/control/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read a regular file, a FIFO, a character device or ("-" or NULL) standard input to its end. *buf
 * is malloc()ed and NUL-terminated. -EFBIG more than max bytes, -EISDIR, and what open and read
 * give.
 */
int lnc_read_file(const char *path, size_t max, char **buf, size_t *len, struct lnc_err *err);
/* The same from a descriptor that stays the caller's. name is for messages. */
int lnc_read_fd(int fd, const char *name, size_t max, char **buf, size_t *len, struct lnc_err *err);

/*
 * Replace a file as a whole: a temporary file beside it, fsync, rename. Mode and owner of an old
 * file are kept (the owner where we may), a symbolic link is followed. On any error the old file is
 * as it was and no temporary file is left. A target that is no regular file (/dev/full, a FIFO, a
 * terminal) is written to directly; its errors are reported too. "-" or NULL: standard output.
 */
int lnc_write_file_atomic(const char *path, const void *buf, size_t len, struct lnc_err *err);

#ifdef __cplusplus
}
#endif
#endif
