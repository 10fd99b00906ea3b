/* What the tests of execution share: a kernel from PTX text, run block by
 * block without a device, its printed text and failed assertions kept. */
#ifndef TESTS_UNIT_BENCH_BLOCK_H
#define TESTS_UNIT_BENCH_BLOCK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "ptx/exec.h"

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* One module, one kernel, one piece of device memory. */
struct rig {
    struct ptx_module *module;
    struct program *program;
    struct memory *memory;
    struct { const char *name; uint64_t at; } known[64]; /* variables */
    unsigned n_known;
    uint64_t data;         /* device address of `host` */
    uint32_t *host;        /* DATA_WORDS words */
    uint64_t params[8];
    struct exec_launch launch;
    struct exec_services services;
    uint64_t time;
    char printed[1 << 16];
    char asserted[1 << 14]; /* lines, each ended by \n */
    struct ptx_error err;
    enum block_state state; /* of the last block */
    struct fault fault;
    uint64_t budget;        /* of one block_run */
    unsigned runs;          /* at most so many block_run a block */
};

#define DATA_WORDS 4096u

static uint64_t rig_time(void *ctx) {
    return ((struct rig *)ctx)->time += 32;
}

static void rig_print(void *ctx, const char *text, size_t len) {
    struct rig *r = ctx;
    size_t at = strlen(r->printed);
    assert_true(at + len < sizeof r->printed);
    memcpy(r->printed + at, text, len);
    r->printed[at + len] = 0;
}

static void rig_assert(void *ctx, const struct exec_launch *l,
                       const char *line, const struct fault *where) {
    struct rig *r = ctx;
    size_t at = strlen(r->asserted);
    assert_ptr_equal(l, &r->launch);
    assert_int_equal(where->kind, FAULT_ASSERT);
    snprintf(r->asserted + at, sizeof r->asserted - at, "%s\n", line);
}

static uint64_t rig_malloc(void *ctx, uint64_t bytes) {
    return memory_alloc(((struct rig *)ctx)->memory, bytes, MEMORY_DEVICE, 0);
}

static bool rig_free_one(void *ctx, uint64_t address) {
    return memory_free(((struct rig *)ctx)->memory, address, MEMORY_DEVICE);
}

/* Variables get their memory and contents when first asked for. */
static bool rig_symbol(void *ctx, const char *name, uint64_t *address) {
    struct rig *r = ctx;
    for (unsigned i = 0; i < r->n_known; i++)
        if (!strcmp(r->known[i].name, name)) {
            *address = r->known[i].at;
            return true;
        }
    int32_t v = ptx_find_var(r->module, name);
    if (v < 0 || r->n_known == 64) return false;
    const struct ptx_var *var = &r->module->vars[v];
    *address = memory_alloc(r->memory, var->size, MEMORY_SYMBOL, 0);
    uint8_t *to = memory_host(r->memory, *address);
    memset(to, 0, var->size);
    if (var->init) memcpy(to, var->init, var->size);
    for (uint32_t k = 0; k < var->n_fixups; k++) {
        int32_t f = ptx_find_func(r->module, var->fixups[k].symbol);
        uint64_t value;
        if (f >= 0) value = exec_func_address(f);
        else if (!rig_symbol(ctx, var->fixups[k].symbol, &value)) return false;
        memcpy(to + var->fixups[k].offset, &value, var->fixups[k].bytes);
    }
    r->known[r->n_known].name = var->name;
    r->known[r->n_known++].at = *address;
    return true;
}

/* Parses; `kernel` need not decode (rig_decode says). */
static struct rig *rig_open(const char *ptx) {
    struct rig *r = calloc(1, sizeof *r);
    struct memory_config c = {.total_bytes = 1u << 30};
    r->memory = memory_create(&c);
    assert_non_null(r->memory);
    r->module = ptx_parse(ptx, strlen(ptx), "test", &r->err);
    if (!r->module) fail_msg("%s", r->err.text);
    r->data = memory_alloc(r->memory, DATA_WORDS * 4, MEMORY_DEVICE, 0);
    r->host = memory_host(r->memory, r->data);
    memset(r->host, 0, DATA_WORDS * 4);
    r->services = (struct exec_services){
        .memory = r->memory, .globaltimer = rig_time, .clock = rig_time,
        .print = rig_print, .assert_failed = rig_assert,
        .device_malloc = rig_malloc, .device_free = rig_free_one, .ctx = r};
    r->params[0] = r->data;
    r->budget = 1u << 20;
    r->runs = 64;
    return r;
}

static bool rig_decode(struct rig *r, const char *kernel) {
    program_free(r->program);
    r->program = program_decode(r->module, kernel, rig_symbol, r, &r->err);
    return r->program != NULL;
}

static void rig_close(struct rig *r) {
    program_free(r->program);
    ptx_module_free(r->module);
    memory_destroy(r->memory);
    free(r);
}

/* Runs every block of a one-dimensional launch to its end, or until one does
 * not end well; r->state says how. */
static enum block_state rig_run(struct rig *r, uint32_t blocks,
                                uint32_t threads, struct rng *rng) {
    assert_non_null(r->program);
    r->launch = (struct exec_launch){
        .program = r->program, .grid = {blocks, 1, 1}, .block = {threads, 1, 1},
        .dynamic_shared = r->launch.dynamic_shared,
        .params = (const uint8_t *)r->params, .number = r->launch.number + 1,
        .services = &r->services};
    struct block *b = block_create(&r->launch);
    assert_non_null(b);
    for (uint32_t i = 0; i < blocks; i++) {
        block_start(b, (uint32_t[3]){i, 0, 0});
        unsigned runs = r->runs;
        do {
            r->state = block_run(b, r->budget, rng);
        } while (r->state == BLOCK_RUNNING && --runs);
        r->fault = b->fault;
        if (r->state != BLOCK_DONE) break;
    }
    block_destroy(b);
    return r->state;
}

/* The usual case: one kernel "k", free order, ends well. */
__attribute__((unused))
static struct rig *rig_ran(const char *ptx, uint32_t blocks,
                           uint32_t threads) {
    struct rig *r = rig_open(ptx);
    if (!rig_decode(r, "k")) fail_msg("%s", r->err.text);
    enum block_state s = rig_run(r, blocks, threads, NULL);
    if (s == BLOCK_FAULTED)
        fail_msg("fault %d in %s", r->fault.kind, r->fault.instruction);
    assert_int_equal(s, BLOCK_DONE);
    return r;
}

#endif
