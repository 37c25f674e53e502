#include "transcripts/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/limits.h"
#include "base/log.h"

enum { BLOCK = 128 << 10 };

typedef struct Unpacking {
    ZSTD_DStream *stream;
    int from, into;
    int64_t written, max;
    char in[BLOCK], out[BLOCK];
} Unpacking;

bool path_is_packed(Str path)
{
    return str_ends(path, STR(PACKED_SUFFIX));
}

Str path_unpacked(Str path)
{
    return path_is_packed(path) ? str_head(path, path.n - strlen(PACKED_SUFFIX)) : path;
}

static bool write_out(Unpacking *u, size_t n, Err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = write(u->into, u->out + done, n - done);

        if (got < 0 && errno != EINTR)
            return err_errno(err, "cannot unpack");
        done += got > 0 ? (size_t)got : 0;
    }
    u->written += (int64_t)n;
    return true;
}

/* *ret_more is false where nothing more can be had of the stream. */
static bool unpack_block(Unpacking *u, size_t n, bool *ret_more, Err *err)
{
    ZSTD_inBuffer in = { u->in, n, 0 };
    bool full = true;

    /* What did not fit into the last block of output may be left when all input is taken. */
    while ((in.pos < in.size || full) && u->written < u->max) {
        int64_t room = u->max - u->written;
        ZSTD_outBuffer out = { u->out, room < BLOCK ? (size_t)room : BLOCK, 0 };
        size_t left = ZSTD_decompressStream(u->stream, &out, &in);

        if (!write_out(u, out.pos, err))
            return false;
        if (ZSTD_isError(left)) {
            log_debug("unpacking ends at byte %lld: %s", (long long)u->written,
                      ZSTD_getErrorName(left));
            *ret_more = false;
            return true;
        }
        full = out.pos == out.size;
    }
    *ret_more = u->written < u->max;
    return true;
}

static bool unpack(Unpacking *u, Err *err)
{
    bool more = true;

    while (more) {
        ssize_t n = read(u->from, u->in, sizeof u->in);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "cannot read on");
        if (n == 0)
            return true;
        if (!unpack_block(u, (size_t)n, &more, err))
            return false;
    }
    return true;
}

static bool unpack_file(Str path, int from, int64_t max, int *ret, Err *err)
{
    Unpacking *u = mem_alloc(sizeof *u);
    bool ok;

    u->stream = ZSTD_createDStream();
    u->from = from;
    u->into = memfd_create("transcript", MFD_CLOEXEC);
    u->max = max && max < (int64_t)LIMIT_PACKED_BYTES ? max : (int64_t)LIMIT_PACKED_BYTES;
    if (u->into < 0)
        ok = err_errno(err, "cannot unpack");
    else
        ok = u->stream ? unpack(u, err) : err_set(err, ERR_INTERNAL, "out of memory");
    if (ok && !max && u->written == u->max)
        log_warning("'%.*s' is read to byte %lld of its unpacked text only", STR_FMT(path),
                    (long long)u->written);
    ZSTD_freeDStream(u->stream);
    if (!ok && u->into >= 0)
        close(u->into);
    *ret = ok ? u->into : -1;
    mem_free(u);
    return ok;
}

bool transcript_open(Arena *a, Str path, int64_t max, int *ret, Err *err)
{
    int fd = open(str_z(a, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok;

    *ret = fd;
    if (fd < 0)
        return err_errno(err, "cannot open '%.*s'", STR_FMT(path));
    if (!path_is_packed(path))
        return true;
    ok = unpack_file(path, fd, max, ret, err);
    close(fd);
    return ok;
}
