/* call and ret, PTX 9.7.12.5 and 9.7.12.6, and the functions that are built in.
 *
 * A call gives its lanes a frame behind the caller's, copies the arguments
 * from the caller's local memory to the callee's, and ret copies the results
 * back: .param variables of functions live in local memory, which is what lets
 * a program take their addresses. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/exec_ops.h"
#include "core/guest.h"
#include "ptx/guest_view.h"
#include "ptx/warp.h"

#define STACK_LIMIT (64u << 20) /* a warp's frames */

/* ---- frames -------------------------------------------------------------------- */

static bool reserve_stack(struct warp *w, uint32_t bytes) {
    if (bytes <= w->stack_size) return true;
    if (bytes > STACK_LIMIT) return false;
    uint32_t size = (2 * bytes + 63u) & ~63u;
    uint8_t *grown = aligned_alloc(64, size);
    if (!grown) return false;
    memcpy(grown, w->stack, w->stack_size);
    memset(grown + w->stack_size, 0, size - w->stack_size);
    free(w->grown_stack);
    w->stack = w->grown_stack = grown;
    w->stack_size = size;
    warp_set_frame(w, w->fp);
    return true;
}

static const struct exec_func *func_at(const struct warp *w, uint32_t index) {
    return &w->block->launch->program->funcs[index];
}

static uint64_t *local_bases(const struct warp *w, uint32_t fp) {
    return (uint64_t *)(w->stack + fp + FRAME_LOCAL_BASE);
}

static uint8_t *local_at(const struct warp *w, uint32_t lane,
                         uint64_t offset) {
    return w->local + (size_t)lane * w->local_stride + offset;
}

/* Where a new frame starts: behind the caller's, and behind those of every
 * other fragment, since rows of frames that are laid out differently would
 * share the bytes of different lanes. */
static uint32_t free_frame(const struct warp *w, const struct exec_func *caller) {
    const struct program *p = w->block->launch->program;
    uint32_t end = w->fp + caller->frame_bytes;
    for (uint32_t i = 0; w->n_frags > 1 && i < w->n_frags; i++) {
        const struct fragment *f = &w->frags[i];
        if (i == w->current && w->mask) continue;
        uint32_t other = f->fp + func_at(w, p->info[f->pc].func)->frame_bytes;
        if (other > end) end = other;
    }
    return end;
}

/* Copies one side's variables to the other's, for the lanes of `mask`. */
static void copy_params(struct warp *w, uint32_t mask,
                        const struct exec_param *to, const uint64_t *to_base,
                        uint32_t n_to, const struct exec_param *from,
                        const uint64_t *from_base, uint32_t n_from) {
    for (uint32_t k = 0; k < n_to && k < n_from; k++) {
        uint32_t n = to[k].size < from[k].size ? to[k].size : from[k].size;
        FOR_LANES(i, mask)
            memcpy(local_at(w, i, to_base[i] + to[k].offset),
                   local_at(w, i, from_base[i] + from[k].offset), n);
    }
}

/* ---- call ------------------------------------------------------------------------ */

/* Lanes of `mask` go to the start of the function; w->pc is where they are to
 * return to. */
static enum exec_result enter(struct warp *w, const struct insn *in,
                              uint32_t mask, uint32_t callee) {
    const struct insn_call *c = in->ext;
    const struct exec_func *caller = func_at(w, c->caller);
    const struct exec_func *f = func_at(w, callee);
    uint32_t fp = free_frame(w, caller);
    if (f->pc == UINT32_MAX)
        return exec_fault(w, in, FAULT_INVALID_PC, mask, 0, 0, false);
    if (!reserve_stack(w, fp + f->frame_bytes))
        return exec_fault(w, in, FAULT_STACK, mask, 0, 0, false);
    const uint64_t *mine = local_bases(w, w->fp);
    uint64_t *theirs = local_bases(w, fp);
    uint32_t *ret_pc = (uint32_t *)(w->stack + fp + FRAME_RETURN_PC);
    uint32_t *ret_fp = (uint32_t *)(w->stack + fp + FRAME_CALLER_FP);
    uint32_t over = 0;
    FOR_LANES(i, mask) {
        theirs[i] = mine[i] + caller->local_bytes;
        over |= (uint32_t)(theirs[i] + f->local_bytes > w->local_stride) << i;
        ret_pc[i] = w->pc;
        ret_fp[i] = w->fp;
    }
    if (over) return exec_fault(w, in, FAULT_STACK, over, 0, 0, false);
    copy_params(w, mask, f->args, theirs, f->n_args, c->args, mine, c->n_args);
    if (mask != w->mask) {
        warp_split(w, mask, f->pc, fp);
        return EXEC_SWITCH;
    }
    w->pc = f->pc;
    warp_set_frame(w, fp);
    return warp_jumped(w);
}

HANDLER(call_direct) {
    return enter(w, in, mask, (uint32_t)in->imm);
}

/* Lanes may call different functions: those that do not go with the first one
 * stay at the call. */
HANDLER(call_address) {
    const uint64_t *target = ROW(const uint64_t, in->src[0]);
    const struct program *p = w->block->launch->program;
    uint64_t first = target[__builtin_ctz(mask)];
    uint64_t index = (first - exec_func_address(0)) / 16;
    uint32_t lanes = 0;
    FOR_LANES(i, mask) lanes |= (uint32_t)(target[i] == first) << i;
    if (index >= p->module->n_funcs ||
        exec_func_address((int32_t)index) != first)
        return exec_fault(w, in, FAULT_INVALID_PC, lanes, first, 0, false);
    if (lanes != mask) warp_split(w, mask & ~lanes, w->pc - 1, w->fp);
    return enter(w, in, lanes, (uint32_t)index);
}

/* ---- ret -------------------------------------------------------------------------- */

/* Lanes of one return address and one caller's frame go back together. */
HANDLER(ret_func) {
    const struct program *p = w->block->launch->program;
    const uint32_t *ret_pc = ROW(const uint32_t, FRAME_RETURN_PC | SLOT_FRAME);
    const uint32_t *ret_fp = ROW(const uint32_t, FRAME_CALLER_FP | SLOT_FRAME);
    const uint64_t *mine = local_bases(w, w->fp);
    const struct exec_func *f =
        func_at(w, p->info[in - p->code].func);
    for (uint32_t rest = mask; rest;) {
        unsigned first = (unsigned)__builtin_ctz(rest);
        uint32_t pc = ret_pc[first], fp = ret_fp[first], lanes = 0;
        FOR_LANES(i, rest)
            lanes |= (uint32_t)(ret_pc[i] == pc && ret_fp[i] == fp) << i;
        const struct insn_call *c = p->code[pc - 1].ext;
        copy_params(w, lanes, c->rets, local_bases(w, fp), c->n_rets, f->rets,
                    mine, f->n_rets);
        rest &= ~lanes;
        if (lanes != w->mask) {
            warp_split(w, lanes, pc, fp);
            continue;
        }
        w->pc = pc;
        warp_set_frame(w, fp);
        if (lanes == mask) return warp_jumped(w);
    }
    return EXEC_SWITCH;
}

HANDLER(ret_entry) {
    return warp_exit(w, mask);
}

/* imm: whether the function is the entry. */
SELECT(ret) {
    return out->imm ? ret_entry : ret_func;
}

/* ---- built in ------------------------------------------------------------------------ */

static uint64_t argument(const struct warp *w, const struct insn_call *c,
                         uint32_t k, uint32_t lane) {
    uint64_t value = 0;
    if (k >= c->n_args) return 0;
    memcpy(&value,
           local_at(w, lane, local_bases(w, w->fp)[lane] + c->args[k].offset),
           c->args[k].size < 8 ? c->args[k].size : 8);
    return value;
}

static void give_back(const struct warp *w, const struct insn_call *c,
                      uint32_t lane, uint64_t value) {
    if (!c->n_rets) return;
    memcpy(local_at(w, lane, local_bases(w, w->fp)[lane] + c->rets[0].offset),
           &value, c->rets[0].size < 8 ? c->rets[0].size : 8);
}

/* vprintf(format, arguments). Lanes print in order, each its whole text. */
HANDLER(call_vprintf) {
    const struct insn_call *c = in->ext;
    struct exec_services *s = w->block->launch->services;
    FOR_LANES(i, mask) {
        uint64_t format = argument(w, c, 0, i), bad = 0;
        char *text = NULL;
        size_t len = 0;
        int n = -1;
        if (format)
            n = device_format(w, i, format, argument(w, c, 1, i), &text, &len,
                              &bad);
        if (n >= 0) s->print(s->ctx, text ? text : "", len);
        free(text);
        if (bad)
            return exec_fault(w, in, FAULT_ILLEGAL_ADDRESS, 1u << i, bad, 1,
                              false);
        give_back(w, c, i, (uint32_t)n);
    }
    return EXEC_NEXT;
}

/* __assertfail(expression, file, line, function, size of a character). */
static void assert_line(struct warp *w, const struct insn_call *c,
                        uint32_t lane, struct fault *f, char *line, size_t n) {
    char expr[512], file[512], func[512];
    if (!guest_string(w, lane, argument(w, c, 0, lane), expr, sizeof expr))
        expr[0] = 0;
    if (!guest_string(w, lane, argument(w, c, 1, lane), file, sizeof file))
        file[0] = 0;
    if (!guest_string(w, lane, argument(w, c, 3, lane), func, sizeof func))
        func[0] = 0;
    snprintf(line, n,
             "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] "
             "Assertion `%s` failed.",
             file, (uint32_t)argument(w, c, 2, lane), func, f->block[0],
             f->block[1], f->block[2], f->thread[0], f->thread[1],
             f->thread[2], expr);
}

/* The lanes that failed end; the launch goes on. */
HANDLER(call_assertfail) {
    const struct exec_launch *l = w->block->launch;
    FOR_LANES(i, mask) {
        char line[2048];
        struct fault f;
        fault_place(w, in, i, &f);
        f.kind = FAULT_ASSERT;
        f.lanes = (uint32_t)__builtin_popcount(mask);
        assert_line(w, in->ext, i, &f, line, sizeof line);
        snprintf(f.message, sizeof f.message, "%.255s", line);
        l->services->assert_failed(l->services->ctx, l, line, &f);
    }
    return warp_exit(w, mask);
}

HANDLER(call_malloc) {
    struct exec_services *s = w->block->launch->services;
    FOR_LANES(i, mask)
        give_back(w, in->ext, i,
                  s->device_malloc(s->ctx, argument(w, in->ext, 0, i)));
    return EXEC_NEXT;
}

/* A pointer that malloc did not give corrupts a GPU's heap; here it is the
 * launch failure that the corruption would become. */
HANDLER(call_free) {
    struct exec_services *s = w->block->launch->services;
    FOR_LANES(i, mask) {
        uint64_t address = argument(w, in->ext, 0, i);
        if (address && !s->device_free(s->ctx, address))
            return exec_fault(w, in, FAULT_LAUNCH_FAILURE, 1u << i, address, 0,
                              true);
    }
    return EXEC_NEXT;
}

/* cudaGraphSetConditional(handle, value): the handle is the address of the word
 * that a conditional node of a graph reads. */
HANDLER(call_set_conditional) {
    struct memory *m = w->block->launch->services->memory;
    FOR_LANES(i, mask) {
        uint64_t handle = argument(w, in->ext, 0, i);
        uint32_t value = (uint32_t)argument(w, in->ext, 1, i);
        void *at = handle % 4 ? NULL : memory_host(m, handle);
        if (!at)
            return exec_fault(w, in, FAULT_ILLEGAL_ADDRESS, 1u << i, handle, 4,
                              true);
        guest_copy(at, &value, sizeof value);
    }
    return EXEC_NEXT;
}

SELECT(call) {
    const struct insn_call *c = out->ext;
    switch (c->builtin) {
    case BUILTIN_VPRINTF: return call_vprintf;
    case BUILTIN_ASSERTFAIL: return call_assertfail;
    case BUILTIN_MALLOC: return call_malloc;
    case BUILTIN_FREE: return call_free;
    case BUILTIN_SET_CONDITIONAL: return call_set_conditional;
    default: return out->imm < 0 ? call_address : call_direct;
    }
}
