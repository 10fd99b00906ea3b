// A linked list in managed memory, walked by the device and extended by the
// host; a managed variable and a structure passed by value; device heap.
#include <cstdio>

struct node { int value; node *next; };
struct task { node *head; int scale; short pad[3]; };

__managed__ int visits = 100;
__device__ int largest;
__constant__ int offset = 7;

__global__ void walk(task t, int *sum)
{
    int s = 0, most = 0;
    for (node *n = t.head; n; n = n->next) {
        s += n->value * t.scale + offset;
        most = max(most, n->value);
        visits++;
    }
    *sum = s;
    largest = most;
}

__global__ void scribble(int **slot)
{
    *slot = (int *)malloc(64 * sizeof(int));
    if (*slot) (*slot)[63] = 63;
}
__global__ void erase(int **slot, int *got)
{
    *got = *slot ? (*slot)[63] : -1;
    free(*slot);
}

int main()
{
    node *list = nullptr;
    int *sum, want = 0, most = 0, **slot;
    cudaMallocManaged(&sum, sizeof *sum);
    cudaMallocManaged(&slot, sizeof *slot);
    for (int i = 0; i < 50; i++) {
        node *n;
        cudaMallocManaged(&n, sizeof *n);
        n->value = i * 37 % 50;
        n->next = list;
        list = n;
        want += n->value * 3 + 7;
    }
    walk<<<1, 1>>>(task{list, 3, {}}, sum);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&most, largest, sizeof most);
    int bad = *sum != want || visits != 150 || most != 49;
    if (bad) printf("sum %d (%d), visits %d, most %d\n", *sum, want, visits, most);
    scribble<<<1, 1>>>(slot);
    erase<<<1, 1>>>(slot, sum);
    cudaDeviceSynchronize();
    if (*sum != 63) printf("heap gave %d\n", *sum), bad = 1;
    return bad || cudaDeviceSynchronize();
}
