/* Instructions: the opcode with its suffixes, the operands (PTX 6, 9).
 *
 * A spelling such as ld.global.f32 occurs thousands of times in a module but
 * is taken apart once: what it says is kept with its name and copied. */
#include <string.h>

#include "ptx/parser.h"

#define MAX_VECTOR 256 /* elements in braces: wgmma takes 128 */

/* ---- opcode and suffixes ----------------------------------------------- */

/* One word behind the opcode; false if it is not known. */
static bool add_suffix(struct ptx_instr *in, const char *text, size_t len)
{
    int value;
    if ((value = lexer_word(WORD_TYPE, text, len)) >= 0) {
        if (in->n_types == PTX_MAX_TYPES) return false;
        in->types[in->n_types++] = (uint8_t)value;
    } else if ((value = lexer_word(WORD_MOD, text, len)) >= 0) {
        if (in->n_mods == PTX_MAX_MODS) return false;
        in->mods[in->n_mods++] = (uint8_t)value;
    } else if ((value = lexer_word(WORD_SPACE, text, len)) >= 0) {
        if (in->space2) return false;
        *(in->space ? &in->space2 : &in->space) = (uint8_t)value;
    } else if ((value = lexer_word(WORD_VEC, text, len)) >= 0) {
        in->vec = (uint8_t)value;
    } else {
        return false;
    }
    return true;
}

static const struct ptx_instr *read_spelling(struct parser *p,
                                             const struct name *name)
{
    struct ptx_instr *in = parser_alloc(p, 1, sizeof *in);
    in->text = name->text;
    in->pred = in->proto = in->loc = -1;
    for (unsigned i = 0; i < PTX_MAX_OPERANDS; i++)
        in->operands[i].index = in->operands[i].pair = -1;
    const char *end = name->text + name->len;
    const char *word = name->text;
    const char *dot = memchr(word, '.', name->len);
    int op = lexer_word(WORD_OPCODE, word, (size_t)((dot ? dot : end) - word));
    bool known = op >= 0;
    while (known && dot) {
        word = dot + 1;
        dot = memchr(word, '.', (size_t)(end - word));
        known = add_suffix(in, word, (size_t)((dot ? dot : end) - word));
    }
    in->opcode = (uint16_t)(known ? op : PTX_OP_unsupported);
    return in;
}

/* "ld .global .f32": suffixes apart from the opcode. Rare, by hand only. */
static struct name *gather_spelling(struct parser *p, const struct token *first)
{
    char text[128];
    size_t n = first->len < sizeof text ? first->len : sizeof text;
    memcpy(text, first->text, n);
    for (; p->lex.tok.kind == TOK_WORD; lexer_next(&p->lex)) {
        const struct token *t = &p->lex.tok;
        if (n + 1 + t->len > sizeof text) fail(p, "too many suffixes");
        text[n++] = '.';
        memcpy(text + n, t->text, t->len);
        n += t->len;
    }
    return intern(p, NAME_SPELLING, text, (uint32_t)n, lexer_hash(text, n));
}

static const struct ptx_instr *parse_spelling(struct parser *p)
{
    const struct token t = p->lex.tok;
    lexer_next(&p->lex);
    struct name *name =
        p->lex.tok.kind == TOK_WORD
            ? gather_spelling(p, &t)
            : intern(p, NAME_SPELLING, t.text, t.len, t.hash);
    if (!name->spelling) name->spelling = read_spelling(p, name);
    return name->spelling;
}

/* ---- operands ---------------------------------------------------------- */

static void parse_literal(struct parser *p, struct ptx_operand *op)
{
    struct token t;
    if (accept_float(p, &t)) {
        op->kind = t.kind == TOK_F32 ? PTX_OPND_F32 : PTX_OPND_F64;
        op->imm = (int64_t)t.value;
        return;
    }
    if (t.kind != TOK_INT && t.kind != TOK_PUNCT) fail(p, "operand expected");
    op->kind = PTX_OPND_INT;
    op->imm = expect_int(p);
}

/* Special registers of PTX 10 that sregs.def has no row for: no fault of the
 * module, so the instruction that reads one is an unsupported one. */
static bool is_other_special(const struct token *t)
{
    static const char *const NAMES[] = {
        "%envreg", "%pm", "%reserved_smem_offset_",
    };
    for (unsigned i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t n = strlen(NAMES[i]);
        if (t->len > n && !memcmp(t->text, NAMES[i], n)) return true;
    }
    return false;
}

static void parse_special(struct parser *p, struct ptx_operand *op)
{
    lexer_join_component(&p->lex);
    const struct token *t = &p->lex.tok;
    int sreg = lexer_word(WORD_SREG, t->text, t->len);
    if (sreg >= 0) {
        op->kind = PTX_OPND_SREG;
        op->index = sreg;
    } else if (t->len == 7 && !memcmp(t->text, "WARP_SZ", 7)) {
        op->kind = PTX_OPND_INT;
        op->imm = 32;
    } else if (is_other_special(t)) {
        op->kind = PTX_OPND_SINK;
        p->other_special = intern_token(p)->text;
    } else {
        fail(p, "'%.*s' is not declared", (int)(t->len < 80 ? t->len : 80),
             t->text);
    }
    lexer_next(&p->lex);
}

/* Of the instruction whose operands are being read. */
static enum ptx_opcode opcode(const struct parser *p)
{
    return p->instrs.at[p->instrs.n - 1].opcode;
}

/* A name and, behind a variable's, its offset. */
static void parse_named_operand(struct parser *p, struct ptx_operand *op)
{
    const struct token *t = &p->lex.tok;
    if (t->len == 1 && *t->text == '_') {
        op->kind = PTX_OPND_SINK;
        lexer_next(&p->lex);
        return;
    }
    const struct symbol *s = find_symbol(p, intern_token(p));
    if (!s) {
        parse_special(p, op);
        return;
    }
    op->index = (int32_t)s->index;
    switch (s->kind) {
    case SYM_REG: op->kind = PTX_OPND_REG; break;
    case SYM_FUNC: op->kind = PTX_OPND_FUNC; break;
    case SYM_VAR:
        op->kind = PTX_OPND_VAR;
        op->scope = s->depth ? PTX_SCOPE_FUNC : PTX_SCOPE_MODULE;
        break;
    case SYM_PROTO:
    case SYM_TABLE:
        if (opcode(p) == (s->kind == SYM_PROTO ? PTX_OP_call : PTX_OP_brx)) {
            op->kind = PTX_OPND_PROTO;
            break;
        } /* fall through */
    default:
        fail(p, "'%.*s' cannot be an operand here",
             (int)(t->len < 80 ? t->len : 80), t->text);
    }
    lexer_next(&p->lex);
    if (op->kind == PTX_OPND_VAR && (at_punct(p, '+') || at_punct(p, '-')))
        op->imm = expect_int(p);
}

/* [reg+imm], [var+imm], [imm] */
static void parse_memory(struct parser *p, struct ptx_operand *op)
{
    lexer_next(&p->lex);
    if (p->lex.tok.kind == TOK_IDENT) {
        parse_named_operand(p, op);
        if (op->kind != PTX_OPND_REG && op->kind != PTX_OPND_VAR)
            fail(p, "address is neither a register nor a variable");
        if (op->kind == PTX_OPND_REG && (at_punct(p, '+') || at_punct(p, '-')))
            op->imm = expect_int(p);
    } else {
        parse_literal(p, op);
        if (op->kind != PTX_OPND_INT) fail(p, "address is no integer");
    }
    op->base_kind = op->kind;
    op->kind = PTX_OPND_MEM;
    expect(p, ']');
}

static void parse_vector(struct parser *p, struct ptx_operand *op)
{
    lexer_next(&p->lex);
    op->kind = PTX_OPND_VEC;
    op->index = (int32_t)p->vec.n;
    op->count = 0;
    do {
        struct ptx_operand e = { .index = -1, .pair = -1 };
        if (at_punct(p, '{') || at_punct(p, '['))
            fail(p, "vector of something else than registers and numbers");
        if (++op->count > MAX_VECTOR) fail(p, "vector is too long");
        parse_operand(p, &e);
        *PUSH(p, p->vec) = e;
    } while (accept(p, ','));
    expect(p, '}');
}

/* a|b: the second destination. */
static void parse_pair(struct parser *p, struct ptx_operand *op)
{
    lexer_next(&p->lex);
    struct name *name = expect_name(p);
    if (!strcmp(name->text, "_")) return;
    const struct symbol *s = find_symbol(p, name);
    if (!s || s->kind != SYM_REG) fail(p, "register expected behind '|'");
    op->pair = (int32_t)s->index;
}

void parse_operand(struct parser *p, struct ptx_operand *op)
{
    if (at_punct(p, '[')) {
        parse_memory(p, op);
        return;
    }
    if (at_punct(p, '{')) {
        parse_vector(p, op);
        return;
    }
    op->negated = accept(p, '!');
    if (p->lex.tok.kind != TOK_IDENT) {
        if (op->negated) fail(p, "name expected behind '!'");
        parse_literal(p, op);
        return;
    }
    parse_named_operand(p, op);
    bool register_like = op->kind == PTX_OPND_REG || op->kind == PTX_OPND_SINK;
    if (register_like && at_punct(p, '|')) parse_pair(p, op);
}

void add_label_ref(struct parser *p, int32_t table, uint32_t item,
                   uint32_t slot)
{
    uint32_t line = p->lex.tok.line;
    struct name *name = expect_name(p);
    *PUSH(p, p->label_refs) =
        (struct label_ref){ name, line, table, item, slot };
}

/* ---- statements -------------------------------------------------------- */

/* ( a, b ): appended to the pool. */
static int32_t parse_call_list(struct parser *p)
{
    int32_t n = 0;
    expect(p, '(');
    if (accept(p, ')')) return 0;
    do {
        struct ptx_operand e = { .index = -1, .pair = -1 };
        if (at_punct(p, '{') || at_punct(p, '['))
            fail(p, "call with something else than parameters and numbers");
        parse_operand(p, &e);
        *PUSH(p, p->vec) = e;
        n++;
    } while (accept(p, ','));
    expect(p, ')');
    return n;
}

/* call [(ret),] target [, (args)] [, prototype]; */
static void parse_call(struct parser *p, struct ptx_instr *in)
{
    in->call_ret_first = in->call_arg_first = (int32_t)p->vec.n;
    if (at_punct(p, '(')) {
        in->call_ret_count = parse_call_list(p);
        expect(p, ',');
    }
    parse_operand(p, &in->operands[0]);
    in->n_operands = 1;
    in->call_arg_first = (int32_t)p->vec.n;
    bool args = false;
    while (accept(p, ',')) {
        if (at_punct(p, '(') && !args) {
            in->call_arg_count = parse_call_list(p);
            args = true;
            continue;
        }
        struct ptx_operand proto = { .index = -1, .pair = -1 };
        parse_operand(p, &proto);
        if (proto.kind != PTX_OPND_PROTO)
            fail(p, "call by a list that is no .callprototype or .calltargets");
        in->proto = proto.index;
        break;
    }
    expect(p, ';');
}

static void make_unsupported(struct ptx_instr *in)
{
    in->opcode = PTX_OP_unsupported;
    in->n_operands = 0;
}

/* So that the message names what is missing: "mov.u32 %pm0". */
static void name_special(struct parser *p, struct ptx_instr *in)
{
    size_t a = strlen(in->text), b = strlen(p->other_special);
    char *text = parser_alloc(p, a + b + 2, 1);
    memcpy(text, in->text, a);
    text[a] = ' ';
    memcpy(text + a + 1, p->other_special, b);
    in->text = text;
    p->other_special = NULL;
    make_unsupported(in);
}

static void parse_operands(struct parser *p, struct ptx_instr *in)
{
    if (accept(p, ';')) return;
    do {
        if (in->n_operands == PTX_MAX_OPERANDS) { /* no form we know */
            make_unsupported(in);
            skip_past(p, ';');
            return;
        }
        uint32_t slot = in->n_operands++;
        struct ptx_operand *op = &in->operands[slot];
        if (in->opcode == PTX_OP_bra) {
            op->kind = PTX_OPND_LABEL;
            add_label_ref(p, -1, p->instrs.n - 1, slot);
        } else {
            parse_operand(p, op);
        }
    } while (accept(p, ','));
    expect(p, ';');
    /* The cache policy is a hint: nobody behind the parser sees it. */
    for (unsigned i = 0; i < in->n_mods; i++)
        if (in->mods[i] == PTX_MOD_cache_policy && in->n_operands > 2)
            in->n_operands--;
}

void parse_instruction(struct parser *p, int32_t pred, bool negated)
{
    uint32_t line = p->lex.tok.line;
    const struct ptx_instr *spelling = parse_spelling(p);
    struct ptx_instr *in = PUSH(p, p->instrs);
    *in = *spelling;
    in->pred = pred;
    in->pred_negated = negated;
    in->text_line = line;
    in->loc = p->loc;
    if (in->opcode == PTX_OP_unsupported)
        skip_past(p, ';');
    else if (in->opcode == PTX_OP_call)
        parse_call(p, in);
    else
        parse_operands(p, in);
    if (p->other_special) name_special(p, in);
}
