/* Fat binaries: the three kinds of payload, which entry is chosen, what the
 * messages tell the user to do, and damage of every kind. Those that nvcc
 * itself builds are read by the tests under tests/fuzz. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "fatbin/fatbin.h"
#include "fatbin/fatbin_format.h"

static const char TEXT[] =
    "\n\n.version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k()\n{\nret;\n}\n";

/* ---- building ---------------------------------------------------------- */

struct image {
    uint8_t bytes[8192];
    size_t len;
};

static void start(struct image *im)
{
    struct fatbin_header h = { FATBIN_MAGIC, 1, sizeof h, 0 };
    memset(im, 0, sizeof *im);
    memcpy(im->bytes, &h, sizeof h);
    im->len = sizeof h;
}

static void put_entry(struct image *im, struct fatbin_entry e,
                      const char *name, const void *payload, size_t n)
{
    size_t name_room = (strlen(name) + 7) & ~(size_t)7;
    e.version = 0x0101;
    e.header_size = (uint32_t)(sizeof e + name_room);
    e.size = (n + 7) & ~(uint64_t)7;
    if (*name) {
        e.name = sizeof e;
        e.name_len = (uint32_t)strlen(name);
    }
    assert_true(im->len + e.header_size + e.size <= sizeof im->bytes);
    memcpy(im->bytes + im->len, &e, sizeof e);
    memcpy(im->bytes + im->len + sizeof e, name, strlen(name));
    if (n) memcpy(im->bytes + im->len + e.header_size, payload, n);
    im->len += e.header_size + e.size;
    uint64_t size = im->len - sizeof(struct fatbin_header);
    memcpy(im->bytes + 8, &size, sizeof size);
}

enum packing { STORED, LZ4, ZSTD };

static void put_packed(struct image *im, struct fatbin_entry e,
                       enum packing how, const void *plain, size_t n)
{
    char packed[2048];
    if (how == STORED) {
        put_entry(im, e, "", plain, n);
        return;
    }
    e.plain_size = n;
    if (how == LZ4) {
        int got = LZ4_compress_default(plain, packed, (int)n, sizeof packed);
        assert_true(got > 0);
        e.compressed = (uint32_t)got;
        e.flags |= FATBIN_FLAG_LZ4;
    } else {
        size_t got = ZSTD_compress(packed, sizeof packed, plain, n, 3);
        assert_false(ZSTD_isError(got));
        e.compressed = (uint32_t)got;
        e.flags |= FATBIN_FLAG_ZSTD;
    }
    put_entry(im, e, "", packed, e.compressed);
}

static void put_ptx_text(struct image *im, unsigned sm, uint64_t flags,
                         enum packing how, const char *text)
{
    struct fatbin_entry e = { .kind = FATBIN_PTX, .isa_major = 9, .sm = sm,
                              .flags = 0x11 | flags };
    put_packed(im, e, how, text, strlen(text) + 1); /* nvcc counts the NUL */
}

static void put_elf(struct image *im, unsigned sm, enum packing how,
                    const void *code, size_t n)
{
    struct fatbin_entry e = { .kind = FATBIN_ELF, .sm = sm, .flags = 0x11 };
    put_packed(im, e, how, code, n);
}

static void put_ptx(struct image *im, unsigned sm, uint64_t flags)
{
    put_ptx_text(im, sm, flags, STORED, TEXT);
}

/* ---- asking ------------------------------------------------------------ */

static char why[256];

/* Reads from a block of exactly the image's size, so that a sanitizer sees a
 * step past the end. */
static enum fatbin_status pick(const void *bytes, size_t len, unsigned max_sm,
                               struct fatbin_text *t)
{
    void *exact = malloc(len ? len : 1);
    if (len) memcpy(exact, bytes, len);
    enum fatbin_status s =
        fatbin_pick_ptx(exact, len, max_sm, t, why, sizeof why);
    free(exact);
    return s;
}

static void must_fail(const struct image *im, unsigned max_sm,
                      enum fatbin_status status, const char *message)
{
    struct fatbin_text t;
    assert_int_equal(pick(im->bytes, im->len, max_sm, &t), status);
    assert_null(t.text);
    if (!strstr(why, message)) fail_msg("wanted: %s\ngot: %s", message, why);
    assert_null(strchr(why, '\n'));
}

static unsigned picked_sm(const struct image *im, unsigned max_sm)
{
    struct fatbin_text t;
    if (pick(im->bytes, im->len, max_sm, &t) != FATBIN_OK) return 0;
    unsigned sm = t.sm;
    fatbin_text_free(&t);
    return sm;
}

static unsigned nearest_sm(const struct image *im, unsigned sm)
{
    struct fatbin_code code;
    void *exact = malloc(im->len);
    memcpy(exact, im->bytes, im->len);
    bool found = fatbin_pick_cubin(exact, im->len, sm, &code);
    free(exact);
    assert_true(found == (code.bytes != NULL));
    free(code.bytes);
    return code.sm;
}

/* ---- tests ------------------------------------------------------------- */

static void payloads(void **state)
{
    (void)state;
    for (enum packing how = STORED; how <= ZSTD; how++) {
        struct image im;
        struct fatbin_text t;
        start(&im);
        put_ptx_text(&im, 75, 0, how, TEXT);
        assert_int_equal(pick(im.bytes, im.len, 90, &t), FATBIN_OK);
        assert_int_equal(t.len, strlen(TEXT)); /* no NUL, no padding */
        assert_string_equal(t.text, TEXT);
        assert_int_equal(t.sm, 75);
        assert_string_equal(t.name, "");
        fatbin_text_free(&t);
        assert_null(t.text);
        assert_int_equal(fatbin_size(im.bytes), im.len);
    }
}

static void names(void **state)
{
    (void)state;
    struct image im;
    struct fatbin_text t;
    struct fatbin_entry e = { .kind = FATBIN_PTX, .sm = 75 };
    start(&im);
    put_entry(&im, e, "kernel.cu", TEXT, sizeof TEXT);
    assert_int_equal(pick(im.bytes, im.len, 90, &t), FATBIN_OK);
    assert_string_equal(t.name, "kernel.cu");
    fatbin_text_free(&t);
    /* a name that reaches out of its entry is left out */
    uint32_t long_len = 4000;
    memcpy(im.bytes + 16 + offsetof(struct fatbin_entry, name_len), &long_len,
           sizeof long_len);
    assert_int_equal(pick(im.bytes, im.len, 90, &t), FATBIN_OK);
    assert_string_equal(t.name, "");
    fatbin_text_free(&t);
}

static void choice(void **state)
{
    (void)state;
    struct image im;
    start(&im);
    put_ptx(&im, 80, 0);
    put_entry(&im, (struct fatbin_entry){ .kind = FATBIN_ELF, .sm = 90 }, "",
              "\x7f""ELF", 4);
    put_ptx(&im, 75, 0);
    put_ptx(&im, 90, FATBIN_FLAG_ARCH);
    put_ptx(&im, 100, FATBIN_FLAG_FAMILY);
    put_ptx(&im, 120, 0);
    assert_int_equal(picked_sm(&im, 70), 0);
    assert_int_equal(picked_sm(&im, 75), 75);
    assert_int_equal(picked_sm(&im, 89), 80);
    assert_int_equal(picked_sm(&im, 90), 90);   /* sm_90a on sm_90 itself */
    assert_int_equal(picked_sm(&im, 99), 80);   /* and nowhere else */
    assert_int_equal(picked_sm(&im, 100), 100);
    assert_int_equal(picked_sm(&im, 103), 100); /* same family */
    assert_int_equal(picked_sm(&im, 110), 80);
    assert_int_equal(picked_sm(&im, 121), 120);
}

/* Of two for one sm, the general one: the other may use what simgpu lacks. */
static void general_wins(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct image im;
        struct fatbin_text t;
        start(&im);
        for (int i = 0; i < 2; i++)
            if (i == order)
                put_ptx_text(&im, 90, FATBIN_FLAG_ARCH, STORED, "special");
            else
                put_ptx_text(&im, 90, 0, STORED, "general");
        assert_int_equal(pick(im.bytes, im.len, 90, &t), FATBIN_OK);
        assert_string_equal(t.text, "general");
        fatbin_text_free(&t);
    }
}

/* Machine code comes out whole: zeroes at its end are part of it. */
static void cubins(void **state)
{
    (void)state;
    static const char code[64] = "\x7f""ELF and more";
    for (enum packing how = STORED; how <= ZSTD; how++) {
        struct image im;
        struct fatbin_code out;
        start(&im);
        put_ptx(&im, 75, 0);
        put_elf(&im, 90, how, code, sizeof code);
        assert_true(fatbin_pick_cubin(im.bytes, im.len, 90, &out));
        assert_int_equal(out.len, sizeof code);
        assert_memory_equal(out.bytes, code, sizeof code);
        free(out.bytes);
        assert_int_equal(picked_sm(&im, 90), 75);
    }
}

static void nearest_cubin(void **state)
{
    (void)state;
    struct image im;
    start(&im);
    put_ptx(&im, 90, 0);
    assert_int_equal(nearest_sm(&im, 90), 0); /* PTX is not code */
    put_elf(&im, 86, STORED, "code", 4);
    put_elf(&im, 120, STORED, "code", 4);
    put_elf(&im, 80, STORED, "code", 4);
    put_elf(&im, 100, STORED, "code", 4);
    assert_int_equal(nearest_sm(&im, 75), 80);
    assert_int_equal(nearest_sm(&im, 86), 86);
    assert_int_equal(nearest_sm(&im, 90), 86);
    assert_int_equal(nearest_sm(&im, 93), 86);  /* of equals the older */
    assert_int_equal(nearest_sm(&im, 94), 100); /* or later than the device */
    assert_int_equal(nearest_sm(&im, 200), 120);
    im.bytes[0] ^= 1;
    assert_int_equal(nearest_sm(&im, 90), 0);
}

static void advice(void **state)
{
    (void)state;
    struct image im;
    start(&im);
    must_fail(&im, 90, FATBIN_NO_PTX, "holds nothing");
    put_entry(&im, (struct fatbin_entry){ .kind = FATBIN_LTO, .sm = 90 }, "",
              "lto", 3);
    must_fail(&im, 90, FATBIN_NO_PTX, "link-time IR (-dlto) for sm_90");
    put_entry(&im, (struct fatbin_entry){ .kind = FATBIN_ELF, .sm = 86 }, "",
              "\x7f""ELF", 4);
    must_fail(&im, 90, FATBIN_NO_PTX, "only machine code for sm_86");
    must_fail(&im, 90, FATBIN_NO_PTX,
              "-gencode arch=compute_75,code=compute_75");
    put_ptx(&im, 80, FATBIN_FLAG_ARCH);
    must_fail(&im, 90, FATBIN_NO_PTX, "only PTX specific to sm_80");
    put_ptx(&im, 120, 0);
    put_ptx(&im, 100, 0);
    must_fail(&im, 90, FATBIN_TOO_NEW, "the PTX is for sm_100 and later");
    must_fail(&im, 90, FATBIN_TOO_NEW,
              "-gencode arch=compute_90,code=compute_90");
    start(&im);
    put_entry(&im, (struct fatbin_entry){ .kind = FATBIN_PTX, .sm = 75,
                                          .compressed = 4, .plain_size = 9 },
              "", "????", 4);
    must_fail(&im, 90, FATBIN_COMPRESSION, "--no-compress");
}

static void plain_text(void **state)
{
    (void)state;
    static const char commented[] = "// banner\n/* more */ .version 8.0\n"
                                    ".target sm_120\n";
    struct fatbin_text t;
    assert_int_equal(pick(TEXT, sizeof TEXT, 90, &t), FATBIN_OK);
    assert_string_equal(t.text, TEXT);
    assert_int_equal(t.sm, 75);
    fatbin_text_free(&t);
    assert_int_equal(pick(commented, sizeof commented, 90, &t),
                     FATBIN_TOO_NEW);
    assert_int_equal(pick(commented, sizeof commented, 120, &t), FATBIN_OK);
    fatbin_text_free(&t);
    assert_int_equal(pick("/* .version", 11, 90, &t), FATBIN_MALFORMED);
    assert_int_equal(pick("", 0, 90, &t), FATBIN_MALFORMED);
}

/* Where the sizes lie. */
static void damage(void **state)
{
    (void)state;
    const struct { enum packing how; size_t at; uint64_t value; unsigned bytes;
                   const char *message; } cases[] = {
        { STORED, 0, 0, 4, "not a fat binary" },
        { STORED, 4, 2, 2, "unknown version" },
        { STORED, 6, 8, 2, "size reaches past the end" },
        { STORED, 8, UINT64_MAX, 8, "size reaches past the end" },
        { STORED, 8, 40, 8, "entry is cut off" },
        { STORED, 16 + 4, 63, 4, "entry reaches past the end" },
        { STORED, 16 + 4, UINT32_MAX, 4, "entry reaches past the end" },
        { STORED, 16 + 8, UINT64_MAX - 60, 8, "entry reaches past the end" },
        { ZSTD, 16 + 16, 60000, 4, "payload is cut off" },
        { ZSTD, 16 + 56, 7, 8, "sizes of the zstd frame disagree" },
        { ZSTD, 16 + 56, UINT64_MAX, 8, "more than 1 GiB" },
        { ZSTD, 16 + 64 + 6, 0xffffff, 3, "does not unpack" },
        { LZ4, 16 + 56, 1 << 29, 8, "size of the LZ4 block is impossible" },
        { LZ4, 16 + 56, 8, 8, "does not unpack" },
        { LZ4, 16 + 56, 500, 8, "does not unpack" },
        { LZ4, 16 + 64, UINT64_MAX, 8, "does not unpack" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image im;
        start(&im);
        put_ptx_text(&im, 75, 0, cases[i].how, TEXT);
        memcpy(im.bytes + cases[i].at, &cases[i].value, cases[i].bytes);
        must_fail(&im, 90, FATBIN_MALFORMED, cases[i].message);
    }
}

/* Every prefix and every flipped bit: an answer, never a step outside. */
static void damage_everywhere(void **state)
{
    (void)state;
    for (enum packing how = STORED; how <= ZSTD; how++) {
        struct image im;
        struct fatbin_text t;
        start(&im);
        put_ptx_text(&im, 75, 0, how, TEXT);
        put_ptx_text(&im, 80, 0, how, TEXT);
        put_elf(&im, 90, how, "code", 4);
        for (size_t n = 0; n < im.len; n++) {
            assert_int_not_equal(pick(im.bytes, n, 90, &t), FATBIN_OK);
            fatbin_text_free(&t);
        }
        for (size_t bit = 0; bit < im.len * 8; bit++) {
            im.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            enum fatbin_status s = pick(im.bytes, im.len, 90, &t);
            assert_true((s == FATBIN_OK) == (t.text != NULL));
            assert_true(s == FATBIN_OK || *why);
            fatbin_text_free(&t);
            nearest_sm(&im, 90);
            im.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void wrappers(void **state)
{
    (void)state;
    const void *images[FATBIN_MAX_IMAGES];
    static const int a, b;
    const void *list[] = { &a, &b, NULL };
    struct fatbin_wrapper w = { FATBIN_WRAPPER_MAGIC, 1, &a, "file" };
    assert_int_equal(fatbin_images(&w, images), 1);
    assert_ptr_equal(images[0], &a);
    assert_ptr_equal(fatbin_linked(&w), &a);
    w = (struct fatbin_wrapper){ FATBIN_WRAPPER_MAGIC, 2, &b, list };
    assert_int_equal(fatbin_images(&w, images), 2);
    assert_ptr_equal(images[1], &b);
    assert_ptr_equal(fatbin_linked(&w), &b);
    w.list = NULL;
    assert_int_equal(fatbin_images(&w, images), 0);
    w.magic = 1;
    assert_int_equal(fatbin_images(&w, images), 0);
    assert_null(fatbin_linked(&w));
    assert_int_equal(fatbin_size("not a fat binary"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads),
        cmocka_unit_test(names),
        cmocka_unit_test(choice),
        cmocka_unit_test(general_wins),
        cmocka_unit_test(cubins),
        cmocka_unit_test(nearest_cubin),
        cmocka_unit_test(advice),
        cmocka_unit_test(plain_text),
        cmocka_unit_test(damage),
        cmocka_unit_test(damage_everywhere),
        cmocka_unit_test(wrappers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
