#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_unit.py LIGHTNET-SERVE BUILD. The unit of systemd, started by a systemd of its own; needs root and namespaces."""
import os
import re
import shutil
import subprocess
import sys

from serve_kit import DIGITS, ROOT, folder
from checks import run_tests, same, test
from tap import Tap

PROGRAM, BUILD = map(os.path.abspath, sys.argv[1:3])
UNIT = os.path.join(ROOT, "serve/deploy/lightnet-serve.service")
TEMPLATE = os.path.join(ROOT, "serve/deploy/lightnet-serve@.service")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "deploy/systemd_root.sh")
NAMESPACES = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
TARGETS = ["sysinit", "basic", "network", "shutdown"]
# Run as a unit, beside the server: results in a file each.
PROBE = r"""
cd /tmp/results
systemctl --no-pager status lightnet-serve >begin 2>&1
properties() { systemctl --no-pager show lightnet-serve -p "$1" --value; }
ask() { curl -s "localhost:${2-8080}/v2/$1"; }
# Tries of its own: curl would write the answers of all its tries.
ask_until() { until ask "$@" | grep -q true; do sleep .1; done; ask "$@"; }
ask_until health/live >live
until ask health/ready | grep -q '"ready":true'; do sleep .1; done
ask health/ready >ready
ask_until models/digits/ready >model
pid=$(properties MainPID)
tr '\0' ' ' <"/proc/$pid/cmdline" >command
cat "/proc/$pid/status" >status
nsenter --target "$pid" --mount --root --wd sh -c 'for path in /usr /etc /srv/models /var /home; do touch $path/probe && echo wrote $path; done; ls /home' >writes 2>/dev/null
nsenter --target "$pid" --mount --root --wd sh -c 'test -e /dev/null && ! test -e /dev/kmsg && ! test -e /tmp/units && echo private' >devices 2>&1
systemctl reload lightnet-serve; echo $? >reload
ask health/live >after_reload
test "$(properties MainPID)" = "$pid" && echo same >after_reload_pid
kill -9 "$pid"
until test "$(properties NRestarts)" = 1 && ask health/ready | grep -q '"ready":true'; do sleep .1; done
ask health/ready >after_kill
ask_until health/live 18081 >template
systemctl stop lightnet-serve
properties ActiveState >stopped
properties Result >result
properties ExecMainStatus >exit_status
echo end >end
"""


def lacks():
    """Why systemd cannot run here; None: it can."""
    for program in ("systemd-analyze", "systemctl", "unshare", "nsenter", "curl", "ip"):
        if not shutil.which(program):
            return f"there is no {program}"
    if os.geteuid():
        return "namespaces need root"
    trial = "mount --make-rprivate / && mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w /mnt/r && " \
        "mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r && " \
        "mount -t sysfs -o ro sysfs /mnt/r/sys && mount -t cgroup2 none /mnt/r/sys/fs/cgroup && ip link set lo up"
    done = subprocess.run([*NAMESPACES, "sh", "-c", trial], capture_output=True, text=True)
    return f"namespaces cannot be made: {done.stderr.strip()}" if done.returncode else None


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def edits():
    """What the unit shows for other options and for a token."""
    with open(UNIT, encoding="utf-8") as file:
        shown = re.findall(r"^#     \[Service\]\n(?:#     \S*=.*\n)+", file.read(), re.M)
    return [text.replace("#     ", "") for text in shown]


def fill(path):
    """The folder of systemd_root.sh: the server where the unit expects it, its libraries, a model, and all units."""
    for name in ("tmp", "units", "results", "files/usr/local/bin", "files/usr/lib", "files/srv/models"):
        os.makedirs(f"{path}/{name}")
    shutil.copy(PROGRAM, f"{path}/files/usr/local/bin/lightnet-serve")
    for part in ("lightnet", "tensorlight"):
        for name in os.listdir(f"{BUILD}/{part}"):
            if re.fullmatch(r"lib\w+\.so\.\d+", name):
                shutil.copy(f"{BUILD}/{part}/{name}", f"{path}/files/usr/lib/{name}")
    shutil.copy(DIGITS, f"{path}/files/srv/models")
    for name in TARGETS:
        write(f"{path}/units/{name}.target", "[Unit]\nDefaultDependencies=no\n")
    write(f"{path}/units/multi-user.target", "[Unit]\nRequires=lightnet-serve.service lightnet-serve@18081.service probe.service\n")
    shutil.copy(UNIT, f"{path}/units")
    shutil.copy(TEMPLATE, f"{path}/units")
    write(f"{path}/units/probe.service", "[Service]\nType=oneshot\nExecStart=/bin/sh /probe.sh\n")
    write(f"{path}/files/probe.sh", PROBE)


def run_systemd(path, seconds=60):
    """Until the probe has ended. {name: text} of its results, and what systemd has printed."""
    process = subprocess.Popen([*NAMESPACES, "sh", SCRIPT, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch = subprocess.run(["sh", "-c", f"for i in $(seq {seconds * 10}); do test -e {path}/results/end && exit; "
                            f"kill -0 {process.pid} || exit; sleep .1; done"], capture_output=True)
    process.kill()
    output, _ = process.communicate()
    results = {}
    for name in os.listdir(f"{path}/results"):
        with open(f"{path}/results/{name}", encoding="utf-8", errors="replace") as file:
            results[name] = file.read().strip()
    return results, output + watch.stderr.decode()


def field(results, name):
    return re.search(rf"^{name}:\s*(.*)$", results["status"], re.M)[1]


@test
def systemd_accepts_the_unit():
    with folder() as path:
        faults = []
        for unit, name in ((UNIT, "lightnet-serve.service"), (TEMPLATE, "lightnet-serve@18081.service")):
            with open(unit, encoding="utf-8") as file:
                text, n = re.subn("(?m)^ExecStart=/usr/local/bin/lightnet-serve", "ExecStart=" + PROGRAM, file.read())
            write(f"{path}/{name}", re.sub("Documentation=.*", "", text))
            done = subprocess.run(["systemd-analyze", "verify", f"{path}/{name}"], capture_output=True, text=True)
            faults += same(n, 1) + same((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return faults


@test
def systemd_accepts_the_options_that_the_unit_shows():
    faults = same(len(edits()), 2)
    for text in edits():
        with folder() as path, open(UNIT, encoding="utf-8") as file:
            write(f"{path}/lightnet-serve.service", re.sub("Documentation=.*", "", file.read()).replace("/usr/local/bin/lightnet-serve /", PROGRAM + " /") + text)
            done = subprocess.run(["systemd-analyze", "verify", f"{path}/lightnet-serve.service"], capture_output=True, text=True)
            faults += same((done.returncode, done.stderr), (0, ""))
    return faults


@test
def template_differs_by_the_port_alone():
    units = []
    for unit in (UNIT, TEMPLATE):
        with open(unit, encoding="utf-8") as file:
            units.append([line for line in file.read().splitlines() if not line.startswith("#")])
    return same([pair for pair in zip(*units) if pair[0] != pair[1]], [
        ("Description=Models served by LightNet", "Description=Models served by LightNet, port %i"),
        ('Environment="LIGHTNET_SERVE_OPTIONS=--port 8080 --drain-delay 2"', 'Environment="LIGHTNET_SERVE_OPTIONS=--drain-delay 2"'),
        ("ExecStart=/usr/local/bin/lightnet-serve /srv/models $LIGHTNET_SERVE_OPTIONS",
         "ExecStart=/usr/local/bin/lightnet-serve /srv/models --port %i $LIGHTNET_SERVE_OPTIONS")]) + same(len(units[0]), len(units[1]))


@test
def unit_starts_reloads_restarts_and_stops():
    with folder() as path:
        fill(path)
        seen, output = run_systemd(path)
        if "end" not in seen:
            return [f"the probe did not end: {seen}\n{output[-3000:]}"]
        faults = []
        for name, wanted in (("live", '{"live":true}'), ("ready", '{"live":true,"ready":true}'), ("model", '{"name":"digits","ready":true}'), ("reload", "0"),
                             ("command", "/usr/local/bin/lightnet-serve /srv/models --port 8080 --drain-delay 2"),
                             ("after_reload", '{"live":true}'), ("after_reload_pid", "same"), ("after_kill", '{"live":true,"ready":true}'),
                             ("template", '{"live":true}'),
                             ("stopped", "inactive"), ("result", "success"), ("exit_status", "0"), ("writes", ""), ("devices", "private")):
            faults += [f"{name}: {fault}" for fault in same(seen.get(name), wanted)]
        # No rights: a user of its own, no capabilities, no new ones, and a filter of system calls.
        faults += same([field(seen, name) for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")], ["0" * 16, "0" * 16, "1", "2"])
        return faults + ([] if int(field(seen, "Uid").split()[0]) > 0 else ["it runs as root"])


if __name__ == "__main__":
    reason = lacks()
    if reason:
        tap = Tap()
        tap.skip("the unit of systemd", reason)
        tap.end()
    run_tests()
