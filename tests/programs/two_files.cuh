// What the two halves of one device program share.
__device__ int twice(int x);
extern __device__ int counter;
