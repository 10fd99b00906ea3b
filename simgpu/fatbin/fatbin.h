/* Reads the fat binaries that nvcc embeds: wrapper -> header -> entries.
 * The layout is in fatbin_format.h. */
#ifndef SIMGPU_FATBIN_H
#define SIMGPU_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LTO = 8 };

enum fatbin_status {
    FATBIN_OK,
    FATBIN_MALFORMED,   /* magic, size or offset does not hold together */
    FATBIN_NO_PTX,      /* only machine code or LTO IR: nothing to interpret */
    FATBIN_TOO_NEW,     /* PTX present, all of it for a later sm */
    FATBIN_COMPRESSION, /* a compression this build cannot undo */
    FATBIN_NO_MEMORY,
};

/* One PTX text, decompressed, NUL terminated; free with fatbin_text_free. */
struct fatbin_text {
    char *text;
    size_t len;      /* without the NUL */
    unsigned sm;     /* 75, 90, 120 */
    char name[64];   /* source name from the entry, or "" */
};

/* Chooses the PTX entry with the highest sm <= max_sm from the fat binary
 * (header + entries) at `data` of at most `len` bytes, and decompresses it.
 * On failure fills `why` (one line: what was found and which nvcc option
 * would help), no newline. Never reads outside [data, data+len). */
enum fatbin_status fatbin_pick_ptx(const void *data, size_t len,
                                   unsigned max_sm, struct fatbin_text *out,
                                   char *why, size_t why_len);
void fatbin_text_free(struct fatbin_text *t);

/* A cubin, decompressed; free `bytes` with free. */
struct fatbin_code {
    void *bytes;
    size_t len;
    unsigned sm;
};

/* Chooses the cubin whose sm is nearest to `sm` (of two equally near, the
 * older) from the fat binary at `data`, and decompresses it. False when there
 * is none, it is damaged, or there is no memory. */
bool fatbin_pick_cubin(const void *data, size_t len, unsigned sm,
                       struct fatbin_code *out);

/* Size in bytes of the fat binary at `header` as its own header states it
 * (16 + size field), or 0 if the magic is wrong. For data inside a loaded
 * program, whose end is not otherwise known. */
size_t fatbin_size(const void *header);

#define FATBIN_MAX_IMAGES 64
/* Follows a registration wrapper: version 1 points at one fat binary,
 * version 2 (device-linked) at a NULL-terminated list. Fills images[] and
 * returns their number, or 0 if the wrapper is not one. */
size_t fatbin_images(const void *wrapper, const void *images[FATBIN_MAX_IMAGES]);

/* The fat binary with the machine code that is run, or NULL: of a
 * device-linked program what the linker made, not the list's objects. */
const void *fatbin_linked(const void *wrapper);

#endif
