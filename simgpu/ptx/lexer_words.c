/* The fixed words of PTX in one hash table, filled once from the .def files.
 * A word may stand in several classes (.global is a directive and the suffix
 * of a load), so the class is part of the key. */
#include <pthread.h>
#include <string.h>

#include "ptx/ast.h"
#include "ptx/lexer.h"

struct word {
    const char *text;
    uint8_t cls, len;
    int16_t value;
};

static const struct word WORDS[] = {
#define ROW(cls, text, value) { text, cls, sizeof text - 1, value },
#define PTX_OP(name, text, ...) ROW(WORD_OPCODE, text, PTX_OP_##name)
#include "opcodes.def"
#undef PTX_OP
#define PTX_MOD(name, text) ROW(WORD_MOD, text, PTX_MOD_##name)
#include "modifiers.def"
#undef PTX_MOD
#define PTX_TYPE(name, text, bytes) ROW(WORD_TYPE, text, PTX_##name)
#include "types.def"
#undef PTX_TYPE
#define PTX_SREG(name, text, type) ROW(WORD_SREG, text, PTX_SREG_##name)
#include "sregs.def"
#undef PTX_SREG
#define PTX_DIRECTIVE(name) ROW(WORD_DIRECTIVE, #name, DIR_##name)
#include "lexer_directives.def"
#undef PTX_DIRECTIVE
    ROW(WORD_SPACE, "const", PTX_SPACE_CONST)
    ROW(WORD_SPACE, "global", PTX_SPACE_GLOBAL)
    ROW(WORD_SPACE, "local", PTX_SPACE_LOCAL)
    ROW(WORD_SPACE, "param", PTX_SPACE_PARAM)
    ROW(WORD_SPACE, "param::entry", PTX_SPACE_PARAM)
    ROW(WORD_SPACE, "param::func", PTX_SPACE_PARAM)
    ROW(WORD_SPACE, "shared", PTX_SPACE_SHARED)
    ROW(WORD_SPACE, "shared::cta", PTX_SPACE_SHARED)
    ROW(WORD_VEC, "v2", 2)
    ROW(WORD_VEC, "v4", 4)
    ROW(WORD_VEC, "v8", 8)
#undef ROW
};

#define SLOTS 2048u /* a power of two, several times the words */
_Static_assert(sizeof WORDS / sizeof *WORDS < SLOTS / 2, "table too full");
_Static_assert(PTX_MOD_COUNT <= 255, "ptx_instr.mods holds bytes");
_Static_assert(PTX_SREG_COUNT <= 64, "decoders keep sets in one word");

static const struct word *table[SLOTS];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static uint32_t slot_of(enum word_class cls, const char *text, size_t len)
{
    uint32_t h = lexer_hash_step(lexer_hash(text, len), (unsigned char)cls);
    return (h ^ h >> 15) & (SLOTS - 1);
}

static void fill_table(void)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const struct word *w = &WORDS[i];
        if (!w->len) continue; /* rows for "none" */
        uint32_t s = slot_of(w->cls, w->text, w->len);
        while (table[s]) s = (s + 1) & (SLOTS - 1);
        table[s] = w;
    }
}

int lexer_word(enum word_class cls, const char *text, size_t len)
{
    pthread_once(&table_once, fill_table);
    for (uint32_t s = slot_of(cls, text, len); table[s];
         s = (s + 1) & (SLOTS - 1)) {
        const struct word *w = table[s];
        if (w->cls == cls && w->len == len && !memcmp(w->text, text, len))
            return w->value;
    }
    if (cls == WORD_MOD && len > 4 && text[0] == 'L' &&
        (text[1] == '1' || text[1] == '2') && text[2] == ':')
        return PTX_MOD_cache_hint;
    return -1;
}
