/* Walks a fat binary and takes out the PTX that fits, and the cubin.
 *
 * Nothing in the bytes is believed: every offset and size is held against the
 * end of what the caller gave, and the size that decompression may take is
 * limited by a cap and by what the compressed bytes can expand to. A broken
 * entry that is not the chosen one does no harm. */
#define _GNU_SOURCE /* memmem */
#include "fatbin/fatbin.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "fatbin/fatbin_format.h"

/* Larger than anything nvcc writes; a frame may claim what it likes. */
#define MAX_PLAIN ((uint64_t)1 << 30)

/* An entry and where its header lies. */
struct found {
    struct fatbin_entry entry;
    const uint8_t *at; /* NULL: there is none */
};

/* What a walk has seen so far. */
struct survey {
    unsigned max_sm;
    struct found ptx;            /* the best that runs */
    struct found elf;            /* the nearest */
    unsigned lowest_ptx;         /* smallest sm of any PTX, 0 none */
    unsigned restricted;         /* sm of arch-specific PTX passed over */
    unsigned elf_sm, lto_sm;     /* largest sm of that kind, 0 none */
    bool has_lto;
};

static enum fatbin_status malformed(char *why, size_t why_len,
                                    const char *what)
{
    snprintf(why, why_len, "fat binary is damaged: %s", what);
    return FATBIN_MALFORMED;
}

/* PTX runs on its own sm and later ones. Arch-specific PTX (sm_90a) runs on
 * that sm only, family-specific (sm_100f) on later members of the family. */
static bool runs_on(const struct fatbin_entry *e, unsigned max_sm)
{
    if (e->flags & FATBIN_FLAG_ARCH) return e->sm == max_sm;
    if (e->flags & FATBIN_FLAG_FAMILY)
        return e->sm <= max_sm && e->sm / 10 == max_sm / 10;
    return e->sm <= max_sm;
}

/* Of two that run, the later sm wins, then the general one. */
static bool better(const struct fatbin_entry *a, const struct fatbin_entry *b)
{
    const uint64_t special = FATBIN_FLAG_ARCH | FATBIN_FLAG_FAMILY;
    if (a->sm != b->sm) return a->sm > b->sm;
    return !(a->flags & special) && (b->flags & special);
}

/* Is a's machine code nearer to the device's than b's? */
static bool nearer(const struct fatbin_entry *a, const struct fatbin_entry *b,
                   unsigned sm)
{
    unsigned to_a = a->sm > sm ? a->sm - sm : sm - a->sm;
    unsigned to_b = b->sm > sm ? b->sm - sm : sm - b->sm;
    return to_a != to_b ? to_a < to_b : a->sm < b->sm;
}

static void consider(struct survey *s, const struct fatbin_entry *e,
                     const uint8_t *at)
{
    switch (e->kind) {
    case FATBIN_PTX:
        if (runs_on(e, s->max_sm)) {
            if (s->ptx.at && !better(e, &s->ptx.entry)) break;
            s->ptx = (struct found){*e, at};
        } else if (e->sm <= s->max_sm) {
            s->restricted = e->sm;
        } else if (!s->lowest_ptx || e->sm < s->lowest_ptx) {
            s->lowest_ptx = e->sm;
        }
        break;
    case FATBIN_ELF:
        if (e->sm > s->elf_sm) s->elf_sm = e->sm;
        if (!s->elf.at || nearer(e, &s->elf.entry, s->max_sm))
            s->elf = (struct found){*e, at};
        break;
    case FATBIN_LTO:
        s->has_lto = true;
        if (e->sm > s->lto_sm) s->lto_sm = e->sm;
        break;
    default: break; /* kinds to come */
    }
}

static enum fatbin_status walk(const uint8_t *data, size_t len,
                               struct survey *s, char *why, size_t why_len)
{
    struct fatbin_header h;
    if (len < sizeof h) return malformed(why, why_len, "too short");
    memcpy(&h, data, sizeof h);
    if (h.magic != FATBIN_MAGIC)
        return malformed(why, why_len, "not a fat binary");
    if (h.version != 1) return malformed(why, why_len, "unknown version");
    if (h.header_size < sizeof h || h.header_size > len ||
        h.size > len - h.header_size)
        return malformed(why, why_len, "size reaches past the end");
    const uint8_t *at = data + h.header_size;
    uint64_t left = h.size;
    while (left) {
        struct fatbin_entry e;
        if (left < sizeof e)
            return malformed(why, why_len, "entry is cut off");
        memcpy(&e, at, sizeof e);
        if (e.header_size < sizeof e || e.header_size > left ||
            e.size > left - e.header_size)
            return malformed(why, why_len, "entry reaches past the end");
        consider(s, &e, at);
        uint64_t step = e.header_size + e.size;
        at += step;
        left -= step;
    }
    return FATBIN_OK;
}

/* Which option would have embedded PTX that runs here. */
static enum fatbin_status explain(const struct survey *s, char *why,
                                  size_t why_len)
{
    unsigned sm = s->max_sm;
    if (s->lowest_ptx) {
        snprintf(why, why_len,
                 "the PTX is for sm_%u and later, the device is sm_%u; "
                 "compile with -gencode arch=compute_%u,code=compute_%u",
                 s->lowest_ptx, sm, sm, sm);
        return FATBIN_TOO_NEW;
    }
    char found[64] = "nothing";
    if (s->restricted)
        snprintf(found, sizeof found, "only PTX specific to sm_%u",
                 s->restricted);
    else if (s->elf.at)
        snprintf(found, sizeof found, "only machine code for sm_%u", s->elf_sm);
    else if (s->has_lto)
        snprintf(found, sizeof found, "only link-time IR (-dlto) for sm_%u",
                 s->lto_sm);
    snprintf(why, why_len,
             "no PTX to run: the program holds %s; "
             "compile with -gencode arch=compute_75,code=compute_75",
             found);
    return FATBIN_NO_PTX;
}

/* ---- payload ----------------------------------------------------------- */

/* Exactly `len` bytes, or false. Both decompressors check their input and
 * never write past the end of `plain`. */
static bool inflate(uint64_t flags, const uint8_t *from, size_t n, char *plain,
                    size_t len)
{
    if (flags & FATBIN_FLAG_ZSTD)
        return ZSTD_decompress(plain, len, from, n) == len; /* error: > len */
    return LZ4_decompress_safe((const char *)from, plain, (int)n, (int)len) ==
           (int)len;
}

/* The payload as nvcc had it before packing, with a NUL behind; `what` says
 * in messages what it is. */
static enum fatbin_status unpack(const struct found *f, const char *what,
                                 char **plain, size_t *plain_len, char *why,
                                 size_t why_len)
{
    const struct fatbin_entry *e = &f->entry;
    const uint8_t *from = f->at + e->header_size;
    const uint64_t known = FATBIN_FLAG_ZSTD | FATBIN_FLAG_LZ4;
    bool packed = e->flags & known;
    uint64_t n = packed ? e->compressed : e->size;
    uint64_t len = packed ? e->plain_size : e->size;
    if (!packed && e->compressed) {
        snprintf(why, why_len,
                 "%s is compressed in a way that is not known (flags 0x%llx); "
                 "compile with --no-compress",
                 what, (unsigned long long)e->flags);
        return FATBIN_COMPRESSION;
    }
    if (n > e->size) return malformed(why, why_len, "payload is cut off");
    if (len > MAX_PLAIN || n > MAX_PLAIN)
        return malformed(why, why_len, "payload of more than 1 GiB");
    /* LZ4 expands at most 255 times; zstd says itself how large it becomes. */
    if (e->flags & FATBIN_FLAG_ZSTD) {
        if (ZSTD_getFrameContentSize(from, n) != len)
            return malformed(why, why_len, "sizes of the zstd frame disagree");
    } else if (packed && len > n * 255 + 64) {
        return malformed(why, why_len, "size of the LZ4 block is impossible");
    }
    char *bytes = malloc((size_t)len + 1);
    if (!bytes) {
        snprintf(why, why_len, "no memory for %llu bytes of %s",
                 (unsigned long long)len, what);
        return FATBIN_NO_MEMORY;
    }
    if (!packed) {
        if (len) memcpy(bytes, from, (size_t)len);
    } else if (!inflate(e->flags, from, n, bytes, (size_t)len)) {
        free(bytes);
        return malformed(why, why_len, "compressed payload does not unpack");
    }
    bytes[len] = 0;
    *plain = bytes;
    *plain_len = (size_t)len;
    return FATBIN_OK;
}

static enum fatbin_status extract(const struct found *f,
                                  struct fatbin_text *out, char *why,
                                  size_t why_len)
{
    const struct fatbin_entry *e = &f->entry;
    char *text;
    size_t len;
    enum fatbin_status status = unpack(f, "PTX", &text, &len, why, why_len);
    if (status != FATBIN_OK) return status;
    while (len && !text[len - 1]) len--; /* trailing NUL, padding */
    text[len] = 0;
    out->text = text;
    out->len = len;
    out->sm = e->sm;
    out->name[0] = 0;
    if (e->name >= sizeof *e && e->name <= e->header_size &&
        e->name_len <= e->header_size - e->name)
        snprintf(out->name, sizeof out->name, "%.*s", (int)e->name_len,
                 (const char *)f->at + e->name);
    return FATBIN_OK;
}

/* ---- plain PTX --------------------------------------------------------- */

/* Text whose first word, behind white space and comments, is .version. */
static bool is_ptx_text(const char *p, size_t len)
{
    const char *end = p + len;
    while (p < end) {
        if (*p == ' ' || (*p >= '\t' && *p <= '\r')) {
            p++;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '/') {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            if (!nl) return false;
            p = nl;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            if (!close) return false;
            p = close + 2;
        } else {
            break;
        }
    }
    return end - p >= 8 && !memcmp(p, ".version", 8);
}

/* The sm of ".target sm_90"; 0 if there is none. */
static unsigned text_target(const char *p, size_t len)
{
    const char *t = memmem(p, len, ".target", 7);
    const char *end = p + len;
    if (!t) return 0;
    t = memmem(t, (size_t)(end - t), "sm_", 3);
    unsigned sm = 0;
    for (t = t ? t + 3 : end; t < end && *t >= '0' && *t <= '9' && sm < 10000;
         t++)
        sm = sm * 10 + (unsigned)(*t - '0');
    return sm;
}

static enum fatbin_status take_text(const char *p, size_t len, unsigned max_sm,
                                    struct fatbin_text *out, char *why,
                                    size_t why_len)
{
    const char *nul = memchr(p, 0, len);
    if (nul) len = (size_t)(nul - p);
    unsigned sm = text_target(p, len);
    if (sm > max_sm) {
        struct survey s = { .max_sm = max_sm, .lowest_ptx = sm };
        return explain(&s, why, why_len);
    }
    out->text = len < MAX_PLAIN ? malloc(len + 1) : NULL;
    if (!out->text) {
        snprintf(why, why_len, "no memory for %zu bytes of PTX", len);
        return FATBIN_NO_MEMORY;
    }
    memcpy(out->text, p, len);
    out->text[len] = 0;
    out->len = len;
    out->sm = sm;
    out->name[0] = 0;
    return FATBIN_OK;
}

/* ---- interface --------------------------------------------------------- */

enum fatbin_status fatbin_pick_ptx(const void *data, size_t len,
                                   unsigned max_sm, struct fatbin_text *out,
                                   char *why, size_t why_len)
{
    struct survey s = { .max_sm = max_sm };
    *out = (struct fatbin_text){ 0 };
    if (why_len) *why = 0;
    if (is_ptx_text(data, len))
        return take_text(data, len, max_sm, out, why, why_len);
    enum fatbin_status status = walk(data, len, &s, why, why_len);
    if (status != FATBIN_OK) return status;
    if (!s.ptx.at) return explain(&s, why, why_len);
    return extract(&s.ptx, out, why, why_len);
}

bool fatbin_pick_cubin(const void *data, size_t len, unsigned sm,
                       struct fatbin_code *out)
{
    struct survey s = { .max_sm = sm };
    char *bytes, why[128]; /* nobody asks why */
    *out = (struct fatbin_code){ 0 };
    if (walk(data, len, &s, why, sizeof why) != FATBIN_OK || !s.elf.at ||
        unpack(&s.elf, "machine code", &bytes, &out->len, why,
               sizeof why) != FATBIN_OK)
        return false;
    out->bytes = bytes;
    out->sm = s.elf.entry.sm;
    return true;
}

void fatbin_text_free(struct fatbin_text *t)
{
    free(t->text);
    *t = (struct fatbin_text){ 0 };
}

size_t fatbin_size(const void *header)
{
    struct fatbin_header h;
    memcpy(&h, header, sizeof h);
    if (h.magic != FATBIN_MAGIC || h.size > SIZE_MAX - h.header_size) return 0;
    return (size_t)h.size + h.header_size;
}

size_t fatbin_images(const void *wrapper, const void *images[FATBIN_MAX_IMAGES])
{
    struct fatbin_wrapper w;
    memcpy(&w, wrapper, sizeof w);
    if (w.magic != FATBIN_WRAPPER_MAGIC) return 0;
    if (w.version == 1 && w.data) {
        images[0] = w.data;
        return 1;
    }
    size_t n = 0;
    if (w.version != 2 || !w.list) return 0;
    for (const void *const *p = w.list; n < FATBIN_MAX_IMAGES && *p; p++)
        images[n++] = *p;
    return n;
}

const void *fatbin_linked(const void *wrapper)
{
    struct fatbin_wrapper w;
    memcpy(&w, wrapper, sizeof w);
    return w.magic == FATBIN_WRAPPER_MAGIC ? w.data : NULL;
}
