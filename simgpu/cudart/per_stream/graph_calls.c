/* Graphs and captures, where a stream is named; boxes of memory. */
#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"
#include "cudart/per_stream/per_stream.h"

API(CALL_CONTEXT, cudaGraphLaunch,
    (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
    USE_STREAM(s, stream);
    return exec_launch(exec, s);
}

/* Nothing is left to bring to the device before a launch. */
API(CALL_CONTEXT, cudaGraphUpload,
    (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
    USE_STREAM(s, stream);
    struct work w = {.kind = WORK_EMPTY};
    if (!handle_get(HANDLE_GRAPH_EXEC, exec)) return cudaErrorInvalidValue;
    return submit(s, &w);
}

API(CALL_CONTEXT, cudaGraphInstantiateWithParams,
    (cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphInstantiateParams *p),
    (out, graph, p))
{
    if (!p) return cudaErrorInvalidValue;
    cudaError_t error = exec_instantiate(out, graph, p->flags);
    /* With arguments that are right it is the graph that is not. */
    bool structure = error == cudaErrorInvalidValue && out &&
                     graph_get(graph) && exec_flags_known(p->flags);
    p->errNode_out = NULL;
    p->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess
                    : structure ? cudaGraphInstantiateInvalidStructure
                                : cudaGraphInstantiateError;
    return error;
}

/* ---- capture ------------------------------------------------------------------------------ */

API(CALL_CONTEXT, cudaStreamBeginCapture,
    (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
{
    USE_STREAM(s, stream);
    return capture_begin(s, NULL, NULL, 0, mode);
}

API(CALL_CONTEXT, cudaStreamBeginCaptureToGraph,
    (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
     const cudaGraphEdgeData *data, size_t n_deps,
     enum cudaStreamCaptureMode mode),
    (stream, graph, deps, data, n_deps, mode))
{
    USE_STREAM(s, stream);
    struct graph *g = graph_get(graph);
    if (!g || (n_deps && !deps)) return cudaErrorInvalidValue;
    if (data) {
        warn_once("edge data of graphs is not supported");
        return cudaErrorNotSupported;
    }
    return capture_begin(s, g, deps, n_deps, mode);
}

API(CALL_CONTEXT, cudaStreamEndCapture,
    (cudaStream_t stream, cudaGraph_t *out), (stream, out))
{
    USE_STREAM(s, stream);
    return capture_end(s, out);
}

API(CALL_CONTEXT, cudaStreamIsCapturing,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *out), (stream, out))
{
    USE_STREAM(s, stream);
    struct capture_view view;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = capture_status(s, &view);
    if (error == cudaSuccess) *out = view.status;
    return error;
}

API(CALL_CONTEXT, cudaStreamGetCaptureInfo,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
     unsigned long long *id, cudaGraph_t *graph,
     const cudaGraphNode_t **deps, const cudaGraphEdgeData **data,
     size_t *n_deps), (stream, status, id, graph, deps, data, n_deps))
{
    /* The list is the caller's to read until its next such call. */
    static _Thread_local cudaGraphNode_t *list;
    USE_STREAM(s, stream);
    struct capture_view view;
    if (!status) return cudaErrorInvalidValue;
    cudaError_t error = capture_status(s, &view);
    if (error != cudaSuccess) return error;
    *status = view.status;
    if (view.status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (id) *id = view.id;
    if (graph) *graph = view.graph;
    if (data) *data = NULL;
    if (n_deps) *n_deps = s->tail.n;
    if (!deps) return cudaSuccess;
    free(list);
    list = calloc(s->tail.n + 1, sizeof *list);
    if (!list) return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < s->tail.n; i++)
        list[i] = s->tail.nodes[i]->handle;
    *deps = list;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaStreamUpdateCaptureDependencies,
    (cudaStream_t stream, cudaGraphNode_t *deps,
     const cudaGraphEdgeData *data, size_t n_deps, unsigned flags),
    (stream, deps, data, n_deps, flags))
{
    USE_STREAM(s, stream);
    if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
    if (data) {
        warn_once("edge data of graphs is not supported");
        return cudaErrorNotSupported;
    }
    return capture_depend(s, deps, n_deps,
                          flags == cudaStreamSetCaptureDependencies);
}

/* ---- boxes -------------------------------------------------------------------------------- */

static cudaError_t box(const struct cudaMemcpy3DParms *p, cudaStream_t stream,
                       bool async)
{
    USE_STREAM(s, stream);
    struct copy_request r;
    cudaError_t error = copy_box(p, &r);
    if (error != cudaSuccess) return error;
    r.async = async;
    return copy_memory(s, &r);
}

API(CALL_CONTEXT, cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p))
{
    return box(p, NULL, false);
}

API(CALL_CONTEXT, cudaMemcpy3DAsync,
    (const struct cudaMemcpy3DParms *p, cudaStream_t stream), (p, stream))
{
    return box(p, stream, true);
}
