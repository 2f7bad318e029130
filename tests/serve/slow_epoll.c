// SPDX-License-Identifier: Apache-2.0
// Preloaded by serve_life.py: descriptors leave epoll sets 20 ms late, so that a second thread can
// find the same one there, as with MHD_quiesce_daemon.

#include <dlfcn.h>
#include <sys/epoll.h>
#include <unistd.h>

typedef int epoll_ctl_func(int epoll, int op, int fd, struct epoll_event *event);

__attribute__((visibility("default"))) int epoll_ctl(int epoll, int op, int fd,
                                                     struct epoll_event *event)
{
    epoll_ctl_func *const next = (epoll_ctl_func *)dlsym(RTLD_NEXT, "epoll_ctl");
    if (op == EPOLL_CTL_DEL)
        usleep(20000);
    return next(epoll, op, fd, event);
}
