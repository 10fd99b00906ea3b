/* Names and what they mean where.
 *
 * Every distinct text is interned once. Its meanings form a stack, innermost
 * block first. Leaving a block only retires the block's serial number: its
 * symbols are dropped when their name is next looked at, so that a block costs
 * nothing to leave and every symbol is dropped at most once. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

static void grow_names(struct parser *p)
{
    uint32_t cap = p->names_cap ? p->names_cap * 2 : 256;
    struct name **names = calloc(cap, sizeof *names);
    if (!names) fail_memory(p);
    for (uint32_t i = 0; i < p->names_cap; i++) {
        struct name *n = p->names[i];
        if (!n) continue;
        uint32_t s = n->hash & (cap - 1);
        while (names[s]) s = (s + 1) & (cap - 1);
        names[s] = n;
    }
    free(p->names);
    p->names = names;
    p->names_cap = cap;
}

/* Where the text stands in the table, or the free place for it. */
static uint32_t place(const struct parser *p, enum name_class cls,
                      const char *text, uint32_t len, uint32_t hash)
{
    uint32_t mask = p->names_cap - 1, s = hash & mask;
    for (const struct name *n; (n = p->names[s]); s = (s + 1) & mask)
        if (n->hash == hash && n->len == len && n->cls == cls &&
            !memcmp(n->text, text, len))
            break;
    return s;
}

static uint32_t mix(enum name_class cls, uint32_t hash)
{
    hash = (hash ^ hash >> 15) * 0x9e3779b1u + cls;
    return hash ^ hash >> 16;
}

struct name *intern(struct parser *p, enum name_class cls, const char *text,
                    uint32_t len, uint32_t hash)
{
    if (p->n_names >= p->names_cap / 2) grow_names(p);
    hash = mix(cls, hash);
    uint32_t s = place(p, cls, text, len, hash);
    if (p->names[s]) return p->names[s];
    struct name *n = parser_alloc(p, 1, sizeof *n);
    n->text = arena_copy(p->arena, text, len);
    if (!n->text) fail_memory(p);
    n->len = len;
    n->hash = hash;
    n->cls = (uint8_t)cls;
    p->names[s] = n;
    p->n_names++;
    return n;
}

static struct symbol *living(struct parser *p, struct name *name)
{
    struct symbol *s = name->top;
    while (s && (s->depth > p->depth || p->serials[s->depth] != s->serial))
        s = s->below;
    return name->top = s;
}

struct symbol *find_at(struct parser *p, struct name *name, uint32_t depth)
{
    struct symbol *s = living(p, name);
    while (s && s->depth > depth) s = s->below;
    return s && s->depth == depth ? s : NULL;
}

struct symbol *declare(struct parser *p, struct name *name, uint32_t depth,
                       enum symbol_kind kind, uint32_t index)
{
    struct symbol **at = &name->top;
    living(p, name);
    while (*at && (*at)->depth > depth) at = &(*at)->below;
    if (*at && (*at)->depth == depth)
        fail_at(p, p->name_line, "'%.80s' is declared twice", name->text);
    struct symbol *s = parser_alloc(p, 1, sizeof *s);
    *s = (struct symbol){ .below = *at, .depth = depth,
                          .serial = p->serials[depth],
                          .kind = (uint8_t)kind, .index = index };
    return *at = s;
}

/* The innermost range that holds the name. %r12 may be number 12 of %r<..> or
 * 2 of %r1<..>; a number has no zero in front. */
static struct symbol *find_range(struct parser *p, const struct name *name)
{
    struct symbol *best = NULL;
    uint64_t number = 0, scale = 1;
    uint32_t len = name->len;
    for (; len > 1 && scale <= 1000000000; scale *= 10) {
        char c = name->text[--len];
        if (c < '0' || c > '9') break;
        number += (uint64_t)(c - '0') * scale;
        if (c == '0' && scale > 1) continue;
        uint32_t hash = mix(NAME_PREFIX, lexer_hash(name->text, len));
        struct name *prefix =
            p->names[place(p, NAME_PREFIX, name->text, len, hash)];
        struct symbol *s = prefix ? living(p, prefix) : NULL;
        while (s && number >= s->count) s = s->below;
        if (s && (!best || s->depth > best->depth)) best = s;
    }
    return best;
}

struct symbol *find_symbol(struct parser *p, struct name *name)
{
    struct symbol *s = living(p, name);
    if (!p->func || (s && !p->inner_ranges)) return s;
    struct symbol *range = find_range(p, name);
    if (!range || (s && s->depth >= range->depth)) return s;
    uint8_t type = range->type;
    s = declare(p, name, range->depth, SYM_REG, p->regs.n);
    s->type = type;
    *PUSH(p, p->regs) = (struct ptx_reg){ name->text, type };
    return s;
}

void scope_push(struct parser *p)
{
    if (p->depth == MAX_DEPTH) fail(p, "blocks are nested too deeply");
    p->serials[++p->depth] = ++p->next_serial;
    p->label_base[p->depth] = p->label_refs.n;
}

static void resolve(struct parser *p, const struct label_ref *r, uint32_t label)
{
    if (r->table >= 0)
        p->tables.at[r->table].labels[r->item] = label;
    else
        p->instrs.at[r->item].operands[r->slot].index = (int32_t)label;
}

/* A label belongs to the block that defines it: two inlined copies of one
 * `{ L: ... bra L; }` do not meet. What a block does not define is left to the
 * block around it. */
void scope_pop(struct parser *p)
{
    uint32_t kept = p->label_base[p->depth];
    for (uint32_t i = kept; i < p->label_refs.n; i++) {
        const struct label_ref *r = &p->label_refs.at[i];
        struct symbol *s = find_at(p, r->name, p->depth);
        if (s && s->kind == SYM_LABEL)
            resolve(p, r, s->index);
        else if (p->depth == 1)
            fail_at(p, r->line, "label '%.80s' is not defined", r->name->text);
        else
            p->label_refs.at[kept++] = *r;
    }
    p->label_refs.n = kept;
    p->depth--;
}
