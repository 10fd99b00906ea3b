/* See asides.h. What is only printed goes through a file of its own folder in
 * $TMPDIR, since trials never write over anything. */
#include "harness/asides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/inspect.h"
#include "harness/timeline.h"

static bool told(const char *option, const char *path, const char *why)
{
    fprintf(stderr, "faultlag: --%s%s%s: %s\n", option, path ? " " : "",
            path ? path : "", why);
    return false;
}

/* Where the trial writes: `path` if it is given, else a temporary file. */
static bool choose_file(struct fl_aside *a, const char *option,
                        const char *path)
{
    const char *tmp = getenv("TMPDIR");
    if (path) {
        a->path = fl_strdup(path);
        return access(path, F_OK) || told(option, path, "it exists");
    }
    a->folder = fl_format("%s/faultlag-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(a->folder)) {
        told(option, a->folder, strerror(errno));
        free(a->folder);
        a->folder = NULL;
        return false;
    }
    a->path = fl_format("%s/trial.json", a->folder);
    return true;
}

bool fl_asides_plan(struct fl_asides *a, const struct fl_options *o,
                    struct fl_plan *plan)
{
    const char *option = o->trace ? "trace" : "timeline";
    if (o->trace || o->timeline) {
        if (!choose_file(&a->trace, option, o->trace))
            return false;
        if (!fl_plan_add_trace(plan, NULL, a->trace.path))
            return told(option, o->trace,
                        "only a faulty trial in free mode can be traced");
    }
    option = o->inspect ? "inspect" : o->memory_summary ? "memory-summary"
        : "record-inputs";
    if (o->inspect || o->memory_summary || o->record_inputs) {
        if (!choose_file(&a->inspection, option, o->inspect))
            return false;
        if (!fl_plan_add_inspection(plan, a->inspection.path,
                                    o->record_inputs != NULL))
            return told(option, o->inspect,
                        "only a faulty trial can be looked into");
    }
    return true;
}

/* A trial that hangs or crashes leaves nothing. */
static bool is_there(const struct fl_aside *a, const char *option)
{
    return !access(a->path, R_OK)
        || told(option, NULL, "the trial was cut off and left nothing");
}

void fl_asides_print(const struct fl_asides *a, const struct fl_options *o,
                     bool color, FILE *out)
{
    if (o->timeline && is_there(&a->trace, "timeline"))
        fl_timeline_print(a->trace.path, color, out);
    const char *option = o->memory_summary ? "memory-summary"
        : "record-inputs";
    if ((o->memory_summary || o->record_inputs)
        && is_there(&a->inspection, option))
        fl_inspect_print(a->inspection.path, o->memory_summary != NULL,
                         o->record_inputs != NULL, out);
}

static void forget(struct fl_aside *a)
{
    if (a->folder) {
        unlink(a->path);
        rmdir(a->folder);
    }
    free(a->path);
    free(a->folder);
}

void fl_asides_free(struct fl_asides *a)
{
    forget(&a->trace);
    forget(&a->inspection);
}
