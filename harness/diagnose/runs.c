/* The runs of a log and how each was made: commands at shell prompts, what
 * sets CUDA_LAUNCH_BLOCKING or says that it is not set, and launchers that name
 * a kernel. */
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

/* After a fault, what begins anew is another run. */
static void next_run(struct dg *d, struct dg_line *l)
{
    struct dg_facts *f = d->facts;
    if (!dg_this_run(d)->failed
        || f->n_runs == sizeof f->runs / sizeof *f->runs)
        return;
    dg_end_traces(d);
    d->record = -1;
    d->flood_head_n = 0;
    d->run = l->at.run = (int)f->n_runs++;
    dg_this_run(d)->line = l->at.line;
}

/* ---- blocking ---- */

/* CUDA_LAUNCH_BLOCKING=1, ['CUDA_LAUNCH_BLOCKING'] = "1", : '1', ... */
static int setting(const char *s)
{
    const char *p = dg_after(s, "LAUNCH_BLOCKING");
    if (!p)
        p = dg_after(s, "set cuda launch_blocking");
    if (!p)
        p = dg_after(s, "AMD_SERIALIZE_KERNEL");
    if (!p)
        return DG_UNKNOWN;
    while (*p && strchr("'\"] \t", *p))
        p++;
    if (dg_starts(p, "on"))             /* cuda-gdb's */
        return 1;
    if (*p != '=' && *p != ':' && *p != ',')
        return DG_UNKNOWN;
    while (*p && strchr("=:, '\"", *p))
        p++;
    return *p == '1' || *p == '3' ? 1 : *p == '0' ? 0 : DG_UNKNOWN;
}

/* Advice and talk name the variable too. */
static bool is_advice(const char *s)
{
    return dg_any_in("consider passing|onsider |try |Try |you can|You can|"
                     "should set|please |Please |recommend|hint|Hint|"
                     "for debugging|For debugging|re-run|rerun with|run with",
                     s);
}

void dg_take_blocking(struct dg *d, struct dg_line *l)
{
    struct dg_run *run = dg_this_run(d);
    const char *kernel;
    if (!(l->groups & 1u << DG_G_BLOCKING))
        return;
    if (strstr(l->s, "might be asynchronously reported")) {
        run->hints++;
    } else if (strstr(l->s, "to enable device-side assertions")) {
        run->dsa_notes++;
    } else if ((kernel = dg_after(l->s, "Error launching kernel: "))) {
        const char *end = kernel;
        while (*end && *end != ' ')
            end++;
        if (!d->facts->launch_kernel[0])
            DG_COPY(d->facts->launch_kernel, kernel, end);
    } else if (!is_advice(l->s)) {
        int value = setting(l->s);
        if (value >= 0)
            next_run(d, l);
        if (value == 1)
            dg_this_run(d)->set = true;
        else if (value == 0)
            dg_this_run(d)->unset = true;
    }
}

/* ---- commands ---- */

static bool is_command(const char *s)
{
    static const char *const words[] = {
        "set ", "python", "py ", ".\\", "$env:", "compute-sanitizer", "julia ",
        "torchrun", "accelerate ", "export ", "CUDA_LAUNCH_BLOCKING=",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dg_starts(s, words[i]))
            return true;
    return false;
}

/* The command of a shell's line, or NULL. */
static const char *command(const char *s)
{
    if (dg_starts(s, ">>> "))
        return NULL;
    if ((*s == '$' || *s == '%') && s[1] == ' ')
        return s + 2;
    /* a prompt of Windows, or the mark of quoted text */
    if (*s == '>' && s[1] == ' ')
        return is_command(s + 2) ? s + 2 : NULL;
    if (dg_starts(s, "# second run") || dg_starts(s, "# run 2"))
        return s + 2;
    if (dg_starts(s, "+ "))
        return s + 2;
    bool windows = dg_starts(s, "PS ") || (s[0] && s[1] == ':' && s[2] == '\\');
    const char *p = *s == '(' ? dg_after(s, ") ") : s;
    if (!p)
        return NULL;
    windows |= p[0] && p[1] == ':' && p[2] == '\\';
    if (windows) {
        p += dg_starts(p, "PS ") ? 3 : 0;
        p += p[0] && p[1] == ':' ? 2 : 0;
        p += strcspn(p, ">:\"*|`");
        return *p == '>' ? dg_blank(p + 1) : NULL;
    }
    /* user@host:~/dir$ command; root@host:/# command; (env) $ command */
    for (int i = 0; i < 100 && p[i]; i++)
        if ((p[i] == '$' || p[i] == '#') && p[i + 1] == ' ') {
            const char *at = memchr(p, '@', (size_t)i);
            return at || !i ? p + i + 2 : NULL;
        }
    return NULL;
}

static bool worth_naming(const char *s)
{
    return dg_any_in("python|torchrun|accelerate|srun |mpirun|deepspeed|./|julia|"
                     "th |luajit|java|cargo|Rscript|vllm |tune ", s);
}

void dg_take_command(struct dg *d, struct dg_line *l)
{
    const char *s = command(l->body);
    bool header = dg_starts(dg_blank(l->body), "========= COMPUTE-SANITIZER")
        || dg_starts(l->body, "========= CUDA-MEMCHECK");
    if (!s && !header)
        return;
    next_run(d, l);
    struct dg_run *run = dg_this_run(d);
    run->shell |= s != NULL;
    if (s && worth_naming(s) && !run->command[0])
        DG_COPY(run->command, s, NULL);
}
