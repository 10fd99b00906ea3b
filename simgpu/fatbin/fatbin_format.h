/* The bytes of a fat binary, as nvcc 13.0 writes them (little endian; read
 * with memcpy, since an image may lie anywhere). */
#ifndef SIMGPU_FATBIN_FORMAT_H
#define SIMGPU_FATBIN_FORMAT_H

#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u

struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;   /* 1: plain; 2: device-linked (-rdc) */
    const void *data;   /* struct fatbin_header */
    const void *list;   /* version 2: NULL-terminated array of headers */
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version;     /* 1 */
    uint16_t header_size; /* 16: entries begin here */
    uint64_t size;        /* bytes of entries behind the header */
};

struct fatbin_entry {
    uint16_t kind;        /* enum fatbin_kind */
    uint16_t version;
    uint32_t header_size; /* payload begins here */
    uint64_t size;        /* of the payload, padded: the next entry follows */
    uint32_t compressed;  /* payload bytes without padding; 0 when stored */
    uint32_t options;     /* offset of an {offset, length} pair; 0 none */
    uint16_t isa_minor, isa_major;
    uint32_t sm;          /* 75, 90, 120 */
    uint32_t name, name_len; /* source file, inside the entry's header */
    uint64_t flags;
    uint64_t reserved;
    uint64_t plain_size;  /* after decompression, with PTX's trailing NUL */
};

#define FATBIN_FLAG_LZ4 0x2000u     /* one raw LZ4 block */
#define FATBIN_FLAG_ZSTD 0x8000u    /* one zstd frame */
#define FATBIN_FLAG_ARCH 0x100000u  /* sm_90a: that sm only */
#define FATBIN_FLAG_FAMILY 0x200000u /* sm_100f: that family, sm / 10 */

_Static_assert(sizeof(struct fatbin_wrapper) == 24, "layout");
_Static_assert(sizeof(struct fatbin_header) == 16, "layout");
_Static_assert(sizeof(struct fatbin_entry) == 64, "layout");

#endif
