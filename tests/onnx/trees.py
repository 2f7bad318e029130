#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: trees.py LIGHTNET. Tree ensembles of ai.onnx.ml agree with a walk in Python from the standard's text, and with the
scores that ONNX Runtime gives two classes. Thresholds are multiples of 1/4, as are many features, so comparisons meet ties."""
import math
import os
import statistics
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import ML, call, check_kinds, check_rejected, faults_of, joined, one_node, ranged_faults_of, write
from onnx_writer import graph, model, node, tensor, value
from tap import Tap

# Sums of some dozen votes of up to 1, and exp.
TOLERANCE = {"float": 2e-6, "double": 1e-12, "float16": 2e-3}
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
F32 = np.float32
rng = np.random.default_rng(20261127)


# ---- trees ----

class Vertex:
    """A branch, or a leaf, which has no mode."""

    def __init__(self, votes=None, **branch):
        self.votes, self.mode, self.members, self.tracks = votes, None, [], 0
        self.__dict__.update(branch)


def grown(depth, features, modes, vote, tracks=0.5):
    """A random tree; `vote` makes the votes of a leaf, pairs of a target and a weight."""
    if depth == 0 or rng.random() < 0.1:
        return Vertex(vote())
    split = rng.integers(-8, 9) / 4
    return Vertex(mode=modes[rng.integers(len(modes))], feature=int(rng.integers(features)), split=split,
                  members=[float(m) for m in rng.integers(-8, 9, rng.integers(1, 6)) / 4], tracks=int(rng.random() < tracks),
                  yes=grown(depth - 1, features, modes, vote, tracks), no=grown(depth - 1, features, modes, vote, tracks))


def forest(n, depth, features, modes, vote, tracks=0.5):
    return [grown(depth, features, modes, vote, tracks) for _ in range(n)]


def one_vote(targets):
    """One vote for a random target."""
    return lambda: [(int(rng.integers(targets)), float(F32(rng.uniform(-1, 1))))]


def some_votes(targets):
    return lambda: [one_vote(targets)()[0] for _ in range(rng.integers(0, 4))]


def rows_of(n, features, kind=np.float32):
    """Multiples of 1/4 and other numbers, and of floats infinities, NaN and zeros of both signs."""
    x = np.where(rng.random((n, features)) < 0.7, rng.integers(-10, 11, (n, features)) / 4, rng.uniform(-3, 3, (n, features)))
    if np.issubdtype(kind, np.floating):
        special = np.array([np.nan, np.inf, -np.inf, -0.0])[rng.integers(0, 4, x.shape)]
        x = np.where(rng.random(x.shape) < 0.2, special, x)
    return x.astype(kind)


def is_true(vertex, x):
    """The comparison of a branch. Python compares without rounding."""
    x = float(x)
    if math.isnan(x) and vertex.tracks:
        return True
    return {"BRANCH_LEQ": x <= vertex.split, "BRANCH_LT": x < vertex.split, "BRANCH_GTE": x >= vertex.split,
            "BRANCH_GT": x > vertex.split, "BRANCH_EQ": x == vertex.split, "BRANCH_NEQ": x != vertex.split,
            "BRANCH_MEMBER": x in vertex.members}[vertex.mode]


def votes_of(trees, row):
    for tree in trees:
        while tree.mode:
            tree = tree.yes if is_true(tree, row[tree.feature]) else tree.no
        yield from tree.votes


def scores_of(trees, x, targets, aggregate="SUM", base=None):
    """[N, targets]: without votes 0, which the standard does not specify, as in ONNX Runtime."""
    scores = np.zeros((len(x), targets))
    for row, result in zip(x, scores):
        votes = list(votes_of(trees, row))
        for target in range(targets):
            own = [weight for to, weight in votes if to == target]
            result[target] = {"SUM": sum(own), "AVERAGE": sum(own) / len(trees), "MIN": min(own, default=0),
                              "MAX": max(own, default=0)}[aggregate]
    return scores + (0 if base is None else np.asarray(base))


def transformed(scores, how):
    """post_transform, for each row."""
    if how == "SOFTMAX":
        e = np.exp(scores - scores.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    if how == "LOGISTIC":
        return 1 / (1 + np.exp(-scores))
    if how == "SOFTMAX_ZERO":
        top, counts = scores.max(1, keepdims=True), np.abs(scores) > 1e-7
        e = np.exp(scores - top)
        with np.errstate(all="ignore"):
            return np.where(counts, e, scores * np.exp(-top)) / np.where(counts, e, 0).sum(1, keepdims=True)
    if how == "PROBIT":
        quantile = statistics.NormalDist().inv_cdf
        outside = {0: -np.inf, 1: np.inf}
        return np.vectorize(lambda p: quantile(p) if 0 < p < 1 else outside.get(p, np.nan), otypes=[float])(scores)
    return scores


# ---- attributes ----

def all_of(tree):
    """The root, then the others in some order."""
    found, todo = [], [tree]
    while todo:
        vertex = todo.pop()
        found.append(vertex)
        todo += [vertex.yes, vertex.no] if vertex.mode else []
    return found[:1] + [found[1 + i] for i in rng.permutation(len(found) - 1)]


def named(trees, kind, doubles=False):
    """Attributes of version 1 or 3, in which nodes have names; `kind` of votes: target or class."""
    rows, votes = [], []
    for k, tree in enumerate(trees):
        vertices = all_of(tree)
        ids = {id(vertex): int(i) for vertex, i in zip(vertices, rng.permutation(len(vertices)) + 3 * k)}
        for vertex in vertices:
            branch = [vertex.mode, vertex.feature, vertex.split, vertex.tracks, ids[id(vertex.yes)], ids[id(vertex.no)]] \
                if vertex.mode else ["LEAF", 0, 0.0, 0, 0, 0]
            rows.append([len(trees) - k, ids[id(vertex)], *branch])
            votes += [(len(trees) - k, ids[id(vertex)], target, weight) for target,
                      weight in (() if vertex.mode else vertex.votes)]
    keys = ["treeids", "nodeids", "modes", "featureids", "values", "missing_value_tracks_true", "truenodeids", "falsenodeids"]
    made = {"nodes_" + key: list(column) for key, column in zip(keys, zip(*rows))}
    columns = list(zip(*votes)) or [[], [], [], []]
    made |= {f"{kind}_{key}": list(column) for key, column in zip(["treeids", "nodeids", "ids", "weights"], columns)}
    if doubles:
        for key in ("nodes_values", kind + "_weights"):
            made[key + "_as_tensor"] = tensor("", "double", [len(made[key])], made.pop(key))
    return {key: [float(x) for x in given] if key in ("nodes_values", kind + "_weights") else given
            for key, given in made.items() if len(given) > 0}


def numbered(trees, dtype="float", roots=None):
    """Attributes of TreeEnsemble, in which branches and leaves have numbers."""
    branches, leaves = [], []
    for tree in trees:
        for vertex in all_of(tree):
            (branches if vertex.mode else leaves).append(vertex)
    place = {id(vertex): i for group in (branches, leaves) for i, vertex in enumerate(group)}
    members = [m for vertex in branches if vertex.mode == "BRANCH_MEMBER" for m in [*vertex.members, math.nan]]
    made = {
        "nodes_modes": tensor("", "uint8", [len(branches)], [MODES.index(vertex.mode) for vertex in branches]),
        "nodes_splits": tensor("", dtype, [len(branches)], [vertex.split for vertex in branches]),
        "nodes_featureids": [vertex.feature for vertex in branches],
        "nodes_missing_value_tracks_true": [vertex.tracks for vertex in branches],
        "leaf_targetids": [vertex.votes[0][0] for vertex in leaves],
        "leaf_weights": tensor("", dtype, [len(leaves)], [vertex.votes[0][1] for vertex in leaves]),
        "tree_roots": roots or [place[id(tree)] for tree in trees],
    }
    for side in ("true", "false"):
        below = [vertex.yes if side == "true" else vertex.no for vertex in branches]
        made[f"nodes_{side}nodeids"] = [place[id(vertex)] for vertex in below]
        made[f"nodes_{side}leafs"] = [int(not vertex.mode) for vertex in below]
    if members:
        made["membership_values"] = tensor("", dtype, [len(members)], members)
    return made


def regressor(sentence, trees, x, targets, aggregate="SUM", how="NONE", base=None, doubles=False):
    given = {"aggregate_function": aggregate, "post_transform": how, "n_targets": targets}
    if base is not None:
        given["base_values"] = [float(b) for b in base]
    scores = scores_of(trees, x if x.ndim == 2 else x[None], targets, aggregate, base)
    scores = transformed(scores, how if targets > 1 or how == "PROBIT" else "NONE").astype(F32)
    return one_node(sentence, "TreeEnsembleRegressor", [x], scores, 17, domain=ML, **named(trees, "target", doubles), **given)


def ensemble(sentence, trees, x, targets, aggregate="SUM", how="NONE", dtype="float"):
    scores = transformed(scores_of(trees, x, targets, aggregate), how if targets > 1 else "NONE").astype(x.dtype)
    return one_node(sentence, "TreeEnsemble", [x], scores, 17, domain=ML, n_targets=targets,
                    aggregate_function=AGGREGATES.index(aggregate), post_transform=TRANSFORMS.index(how),
                        **numbered(trees, dtype))


# ---- cases ----

def comparisons():
    """Each mode alone, with NaN on either side, in each type of rows; and all of them."""
    for mode in [*MODES[:6], None]:
        for tracks in (0, 0.5, 1):
            for kind in (np.float32, np.float64, np.int32, np.int64):
                trees = forest(3, 4, 3, [mode] if mode else MODES[:6], one_vote(1), tracks)
                yield regressor(f"{mode} {kind.__name__} tracks {tracks}", trees, rows_of(40, 3, kind), 1)
            for dtype, kind in (("float", np.float32), ("double", np.float64), ("float16", np.float16)):
                trees = [tree for tree in forest(6, 4, 3, [mode] if mode else MODES, one_vote(2), tracks) if tree.mode]
                yield ensemble(f"{mode} {dtype} tracks {tracks}", trees, rows_of(40, 3, kind), 2, dtype=dtype)


def sets():
    for tracks in (0, 1):
        for n in (1, 2, 3, 7, 64, 300):
            members = [float(m) for m in rng.permutation(np.arange(-n, n, 2) / 4)]
            tree = Vertex(mode="BRANCH_MEMBER", feature=1, split=9.0, members=members + members[:1], tracks=tracks,
                          yes=Vertex([(0, 1.0)]), no=Vertex([(0, 2.0)]))
            x = np.stack([np.zeros(400), np.arange(-200, 200) / 4], 1).astype(F32)
            x[::50] = np.nan
            yield ensemble(f"{n} members, tracks {tracks}", [tree, tree], x, 1)
    empty = Vertex(mode="BRANCH_MEMBER", feature=0, split=0.0, members=[], tracks=1, yes=Vertex([(0, 1.0)]),
                   no=Vertex([(0, 2.0)]))
    yield ensemble("no members", [empty], rows_of(9, 1), 1)


def extreme_splits():
    """Splits beside which there is no number, and NaN."""
    special = [math.inf, -math.inf, math.nan, 0.0, -0.0, float(np.finfo(F32).max), float(F32(1e-45)), -float(F32(1e-45))]
    x = np.array([[s] for s in special] + [[-float(np.finfo(F32).max)]], F32)
    for mode in MODES[:6]:
        for tracks in (0, 1):
            trees = [Vertex(mode=mode, feature=0, split=split, tracks=tracks, yes=Vertex([(k, 1.0)]),
                            no=Vertex([(k, 2.0)]))
                     for k, split in enumerate(special)]
            yield regressor(f"{mode}, tracks {tracks}", trees, x, len(special))
            yield regressor(f"{mode}, tracks {tracks}, double", trees, x.astype(float), len(special))


def aggregation():
    for aggregate in AGGREGATES:
        for targets in (1, 2, 5):
            for vote in (one_vote(targets), some_votes(targets)):
                trees = forest(7, 5, 4, MODES[:6], vote)
                base = rng.uniform(-1, 1, targets).astype(F32)
                for n in (1, 7, 8, 70):
                    yield regressor(f"{aggregate}, {targets} targets, {n} rows", trees, rows_of(n, 4), targets, aggregate,
                                    base=base if n % 2 else None)
            trees = [tree for tree in forest(8, 5, 4, MODES, one_vote(targets)) if tree.mode]
            yield ensemble(f"{aggregate}, {targets} targets", trees, rows_of(30, 4), targets, aggregate)


def shapes():
    trees = forest(4, 3, 5, MODES[:6], one_vote(2))
    yield regressor("a row of one dimension", trees, rows_of(1, 5)[0], 2)
    yield regressor("no rows", trees, rows_of(0, 5), 2)
    yield regressor("trees of one leaf", forest(3, 0, 1, MODES, one_vote(2)), rows_of(9, 5), 2)
    yield regressor("leaves without votes", [Vertex([]), Vertex([])], rows_of(9, 5), 2)
    yield regressor("many targets", forest(9, 4, 5, MODES[:6], one_vote(1000)), rows_of(9, 5), 1000, "MIN")
    yield regressor("many trees", forest(600, 2, 5, MODES[:6], one_vote(1)), rows_of(3, 5), 1)
    yield regressor("doubles", forest(9, 4, 5, MODES[:6], one_vote(2)), rows_of(20, 5), 2, doubles=True)
    tree = Vertex([(0, 1.0)])
    for k in range(100000):  # all but NaN
        tree = Vertex(mode="BRANCH_LEQ", feature=k % 2, split=k / 4, tracks=0, yes=Vertex([(0, k / 8)]), no=tree)
    x = np.array([[0, 0], [49999, 0], [np.inf, 77], [np.inf, np.nan]], F32)
    yield regressor("a tree of depth 100000", [tree], x, 1)


def transforms():
    for how in TRANSFORMS:
        for targets in (1, 2, 4):
            trees = forest(5, 4, 3, MODES[:6],
                           lambda n=targets: [(int(rng.integers(n)), float(F32(rng.uniform(0, 0.3))))])
            yield regressor(f"{how} of {targets}", trees, rows_of(20, 3), targets, how=how,
                            base=[0.1] * targets if how in ("PROBIT", "SOFTMAX_ZERO") else None)
            yield regressor(f"{how} of {targets}, double", trees, rows_of(20, 3, np.float64), targets, how=how,
                            base=[0.1] * targets)
        trees = [tree for tree in forest(9, 4, 3, MODES, lambda: [(int(rng.integers(2)), 0.0625)]) if tree.mode]
        if how not in ("SOFTMAX_ZERO", "PROBIT"):
            yield ensemble(how, trees, rows_of(20, 3), 2, how=how)


def classifier(sentence, trees, x, labels, label_of, scores, **given):
    """label_of: indices of labels."""
    expected = [np.array(labels)[label_of], scores.astype(F32)]
    name = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"
    return one_node(sentence, "TreeEnsembleClassifier", [x], expected, 17, domain=ML, **{name: labels},
                    **named(trees, "class"), **given)


def classes():
    """Votes for each class: the label has the first one of the max scores."""
    for labels in ([7, -9], [5, 3, 2**40], list(range(20, 0, -1)), ["yes", "no"], ["red", "", "Grün"]):
        n = len(labels)
        for how in TRANSFORMS[:3]:
            for base in (None, [float(F32(b)) for b in rng.uniform(-1, 1, n)]):
                trees = [Vertex([(0, 0.25), (1, 0.125)]), *forest(6, 4, 3, MODES[:6], some_votes(n))]
                for kind in (np.float32, np.float64, np.int64):
                    x = rows_of(25, 3, kind)
                    scores = scores_of(trees, x, n, base=base)
                    yield classifier(f"{n} classes, {how}, base {base is not None}, {kind.__name__}", trees, x, labels,
                                     scores.astype(F32).argmax(1), transformed(scores, how), post_transform=how,
                                     **({"base_values": base} if base else {}))


def two_classes():
    """Votes for one of two classes, as exporters of binary classifiers write them."""
    def between(low, high, to=0):
        return forest(4, 3, 3, MODES[:6], lambda: [(to, float(F32(rng.uniform(low, high))))])

    x = rows_of(30, 3)
    for how in TRANSFORMS:
        for is_probability in (0, 1):
            low, limit = (0, 0.5) if is_probability else (-0.25, 0)
            for base in ([], [0.25], [0.25, 0.0]):
                trees = between(low, 0.1875)
                score = scores_of(trees, x, 1, base=base[:1] or None)
                is_complement = how == "PROBIT" or (is_probability and how != "LOGISTIC")
                both = np.concatenate([1 - score if is_complement else -score, score], 1)
                what = f"{how}, probability {is_probability}, base {base}"
                for labels in ([4, 2], ["no", "yes"]):
                    yield classifier(f"votes for the first of two classes, {what}, {labels}", trees, x,
                                     labels, (score[:, 0] > limit).astype(int),
                                     transformed(both, how) if how in ("LOGISTIC", "PROBIT") else both, post_transform=how,
                                     **({"base_values": base} if base else {}))
            trees = between(low, 0.25, to=1)
            scores = scores_of(trees, x, 2)
            if how not in ("PROBIT", "SOFTMAX_ZERO"):
                for labels in ([4, 2], ["no", "yes"]):
                    yield classifier(f"votes for the second of two classes, {how}, probability {is_probability}, {labels}", trees, x,
                                     labels, (scores[:, 1] > limit).astype(int), transformed(scores, how), post_transform=how)
    trees = between(-0.5, 0.5)
    score = scores_of(trees, x, 1, base=[0.125])
    for how in TRANSFORMS:
        expected = [(score[:, 0] > 0).astype(np.int64), (transformed(score, how) if how == "PROBIT" else score).astype(F32)]
        yield one_node(f"one class, {how}", "TreeEnsembleClassifier", [x], expected, 17, domain=ML, classlabels_int64s=[1],
                       post_transform=how, base_values=[0.125], **named(trees, "class"))


KINDS = [comparisons, sets, extreme_splits, aggregation, shapes, transforms, classes, two_classes]


# ---- versions, open sizes, rejected models ----

def old_versions(lightnet):
    """The same operator in versions 1 and 3."""
    trees, x = forest(3, 4, 3, MODES[:6], one_vote(2)), rows_of(12, 3)
    given = named(trees, "target")
    for version in (1, 3):
        whole = graph([node("TreeEnsembleRegressor", ["x"], ["y"], domain=ML, n_targets=2, **given)],
                      [value("x", "float", list(x.shape))], [value("y", "float")])
        yield from faults_of(lightnet, model(whole, opset={"": 13, ML: version}), {"x": x},
                             [scores_of(trees, x, 2).astype(F32)], 1e-6, 1e-6)


def of_batches(sizes):
    trees = forest(5, 4, 3, MODES[:6], one_vote(2))
    fixed = named(trees, "class")
    for n in sizes:
        x = rows_of(n, 3)
        scores = scores_of(trees, x, 3).astype(F32)
        yield one_node(f"{n} rows", "TreeEnsembleClassifier", [x], [scores.argmax(1), scores], 17, domain=ML,
                       classlabels_int64s=[0, 1, 2], **fixed)


def stump(**changed):
    """One branch and two leaves."""
    return {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
            "nodes_featureids": [0, 0, 0], "nodes_values": [0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0],
            "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
            "target_weights": [1.0, 2.0], "n_targets": 1} | changed


def small_ensemble(**changed):
    return {"nodes_modes": tensor("", "uint8", [1], [0]), "nodes_splits": tensor("", "float", [1], [0.5]),
            "nodes_featureids": [0],
            "nodes_truenodeids": [0], "nodes_falsenodeids": [1], "nodes_trueleafs": [1], "nodes_falseleafs": [1],
            "leaf_targetids": [0, 0], "leaf_weights": tensor("", "float", [2], [1, 2]), "tree_roots": [0],
                "n_targets": 1} | changed


WRONG = [
    (stump(nodes_nodeids=[0, 1, 1]), "duplicate node 1 of tree 0, expected each once"),
    (stump(nodes_truenodeids=[7, 0, 0]), "element 0 of attribute 'nodes_truenodeids' is node 7, which tree 0 lacks"),
    (stump(nodes_treeids=[0, 0, 1]), "element 0 of attribute 'nodes_falsenodeids' is node 2, which tree 0 lacks"),
    (stump(nodes_truenodeids=[0, 0, 0]), "a node of its trees is a descendant of itself"),
    (stump(nodes_modes=["BRANCH_LEQ", "BRANCH_LT", "LEAF"], nodes_truenodeids=[1, 0, 0]),
     "a node of its trees is a descendant of itself"),
    (stump(nodes_modes=["BRANCH_LEQ", "LEAF"]), "element 2 of attribute 'nodes_modes' is '', expected BRANCH_LEQ"),
    (stump(nodes_modes=["BRANCH_MEMBER", "LEAF", "LEAF"]), "element 0 of attribute 'nodes_modes' is 'BRANCH_MEMBER', expected"),
    (stump(nodes_modes=["LEAF"] * 4), "attribute 'nodes_modes' has more than 3 elements"),
    (stump(nodes_featureids=[3, 0, 0]), "element 0 of attribute 'nodes_featureids' is 3, expected 0 to 2"),
    (stump(nodes_featureids=[-1, 0, 0]), "element 0 of attribute 'nodes_featureids' is -1, expected 0 to 2"),
    (stump(nodes_featureids=[0]), "attribute 'nodes_featureids' has 1 elements, expected 3"),
    (stump(nodes_values=[0.5]), "attribute 'nodes_values' has 1 elements, expected 3"),
    (stump(nodes_missing_value_tracks_true=[1]), "attribute 'nodes_missing_value_tracks_true' has 1 elements, expected 3"),
    (stump(nodes_treeids=[]), "attribute 'nodes_treeids' has no elements, expected trees"),
    (stump(nodes_values_as_tensor=tensor("", "float", [3], [0, 0, 0])),
     "has both attributes 'nodes_values' and 'nodes_values_as_tensor'"),
    (stump(target_ids=[0, 1]), "element 1 of attribute 'target_ids' is 1, expected 0 to 0"),
    (stump(target_ids=[0, -1]), "element 1 of attribute 'target_ids' is -1, expected 0 to 0"),
    (stump(target_nodeids=[1, 9]), "element 1 of attribute 'target_nodeids' is node 9, which tree 0 lacks"),
    (stump(target_treeids=[0]), "attribute 'target_treeids' has 1 elements, expected 2"),
    (stump(n_targets=0), "'n_targets' is 0"),
    (stump(n_targets=2**31), "'n_targets' is 2147483648"),
    (stump(base_values=[1.0, 2.0]), "attribute 'base_values' has 2 elements, expected 0 or 1"),
    (stump(aggregate_function="MEDIAN"), "attribute 'aggregate_function' is \"MEDIAN\", expected one of"),
    (stump(post_transform="LOG"), "attribute 'post_transform' is \"LOG\", expected one of"),
]
WRONG_CLASSIFIERS = [
    ({}, "has no labels, expected them in attribute 'classlabels_int64s' or 'classlabels_strings'"),
    ({"classlabels_int64s": [5]}, "has a single class whose label is not 1"),
    ({"classlabels_strings": ["1"]}, "has a single class whose label is not 1"),
    ({"classlabels_int64s": [5, 6], "classlabels_strings": ["a", "b"]}, "has both attributes"),
    ({"classlabels_int64s": [5, 6], "base_values": [1.0] * 3}, "attribute 'base_values' has 3 elements, expected 0 or 2"),
    ({"classlabels_int64s": [5, 6, 7], "base_values": [1.0]}, "attribute 'base_values' has 1 elements, expected 0 or 3"),
]
WRONG_ENSEMBLES = [
    (small_ensemble(nodes_modes=tensor("", "uint8", [1], [7])), "element 0 of attribute 'nodes_modes' is 7, expected 0 to 6"),
    (small_ensemble(nodes_modes=tensor("", "float", [1], [0])), "attribute 'nodes_modes' has 1 elements of TL_FLOAT, expected 1 of TL_UINT8"),
    (small_ensemble(nodes_modes=tensor("", "uint8", [1], [6])), "attribute 'membership_values' has no set for node 0"),
    (small_ensemble(membership_values=tensor("", "float", [2], [1, math.nan])),
     "attribute 'membership_values' has more sets than nodes with mode MEMBER"),
    (small_ensemble(nodes_falsenodeids=[2]), "element 0 of attribute 'nodes_falsenodeids' is 2, expected 0 to 1"),
    (small_ensemble(nodes_falseleafs=[0]), "element 0 of attribute 'nodes_falsenodeids' is 1, expected 0 to 0"),
    (small_ensemble(nodes_falseleafs=[0], nodes_falsenodeids=[0]), "a node of its trees is a descendant of itself"),
    (small_ensemble(nodes_trueleafs=[]), "attribute 'nodes_trueleafs' has 0 elements, expected 1"),
    (small_ensemble(leaf_targetids=[0, 1]), "element 1 of attribute 'leaf_targetids' is 1, expected 0 to 0"),
    (small_ensemble(tree_roots=[1]), "element 0 of attribute 'tree_roots' is 1, expected 0 to 0"),
    (small_ensemble(tree_roots=[]), "has 1 nodes, 2 leaves, and 0 trees, expected at least 1 of each"),
    (small_ensemble(aggregate_function=4), "'aggregate_function' is 4"),
    (small_ensemble(post_transform=5), "'post_transform' is 5"),
]


def rejected():
    """Parts, and words of the messages."""
    x, y = rows_of(2, 3), np.zeros((2, 1), F32)
    for attributes, words in WRONG:
        yield one_node("", "TreeEnsembleRegressor", [x], y, 17, domain=ML, **attributes), words
    for attributes, words in WRONG_CLASSIFIERS:
        given = {key.replace("target_", "class_"): array for key, array in stump().items() if key != "n_targets"}
        yield one_node("", "TreeEnsembleClassifier", [x], [np.zeros(2, np.int64), y], 17, domain=ML, **given, **attributes), words
    for attributes, words in WRONG_ENSEMBLES:
        yield one_node("", "TreeEnsemble", [x], y, 17, domain=ML, **attributes), words
    integers = np.zeros((2, 3), np.int32)
    yield (one_node("", "TreeEnsemble", [integers], y, 17, domain=ML, **small_ensemble()),
           "input 0 has type TL_INT32, expected floats")
    yield (one_node("", "TreeEnsembleRegressor", [x[None]], y, 17, domain=ML, **stump()),
           "input 0 has 3 dimensions, expected 1 or 2")


def without_weights(lightnet):
    """Trees of zeros are none, but the fault is that the file is not given."""
    model, given = joined([next(two_classes())])
    with tempfile.TemporaryDirectory() as folder:
        source, *inputs = write(folder, model, given)
        made = os.path.join(folder, "made.json")
        call([lightnet, "convert", source, "-o", made])
        message = call([lightnet, "run", made, *inputs]).stderr
    return [] if "reads its data from a file: pass one when loading (-f FILE" in message else [message]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_kinds(tap, lightnet, KINDS, TOLERANCE, is_written=True)
    tap.check("versions 1 and 3", old_versions(lightnet))
    tap.check("a model without its weights", without_weights(lightnet))
    tap.check("open batches: also none",
              ranged_faults_of(lightnet, list(of_batches((0, 1, 5, 40))), {"x0": "0..40x3"}, TOLERANCE["float"]))
    for part, words in rejected():
        check_rejected(tap, lightnet, part, f"{part.sentence.split()[0]} is rejected: {words}", words)
    tap.end()


if __name__ == "__main__":
    main()
