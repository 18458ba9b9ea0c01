"""Stands for a test that is not built here: leaves its JUnit report and ends as skipped.

usage: skipped.py NAME REASON REPORT.xml      exit status 77; 1 where LOOKBACK_REQUIRE_CUDA=1
"""

import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def main(name, reason, report):
    required = os.environ.get("LOOKBACK_REQUIRE_CUDA") == "1"
    suite = ElementTree.Element("testsuite", name=name)
    case = ElementTree.SubElement(suite, "testcase", classname=name, name="all")
    ElementTree.SubElement(case, "failure" if required else "skipped", message=reason)
    path = pathlib.Path(report)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path)
    print(f"skipped: {name}: {reason}")
    return 1 if required else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
