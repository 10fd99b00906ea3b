/* Any bytes as a fat binary: an answer with a reason, no step outside. The
 * machine code in it, or the bytes themselves as machine code: a number of
 * registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin/cubin.h"
#include "fatbin/fatbin.h"
#include "fuzz.h"
#include "ptx/ast.h"

static enum fatbin_status pick(const uint8_t *data, size_t size, unsigned sm,
                               struct fatbin_text *t)
{
    char why[160];
    memset(why, 'x', sizeof why);
    enum fatbin_status s = fatbin_pick_ptx(data, size, sm, t, why, sizeof why);
    bool ok = s == FATBIN_OK;
    if (ok != (t->text != NULL) || !memchr(why, 0, sizeof why) ||
        (!ok && !*why) || (ok && t->text[t->len]) ||
        !memchr(t->name, 0, sizeof t->name)) {
        fprintf(stderr, "promise broken: status %d, why %.160s\n", s, why);
        abort();
    }
    return s;
}

/* Of a kernel in each of the seeds that hold machine code. */
static unsigned registers(const void *code, size_t size)
{
    unsigned small = cubin_registers(code, size, "_Z5smallPi");
    unsigned large = cubin_registers(code, size, "_Z8branchesPi");
    if (small > 255 || large > 255) {
        fprintf(stderr, "promise broken: %u, %u registers\n", small, large);
        abort();
    }
    return small | large;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned sms[] = { 75, 90, 103, 0xffffffff };
    for (size_t i = 0; i < sizeof sms / sizeof *sms; i++) {
        struct fatbin_text t;
        pick(data, size, sms[i], &t);
        fatbin_text_free(&t);
    }
    struct fatbin_code code;
    if (fatbin_pick_cubin(data, size, 90, &code))
        registers(code.bytes, code.len);
    free(code.bytes);
    registers(data, size);
    if (size >= 16) fatbin_size(data);
    return 0;
}

bool fuzz_seed_is_good(const char *name, const uint8_t *data, size_t size)
{
    char why[160];
    struct fatbin_text t;
    struct ptx_error err = { 0 };
    if (fatbin_pick_ptx(data, size, 90, &t, why, sizeof why) != FATBIN_OK) {
        fprintf(stderr, "%s: %s\n", name, why);
        return false;
    }
    struct ptx_module *m = ptx_parse(t.text, t.len, name, &err);
    if (!m) fprintf(stderr, "%s\n", err.text);
    bool good = m && size == fatbin_size(data);
    struct fatbin_code code;
    if (fatbin_pick_cubin(data, size, 90, &code) &&
        !registers(code.bytes, code.len)) {
        fprintf(stderr, "%s: no registers\n", name);
        good = false;
    }
    free(code.bytes);
    ptx_module_free(m);
    fatbin_text_free(&t);
    return good;
}

const char *const fuzz_words[] = {
    "\x50\xed\x55\xba\x01", "\x28\xb5\x2f\xfd", ".version", "\x7f""ELF",
    "\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff", "\x40", "\x80",
    "\x11\x20", "\x11\x80", "\x11\x80\x10", NULL,
};
