/* Registers of kernels in cubins: where the count stands, what is passed over,
 * and damage of every kind. Those that nvcc builds are read by the tests under
 * tests/fuzz, tests/device and tests/programs. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fatbin/cubin.h"

/* ---- building ---------------------------------------------------------- */

enum { STRINGS = 1, SYMBOLS, INFO, SECOND_INFO, N_SECTIONS };
enum { CUDA_INFO = 0x70000000, CUDA = 190 };

/* Functions 1, 2 and 3; "_Z1kPf" ends in the middle of nothing. */
static const char NAMES[] = "\0_Z1kPf\0_Z1kPfi\0last";
static const uint32_t NAME_AT[] = {0, 1, 8, 16};

/* Of every format one that says nothing of registers, then the counts. */
static const uint8_t ATTRIBUTES[] = {
    1, 0x50, 0, 0,
    2, 0x2f, 7, 0,
    3, 0x1b, 0xff, 0,
    4, 0x11, 8, 0, 1, 0, 0, 0, 32, 0, 0, 0,
    4, 0x1c, 4, 0, 16, 0, 0, 0,
    4, 0x2f, 8, 0, 2, 0, 0, 0, 48, 0, 0, 0,
    4, 0x2f, 8, 0, 1, 0, 0, 0, 90, 0, 0, 0,
};
static const uint8_t MORE[] = {4, 0x2f, 8, 0, 3, 0, 0, 0, 255, 0, 0, 0};

struct image {
    Elf64_Ehdr head;
    Elf64_Shdr sections[N_SECTIONS];
    Elf64_Sym symbols[4];
    char names[sizeof NAMES];
    uint8_t info[sizeof ATTRIBUTES], more[sizeof MORE];
};

#define PLACE(member) offsetof(struct image, member), \
                      sizeof ((struct image *)0)->member
static Elf64_Shdr section(uint32_t type, uint32_t link, size_t at, size_t size)
{
    return (Elf64_Shdr){.sh_type = type, .sh_link = link, .sh_offset = at,
                        .sh_size = size};
}

static struct image build(void)
{
    struct image im;
    memset(&im, 0, sizeof im);
    memcpy(im.head.e_ident, ELFMAG, SELFMAG);
    im.head.e_ident[EI_CLASS] = ELFCLASS64;
    im.head.e_ident[EI_DATA] = ELFDATA2LSB;
    im.head.e_machine = CUDA;
    im.head.e_shoff = offsetof(struct image, sections);
    im.head.e_shentsize = sizeof(Elf64_Shdr);
    im.head.e_shnum = N_SECTIONS;
    im.sections[STRINGS] = section(SHT_STRTAB, 0, PLACE(names));
    im.sections[SYMBOLS] = section(SHT_SYMTAB, STRINGS, PLACE(symbols));
    im.sections[INFO] = section(CUDA_INFO, SYMBOLS, PLACE(info));
    im.sections[SECOND_INFO] = section(CUDA_INFO, SYMBOLS, PLACE(more));
    for (int i = 0; i < 4; i++) im.symbols[i].st_name = NAME_AT[i];
    memcpy(im.names, NAMES, sizeof NAMES);
    memcpy(im.info, ATTRIBUTES, sizeof ATTRIBUTES);
    memcpy(im.more, MORE, sizeof MORE);
    return im;
}

/* ---- asking ------------------------------------------------------------ */

/* Reads from a block of exactly the size, so that a sanitizer sees a step past
 * the end. */
static unsigned ask(const void *bytes, size_t len, const char *kernel)
{
    void *exact = malloc(len ? len : 1);
    if (len) memcpy(exact, bytes, len);
    unsigned n = cubin_registers(exact, len, kernel);
    free(exact);
    return n;
}

static unsigned of(const struct image *im, const char *kernel)
{
    return ask(im, sizeof *im, kernel);
}

/* ---- tests ------------------------------------------------------------- */

static void counts(void **state)
{
    (void)state;
    struct image im = build();
    assert_int_equal(of(&im, "_Z1kPf"), 90);
    assert_int_equal(of(&im, "_Z1kPfi"), 48);
    assert_int_equal(of(&im, "last"), 255); /* in the second section */
    assert_int_equal(of(&im, "_Z1kP"), 0);
    assert_int_equal(of(&im, "las"), 0);
    assert_int_equal(of(&im, "other"), 0);
    assert_int_equal(cubin_registers(NULL, 0, "last"), 0);
}

/* The number of sections when the field is too small for it. */
static void many_sections(void **state)
{
    (void)state;
    struct image im = build();
    im.head.e_shnum = 0;
    assert_int_equal(of(&im, "last"), 0);
    im.sections[0].sh_size = N_SECTIONS;
    assert_int_equal(of(&im, "last"), 255);
    im.sections[0].sh_size = UINT64_MAX / sizeof(Elf64_Shdr) + 6;
    assert_int_equal(of(&im, "last"), 0);
}

/* Nobody has none, and nobody has more than 255. */
static void impossible_counts(void **state)
{
    (void)state;
    struct image im = build();
    im.more[8] = 0;
    assert_int_equal(of(&im, "last"), 0);
    im.more[9] = 1; /* 256 */
    assert_int_equal(of(&im, "last"), 0);
}

static void damage(void **state)
{
    (void)state;
#define AT(member) offsetof(struct image, member)
    const struct { size_t at; uint64_t value; unsigned bytes; } cases[] = {
        {0, 0, 4},                             /* no ELF */
        {EI_CLASS, ELFCLASS32, 1},
        {EI_DATA, ELFDATA2MSB, 1},
        {AT(head.e_machine), EM_X86_64, 2},
        {AT(head.e_shentsize), 40, 2},
        {AT(head.e_shoff), UINT64_MAX - 8, 8},
        {AT(head.e_shoff), sizeof(struct image), 8},
        {AT(head.e_shnum), 60000, 2},
        {AT(head.e_shnum), SECOND_INFO, 2},    /* it is not among them */
        {AT(sections[SECOND_INFO].sh_type), SHT_PROGBITS, 4},
        {AT(sections[SECOND_INFO].sh_offset), sizeof(struct image) - 8, 8},
        {AT(sections[SECOND_INFO].sh_size), UINT64_MAX, 8},
        {AT(sections[SECOND_INFO].sh_size), 11, 8}, /* cut off */
        {AT(sections[SECOND_INFO].sh_size), 3, 8},
        {AT(sections[SECOND_INFO].sh_link), INFO, 4},
        {AT(sections[SECOND_INFO].sh_link), UINT32_MAX, 4},
        {AT(sections[SYMBOLS].sh_size), 3 * sizeof(Elf64_Sym), 8},
        {AT(sections[SYMBOLS].sh_link), SYMBOLS, 4},
        {AT(sections[SYMBOLS].sh_type), SHT_NOBITS, 4},
        {AT(sections[STRINGS].sh_size), 20, 8}, /* "last" without its NUL */
        {AT(symbols[3].st_name), UINT32_MAX, 4},
        {AT(symbols[3].st_name), NAME_AT[3] + 1, 4},
        {AT(more[0]), 0, 1},                   /* formats that are none */
        {AT(more[0]), 5, 1},
        {AT(more[0]), 3, 1},
        {AT(more[1]), 0x2e, 1},                /* another attribute */
        {AT(more[2]), 9, 2},                   /* longer than the section */
        {AT(more[2]), 4, 2},                   /* too short for a count */
        {AT(more[4]), 4, 4},                   /* a symbol that is none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image im = build();
        memcpy((uint8_t *)&im + cases[i].at, &cases[i].value, cases[i].bytes);
        if (of(&im, "last")) fail_msg("case %zu does no harm", i);
    }
}

/* Every prefix and every flipped bit: an answer, never a step outside. */
static void damage_everywhere(void **state)
{
    (void)state;
    struct image im = build();
    uint8_t *bytes = (uint8_t *)&im;
    for (size_t n = 0; n < sizeof im; n++)
        assert_true(ask(&im, n, "last") <= 255);
    assert_int_equal(ask(&im, offsetof(struct image, more), "last"), 0);
    for (size_t bit = 0; bit < sizeof im * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(of(&im, "last") <= 255);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(of(&im, "last"), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(many_sections),
        cmocka_unit_test(impossible_counts),
        cmocka_unit_test(damage),
        cmocka_unit_test(damage_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
