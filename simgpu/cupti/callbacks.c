/* The callback API: one subscriber, told of runtime calls on entry and exit. */
#include <stdatomic.h>
#include <string.h>

#include "cupti/state.h"

enum { IDS = CUPTI_RUNTIME_TRACE_CBID_SIZE };

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc fn;
    void *user;
    _Atomic bool used;
    _Atomic bool enabled[IDS];
};
static struct CUpti_Subscriber_st subscriber;
static int context_token; /* a context is only ever compared */

static void tell(const struct tool_call *c, CUpti_CallbackId id,
                 CUpti_ApiCallbackSite site)
{
    if (!atomic_load_explicit(&subscriber.used, memory_order_acquire) ||
        id >= IDS || !id || !subscriber.enabled[id])
        return;
    CUpti_CallbackData data = {
        .callbackSite = site,
        .functionName = c->name,
        .functionParams = c->params,
        .functionReturnValue = c->result,
        .symbolName = c->kernel,
        .context = (CUcontext)&context_token,
        .contextUid = 1,
        .correlationData = c->data,
        .correlationId = c->correlation,
    };
    subscriber.fn(subscriber.user, CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
}

void callbacks_enter(const struct tool_call *c, CUpti_CallbackId id)
{
    tell(c, id, CUPTI_API_ENTER);
}

void callbacks_leave(const struct tool_call *c, CUpti_CallbackId id)
{
    tell(c, id, CUPTI_API_EXIT);
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *out,
                                    CUpti_CallbackFunc fn, void *user)
{
    if (!out || !fn) return result(CUPTI_ERROR_INVALID_PARAMETER);
    if (!host()) return result(CUPTI_ERROR_NOT_INITIALIZED);
    if (subscriber.used)
        return result(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    subscriber.fn = fn;
    subscriber.user = user;
    atomic_store_explicit(&subscriber.used, true, memory_order_release);
    *out = &subscriber;
    return CUPTI_SUCCESS;
}

static bool known(CUpti_SubscriberHandle s)
{
    return s == &subscriber && subscriber.used;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle s)
{
    if (!known(s)) return result(CUPTI_ERROR_INVALID_PARAMETER);
    for (int i = 0; i < IDS; i++) subscriber.enabled[i] = false;
    subscriber.used = false;
    return CUPTI_SUCCESS;
}

/* The driver is not there, so nothing is ever told of it; what happens in the
 * other domains is not told either, and asking for it says so. */
static CUptiResult check(CUpti_SubscriberHandle s, CUpti_CallbackDomain domain)
{
    if (!known(s) || domain <= CUPTI_CB_DOMAIN_INVALID ||
        domain >= CUPTI_CB_DOMAIN_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API ||
                   domain == CUPTI_CB_DOMAIN_DRIVER_API
               ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable,
                                         CUpti_SubscriberHandle s,
                                         CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id)
{
    CUptiResult code = check(s, domain);
    if (code != CUPTI_SUCCESS) return result(code);
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API) return CUPTI_SUCCESS;
    if (!id || id >= IDS) return result(CUPTI_ERROR_INVALID_PARAMETER);
    subscriber.enabled[id] = enable != 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable,
                                       CUpti_SubscriberHandle s,
                                       CUpti_CallbackDomain domain)
{
    CUptiResult code = check(s, domain);
    if (code != CUPTI_SUCCESS) return result(code);
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API) return CUPTI_SUCCESS;
    for (int i = 1; i < IDS; i++) subscriber.enabled[i] = enable != 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable,
                                           CUpti_SubscriberHandle s)
{
    return cuptiEnableDomain(enable, s, CUPTI_CB_DOMAIN_RUNTIME_API);
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable,
                                           CUpti_SubscriberHandle s,
                                           CUpti_CallbackDomain domain,
                                           CUpti_CallbackId id)
{
    CUptiResult code = check(s, domain);
    if (code != CUPTI_SUCCESS) return result(code);
    if (!enable || id >= IDS) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *enable = domain == CUPTI_CB_DOMAIN_RUNTIME_API && subscriber.enabled[id];
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSupportedDomains(size_t *count,
                                           CUpti_DomainTable *table)
{
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API};
    if (!count || !table) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *count = 1;
    *table = domains;
    return CUPTI_SUCCESS;
}
