/* Names and codes of fault kinds. */
#include "core/fault.h"

static const struct { int code; const char *text; } kinds[] = {
#define FAULT_KIND(name, code, text) [FAULT_##name] = { code, text },
#include "core/fault_kinds.def"
#undef FAULT_KIND
};

const char *fault_kind_text(enum fault_kind k) { return kinds[k].text; }
int fault_kind_code(enum fault_kind k) { return kinds[k].code; }
