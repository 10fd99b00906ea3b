/* What `faultlag run --memory-summary` and `--record-inputs` ask of a trial:
 * one object in a file, which the parent reads (inspect.c). */
#include <stdio.h>

#include "harness/catalogue.h"
#include "harness/inputs.h"
#include "harness/memory.h"
#include "harness/run.h"

static void put_report(struct fl_text *out, const struct fl_report *r)
{
    fl_json_open(out, "report", '{');
    fl_json_put_string(out, "error_name", cudaGetErrorName(r->code));
    fl_json_put_string(out, "function", r->site->function);
    fl_json_put_string(out, "file", fl_source_path(r->site->file));
    fl_json_put_integer(out, "line", r->site->line);
    fl_json_put_integer(out, "launch", r->launch);
    fl_json_close(out, '}');
}

bool fl_inspect_write(struct fl_run *run, const char *path)
{
    const struct fl_trial *t = &run->trial;
    struct fl_text out = { 0 };
    fl_json_open(&out, NULL, '{');
    fl_json_put_string(&out, "scenario", t->scenario->name);
    fl_json_put_string(&out, "variant", fl_variant_name(t->variant));
    fl_json_put_string(&out, "strategy", t->strategy->name);
    fl_json_put_string(&out, "device", run->device);
    fl_json_put_string(&out, "device_name", run->device_name);
    if (t->report.code)
        put_report(&out, &t->report);
    fl_memory_json(&out);
    if (run->record_inputs)
        fl_inputs_json(&out);
    fl_json_close(&out, '}');
    fl_text_puts(&out, "\n");
    FILE *f = fopen(path, "wx");        /* never over an older file */
    bool ok = f && fwrite(out.s, 1, out.n, f) == out.n;
    if (f && fclose(f))
        ok = false;
    fl_text_free(&out);
    return ok;
}
