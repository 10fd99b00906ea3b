/* See inspect.h. */
#include "harness/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/csv.h"

#define CALLERS 3               /* shown of a call stack */

static const struct fl_json *first_of(const struct fl_json *object,
                                      const char *key)
{
    const struct fl_json *array = fl_json_get(object, key);
    return array ? array->first : NULL;
}

static void put_about(struct fl_text *out, const struct fl_json *j,
                      const char *what)
{
    const struct fl_json *r = fl_json_get(j, "report");
    fl_text_printf(out, "%s: %s, %s, under %s on %s\n", what,
                   fl_json_string(j, "scenario", "?"),
                   fl_json_string(j, "variant", "?"),
                   fl_json_string(j, "strategy", "?"),
                   fl_json_string(j, "device_name", "?"));
    if (r)
        fl_text_printf(out, "%s reported in %s, %s:%lld\n",
                       fl_json_string(r, "error_name", "?"),
                       fl_json_string(r, "function", "?"),
                       fl_json_string(r, "file", "?"),
                       fl_json_integer(r, "line", 0));
    else
        fl_text_puts(out, "nothing was reported\n");
}

/* ---- memory ---- */

static char *size_text(long long bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    return fl_format(unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

/* "net_create scenarios/net.c:24 < setup ..." */
static void put_stack(struct fl_text *out, const struct fl_json *f)
{
    for (int i = 0; f && i < CALLERS; f = f->next, i++)
        fl_text_printf(out, "%s%s %s:%lld", i ? " < " : "",
                       fl_json_string(f, "function", "?"),
                       fl_json_string(f, "file", "?"),
                       fl_json_integer(f, "line", 0));
}

static void put_fault(struct fl_text *out, const struct fl_json *f)
{
    if (!f) {
        fl_text_puts(out, "the device does not tell an address of a fault\n");
        return;
    }
    long long distance = fl_json_integer(f, "distance", 0);
    long long nearest = fl_json_integer(f, "nearest", -1);
    char *size = size_text(distance < 0 ? -distance : distance);
    fl_text_printf(out, "%s of %lld bytes at %s",
                   fl_json_string(f, "access", "access"),
                   fl_json_integer(f, "bytes", 0),
                   fl_json_string(f, "address", "?"));
    if (nearest >= 0)
        fl_text_printf(out, ": %s%s #%lld", distance ? size : "",
                       distance ? distance < 0 ? " before the first byte of"
                                               : " after the last byte of"
                                : "in", nearest);
    fl_text_puts(out, "\n");
    free(size);
}

static void put_allocations(struct fl_text *out, const struct fl_json *memory,
                            bool freed, long long only)
{
    long long number = 0;
    for (const struct fl_json *a = first_of(memory, "allocations"); a;
         a = a->next, number++) {
        const struct fl_json *gone = fl_json_get(a, "freed");
        if (freed ? !gone || number != only : gone != NULL)
            continue;
        fl_text_printf(out, "%c%4lld %12lld  %-8s%s  ",
                       number == only ? '*' : ' ', number,
                       fl_json_integer(a, "bytes", 0),
                       fl_json_string(a, "kind", "?"),
                       fl_json_string(a, "address", "?"));
        put_stack(out, first_of(a, "made"));
        if (gone) {
            fl_text_puts(out, "; freed in ");
            put_stack(out, gone->first);
        }
        fl_text_puts(out, "\n");
    }
}

void fl_inspect_memory(const struct fl_json *trial, struct fl_text *out)
{
    const struct fl_json *memory = fl_json_get(trial, "memory");
    const struct fl_json *fault = fl_json_get(memory, "fault");
    long long nearest = fl_json_integer(fault, "nearest", -1);
    long long live = 0, freed = 0, bytes = 0;
    for (const struct fl_json *a = first_of(memory, "allocations"); a;
         a = a->next) {
        bool gone = fl_json_get(a, "freed") != NULL;
        live += !gone;
        freed += gone;
        bytes += gone ? 0 : fl_json_integer(a, "bytes", 0);
    }
    char *size = size_text(bytes);
    put_about(out, trial, "memory");
    fl_text_printf(out, "%lld live allocations, %s; %lld freed before\n", live,
                   size, freed);
    put_fault(out, fault);
    fl_text_puts(out, "\n    #        bytes  kind    address         made in\n");
    put_allocations(out, memory, false, nearest);
    put_allocations(out, memory, true, nearest);
    free(size);
}

/* ---- inputs ---- */

static void put_input(struct fl_text *out, const struct fl_json *i)
{
    const struct fl_json *low = fl_json_get(i, "min");
    const struct fl_json *high = fl_json_get(i, "max");
    const struct fl_json *there = fl_json_get(i, "allocated");
    const char *unreadable = fl_json_string(i, "unreadable", NULL);
    fl_text_printf(out, "       %-8s %s[", fl_json_string(i, "name", "?"),
                   fl_json_string(i, "type", "?"));
    for (const struct fl_json *d = first_of(i, "shape"); d; d = d->next)
        fl_text_printf(out, "%s%s", d->text ? d->text : "?",
                       d->next ? "," : "");
    fl_text_puts(out, "]");
    if (low && high && low->text && high->text)
        fl_text_printf(out, "  %s .. %s", low->text, high->text);
    if (fl_json_get(i, "nan"))
        fl_text_printf(out, ", %lld nan", fl_json_integer(i, "nan", 0));
    if (there && there->text)
        fl_text_printf(out, "  only %s of them are in a live allocation",
                       there->text);
    if (unreadable)
        fl_text_printf(out, "  unreadable (%s): the fault came before this "
                       "launch", unreadable);
    fl_text_puts(out, "\n");
}

void fl_inspect_inputs(const struct fl_json *trial, struct fl_text *out)
{
    put_about(out, trial, "inputs");
    fl_text_puts(out, "looking at them, the host waits before each launch\n\n");
    for (const struct fl_json *o = first_of(trial, "operators"); o;
         o = o->next) {
        fl_text_printf(out, "%5lld  %s in %s, %s:%lld\n",
                       fl_json_integer(o, "launch", 0),
                       fl_json_string(o, "name", "?"),
                       fl_json_string(o, "function", "?"),
                       fl_json_string(o, "file", "?"),
                       fl_json_integer(o, "line", 0));
        for (const struct fl_json *i = first_of(o, "inputs"); i; i = i->next)
            put_input(out, i);
    }
    for (const struct fl_json *n = first_of(trial, "not_described"); n;
         n = n->next)
        fl_text_printf(out, "nothing is known of the inputs of %s\n",
                       n->text ? n->text : "?");
}

bool fl_inspect_print(const char *path, bool memory, bool inputs, FILE *out)
{
    struct fl_text text = { 0 };
    char error[128];
    size_t n;
    char *s = fl_read_file(path, &n);
    struct fl_json *trial = s ? fl_json_parse(s, n, error) : NULL;
    if (trial && memory) {
        fl_text_puts(&text, "\n");
        fl_inspect_memory(trial, &text);
    }
    if (trial && inputs) {
        fl_text_puts(&text, "\n");
        fl_inspect_inputs(trial, &text);
    }
    if (trial)
        fputs(fl_text_str(&text), out);
    else
        fprintf(stderr, "faultlag: nothing of memory and inputs: %s\n",
                s ? error : strerror(errno));
    bool ok = trial != NULL;
    fl_text_free(&text);
    fl_json_free(trial);
    free(s);
    return ok;
}
