/* Every form of the tables, on both sets of handlers; and that the tables are
 * complete. Silent but for one line unless something differs.
 *
 *   test_forms            all
 *   test_forms add.s32    the forms whose name begins so
 */
#include <stdio.h>
#include <string.h>

#include "tests/ptx/form.h"

#define LIST(name) extern const struct form_list list_##name;
#include "tests/ptx/lists.def"
#undef LIST

static const struct form_list *const lists[] = {
#define LIST(name) &list_##name,
#include "tests/ptx/lists.def"
#undef LIST
};
enum { N_LISTS = sizeof lists / sizeof *lists };

void cvt_forms_build(void);

int main(int argc, char **argv) {
    cvt_forms_build();
    unsigned run = 0, failed = 0;
    for (unsigned l = 0; l < N_LISTS; l++)
        for (unsigned i = 0; i < lists[l]->n; i++) {
            const struct form *f = &lists[l]->forms[i];
            if (argc > 1 && strncmp(f->name, argv[1], strlen(argv[1])))
                continue;
            run++;
            failed += !form_run(f, true) || !form_run(f, false);
        }
    printf("%u forms, %u values compared, %u forms failed\n", run,
           form_values(), failed);
    return failed || !run;
}
