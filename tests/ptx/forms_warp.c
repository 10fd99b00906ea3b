/* What lanes of a warp do together, under any mask of lanes; the membership
 * mask is the set of lanes that execute. And the instructions that compute
 * nothing: control flow and fences, by what their neighbours then compute. */
#include "tests/ptx/reference.h"

#define EACH_LANE for (unsigned i = 0; i < 32; i++) if (mask >> i & 1)
enum { UP, DOWN, BFLY, IDX };
enum { ALL, ANY, UNI, BALLOT };
enum { ADD, MIN, MAX, AND, OR, XOR };

/* PTX 9.7.9.6. $1 is the lane or distance, $2 holds the clamp in bits 0 to 4
 * and the segment mask in bits 8 to 12. A value of a lane that does not
 * execute is undefined. arg: kind. */
static uint32_t ref_shfl(const struct form *f, uint32_t mask,
                         const uint64_t (*s)[FORM_MAX_SRC],
                         uint64_t (*d)[FORM_MAX_DST]) {
    uint32_t defined = 0;
    EACH_LANE {
        int b = s[i][1] & 31, c = s[i][2] & 31, segment = s[i][2] >> 8 & 31;
        int lane = (int)i, most = (lane & segment) | (c & ~segment);
        int least = lane & segment, j = lane;
        int p = 0;
        switch (f->arg[0]) {
        case UP: j = lane - b; p = j >= most; break;
        case DOWN: j = lane + b; p = j <= most; break;
        case BFLY: j = lane ^ b; p = j <= most; break;
        default: j = least | (b & ~segment); p = j <= most;
        }
        if (!p) j = lane;
        d[i][0] = s[j][0];
        d[i][1] = (uint64_t)p;
        defined |= (mask >> j & 1) << i;
    }
    return defined;
}

static uint32_t ref_vote(const struct form *f, uint32_t mask,
                         const uint64_t (*s)[FORM_MAX_SRC],
                         uint64_t (*d)[FORM_MAX_DST]) {
    uint32_t set = 0;
    EACH_LANE set |= (uint32_t)s[i][0] << i;
    EACH_LANE d[i][0] = f->arg[0] == ALL ? set == mask
                      : f->arg[0] == ANY ? set != 0
                      : f->arg[0] == UNI ? set == 0 || set == mask : set;
    return ~0u;
}

static uint32_t ref_match(const struct form *f, uint32_t mask,
                          const uint64_t (*s)[FORM_MAX_SRC],
                          uint64_t (*d)[FORM_MAX_DST]) {
    uint64_t keep = f->arg[1] == 64 ? ~0ull : 0xffffffff;
    EACH_LANE {
        uint32_t same = 0;
        for (unsigned j = 0; j < 32; j++)
            if (mask >> j & 1 && ((s[i][0] ^ s[j][0]) & keep) == 0)
                same |= 1u << j;
        d[i][0] = f->arg[0] == ALL ? (same == mask ? mask : 0) : same;
        d[i][1] = same == mask;
    }
    return ~0u;
}

static uint32_t ref_redux(const struct form *f, uint32_t mask,
                          const uint64_t (*s)[FORM_MAX_SRC],
                          uint64_t (*d)[FORM_MAX_DST]) {
    uint32_t flip = f->arg[1] ? 0x80000000 : 0, r = 0;
    int first = 1;
    EACH_LANE {
        uint32_t v = (uint32_t)s[i][0];
        switch (first ? -1 : f->arg[0]) {
        case -1: r = v; break;
        case ADD: r += v; break;
        case MIN: r = (v ^ flip) < (r ^ flip) ? v : r; break;
        case MAX: r = (v ^ flip) > (r ^ flip) ? v : r; break;
        case AND: r &= v; break;
        case OR: r |= v; break;
        default: r ^= v;
        }
        first = 0;
    }
    EACH_LANE d[i][0] = r;
    return ~0u;
}

static uint32_t ref_mask(const struct form *f, uint32_t mask,
                         const uint64_t (*s)[FORM_MAX_SRC],
                         uint64_t (*d)[FORM_MAX_DST]) {
    (void)f, (void)s;
    EACH_LANE d[i][0] = mask;
    return ~0u;
}
/* The value of the next executing lane, round about: through shared memory. */
static uint32_t ref_next(const struct form *f, uint32_t mask,
                         const uint64_t (*s)[FORM_MAX_SRC],
                         uint64_t (*d)[FORM_MAX_DST]) {
    (void)f;
    EACH_LANE {
        unsigned j = (i + 1) % 32;
        while (!(mask >> j & 1)) j = (j + 1) % 32;
        d[i][0] = s[j][0];
    }
    return ~0u;
}

static void ref_same(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[0];
}
static void ref_least(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[0] < s[1] ? s[0] : s[1];
}

/* ---- the rows ---------------------------------------------------------------- */

#define MASK "{.reg .b32 m; activemask.b32 m; "
#define SHFL(name, KIND)                                                     \
    {"shfl.sync." name ".b32", "rp:rnn", MASK "shfl.sync." name              \
     ".b32 $d|$e, $0, $1, $2, m;}", 0, 0, {KIND}, ref_shfl},                 \
    {"shfl.sync." name ".b32", "r:rnn", MASK "shfl.sync." name               \
     ".b32 $d, $0, $1, $2, m;}", 0, 0, {KIND}, ref_shfl},
#define VOTE(name, KIND, dst)                                                \
    {"vote.sync." name, dst ":p", MASK "vote.sync." name " $d, $0, m;}",     \
     0, 0, {KIND}, ref_vote},
#define MATCH(type, reg, bits)                                               \
    {"match.any.sync." type, "r:" reg, MASK "match.any.sync." type           \
     " $d, $0, m;}", 0, 0, {ANY, bits}, ref_match},                          \
    {"match.all.sync." type, "rp:" reg, MASK "match.all.sync." type          \
     " $d|$e, $0, m;}", 0, 0, {ALL, bits}, ref_match},
#define REDUX(name, KIND, is_signed)                                         \
    {"redux.sync." name, "r:r", MASK "redux.sync." name " $d, $0, m;}",      \
     0, 0, {KIND, is_signed}, ref_redux},
/* A lane stores, all wait, each loads what the next lane stored. */
#define EXCHANGE(form_name, wait)                                            \
    {form_name, "r:r", "{.shared .b32 x[128]; .reg .b32 m, n, t, b, o; "     \
     ".reg .pred q; activemask.b32 m; mov.u32 t, %tid.x; shl.b32 o, t, 2; "  \
     "mov.u32 b, x; add.s32 o, o, b; st.shared.b32 [o], $0; " wait           \
     "and.b32 t, t, 31; mov.u32 n, %lanemask_gt; and.b32 n, n, m; "          \
     "setp.eq.u32 q, n, 0; selp.b32 n, m, n, q; brev.b32 n, n; "             \
     "bfind.shiftamt.u32 n, n; sub.s32 n, n, t; shl.b32 n, n, 2; "           \
     "add.s32 o, o, n; ld.shared.b32 $d, [o];}", 0, 0, {0}, ref_next},
#define BEHIND(form_name, text)                                              \
    {form_name, "r:r", "{" text " mov.b32 $d, $0;}", ref_same, 0, {0}, 0},

static const struct form warp_forms[] = {
    SHFL("up", UP) SHFL("down", DOWN) SHFL("bfly", BFLY) SHFL("idx", IDX)
    VOTE("all.pred", ALL, "p") VOTE("any.pred", ANY, "p")
    VOTE("uni.pred", UNI, "p") VOTE("ballot.b32", BALLOT, "r")
    {"vote.ballot.sync.b32", "r:p", MASK "vote.ballot.sync.b32 $d, $0, m;}",
     0, 0, {BALLOT}, ref_vote},
    MATCH("b32", "n", 32) MATCH("b64", "d", 64)
    REDUX("add.s32", ADD, 1) REDUX("add.u32", ADD, 0)
    REDUX("min.s32", MIN, 1) REDUX("min.u32", MIN, 0)
    REDUX("max.s32", MAX, 1) REDUX("max.u32", MAX, 0)
    REDUX("and.b32", AND, 0) REDUX("or.b32", OR, 0) REDUX("xor.b32", XOR, 0)
    {"activemask.b32", "r:", "activemask.b32 $d;", 0, 0, {0}, ref_mask},
    EXCHANGE("bar.warp.sync", "bar.warp.sync m; ")
    EXCHANGE("membar.cta", "membar.cta; bar.warp.sync m; ")
    {"bra", "r:rr", "{.reg .pred q; setp.lt.u32 q, $0, $1; mov.b32 $d, $1; "
     "@!q bra OVER; mov.b32 $d, $0; OVER: }", ref_least, 0, {0}, 0},
    {"bra.uni", "r:r", "{mov.b32 $d, $0; bra.uni OVER; mov.b32 $d, 0; OVER: }",
     ref_same, 0, {0}, 0},
    BEHIND("fence.sc.cta", "fence.sc.cta;")
    BEHIND("fence.sc.gpu", "fence.sc.gpu;")
    BEHIND("fence.sc.sys", "fence.sc.sys;")
    BEHIND("fence.acq_rel.cta", "fence.acq_rel.cta;")
    BEHIND("fence.acq_rel.gpu", "fence.acq_rel.gpu;")
    BEHIND("fence.acq_rel.sys", "fence.acq_rel.sys;")
    BEHIND("fence.proxy.alias", "fence.proxy.alias;")
    BEHIND("membar.gl", "membar.gl;") BEHIND("membar.sys", "membar.sys;")
    BEHIND("nanosleep.u32", "nanosleep.u32 20;")
    BEHIND("pmevent", "pmevent 1;")
    BEHIND("prefetch.global.L2", "prefetch.global.L2 [%in];")
    BEHIND("prefetch.L1", "prefetch.L1 [%in];")
    BEHIND("prefetchu.L1", "prefetchu.L1 [%in];")
};
FORM_LIST(warp_forms)
