// SPDX-License-Identifier: Apache-2.0
// The CPU quota of control groups, below any root, for tests.

#ifndef TL_CPU_H
#define TL_CPU_H

/** The cores that the quotas of this process' control groups allow, rounded up; 0 without a quota.
 * `root` is the folder of "proc/self/cgroup" and "sys/fs/cgroup": "" for the real ones. */
int tl_cpu_quota(const char *root);

#endif
