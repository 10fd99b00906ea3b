/* Special registers (PTX 10) as rows that instructions read like any other. */
#include <string.h>

#include "ptx/frame.h"

/* Those of a warp have rows of 32-bit values, in this order. */
static int warp_row(enum ptx_sreg r) {
    switch (r) {
    case PTX_SREG_TID_X: return 0;
    case PTX_SREG_TID_Y: return 1;
    case PTX_SREG_TID_Z: return 2;
    case PTX_SREG_WARPID: return 3;
    default: return -1;
    }
}

slot_t sreg_slot(enum ptx_sreg r) {
    int row = warp_row(r);
    return row >= 0 ? ((uint32_t)row * 128u | SLOT_WARP)
                    : ((uint32_t)r * 256u | SLOT_UNIFORM);
}

bool sreg_is_dynamic(enum ptx_sreg r) {
    switch (r) {
    case PTX_SREG_CLOCK: case PTX_SREG_CLOCK_HI: case PTX_SREG_CLOCK64:
    case PTX_SREG_GLOBALTIMER: case PTX_SREG_GLOBALTIMER_LO:
    case PTX_SREG_GLOBALTIMER_HI:
        return true;
    default:
        return false;
    }
}

static const uint8_t sreg_types[PTX_SREG_COUNT] = {
#define PTX_SREG(name, text, type) [PTX_SREG_##name] = PTX_##type,
#include "ptx/sregs.def"
#undef PTX_SREG
};

/* Only what the program reads: small launches should not pay for the rest. */
static void fill(struct block *b, enum ptx_sreg r, uint64_t value) {
    uint8_t *row = b->uniform + (uint32_t)r * 256u;
    if (!(b->launch->program->sregs_used >> r & 1)) return;
    if (sreg_types[r] == PTX_PRED) {
        *(uint32_t *)row = value ? FULL_MASK : 0;
    } else if (sreg_types[r] == PTX_U64 || sreg_types[r] == PTX_B64) {
        for (int i = 0; i < LANES; i++) ((uint64_t *)row)[i] = value;
    } else {
        for (int i = 0; i < LANES; i++) ((uint32_t *)row)[i] = (uint32_t)value;
    }
}

static void fill_lanes(struct block *b) {
    uint32_t *id = (uint32_t *)(b->uniform + PTX_SREG_LANEID * 256u);
    uint32_t *eq = (uint32_t *)(b->uniform + PTX_SREG_LANEMASK_EQ * 256u);
    uint32_t *le = (uint32_t *)(b->uniform + PTX_SREG_LANEMASK_LE * 256u);
    uint32_t *lt = (uint32_t *)(b->uniform + PTX_SREG_LANEMASK_LT * 256u);
    uint32_t *ge = (uint32_t *)(b->uniform + PTX_SREG_LANEMASK_GE * 256u);
    uint32_t *gt = (uint32_t *)(b->uniform + PTX_SREG_LANEMASK_GT * 256u);
    for (uint32_t i = 0; i < LANES; i++) {
        id[i] = i;
        eq[i] = 1u << i;
        lt[i] = eq[i] - 1;
        le[i] = lt[i] | eq[i];
        ge[i] = ~lt[i];
        gt[i] = ~le[i];
    }
}

/* One block a cluster: a kernel that demands larger ones is not launched. */
void sreg_fill_launch(struct block *b) {
    const struct exec_launch *l = b->launch;
    for (unsigned i = 0; i < 3; i++) {
        fill(b, PTX_SREG_NTID_X + i, l->block[i]);
        fill(b, PTX_SREG_NCTAID_X + i, l->grid[i]);
        fill(b, PTX_SREG_NCLUSTERID_X + i, l->grid[i]);
        fill(b, PTX_SREG_CLUSTER_NCTAID_X + i, 1);
    }
    fill(b, PTX_SREG_CLUSTER_NCTARANK, 1);
    fill_lanes(b);
    fill(b, PTX_SREG_NWARPID, b->n_warps);
    fill(b, PTX_SREG_NSMID, l->n_sms ? l->n_sms : 1);
    fill(b, PTX_SREG_GRIDID, l->number);
    /* The two halves of the grid workspace's address, as cooperative groups
     * read it (cooperative_groups/details/driver_abi.h). */
    fill(b, PTX_SREG_ENVREG1, l->grid_workspace >> 32);
    fill(b, PTX_SREG_ENVREG2, (uint32_t)l->grid_workspace);
    fill(b, PTX_SREG_TOTAL_SMEM_SIZE, b->shared_bytes);
    fill(b, PTX_SREG_AGGR_SMEM_SIZE, b->shared_bytes);
    fill(b, PTX_SREG_DYNAMIC_SMEM_SIZE, l->dynamic_shared);
}

void sreg_fill_ctaid(struct block *b) {
    const struct exec_launch *l = b->launch;
    uint64_t linear = b->ctaid[0] + (uint64_t)l->grid[0] *
                      (b->ctaid[1] + (uint64_t)l->grid[1] * b->ctaid[2]);
    for (unsigned i = 0; i < 3; i++) {
        fill(b, PTX_SREG_CTAID_X + i, b->ctaid[i]);
        fill(b, PTX_SREG_CLUSTERID_X + i, b->ctaid[i]);
    }
    fill(b, PTX_SREG_SMID, linear % (l->n_sms ? l->n_sms : 1));
}

void sreg_fill_warp(struct warp *w) {
    const uint32_t *n = w->block->launch->block;
    uint32_t *row = (uint32_t *)w->base[SLOT_WARP];
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t thread = w->index * LANES + i;
        row[i] = thread % n[0];
        row[LANES + i] = thread / n[0] % n[1];
        row[2 * LANES + i] = thread / n[0] / n[1];
        row[3 * LANES + i] = w->index;
    }
}
