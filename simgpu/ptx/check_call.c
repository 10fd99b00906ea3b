/* Calls against signatures (PTX 9.7.12.5), and indexed branches. */
#include "ptx/check_parts.h"

static bool check_call_list(struct check *c, int32_t first, int32_t count,
                            const struct ptx_var *want, uint32_t n_want,
                            bool is_return)
{
    const char *what = is_return ? "return value" : "argument";
    if ((uint32_t)count != n_want)
        return check_wrong(c, "%d %ss, %u wanted", count, what, n_want);
    for (int32_t i = 0; i < count; i++) {
        const struct ptx_operand *op = &c->f->vec[first + i];
        if (op->kind == PTX_OPND_VAR) {
            const struct ptx_var *v = check_var(c, op);
            if (v->space != PTX_SPACE_PARAM || op->imm)
                return check_wrong(c, "%s %d is no .param", what, i + 1);
            if (v->size != want[i].size && want[i].size)
                return check_wrong(c, "%s %d has %llu bytes, %llu wanted", what,
                             i + 1, (unsigned long long)v->size,
                             (unsigned long long)want[i].size);
        } else if (op->kind == PTX_OPND_REG) {
            if (check_types[c->f->regs[op->index].type].bytes < want[i].size)
                return check_wrong(c, "%s %d is too small", what, i + 1);
        } else if (is_return ? op->kind != PTX_OPND_SINK
                             : op->kind != PTX_OPND_INT &&
                                   op->kind != PTX_OPND_F32 &&
                                   op->kind != PTX_OPND_F64) {
            return check_wrong(c, "%s %d cannot be passed", what, i + 1);
        }
    }
    return true;
}

bool check_call(struct check *c)
{
    const struct ptx_instr *in = c->in;
    const struct ptx_operand *target = &in->operands[0];
    const struct ptx_var *rets, *args;
    uint32_t n_rets, n_args;
    if (target->kind == PTX_OPND_FUNC) {
        const struct ptx_func *f = &c->m->funcs[target->index];
        if (f->is_entry) return check_wrong(c, "an entry cannot be called");
        n_rets = (uint32_t)f->ret_count;
        n_args = (uint32_t)f->arg_count;
        rets = f->vars;
        args = f->vars ? f->vars + f->arg_first : NULL;
    } else if (target->kind == PTX_OPND_REG) {
        c->operand = 1;
        if (!check_sized(c, target, 8, false)) return false;
        c->operand = 0;
        if (in->proto < 0)
            return check_wrong(c, "call of a register without a prototype");
        const struct ptx_proto *pr = &c->f->protos[in->proto];
        n_rets = pr->n_rets;
        n_args = pr->n_args;
        rets = pr->rets;
        args = pr->args;
    } else {
        return check_wrong(c, "target is neither a function nor a register");
    }
    return check_call_list(c, in->call_ret_first, in->call_ret_count, rets,
                           n_rets, true) &&
           check_call_list(c, in->call_arg_first, in->call_arg_count, args,
                           n_args, false);
}

/* brx.idx %r, table */
bool check_brx(struct check *c)
{
    const struct ptx_instr *in = c->in;
    if (in->n_operands != 2) return check_wrong(c, "two operands wanted");
    c->operand = 1;
    if (in->operands[0].kind != PTX_OPND_REG)
        return check_wrong(c, "register wanted");
    if (!check_sized(c, &in->operands[0], 4, false)) return false;
    c->operand = 2;
    return in->operands[1].kind == PTX_OPND_PROTO ||
           check_wrong(c, ".branchtargets list wanted");
}
