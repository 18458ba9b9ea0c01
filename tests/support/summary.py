"""Sums up what tests/run.sh ran: one line a step, every skip with its reason, and the totals.

usage: summary.py "STEP passed|failed|skipped SECONDS"...
Steps that are build presets have build/STEP/ctest.xml (ctest's report, one entry a program) and
build/STEP/reports/*.xml (each program's own, one entry a test). A program without a report of its
own, one that crashed for instance, counts as the one test that ctest saw.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

OUTCOMES = ("passed", "failed", "skipped")


def outcome(case):
    """passed, failed or skipped, and the reason of a skip, of one JUnit test case."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    if case.get("status") == "fail":
        return "failed", ""
    skip = case.find("skipped")
    if skip is not None or case.get("status") in ("notrun", "disabled"):
        message = "" if skip is None else (skip.get("message") or "").strip()
        return "skipped", message.splitlines()[-1] if message else ""
    return "passed", ""


def read_suite(folder):
    """(name, outcome, reason) of every test of one build folder."""
    tests = []
    for program in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name = program.get("name")
        state, reason = outcome(program)
        report = folder / "reports" / (name + ".xml")
        cases = []
        if report.exists():
            for case in ElementTree.parse(report).getroot().iter("testcase"):
                label = f"{name}: {case.get('classname', '')}.{case.get('name')}"
                cases.append((label, *outcome(case)))
        # A program that failed though none of its tests did (a leak, a race) is a failure too.
        if not cases or (state == "failed" and all(case[1] != "failed" for case in cases)):
            cases.append((name, state, reason))
        tests.extend(cases)
    return tests


def step_tests(name, state):
    """The tests of a step; a step without a report of its own is one test."""
    folder = pathlib.Path("build") / name
    if state != "skipped" and (folder / "ctest.xml").exists():
        tests = read_suite(folder)
        if state == "passed" or any(test[1] == "failed" for test in tests):
            return tests
    return [(name, state, "")]


def main(steps):
    totals = dict.fromkeys(OUTCOMES, 0)
    print("== summary")
    for step in steps:
        name, state, seconds = step.split()
        tests = step_tests(name, state)
        counts = {key: sum(test[1] == key for test in tests) for key in OUTCOMES}
        for key in OUTCOMES:
            totals[key] += counts[key]
        detail = ", ".join(f"{counts[key]} {key}" for key in OUTCOMES)
        print(f"  {name:<8} {state:<8} {seconds:>5} s   {detail}")
        skips = {}
        for label, result, reason in tests:
            if result == "failed":
                print(f"      failed: {label}")
            elif result == "skipped":
                skips.setdefault(reason or "no reason given", []).append(label)
        for reason, labels in skips.items():
            more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
            print(f"      skipped: {labels[0]}{more}: {reason}")
    print(", ".join(f"{totals[key]} {key}" for key in OUTCOMES))
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
