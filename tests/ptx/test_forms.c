/* Every form of the tables, on both sets of handlers; and that the tables are
 * complete.
 *
 *   test_forms int_forms            one table
 *   test_forms add.s32              the forms whose name begins so
 *   test_forms --complete FILE      every opcode that is executed has a row, and
 *                                   every form in FILE, which public programs
 *                                   use, has a row or a reason not to
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/exec.h"
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
void mem_forms_build(void);

static int run(const char *which) {
    unsigned ran = 0, failed = 0;
    for (unsigned l = 0; l < N_LISTS; l++)
        for (unsigned i = 0; i < lists[l]->n; i++) {
            const struct form *f = &lists[l]->forms[i];
            if (which && strcmp(lists[l]->name, which) &&
                strncmp(f->name, which, strlen(which)))
                continue;
            ran++;
            failed += !form_run(f, true) || !form_run(f, false);
        }
    printf("%u forms, %u values compared, %u forms failed\n", ran,
           form_values(), failed);
    return failed || !ran;
}

/* ---- completeness ------------------------------------------------------------- */

/* A form's words in order of the alphabet: PTX lets some of them change places
 * ("atom.add.acquire.cta.u32" is "atom.acquire.cta.add.u32"). */
struct words { char opcode[32], word[12][24]; unsigned n; };

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static struct words split(const char *form) {
    struct words w = {.n = 0};
    size_t length = strcspn(form, ".");
    snprintf(w.opcode, sizeof w.opcode, "%.*s", (int)length, form);
    for (const char *p = form + length; *p && w.n < 12; p += length) {
        length = strcspn(++p, ".");
        snprintf(w.word[w.n++], sizeof w.word[0], "%.*s", (int)length, p);
    }
    qsort(w.word, w.n, sizeof w.word[0], by_text);
    return w;
}

static bool has_row(const char *form) {
    struct words want = split(form);
    for (unsigned l = 0; l < N_LISTS; l++)
        for (unsigned i = 0; i < lists[l]->n; i++) {
            struct words have = split(lists[l]->forms[i].name);
            if (!memcmp(&want, &have, sizeof want)) return true;
        }
    return false;
}

/* The opcodes that are executed but need no row: tests/unit has them. */
static bool elsewhere(const char *opcode) {
    static const char *const list[] = {
        "bar", "barrier", "brkpt", "brx", "call", "elect", "exit",
        "griddepcontrol", "mbarrier", "ret", "trap"};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i], opcode)) return true;
    return false;
}

static unsigned missing_opcodes(void) {
    static const struct { const char *text, *select; } opcodes[] = {
#define PTX_OP(name, text, shape, select) {text, #select},
#include "ptx/opcodes.def"
#undef PTX_OP
    };
    unsigned missing = 0;
    for (unsigned k = 0; k < sizeof opcodes / sizeof *opcodes; k++) {
        bool found = !strcmp(opcodes[k].select, "none") ||
                     elsewhere(opcodes[k].text);
        for (unsigned l = 0; l < N_LISTS && !found; l++)
            for (unsigned i = 0; i < lists[l]->n && !found; i++)
                found = !strcmp(split(lists[l]->forms[i].name).opcode,
                                opcodes[k].text);
        if (!found) printf("no row executes opcode %s\n", opcodes[k].text);
        missing += !found;
    }
    return missing;
}

/* FILE: one form a line; after white space the reason it has no row. A reason
 * that is not needed any more is an error too. */
static int complete(const char *path) {
    FILE *file = fopen(path, "r");
    char line[256];
    unsigned forms = 0, rows = 0, wrong = 0;
    if (!file) return perror(path), 2;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n') continue;
        size_t n = strcspn(line, " \t\n");
        const char *reason = line + n + strspn(line + n, " \t");
        bool excused = *reason && *reason != '\n';
        line[n] = 0;
        bool row = has_row(line);
        forms++, rows += row;
        if (row == excused) {
            printf("%s: %s\n", line, row ? "has a row now, drop the reason"
                                         : "has no row and no reason");
            wrong++;
        }
    }
    fclose(file);
    wrong += missing_opcodes();
    printf("%u forms in use, %u with a row, %u wrong\n", forms, rows, wrong);
    return wrong || !forms;
}

int main(int argc, char **argv) {
    cvt_forms_build();
    mem_forms_build();
    if (argc == 3 && !strcmp(argv[1], "--complete")) return complete(argv[2]);
    return run(argc > 1 ? argv[1] : NULL);
}
