/* How fast a log is read, in CPU time: lines of a training run that say
 * nothing, with colours and progress bars among them, and at the end what went
 * wrong. The verdict is checked, the speed is only told.
 *
 *   log_read [MB]     default 1000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"

static const char quiet[] =
    "2025-02-11 09:14:07,113 INFO trainer: epoch 3 step 1200 loss 2.3017 lr "
    "1.0e-04 grad norm 0.87 tokens/s 18233 (train/rank 0)\n"
    "Epoch 3:  12%|#2        | 120/1000 [00:31<03:48,  3.85it/s, loss=0.412]\n"
    "[rank1]: saved checkpoint /data/run/ckpt-1200 in 3.2 s, 14.0 GiB\n"
    "\x1b[32mval\x1b[0m accuracy 0.713 error 0.287 top5 0.911\n"
    "bar  1%|   | 1/99\rbar  2%|   | 2/99\rbar  3%|   | 3/99\n";
static const char fault[] =
    "../aten/src/ATen/native/cuda/Loss.cu:250: k: block: [0,0,0], thread: "
    "[1,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
    "RuntimeError: CUDA error: device-side assert triggered\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    size_t mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, size = 1 << 20;
    char *part = malloc(size);
    struct dg_rules rules;
    struct dg_verdict v;
    struct dg d;
    if (!part || !mb || !dg_rules_load(&rules, NULL))
        return 2;
    for (size_t i = 0; i < size; i++)
        part[i] = quiet[i % (sizeof quiet - 1)];
    part[size - 1] = '\n';
    double start = now();
    struct dg_words *words = dg_vocabulary(&rules);
    double ready = now();
    dg_begin(&d, &rules, words);
    for (size_t i = 0; i < mb; i++)
        dg_feed(&d, part, size);
    dg_feed(&d, fault, sizeof fault - 1);
    dg_end(&d);
    dg_decide(d.facts, &rules, &v);
    double end = now();
    bool right = v.found && v.error_code == 710
        && !strcmp(dg_rule_text(v.causes[0].rule, DG_NAME),
                   "label_out_of_range");
    printf("%zu MB, %lu lines: %.0f MB/s, ready in %.1f ms%s\n", mb,
           d.facts->lines, (double)mb * 1.048576 / (end - ready),
           (ready - start) * 1e3, right ? "" : "; verdict wrong");
    dg_verdict_free(&v);
    dg_free(&d);
    dg_words_free(words);
    dg_rules_free(&rules);
    free(part);
    return right ? 0 : 1;
}
