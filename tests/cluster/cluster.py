#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cluster.py PACKAGE LIGHTNET [--count N] [--figures]. Batches on clusters give the outputs of one process, bit for bit: Dask on
three hosts, of which one is killed during the run, MPI, and the recipes for Spark and Ray with stand-ins. Files that fail stop no others.
Speaks TAP.

Hosts are network namespaces, joined by a bridge, which need root and `ip`. N inputs (600), as random images. --figures prints the
best rates of one and of two workers, each on a core of its own, and the median ratio of several tries in turns, as other work on the
machine disturbs them; it needs all packages.
"""
import argparse
import contextlib
import copy
import csv
import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]

import numpy as np
import onnx_writer as w
from tap import ROOT, Tap

RECIPES = os.path.join(ROOT, "examples/cluster")
DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")
WAIT = 300  # seconds until a test fails
SUBNET = "10.77.44"
PORT = 8786
CONVOLUTIONS = 8
BAD_LIST = 150  # files of a list with a bad one
TRIES = 3  # of --figures
FIGURE_INPUTS = 4000  # for each


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=WAIT)


class Hosts:
    """Network namespaces with an address each, joined by a bridge in one more."""

    def __init__(self, n):
        self.names = [f"lightnet-{os.getpid()}-{i}" for i in range(n)]
        self.switch = f"lightnet-{os.getpid()}-switch"
        self.made = []

    def address(self, i):
        return f"{SUBNET}.{i + 1}"

    def run(self, i, command, **options):
        return subprocess.Popen(["ip", "netns", "exec", self.names[i], *command], **options)

    def __enter__(self):
        try:
            self._make(self.switch)
            ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.switch, "link", "set", "bridge", "up")
            for i, name in enumerate(self.names):
                self._make(name)
                ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", f"port{i}", "netns", self.switch)
                ip("-n", self.switch, "link", "set", f"port{i}", "master", "bridge", "up")
                ip("-n", name, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
                ip("-n", name, "link", "set", "eth0", "up")
                ip("-n", name, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self, name):
        ip("netns", "add", name)
        self.made.append(name)

    def __exit__(self, *reason):
        for name in reversed(self.made):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=WAIT)


class Work:
    """The folder of inputs, and the outputs of one process."""

    def __init__(self, folder, package, lightnet, n):
        self.folder, self.lightnet, self.n = folder, lightnet, n
        # One thread for each worker, in NumPy, too.
        self.env = {**os.environ, "PYTHONPATH": package, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self.paths = [os.path.join(folder, "in", f"{i:05}.npy") for i in range(n)]
        os.mkdir(os.path.join(folder, "in"))
        random = np.random.default_rng(44)
        for path in self.paths:
            np.save(path, random.random((1, 1, 28, 28), np.float32))
        self.list = self.at("list")
        with open(self.list, "w", encoding="utf-8") as file:
            file.write("\n".join(self.paths))
        self.model = self.at("digits.safetensors")
        self.run([lightnet, "compile", DIGITS, "--threads", "1", "-o", self.model])
        self.run(self.each("sequential"))

    def at(self, name):
        return os.path.join(self.folder, name)

    def each(self, out):
        return [self.lightnet, "run", self.model, "--each", self.list, "--threads", "1", "-O", self.at(out)]

    def recipe(self, name, out, *arguments):
        by_mpi = ["-m", "mpi4py"] if name == "mpi_batch" else []
        return [sys.executable, *by_mpi, os.path.join(RECIPES, name + ".py"), self.model, self.list, self.at(out), *arguments]

    def run(self, command, status=0, **options):
        done = subprocess.run(command, capture_output=True, text=True, env={**self.env, **options}, timeout=WAIT, check=False)
        if done.returncode != status:
            raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout + done.stderr

    def with_bad_file(self, line):
        """The same work with a model of a millisecond or more, where line `line` of the list is a file that does not exist."""
        work = copy.copy(self)
        work.model, work.list = self.at("convolutions.safetensors"), self.at(f"bad{line}")
        if not os.path.exists(work.model):
            write_convolutions(self.at("convolutions.onnx"))
            self.run([self.lightnet, "compile", self.at("convolutions.onnx"), "--threads", "1", "-o", work.model])
        work.n = min(self.n, BAD_LIST)
        work.paths = self.paths[:work.n]
        work.paths[line] = self.at("in/none.npy")
        with open(work.list, "w", encoding="utf-8") as file:
            file.write("\n".join(work.paths))
        return work

    def outputs(self, out):
        """The names that are there; hidden ones are not yet."""
        folder = self.at(out)
        return [name for name in os.listdir(folder) if not name.startswith(".")] if os.path.isdir(folder) else []

    def array(self, out, name):
        return np.load(os.path.join(self.at(out), name))

    def faults(self, out):
        """Unless the outputs are those of one process, bit for bit."""
        wanted, seen = sorted(self.outputs("sequential")), sorted(self.outputs(out))
        if wanted != seen or len(seen) != self.n:
            return [f"{len(seen)} outputs, expected {len(wanted)}"]
        return [f"{name} differs" for name in seen if self.form(out, name) != self.form("sequential", name)][:5]

    def form(self, out, name):
        array = self.array(out, name)
        return array.dtype, array.shape, array.tobytes()

    def seconds(self, out):
        """From the first output to the last one."""
        times = [os.stat(os.path.join(self.at(out), name)).st_mtime_ns for name in self.outputs(out)]
        return (max(times) - min(times)) * 1e-9


def mpirun(n, *options):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", *options, "-n", str(n)]


# ---- MPI ----

def mpi_command(tap, work):
    name = "mpirun: the parts of run --each are those of one process"
    if not shutil.which("mpirun"):
        tap.skip(name, "no mpirun")
        return
    work.run([*mpirun(3), *work.each("ranks")])
    tap.check(name, work.faults("ranks"))


def faults_of_bad_file(work, out, command, summary):
    """Unless two starts leave the outputs of all other files, report the bad one, and return 1; a later start finds nothing left."""
    faults = []
    for start in 1, 2, 3:
        if start == 2:  # the rank of the bad file has nothing else to do, the others have
            for name in sorted(work.outputs(out))[work.n // 3:]:
                os.remove(os.path.join(work.at(out), name))
        text = work.run(command, status=1)
        faults += [f"start {start}: '{part}' is not in: {text[-1000:]}" for part in (work.at("in/none.npy"), summary) if part not in text]
        if len(work.outputs(out)) != work.n - 1:
            faults.append(f"start {start}: {len(work.outputs(out))} outputs, expected {work.n - 1}: {text[-1000:]}")
    hidden = [name for name in os.listdir(work.at(out)) if name.startswith(".")]
    return faults + ([f"{hidden} stay"] if hidden else [])


def mpi_bad_file(tap, work):
    if not shutil.which("mpirun"):
        tap.skip("mpirun: a bad file", "no mpirun")
        return
    for line in 0, min(work.n, BAD_LIST) - 1:
        bad, out = work.with_bad_file(line), f"bad_ranks{line}"
        command = [*mpirun(3), *bad.each(out), "--resume"]
        tap.check(f"mpirun: line {line} is a bad file, all others run, and the status is 1",
                  faults_of_bad_file(bad, out, command, f"1 of {bad.n} files failed, in 1 of 3 ranks"))


@contextlib.contextmanager
def mpi_no_shared_folder(tap, work):
    """A rank, without a launcher, that finds no other one, beside other tests: it waits for half a minute."""
    bad = work.with_bad_file(0)
    env = {**work.env, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": str(bad.n), "PMIX_NAMESPACE": "../a b"}
    with subprocess.Popen([*bad.each("alone"), "--resume"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as rank:
        try:
            yield
            text, _ = rank.communicate(timeout=WAIT)
        finally:
            rank.kill()
    found = rank.returncode == 1 and f"alone/.lightnet-ranks-___a_b: 1 of {bad.n} ranks use this folder" in text
    tap.check("run --each: a rank does not wait for others that use another folder", [] if found else [f"status {rank.returncode}: {text[-3000:]}"])


def mpi_recipe(tap, work):
    name = "mpi_batch.py: the outputs are those of one process, and a later start runs what is missing"
    if not shutil.which("mpirun") or not has("mpi4py"):
        tap.skip(name, "no mpirun or mpi4py")
        return
    text = work.run([*mpirun(2), *work.recipe("mpi_batch", "mpi")])
    faults = work.faults("mpi") + ([] if f"{work.n} files, 0 were done" in text else [text])
    for name_of in sorted(work.outputs("mpi"))[::7]:
        os.remove(os.path.join(work.at("mpi"), name_of))
    left = work.n - len(work.outputs("mpi"))
    text = work.run([*mpirun(3), *work.recipe("mpi_batch", "mpi")])
    faults += work.faults("mpi") + ([] if f"{left} files, {work.n - left} were done" in text else [text])
    tap.check(name, faults)


def mpi_recipe_bad_file(tap, work):
    name = "mpi_batch.py: a bad file is reported, all others run, and the status is 1"
    if not shutil.which("mpirun") or not has("mpi4py"):
        tap.skip(name, "no mpirun or mpi4py")
        return
    bad = work.with_bad_file(0)
    tap.check(name, faults_of_bad_file(bad, "bad_mpi", [*mpirun(3), *bad.recipe("mpi_batch", "bad_mpi")], f"1 of {bad.n} files failed"))
    bad.model = work.at("none.onnx")
    text = work.run([*mpirun(3), *bad.recipe("mpi_batch", "bad_model")], status=1)
    tap.check("mpi_batch.py: a bad model ends all processes", [] if "none.onnx" in text else [text])


# ---- Dask ----

@contextlib.contextmanager
def dask_cluster(work, hosts, workers, cores=None):
    """A scheduler on host 0, and a worker on each of these hosts. Gives its address, and the workers' processes."""
    address = f"tcp://{hosts.address(0)}:{PORT}"
    quiet = {"env": work.env, "cwd": work.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m"]
    scheduler = hosts.run(0, [*start, "distributed.cli.dask_scheduler", "--host", hosts.address(0), "--port", str(PORT), "--no-dashboard"],
                          **quiet)
    processes = []
    try:
        for k, host in enumerate(workers):
            pinned = [] if cores is None else ["taskset", "-c", str(cores[k % len(cores)])]
            processes.append(hosts.run(host, [*pinned, *start, "distributed.cli.dask_worker", address, "--host", hosts.address(host), "--nthreads",
                                              "1", "--no-nanny", "--no-dashboard", "--local-directory", work.at(f"worker{k}")], **quiet))
        wait_for_workers(work, hosts, address, len(workers))
        yield address, processes
    finally:
        for process in [*processes, scheduler]:
            process.kill()
            process.wait()


def wait_for_workers(work, hosts, address, n):
    code = f"from distributed import Client\nwith Client({address!r}, timeout={WAIT}) as c: c.wait_for_workers({n}, timeout={WAIT})"
    client = hosts.run(0, [sys.executable, "-c", code], env=work.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _, err = client.communicate(timeout=WAIT)
    if client.returncode:
        raise RuntimeError(err[-2000:])


def start_client(work, hosts, address, out):
    return hosts.run(0, work.recipe("dask_batch", out, address), env=work.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def text_of_client(client):
    text, _ = client.communicate(timeout=WAIT)
    return text if client.returncode == 0 else f"status {client.returncode}: {text[-3000:]}"


def stats(work, out):
    return {name: (lambda s: (s.st_ino, s.st_mtime_ns))(os.stat(os.path.join(work.at(out), name))) for name in work.outputs(out)}


def kill_during_the_run(work, out, worker, client):
    """Kills the worker once a quarter of the outputs is there. Returns those that are there then, and faults unless they are whole."""
    deadline = time.monotonic() + WAIT
    while len(work.outputs(out)) < work.n // 4 and client.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    there = stats(work, out)
    return there, [f"{name} differs" for name in there if work.form(out, name) != work.form("sequential", name)][:5]


def dask_recipe(tap, work):
    name = "dask_batch.py: one of three hosts is killed during the run, and the outputs are those of one process"
    reason = "no distributed" if not has("distributed") else "no ip" if not shutil.which("ip") else None
    if reason is None and os.geteuid() != 0:
        reason = "network namespaces need root"
    if reason:
        tap.skip(name, reason)
        return
    try:
        hosts = Hosts(3).__enter__()
    except (OSError, subprocess.CalledProcessError) as error:
        tap.skip(name, f"no network namespaces: {getattr(error, 'stderr', error)!r}")
        return
    with contextlib.ExitStack() as stack:
        stack.push(hosts)
        address, workers = stack.enter_context(dask_cluster(work, hosts, [0, 1, 2]))
        client = start_client(work, hosts, address, "dask")
        before, cut_off = kill_during_the_run(work, "dask", workers[2], client)
        text = text_of_client(client)
        faults = [] if f"{work.n} files, 0 were done" in text else [text]
        faults += [] if 0 < len(before) < work.n else [f"the worker was killed after {len(before)} outputs"]
        tap.check(name, faults + work.faults("dask"))
        after = stats(work, "dask")
        again = [file for file, old in before.items() if after.get(file) != old]
        tap.check("dask_batch.py: the outputs that are there when a worker dies are whole, and stay as they are",
                  ([f"written again: {again[:5]}"] if again else []) + cut_off)
        for file in sorted(before)[:10]:
            os.remove(os.path.join(work.at("dask"), file))
        text = text_of_client(start_client(work, hosts, address, "dask"))
        tap.check("dask_batch.py: a later start runs what is missing",
                  work.faults("dask") + ([] if f"10 files, {work.n - 10} were done" in text else [text]))


def dask_bad_file(tap, work):
    name = "dask_batch.py: a bad file is reported, all others run, and the status is 1"
    if not has("distributed"):
        tap.skip(name, "no distributed")
        return
    bad = work.with_bad_file(0)
    tap.check(name, faults_of_bad_file(bad, "bad_dask", bad.recipe("dask_batch", "bad_dask"), f"1 of {bad.n} files failed"))


# ---- Spark and Ray, with stand-ins ----

def write_open(file):
    """A linear model with an open batch."""
    weights = w.tensor("w", "float", [784, 10], np.random.default_rng(1).standard_normal(7840) / 28)
    nodes = [w.node("Flatten", ["x"], ["flat"]), w.node("MatMul", ["flat", "w"], ["logits"]), w.node("Softmax", ["logits"], ["y"], axis=-1)]
    graph = w.graph(nodes, [w.value("x", "float", ["n", 1, 28, 28])], [w.value("y", "float", ["n", 10])], [weights])
    with open(file, "wb") as stream:
        stream.write(w.model(graph, opset=17))


def table_recipes(tap, work):
    names = "spark_batch.py", "ray_batch.py"
    if not has("cloudpickle", "pandas"):
        for name in names:
            tap.skip(f"{name}, with a stand-in", "no cloudpickle or pandas")
        return
    paths = work.paths[:11]
    with open(work.at("table"), "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "pixels"])
        rows.writerows([path, json.dumps(np.load(path).ravel().tolist())] for path in paths)
    write_open(work.at("open.onnx"))
    work.run([work.lightnet, "run", work.at("open.onnx"), "--each", work.list, "--threads", "1", "-O", work.at("open")])
    for model, outputs, output in (work.model, "sequential", "probabilities"), (work.at("open.onnx"), "open", "y"):
        arrays = [work.array(outputs, f"{os.path.basename(path)[:-4]}_{output}.npy")[0] for path in paths]
        wanted = sorted((path, int(row.argmax()), float(row.max())) for path, row in zip(paths, arrays))
        for name, target in zip(names, ("spark", "ray/0.csv")):
            work.run([sys.executable, os.path.join(RECIPES, name), model, work.at("table"), work.at(target.split("/")[0])],
                     PYTHONPATH=os.pathsep.join([work.env["PYTHONPATH"], os.path.join(HERE, "stand_in")]))
            with open(work.at(target), encoding="utf-8", newline="") as file:
                seen = sorted((row["path"], int(row["label"]), float(np.float32(row["score"]))) for row in csv.DictReader(file))
            batches = "an open batch" if output == "y" else "a batch of 1"
            tap.check(f"{name}, with a stand-in: the best classes are those of one process, with {batches}",
                      [] if seen == wanted else [f"{seen}, expected {wanted}"])


# ---- figures ----

def write_convolutions(file):
    """Convolutions of 64 channels, a millisecond or more on a core: an input is more than the reading of its file."""
    random = np.random.default_rng(0)
    sizes = [1, *[64] * CONVOLUTIONS]
    weights = [w.tensor(f"w{i}", "float", [c, d, 3, 3], random.standard_normal(c * d * 9) / 24)
               for i, (d, c) in enumerate(zip(sizes, sizes[1:]))]
    nodes = [w.node("Conv", [f"x{i}", f"w{i}"], [f"x{i + 1}"], pads=[1, 1, 1, 1]) for i in range(CONVOLUTIONS)]
    nodes.append(w.node("GlobalAveragePool", [f"x{CONVOLUTIONS}"], ["y"]))
    graph = w.graph(nodes, [w.value("x0", "float", [1, 1, 28, 28])], [w.value("y", "float", [1, 64, 1, 1])], weights)
    with open(file, "wb") as stream:
        stream.write(w.model(graph, opset=17))


def print_figures(work):
    write_convolutions(work.at("convolutions.onnx"))
    work = copy.copy(work)
    work.model, work.list, work.n = work.at("convolutions.safetensors"), work.at("figures"), min(work.n, FIGURE_INPUTS)
    work.run([work.lightnet, "compile", work.at("convolutions.onnx"), "--threads", "1", "-o", work.model])
    with open(work.list, "w", encoding="utf-8") as file:
        file.write("\n".join(work.paths[:work.n]))
    cores = sorted(os.sched_getaffinity(0))[:2]
    times = {}

    def time_of(name, n, out, run):
        run(out)
        times.setdefault(name, {1: [], 2: []})[n].append(work.seconds(out))
    for k, n in [(k, n) for k in range(TRIES) for n in (1, 2)]:
        ranks = mpirun(n, "--bind-to", "core")
        time_of("run --each by mpirun", n, f"f_each{n}-{k}", lambda out: work.run([*ranks, *work.each(out)]))
        time_of("mpi_batch.py", n, f"f_mpi{n}-{k}", lambda out: work.run([*ranks, *work.recipe("mpi_batch", out)]))
        with Hosts(3) as hosts, dask_cluster(work, hosts, [1, 2][:n], cores) as (address, _):
            time_of("dask_batch.py on hosts", n, f"f_dask{n}-{k}", lambda out: text_of_client(start_client(work, hosts, address, out)))
    for name, of in sorted(times.items()):
        ratio = statistics.median(one / two for one, two in zip(of[1], of[2]))
        print(f"# {name}: {work.n / min(of[1]):.0f} inputs/s by one worker, {work.n / min(of[2]):.0f} by two: {ratio:.2f} times")


@contextlib.contextmanager
def guarded(tap, test):
    try:
        yield
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        tap.check(test.__name__, [str(error)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("lightnet")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--figures", action="store_true")
    given = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-cluster-") as folder:
        work = Work(folder, os.path.abspath(given.package), os.path.abspath(given.lightnet), given.count)
        with guarded(tap, mpi_no_shared_folder), mpi_no_shared_folder(tap, work):
            for test in (mpi_command, mpi_bad_file, mpi_recipe, mpi_recipe_bad_file, dask_recipe, dask_bad_file, table_recipes):
                with guarded(tap, test):
                    test(tap, work)
        if given.figures:
            print_figures(work)
    tap.end()


if __name__ == "__main__":
    main()
