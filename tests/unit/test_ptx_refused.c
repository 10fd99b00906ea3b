/* What the PTX parser and checker refuse, by the message they give, and how
 * much hostile text costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ptx_text.h"


/* Text and what the message must contain, its line included. */
static const struct { const char *text, *message; } REFUSED[] = {
    { "", "t:1: not PTX" },
    { "hello", "t:1: not PTX" },
    { "\x7f""ELF", "character that PTX does not have" },
    { ".version 9\n", "malformed .version" },
    { ".version 9.0\n.entry k() { }", "t:2: .target must follow" },
    { ".version 9.0\n.target sm_90\n.address_size 32\n", "64-bit" },
    { HEADER "/* no end", "t:4: comment does not end" },
    { HEADER ".file 1 \"no end\n\"", "string does not end" },
    { HEADER ".entry k() {", "text ends inside 'k'" },
    { HEADER ".entry k() { ret", "t:4: operand expected" },
    { HEADER ".entry k();\n.entry k() {}\n.entry k() {}", "two bodies" },
    { HEADER ".func f(.param .b32 a);\n.func f(.param .b64 a) {}",
      "t:5: 'f' was declared with another signature" },
    { HEADER ".func f(.reg .b32 a);", "parameters in registers" },
    { HEADER ".global .u32 f;\n.func f();", "'f' is declared twice" },
    { HEADER ".global .u32 a, a;", "'a' is declared twice" },
    { HEADER ".global .u32 a[2] = {1, 2, 3};", "more values than 'a' holds" },
    { HEADER ".global .u32 a = {1};", "integer expected" },
    { HEADER ".global .u32 a[2] = {{{1}}};", "braces" },
    { HEADER ".global .u32 a[];", "'a' has no size" },
    { HEADER ".global .u32 a[4294967295][4294967295];", "too large" },
    { HEADER ".global .b8 a[2000000000] = {1};", "too large" },
    { HEADER ".global .align 3 .u32 a;", "power of two" },
    { HEADER ".global .u16 p = p;", "address in elements of 2 bytes" },
    { HEADER ".global .u64 p = q;", "'q' is not declared" },
    { HEADER ".global .u8 p[2] = {0xFF00(p), 1};", "single bytes" },
    { HEADER ".global .u8 p[2] = {0xFF(p), 1};", "single bytes" },
    { HEADER ".global .pred p;", "predicates have no memory" },
    { HEADER ".global .texref t;", "'.texref' is not supported" },
    { HEADER ".shared .u32 s = 1;", "cannot have a value" },
    { BODY("add.s32 %r1, 1, 2;"), "t:6: '%r1' is not declared" },
    { BODY(".reg .b32 %r<3>;\nmov.u32 %r3, 0;"), "'%r3' is not declared" },
    { BODY(".reg .b32 %r<3>;\nmov.u32 %r01, 0;"), "'%r01' is not declared" },
    { BODY(".reg .b32 a, a;"), "'a' is declared twice" },
    { BODY("bra L;"), "t:6: label 'L' is not defined" },
    { BODY("bra L; { L: }"), "label 'L' is not defined" },
    { BODY("L: L:\n\nret;"), "t:6: 'L' is declared twice" },
    { BODY("T: .branchtargets A;"), "label 'A' is not defined" },
    { BODY(".reg .b32 a; @a ret;"), "guard is no predicate" },
    { BODY(".reg .b32 a; mov.u32 a, 08;"), "malformed number" },
    { BODY(".reg .b32 a; mov.u32 a, 0x;"), "malformed number" },
    { BODY(".reg .b32 a; mov.u32 a, 99999999999999999999;"),
      "malformed number" },
    { BODY(".reg .f32 a; mov.f32 a, 0f3F8;"), "malformed number" },
    { BODY(".reg .b32 a; mov.u32 a, 12abc;"), "malformed number" },
    { BODY(".reg .b32 a; mov.u32 a, 1/0;"), "division by zero" },
    { BODY(".reg .b32 a; mov.u32 a, 1+;"), "integer expected" },
    { BODY(".reg .b32 a; mov.u32 a, (1;"), "')' expected" },
    { BODY(".reg .b32 a; add.s32 a, a;"), "add.s32: operand 3: is missing" },
    { BODY(".reg .f32 a; add.s32 a, 1, 2;"),
      "add.s32: operand 1: register a is .f32, .s32 wanted" },
    { BODY(".reg .b64 a; add.s32 a, 1, 2;"), "register a is .b64" },
    { BODY(".reg .b32 a; add.s32 a, 0f3F800000, 2;"), "floating-point" },
    { BODY(".reg .f32 a; add.f32 a, a, 2;"), "integer where .f32" },
    { BODY(".reg .b32 a; add.s32 1, a, a;"), "destination is no register" },
    { BODY(".reg .b32 a; add.s32 a, _, a;"), "'_' is no value" },
    { BODY(".reg .b32 a; add.s32 a, [a], a;"), "cannot stand here" },
    { BODY(".reg .b32 a; add a, a, a;"), "type is missing" },
    { BODY(".reg .b32 a; ld.param.u32 a, a;"), "address in [] wanted" },
    { BODY(".reg .f32 a; ld.global.f32 a, [a];"), "no address" },
    { BODY(".reg .b32 a; ld.global.u32 a, [k_p0];"), "another state space" },
    { BODY(".reg .b32 a; ld.param.v2.u32 a, [k_p0];"), "vector of 2 wanted" },
    { BODY(".reg .b32 a; ld.param.v4.u32 {a, a}, [k_p0];"),
      "vector of 2, 4 wanted" },
    { BODY(".reg .b32 a; mov.b64 {a, a, a}, 1;"), "2 bytes wanted" },
    { BODY(".reg .b32 a; add.s32 a, !a, a;"), "'!' before something" },
    { BODY(".reg .b32 a; add.s32 a, !5, a;"), "name expected behind '!'" },
    { BODY(".reg .b32 a; shfl.sync.idx.b32 a|a, a, 0, 31, -1;"),
      "register a is .b32, .pred wanted" },
    { BODY("call k;"), "an entry cannot be called" },
    { BODY("call nobody;"), "'nobody' is not declared" },
    { BODY(".reg .b64 a; call a;"), "without a prototype" },
    { HEADER ".func f(.param .b64 a);\n.func g() { .param .b32 p;\n"
      "call f, (p); }", "t:6: call: argument 1 has 4 bytes, 8 wanted" },
    { HEADER ".func f(.param .b64 a);\n.func g() { call f; }",
      "0 arguments, 1 wanted" },
    { HEADER ".section .debug_str { .b32 1 }", "expected in .debug_str" },
    { HEADER ".section .x { ", "text ends where '}'" },
    { HEADER ".func .attribute(.unified(1 \x80", "PTX does not have" },
    { HEADER ".section .x { \x80", "PTX does not have" },
    { HEADER ".entry k() { .loc 1 2 3, function_name $S, inlined_at 1 1 1\n}",
      "t:4: function_name of .loc is not defined" },
    { HEADER ".alias a, b;", ".alias needs two declared functions" },
    { ".version nine\n", "malformed .version" },
    { HEADER ".global .attribute(.other) .u32 a;", "unknown .attribute" },
    { HEADER ".global .u32 a[2][];", "only the first dimension" },
    { HEADER ".global .u32 a[1][1][1][1][1][1][1][1][1];", "dimensions" },
    { HEADER ".const[2] .u32 a;", "banks of constant memory" },
    { HEADER ".global .entry .u32 a;", "a declaration cannot have" },
    { HEADER ".global a;", "declaration without a type" },
    { HEADER ".global .f64 d = 0f3F800000;", "another size" },
    { HEADER ".global .u8 p[2] = {0xF0(p), 1};", "mask other than" },
    { HEADER ".func f();\n.func g();\n.alias f, g;", "has no body yet" },
    { HEADER ".func f() {}\n.func g() {}\n.alias f, g;", "a body already" },
    { HEADER ".entry k() .reg {}", "a function cannot have here" },
    { HEADER ".entry (.param .u32 r) k() {}", "an entry returns nothing" },
    { HEADER ".entry k() .maxntid x {}", "number from 0 to 4294967295" },
    { HEADER ".entry k() { .loc 1 2 3, what }", "inlined_at expected" },
    { HEADER ".section 5 { }", ".section needs a name" },
    { HEADER ".file 1 5", ".file needs a path" },
    { HEADER ".section .debug_str { $S: $S: .b8 1 }", "declared twice" },
    { BODY(".entry"), "a body cannot have" },
    { BODY("P: .callprototype _ () .entry;"), "a prototype cannot have" },
    { BODY("P: .callprototype (.param .v2 .u32) _ ();"), "name expected" },
    { BODY("T: .calltargets k_p0;"), "something that is no function" },
    { BODY(".reg .v2 .f32 a;"), "vector registers" },
    { BODY(".reg .b64 a; L: mov.u64 a, L;"), "cannot be an operand here" },
    { BODY(".reg .b32 a; ld.global.u32 a, [k];"), "neither a register nor" },
    { BODY(".reg .b32 a; ld.global.u32 a, [1.5];"), "address is no integer" },
    { BODY(".reg .b32 a; mov.b64 {a, {a}}, 1;"), "registers and numbers" },
    { BODY(".reg .b32 a; mov.b64 {a, %laneid}, 1;"),
      "something else than registers" },
    { BODY(".reg .b32 a; mov.u32 a|k_p0, 1;"), "expected behind '|'" },
    { BODY(".reg .b64 a; mov.u64 a, %laneid;"),
      "special register is .u32, .u64 wanted" },
    { BODY(".reg .f32 a; mov.f32 a, k_p0;"), "address where .f32" },
    { BODY(".reg .b64 a; shl.b64 a, a, a;"),
      "register a is .b64, 32 bits wanted" },
    { BODY(".reg .b32 a; mul.wide.s32 a, a, a;"),
      "register a is .b32, .s64 wanted" },
    { BODY(".reg .b64 a; .reg .b32 b; call a, ({b});"), "call with something" },
    { BODY(".reg .b64 a; call a, (), k_p0;"), "no .callprototype" },
    { BODY(".reg .f32 a; call a;"), "register a is .f32, 64 bits" },
    { BODY("call 5;"), "neither a function nor a register" },
    { BODY(".reg .b32 a; brx.idx a;"), "two operands wanted" },
    { BODY(".reg .b32 a; brx.idx 1, a;"), "register wanted" },
    { BODY(".reg .b32 a; brx.idx a, a;"), ".branchtargets list wanted" },
    { HEADER ".func f(.param .b32 a);\n.func g() { .reg .b16 r;\n"
      "call f, (r); }", "argument 1 is too small" },
    { HEADER ".func f(.param .b32 a);\n.func g(.param .b32 b) {\n"
      "call f, (f); }", "argument 1 cannot be passed" },
    { HEADER ".global .b32 v;\n.func f(.param .b32 a);\n.func g() {\n"
      "call f, (v); }", "argument 1 is no .param" },
    { HEADER ".maxntid 3", "function or variable expected" },
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        struct ptx_error err = { 0 };
        const char *text = REFUSED[i].text;
        struct ptx_module *m = ptx_parse(text, strlen(text), "t", &err);
        if (m || !strstr(err.text, REFUSED[i].message))
            fail_msg("%s\nwanted: %s\ngot: %s", text, REFUSED[i].message,
                     m ? "(accepted)" : err.text);
        assert_null(strchr(err.text, '\n'));
    }
}

/* Depth and sizes have limits, not stacks or quadratic time. */
static void limits(void **state)
{
    (void)state;
    enum { N = 200000 };
    char *text = malloc(sizeof HEADER + 64 + 2 * N);
    for (int pass = 0; pass < 4; pass++) {
        static const char fill[] = { '{', '[', '-', '(' };
        static const char *const start[] = {
            HEADER ".entry k() {", HEADER ".global .u8 a",
            HEADER ".global .u8 a = ", HEADER ".global .u8 a = ",
        };
        strcpy(text, start[pass]);
        size_t n = strlen(text);
        memset(text + n, fill[pass], N);
        struct ptx_error err = { 0 };
        assert_null(ptx_parse(text, n + N, "t", &err));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
