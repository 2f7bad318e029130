#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: systemd_root.sh FOLDER, in namespaces of its own (unshare --mount --pid --net --ipc --uts --cgroup --fork).
# Starts systemd as process 1 in a root file system that is this one below FOLDER/files; what it writes is lost in the end.
# FOLDER/units has all units that there are.
set -e
work=$1
root=$work/tmp/root
mount --make-rprivate /
mount -t tmpfs none "$work/tmp"
mkdir "$work/tmp/upper" "$work/tmp/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/tmp/upper,workdir=$work/tmp/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup"
for path in run tmp dev; do
    mount -t tmpfs -o mode=755 none "$root/$path"
done
mkdir "$root/dev/pts" "$root/dev/shm" "$root/tmp/units" "$root/tmp/results"
mount -t devpts -o ptmxmode=666 none "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
while read -r name major minor; do
    mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END
cp -R "$work/units/." "$root/tmp/units"
mount --bind "$work/results" "$root/tmp/results"
ip link set lo up
cp -R "$work/files/." "$root"
exec chroot "$root" /usr/bin/env -i container=lxc PATH=/usr/bin:/bin:/usr/sbin:/sbin SYSTEMD_UNIT_PATH=/tmp/units \
    "$(command -v systemd || echo /lib/systemd/systemd)" --system --unit=multi-user.target --log-target=console --show-status=no
