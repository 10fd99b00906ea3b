/* PTX texts for the tests of the parser. */
#ifndef TESTS_UNIT_PTX_TEXT_H
#define TESTS_UNIT_PTX_TEXT_H

#include "ptx/ast.h"

/* Three lines; what follows begins on line 4. */
#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"
/* One kernel k; its text begins on line 6. */
#define BODY(text) HEADER ".visible .entry k(.param .u64 k_p0)\n{\n" text "\n}\n"

/* Parses or fails the test with the parser's message. */
static inline struct ptx_module *must_parse(const char *text)
{
    struct ptx_error err = { 0 };
    struct ptx_module *m = ptx_parse(text, strlen(text), "t", &err);
    if (!m) fail_msg("%s\n%s", err.text, text);
    return m;
}

#endif
