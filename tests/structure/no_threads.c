// SPDX-License-Identifier: Apache-2.0
// A system that creates no threads, for LD_PRELOAD.

#include <errno.h>
#include <pthread.h>

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attr,
                                                          void *(*func)(void *), void *restrict arg)
{
    (void)thread, (void)attr, (void)func, (void)arg;
    return EAGAIN;
}
