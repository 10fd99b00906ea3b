/* Boxes on a feature map: into a crop's coordinates, back to the map, and the
 * bilinear pooling that detectors call ROI align. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

/* One thread a coordinate. What makes the division safe for a crop of no size
 * makes its boxes huge. */
__global__ void crop_boxes_kernel(float *box, const float *crop, float size,
                                  int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *c = crop + i / 4 * 4;
    int axis = i % 2;
    box[i] = (box[i] - c[axis]) / (c[2 + axis] + 1e-12f) * size;
}

/* One thread a bin: one bilinear sample at its centre. Trusts that boxes lie in
 * the map; only the last row and column are met twice, as the neighbour of
 * themselves. */
__global__ void roi_align_kernel(float *y, const float *map,
                                 const float *boxes, int boxes_an_image,
                                 int height, int width, int down, int across,
                                 int n, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int b = e / (down * across), i = e / across % down, j = e % across;
    const float *box = boxes + b * 4;
    float at_x = box[0] + (box[2] - box[0]) * (j + 0.5f) / across;
    float at_y = box[1] + (box[3] - box[1]) * (i + 0.5f) / down;
    int64_t x0 = (int64_t)floorf(at_x), x1 = x0 + (x0 + 1 != width);
    int64_t y0 = (int64_t)floorf(at_y), y1 = y0 + (y0 + 1 != height);
    float fx = at_x - x0, fy = at_y - y0;
    const float *image = map + b / boxes_an_image * height * width;
    float top, low;
    if (BEACON(beacon, x0 < 0 || x1 >= width || y0 < 0 || y1 >= height, x0))
        return;
    top = (1 - fx) * image[y0 * width + x0] + fx * image[y0 * width + x1];
    low = (1 - fx) * image[y1 * width + x0] + fx * image[y1 * width + x1];
    y[e] = (1 - fy) * top + fy * low;
}

extern "C" void k_crop_boxes(cudaStream_t s, float *box, const float *crop,
                             float size, int boxes)
{
    int n = boxes * 4;
    crop_boxes_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(box, crop,
                                                                 size, n);
}

extern "C" void k_roi_align(cudaStream_t s, float *y, const float *map,
                            const float *boxes, int images, int boxes_an_image,
                            int height, int width, int down, int across,
                            struct fl_beacon beacon)
{
    int n = images * boxes_an_image * down * across;
    roi_align_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, map, boxes, boxes_an_image, height, width, down, across, n, beacon);
}
