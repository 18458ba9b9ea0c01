"""Random expressions over random tables, with the answers of Python's exact integers and numpy's floats.

A node is made with its text and a function of a row at once, so that the reference does not parse.
Run as a program it makes as many cases as asked for: expression_reference.py PROGRAM CASES [SEED]
"""

import math
import subprocess
import sys

import numpy as np

INTEGERS = ["<i1", "<i2", ">i4", "<i8", "<u1", ">u2", "<u4", "<u8", ">i8", ">u8"]
FLOATS = ["<f2", "<f4", ">f8", "<f8", ">f4"]
RANK = {"f16": 0, "f32": 1, "f64": 2}
FLOAT_TYPE = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
MOST, LEAST = 2**127 - 1, -(2**127)


class Fault(Exception):
    pass


class Node:
    def __init__(self, text, kind, value, weak=False):
        self.text, self.kind, self.value, self.weak = text, kind, value, weak

    @property
    def is_whole(self):
        return self.kind in ("int", "bool")


def fits(number):
    if not LEAST <= number <= MOST:
        raise Fault
    return number


def lost(node, kind):
    """Whether a constant would become infinite."""
    value = float(node.value(None))
    return math.isfinite(value) and not np.isfinite(FLOAT_TYPE[kind](value))


def meeting(a, b):
    """The type in which two numbers meet as reals."""
    kinds = []
    for node in (a, b):
        if not node.weak:
            kinds.append("f64" if node.is_whole else node.kind)
    kind = max(kinds, key=RANK.get)
    if any(node.weak and lost(node, kind) for node in (a, b)):
        return "f64"
    return kind


def as_kind(value, kind):
    if kind == "f16":  # by way of float, as constants and halves go
        return np.float16(np.float32(value))
    return FLOAT_TYPE[kind](value)


def remainder(a, b):
    """numpy's: the sign of the divisor."""
    rest = np.fmod(a, b)
    if b == 0 or np.isnan(rest):
        return rest
    if rest == 0:
        return np.copysign(type(a)(0), b)
    return rest + b if (rest < 0) != (b < 0) else rest


def least(a, b):
    return a if np.isnan(a) else b if np.isnan(b) else b if b < a else a


def greatest(a, b):
    return a if np.isnan(a) else b if np.isnan(b) else b if a < b else a


REAL = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
        "%": remainder, "min": least, "max": greatest}


def shift_left(a, b):
    if b < 0 or (a != 0 and b > 127):
        raise Fault
    return fits(a << min(b, 128))


def shift_right(a, b):
    if b < 0:
        raise Fault
    return a >> min(b, 1000)


def whole_remainder(a, b):
    if b == 0:
        raise Fault
    return a % b


WHOLE = {"+": lambda a, b: fits(a + b), "-": lambda a, b: fits(a - b), "*": lambda a, b: fits(a * b),
         "%": whole_remainder, "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
         "<<": shift_left, ">>": shift_right, "min": min, "max": max}


def arithmetic(op, text, a, b):
    if a.is_whole and b.is_whole and op != "/":
        return Node(text, "int", lambda row: WHOLE[op](int(a.value(row)), int(b.value(row))))
    kind = meeting(a, b)
    compute = REAL[op]
    if kind == "f16":
        return Node(text, kind, lambda row: np.float16(compute(np.float32(as_kind(a.value(row), kind)),
                                                               np.float32(as_kind(b.value(row), kind)))))
    return Node(text, kind, lambda row: compute(as_kind(a.value(row), kind), as_kind(b.value(row), kind)))


COMPARE = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b,
           "!=": lambda a, b: a != b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b}


def compared(op, a, b):
    """The comparison of two nodes as a function of a row."""
    compute = COMPARE[op]
    if a.kind == "text":
        return lambda row: compute(a.value(row), b.value(row))
    whole = [node for node in (a, b) if node.is_whole and not node.weak]
    if (a.is_whole and b.is_whole) or whole:
        # Python compares int with float exactly.
        exact = {True: int, False: float}
        return lambda row: compute(exact[a.is_whole](a.value(row)), exact[b.is_whole](b.value(row)))
    kind = meeting(a, b)
    return lambda row: bool(compute(as_kind(a.value(row), kind), as_kind(b.value(row), kind)))


class Maker:
    """One random table and expressions over it."""

    def __init__(self, rng, rows):
        self.rng, self.rows = rng, rows
        self.columns = {}
        for i in range(rng.integers(2, 6)):
            kind = str(rng.choice(INTEGERS + FLOATS + ["|b1", "|S3"]))
            self.columns[f"c{i}"] = self.column(kind)
        for name, kind in (("k", "<i8"), ("x", "<f8")):
            self.columns[name] = self.column(kind)

    def column(self, kind):
        rng, n = self.rng, self.rows
        dtype = np.dtype(kind)
        if kind[1] == "b":
            return rng.integers(0, 2, n).astype(kind)
        if kind[1] == "S":
            return rng.choice(np.array([b"", b"a", b"ab", b"abc", b"b", b"\xc3\xa9"], kind), n)
        if kind[1] == "f":
            special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 0.1, 1, 2, -3, 1e-7, 6e4, 2.5])
            values = np.where(rng.random(n) < 0.5, rng.choice(special, n),
                              rng.standard_normal(n) * 10.0 ** rng.integers(-3, 5, n))
            with np.errstate(over="ignore"):
                return values.astype(kind)
        limits = np.iinfo(dtype)
        edges = [limits.min, limits.max, limits.max - 1, 0, 1, 2, 3]
        if limits.min < 0:
            edges += [-1, -2, limits.min + 1]
        if limits.bits == 64:
            edges += [2**53, 2**53 + 1, 2**62]
        wide = rng.integers(limits.min, limits.max, n, dtype=dtype.newbyteorder("="), endpoint=True)
        mixed = [int(edges[rng.integers(len(edges))]) if rng.random() < 0.5 else
                 int(w) if rng.random() < 0.5 else int(w) % 10 for w in wide]
        return np.array(mixed, dtype.newbyteorder("=")).astype(kind)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def leaf_of(self, kinds):
        names = [name for name, data in self.columns.items() if data.dtype.kind in kinds]
        name = self.pick(*names)
        data = self.columns[name]
        if data.dtype.kind == "b":
            return Node(name, "bool", lambda row: bool(data[row]))
        if data.dtype.kind in "iu":
            return Node(name, "int", lambda row: int(data[row]))
        if data.dtype.kind == "f":
            return Node(name, f"f{8 * data.dtype.itemsize}", lambda row: data.dtype.type(data[row]))
        return Node(name, "text", lambda row: bytes(data[row]))

    def constant(self):
        if self.rng.random() < 0.5:
            value = int(self.pick(0, 1, 2, 3, 7, 127, 128, 255, 2**31, 2**53 + 1, 2**63, 2**64 - 1, 2**64))
            return Node(self.pick(str(value), hex(value)), "int", lambda row: value, True)
        value = float(self.pick(0.0, 0.1, 0.5, 1.0, 2.5, 1e3, 1e10, 65504.0, 7e4, 1e39, 9007199254740993.0, 3e-8))
        return Node(repr(value) if self.rng.random() < 0.5 else f"{value:.17e}", "f64", lambda row: value, True)

    def signed(self, node):
        if self.rng.random() < 0.2:
            inner = node.value
            if node.is_whole:
                return Node(f"-{node.text}", "int", lambda row: fits(-int(inner(row))), node.weak)
            return Node(f"-{node.text}", node.kind, lambda row: -inner(row), node.weak)
        return node

    def number(self, depth):
        """A number with a column in it."""
        if depth <= 0 or self.rng.random() < 0.3:
            if self.rng.random() < 0.05:
                return Node("row", "int", lambda row: row)
            return self.signed(self.leaf_of("iufb" if self.rng.random() < 0.9 else "iu"))
        a = self.number(depth - 1)
        b = self.signed(self.constant()) if self.rng.random() < 0.4 else self.number(depth - 1)
        if self.rng.random() < 0.5 and not b.weak:
            a, b = b, a
        choice = self.rng.random()
        if choice < 0.55:
            op = self.pick("+", "-", "*", "/", "%")
            return arithmetic(op, f"({a.text} {op} {b.text})", a, b)
        if choice < 0.7:
            op = self.pick("min", "max")
            return arithmetic(op, f"{op}({a.text}, {b.text})", a, b)
        if choice < 0.85 and a.is_whole and b.is_whole and not (a.kind == b.kind == "bool"):
            op = self.pick("&", "|", "^", "<<", ">>")
            return arithmetic(op, f"({a.text} {op} {b.text})", a, b)
        return self.function(a)

    def function(self, a):
        name = self.pick("abs", "floor", "sqrt")
        text, value = f"{name}({a.text})", a.value
        if name == "abs":
            return Node(text, "int" if a.is_whole else a.kind, lambda row: fits(abs(int(value(row)))) if a.is_whole else abs(value(row)))
        if name == "floor":
            return a if a.is_whole else Node(text, a.kind, lambda row: np.floor(value(row)))
        if a.is_whole:
            return Node(text, "f64", lambda row: np.sqrt(np.float64(int(value(row)))))
        return Node(text, a.kind, lambda row: np.sqrt(value(row)))

    def comparison(self, depth):
        op = self.pick(*COMPARE)
        texts = [name for name, data in self.columns.items() if data.dtype.kind == "S"]
        if texts and self.rng.random() < 0.15:
            a = self.leaf_of("S")
            literal = self.pick(b"", b"a", b"ab", b"abc", b"b", b"\xc3\xa9")
            b = self.leaf_of("S") if self.rng.random() < 0.3 else Node(f"'{literal.decode()}'", "text", lambda row: literal, True)
            return Node(f"{a.text} {op} {b.text}", "bool", compared(op, a, b))
        a = self.number(depth - 1)
        b = self.signed(self.constant()) if self.rng.random() < 0.5 else self.number(depth - 1)
        choice = self.rng.random()
        if choice < 0.1 and not a.is_whole:
            name = self.pick("isnan", "isfinite")
            test = np.isnan if name == "isnan" else np.isfinite
            return Node(f"{name}({a.text})", "bool", lambda row: bool(test(a.value(row))))
        if choice < 0.2:
            items = [self.signed(self.constant()) for _ in range(self.rng.integers(1, 4))] + [b]
            tests = [compared("==", a, item) for item in items]
            negated = self.rng.random() < 0.3
            text = f"{a.text} {'not ' if negated else ''}in ({', '.join(item.text for item in items)})"
            return Node(text, "bool", lambda row: any([test(row) for test in tests]) != negated)
        if choice < 0.3:
            c = self.signed(self.constant())
            low, high = compared(">=", a, b), compared("<=", a, c)
            negated = self.rng.random() < 0.3
            text = f"{a.text} {'not ' if negated else ''}between {b.text} and {c.text}"
            return Node(text, "bool", lambda row: all([low(row), high(row)]) != negated)
        if self.rng.random() < 0.3 and not b.weak:
            a, b = b, a
        return Node(f"{a.text} {op} {b.text}", "bool", compared(op, a, b))

    def condition(self, depth):
        if depth <= 0 or self.rng.random() < 0.4:
            if self.rng.random() < 0.1:
                whole = self.leaf_of("iu")
                return Node(whole.text, "bool", lambda row: whole.value(row) != 0)
            return self.comparison(depth)
        parts = [self.condition(depth - 1) for _ in range(self.rng.integers(2, 4))]
        values = [part.value for part in parts]
        choice = self.rng.random()
        if choice < 0.45:
            sign = self.pick(" && ", " and ")
            return Node("(" + sign.join(part.text for part in parts) + ")", "bool",
                        lambda row: all(value(row) for value in values))
        if choice < 0.9:
            sign = self.pick(" || ", " or ")
            return Node("(" + sign.join(part.text for part in parts) + ")", "bool",
                        lambda row: any(value(row) for value in values))
        return Node(self.pick("!({})", "not ({})").format(parts[0].text), "bool", lambda row: not values[0](row))

    def ranges(self):
        """A condition that comes to at most six range tests: so many comparisons of columns with constants."""
        return self.joined(int(self.rng.integers(1, 7)))

    def joined(self, comparisons):
        if comparisons == 1:
            return self.test_of_a_column()
        left = int(self.rng.integers(1, comparisons))
        a, b = self.joined(left), self.joined(comparisons - left)
        sign, join = self.pick((" && ", all), (" || ", any), (" or ", any), (" & ", all), (" ^ ", lambda pair: pair[0] != pair[1]))
        negated = self.rng.random() < 0.2
        text = f"(({a.text}){sign}({b.text}))"
        return Node("!" * negated + text, "bool", lambda row: bool(join([bool(a.value(row)), bool(b.value(row))])) != negated)

    def test_of_a_column(self):
        a = self.leaf_of("iufb")
        if a.kind == "bool" and self.rng.random() < 0.7:
            return a
        choice = self.rng.random()
        if choice < 0.1 and not a.is_whole:
            name, test = self.pick(("isnan", np.isnan), ("isfinite", np.isfinite))
            return Node(f"{name}({a.text})", "bool", lambda row: bool(test(a.value(row))))
        if choice < 0.2 and a.is_whole:
            first = int(self.rng.integers(0, 5))
            items = [int(item) for item in self.rng.permutation(range(first, first + 4))]
            return Node(f"{a.text} in ({', '.join(map(str, items))})", "bool", lambda row: int(a.value(row)) in items)
        b, op = self.signed(self.constant()), self.pick(*COMPARE)
        if self.rng.random() < 0.3:
            return Node(f"{b.text} {op} {a.text}", "bool", compared(op, b, a))
        return Node(f"{a.text} {op} {b.text}", "bool", compared(op, a, b))

    def expected(self, node):
        """The answer that the program must give. Faults of several rows: the first."""
        flags = ""
        for row in range(self.rows):
            try:
                flags += str(int(bool(node.value(row))))
            except Fault:
                return f"fault {row}"
        return "ok " + flags


def disagreements(program, cases, seed, most=5, ranges=False):
    """Runs the cases; returns (text, columns, got, expected) of those that differ, and how many ran. With `ranges` all
    are Maker.ranges(), which a device must run as range tests."""
    rng = np.random.default_rng(seed)
    found, ran = [], 0
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        with np.errstate(all="ignore"):
            while ran < cases and len(found) < most:
                # Around the 32 rows of a lane and the 256 of a part, now and then.
                rows = rng.choice([33, 300]) if rng.random() < 0.02 else rng.choice([1, 3, 8, 17])
                maker = Maker(rng, int(rows))
                for _ in range(10):
                    node = maker.ranges() if ranges else maker.condition(3)
                    text = node.text.encode()
                    data = maker.columns
                    message = f"{len(data)} {maker.rows} {len(text)}\n".encode() + text
                    for name, values in data.items():
                        # numpy calls one byte's order '|'; the machine's is '<' here.
                        message += f"{name} {values.dtype.str}\n".encode() + values.tobytes()
                    process.stdin.write(message)
                    process.stdin.flush()
                    got = process.stdout.readline().decode().rstrip("\n")
                    expected = maker.expected(node)
                    if ranges:
                        expected += " terms"
                    else:
                        got = got.removesuffix(" terms")
                    ran += 1
                    if got != expected:
                        found.append((node.text, {name: (v.dtype.str, v.tolist()) for name, v in data.items()}, got, expected))
    return found, ran


if __name__ == "__main__":
    wrong, count = disagreements(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    for case in wrong:
        print(*case, sep="\n", end="\n\n")
    print(f"{count} cases, {len(wrong)} disagreements")
    sys.exit(bool(wrong))
