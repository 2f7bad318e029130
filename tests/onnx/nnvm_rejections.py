# SPDX-License-Identifier: Apache-2.0
"""What NNVM cannot express, by the messages of `lightnet convert --to nnvm`: each names the operator or the tensor. Tests that write
many models in each format count the models of each reason, so that none is left out without notice."""
import collections
import re

REASONS = {"operators that core lacks": r"operators that NNVM's core lacks: \w+ \(\d+ nodes?, first '",
           "a form of an operator that core lacks": r"operator '.*' \(\w+\): .*NNVM",
           "a parameter of an operator": r"operator '.*' \(\w+\): parameter",
           "an input without dimensions or elements": r"tensor '.*': an input without dimensions or elements",
           "a tensor without elements": r"its output '.*' has 0 elements|tensor '.*': 0 elements",
           "open sizes": r"operator '.*' \(\w+\): the size of its output '.*' is known only at run time|input '.*' has open sizes",
           "a data type": r"(operator|tensor) '.*': NNVM has no data type TL_\w+|parameter '.*' is TL_\w+, which the format lacks"}


class Rejections:
    def __init__(self):
        self.counts = collections.Counter()

    def count(self, message):
        """Counts the message, unless it is none of them: returns whether it is one."""
        found = [reason for reason, pattern in REASONS.items() if re.search(pattern, message)]
        self.counts.update(found[-1:])
        return bool(found)

    def faults(self, wanted):
        """`wanted`: how many models have each reason."""
        counts = dict(self.counts)
        return [] if counts == wanted else [f"rejected {counts}, expected {wanted}"]
