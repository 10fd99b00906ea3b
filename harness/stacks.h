/* Call stacks by name: function, file and line of return addresses, with
 * inlined functions as frames of their own (libdw). */
#ifndef FAULTLAG_HARNESS_STACKS_H
#define FAULTLAG_HARNESS_STACKS_H

#define FL_MAX_NAMED 64

struct fl_frame { char function[96], file[160]; int line; };

/* Names n return addresses, innermost first. Returns the number of frames in
 * out[FL_MAX_NAMED]; an address that nothing is known of is "?". */
int fl_name_frames(void *const *addresses, int n, struct fl_frame *out);

/* Frames of the two stacks that they do not share. Both are innermost first.
 * They share a frame when all outer ones are shared and called from the same
 * line, and the function is the same. */
int fl_frame_distance(const struct fl_frame *a, int n_a,
                      const struct fl_frame *b, int n_b);

#endif
