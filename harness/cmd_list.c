/* faultlag list and describe: the catalogue, for people or as JSON. */
#include <stdio.h>
#include <string.h>

#include "harness/command.h"
#include "harness/listing.h"
#include "harness/outcome.h"

static struct fl_json *read_listing(struct fl_places *places)
{
    fl_places_find(places);
    return fl_listing_read(places);
}

/* A value as it was read. */
static void put(struct fl_text *out, const char *key, const struct fl_json *j)
{
    switch (j->type) {
    case FL_JSON_NULL: fl_json_put_raw(out, key, "null"); break;
    case FL_JSON_BOOL: fl_json_put_bool(out, key, j->truth); break;
    case FL_JSON_NUMBER: fl_json_put_raw(out, key, j->text); break;
    case FL_JSON_STRING: fl_json_put_string(out, key, j->text); break;
    default: {
        bool array = j->type == FL_JSON_ARRAY;
        fl_json_open(out, key, array ? '[' : '{');
        for (const struct fl_json *m = j->first; m; m = m->next)
            put(out, m->key, m);
        fl_json_close(out, array ? ']' : '}');
    }
    }
}

static void put_devices(struct fl_text *out, const struct fl_places *places)
{
    fl_json_open(out, "devices", '[');
    for (int k = FL_DEVICE_SIM; k <= FL_DEVICE_CUDA; k++) {
        char reason[512] = "";
        struct fl_json *probe = fl_probe(places, (enum fl_device_kind)k,
                                         reason);
        fl_json_open(out, NULL, '{');
        fl_json_put_string(out, "name",
                           fl_device_kind_name((enum fl_device_kind)k));
        const char *device = fl_probe_device(probe);
        fl_json_put_bool(out, "usable", device != NULL);
        if (device)
            fl_json_put_string(out, "device_name", device);
        else
            fl_json_put_string(out, "reason", reason);
        fl_json_close(out, '}');
        fl_json_free(probe);
    }
    fl_json_close(out, ']');
}

static void list_json(const struct fl_json *listing,
                      const struct fl_places *places)
{
    struct fl_text out = { 0 };
    fl_json_open(&out, NULL, '{');
    fl_json_open(&out, "scenarios", '[');
    for (const struct fl_json *s = fl_json_get(listing, "scenarios")->first;
         s; s = s->next)
        if (!fl_json_bool(s, "selftest"))
            put(&out, NULL, s);
    fl_json_close(&out, ']');
    put(&out, "strategies", fl_json_get(listing, "strategies"));
    put_devices(&out, places);
    fl_json_close(&out, '}');
    puts(out.s);
    fl_text_free(&out);
}

static void list_lines(const struct fl_json *listing, const char *what)
{
    printf("%s:\n", what);
    for (const struct fl_json *s = fl_json_get(listing, what)->first; s;
         s = s->next)
        if (!fl_json_bool(s, "selftest"))
            printf("  %-22s%s\n", fl_json_string(s, "name", "?"),
                   fl_json_string(s, "summary", ""));
}

static void list_devices(const struct fl_places *places)
{
    puts("devices:");
    for (int k = FL_DEVICE_SIM; k <= FL_DEVICE_CUDA; k++) {
        char reason[512] = "";
        struct fl_json *probe = fl_probe(places, (enum fl_device_kind)k,
                                         reason);
        const char *device = fl_probe_device(probe);
        printf("  %-22s%s%s\n", fl_device_kind_name((enum fl_device_kind)k),
               device ? "" : "not usable: ", device ? device : reason);
        fl_json_free(probe);
    }
}

int fl_cmd_list(const struct fl_options *o, int argc, char **argv)
{
    struct fl_places places;
    (void)argc, (void)argv;
    if (o->columns) {
        struct fl_text out = { 0 };
        fl_columns_to_markdown(&out);
        fputs(out.s, stdout);
        fl_text_free(&out);
        return FL_EXIT_OK;
    }
    struct fl_json *listing = read_listing(&places);
    if (!listing)
        return FL_EXIT_UNUSABLE;
    if (o->as_json) {
        list_json(listing, &places);
    } else {
        list_lines(listing, "scenarios");
        list_lines(listing, "strategies");
        list_devices(&places);
    }
    fl_json_free(listing);
    fl_places_free(&places);
    return FL_EXIT_OK;
}

/* ---- describe ---- */

static void text_of_modes(long long modes, char *out, size_t size)
{
    static const struct { int bit; const char *name; } names[] = {
        { FL_FREE, "free" }, { FL_RANDOM, "random" }, { FL_EAGER, "eager" },
        { FL_LAZY, "lazy" } };
    size_t n = 0;
    out[0] = '\0';
    if (modes == FL_ANY_MODE) {
        snprintf(out, size, "any");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (modes & names[i].bit)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "",
                                  names[i].name);
}

static void describe_expectations(const struct fl_json *s)
{
    const struct fl_json *rows = fl_json_get(s, "expect");
    if (!rows || !rows->first)
        return;
    printf("\n%-16s%-7s%-8s%-26s%-6s%-18s%s\n", "strategy", "device", "mode",
           "expected", "code", "reported in", "basis");
    for (const struct fl_json *e = rows->first; e; e = e->next) {
        char modes[64], code[16] = "";
        long long devices = fl_json_integer(e, "devices", FL_ANY_DEVICE);
        text_of_modes(fl_json_integer(e, "modes", FL_ANY_MODE), modes,
                      sizeof modes);
        if (fl_json_get(e, "code"))
            snprintf(code, sizeof code, "%lld", fl_json_integer(e, "code", 0));
        printf("%-16s%-7s%-8s%-26s%-6s%-18s%s\n",
               fl_json_string(e, "strategy", "*"),
               devices == FL_SIM ? "sim" : devices == FL_CUDA ? "cuda" : "any",
               modes, fl_json_string(e, "outcomes", ""), code,
               fl_json_string(e, "where", ""),
               fl_json_string(e, "basis", ""));
        if (fl_json_get(e, "note"))
            printf("    %s\n", fl_json_string(e, "note", ""));
    }
}

static void describe_scenario(const struct fl_json *s)
{
    const struct fl_json *variants = fl_json_get(s, "variants");
    printf("%s: %s\nstands for: %s\nvariants:", fl_json_string(s, "name", "?"),
           fl_json_string(s, "summary", ""),
           fl_json_string(s, "stands_for", ""));
    for (const struct fl_json *v = variants->first; v; v = v->next)
        printf(" %s", v->text);
    puts("");
    if (fl_json_get(s, "guard"))
        printf("guarded: %s\n", fl_json_string(s, "guard", ""));
    if (fl_json_get(s, "fault_file"))
        printf("bad access: in %s, %s\n", fl_json_string(s, "fault_kernel", ""),
               fl_json_string(s, "fault_file", ""));
    else
        puts("bad access: none on the device, the host commits the fault");
    if (fl_json_get(s, "launch_file"))
        printf("launched: in %s, %s:%lld%s\n",
               fl_json_string(s, "launch_function", ""),
               fl_json_string(s, "launch_file", ""),
               fl_json_integer(s, "launch_line", 0),
               fl_json_bool(s, "launch_unchecked")
                   ? ", by code that checks nothing" : "");
    describe_expectations(s);
}

static void print_json(const struct fl_json *j)
{
    struct fl_text out = { 0 };
    put(&out, NULL, j);
    puts(out.s);
    fl_text_free(&out);
}

int fl_cmd_describe(const struct fl_options *o, int argc, char **argv)
{
    struct fl_places places;
    struct fl_json *listing = read_listing(&places);
    (void)argc, (void)argv;
    if (!listing)
        return FL_EXIT_UNUSABLE;
    const struct fl_json *s = fl_listing_scenario(listing, o->name);
    bool scenario = s != NULL;
    if (!s) {
        s = fl_json_get(listing, "strategies")->first;
        while (s && strcmp(fl_json_string(s, "name", ""), o->name))
            s = s->next;
    }
    if (!s)
        fprintf(stderr, "faultlag: no scenario or strategy is called `%s`\n",
                o->name);
    else if (o->as_json)
        print_json(s);
    else if (scenario)
        describe_scenario(s);
    else
        printf("%s: %s\nruns with CUDA_LAUNCH_BLOCKING=1: %s\n", o->name,
               fl_json_string(s, "summary", ""),
               fl_json_bool(s, "launch_blocking") ? "yes" : "no");
    int code = s ? FL_EXIT_OK : FL_EXIT_USAGE;
    fl_json_free(listing);
    fl_places_free(&places);
    return code;
}
