#!/usr/bin/env python3
"""Makes the known answers of models with feed-forward blocks: make_feed_forward.py [FOLDER].

A second method, which shares nothing with the library: the model as docs/numerics.md defines it, token by token, on a tape of
scalars, each a number of 50 decimal digits together with its derivative in one direction u. Going back along the tape gives the
gradient, and the derivatives on it give H u; no adjoint of the model is written down anywhere. Only the standard library is used,
so the files come out the same everywhere. Results are rounded to float64 once, at the end.
"""
import decimal
import os
import random
import sys
from decimal import Decimal

decimal.getcontext().prec = 50
ZERO, ONE = Decimal(0), Decimal(1)


class Scalar:
    """A number x with its derivative dot in the direction u; parents: (scalar, partial derivative, derivative of that)."""

    __slots__ = ("x", "dot", "parents", "bar", "bar_dot")
    tape = []

    def __init__(self, x, dot=ZERO, parents=()):
        self.x, self.dot, self.parents, self.bar, self.bar_dot = x, dot, parents, ZERO, ZERO
        Scalar.tape.append(self)


def total(terms):
    return Scalar(sum((t.x for t in terms), ZERO), sum((t.dot for t in terms), ZERO), [(t, ONE, ZERO) for t in terms])


def dot(a, b):
    x = sum((p.x * q.x for p, q in zip(a, b)), ZERO)
    x_dot = sum((p.dot * q.x + p.x * q.dot for p, q in zip(a, b)), ZERO)
    return Scalar(x, x_dot, [(p, q.x, q.dot) for p, q in zip(a, b)] + [(q, p.x, p.dot) for p, q in zip(a, b)])


def exponential(a):
    e = a.x.exp()
    return Scalar(e, e * a.dot, [(a, e, e * a.dot)])


def inverse(a):
    r = ONE / a.x
    return Scalar(r, -r * r * a.dot, [(a, -r * r, 2 * r * r * r * a.dot)])


def relu(a):
    assert abs(a.x) > Decimal("1e-5"), "a kink is too near: choose another seed"
    return Scalar(a.x, a.dot, [(a, ONE, ZERO)]) if a.x > 0 else Scalar(ZERO)


def constant(x):
    return Scalar(Decimal(x))


def back(result):
    """Adjoints of everything on the tape, and their derivatives in the direction u."""
    result.bar = ONE
    for s in reversed(Scalar.tape):
        for parent, d, d_dot in s.parents:
            parent.bar += s.bar * d
            parent.bar_dot += s.bar_dot * d + s.bar * d_dot


# ---- The model --------------------------------------------------------------------------------------------------------------


class Reader:
    """Hands out theta in its order."""

    def __init__(self, theta):
        self.theta, self.at = theta, 0

    def matrix(self, rows, columns):
        m = [self.theta[self.at + i * columns : self.at + (i + 1) * columns] for i in range(rows)]
        self.at += rows * columns
        return m

    def vector(self, count):
        return self.matrix(1, count)[0]

    def network(self, hidden, width):
        return self.matrix(hidden, width), self.vector(hidden), self.matrix(width, hidden), self.vector(width)


def network(parameters, z):
    W_1, b_1, W_2, b_2 = parameters
    r = [relu(total([dot(row, z), b])) for row, b in zip(W_1, b_1)]
    return [total([dot(row, r), b]) for row, b in zip(W_2, b_2)]


def row_function(attention, scores):
    """What the scores of one query token become; the last key is the query's, whose share is then left out."""
    if attention == "linear":
        return scores[:-1]
    if attention == "relu":
        return [relu(s) for s in scores[:-1]]
    e = [exponential(s) for s in (scores if attention == "softmax" else scores[:-1])]
    share = inverse(total(e))
    return [dot([s], [share]) for s in e[: len(scores) - 1]]


def head(case, read):
    """P and Q of a head, (d+1, d+1)."""
    d, rank = case["d"], case["qk_rank"]
    side = d + 1 if case["form"] == "full" else d
    P = read.matrix(side, side)
    if rank:
        W_Q, W_K = read.matrix(rank, side), read.matrix(rank, side)
        Q = [[dot([w[i] for w in W_Q], [w[j] for w in W_K]) for j in range(side)] for i in range(side)]
    else:
        Q = read.matrix(side, side)
    if side == d:
        zero, one = constant(0), constant(1)
        P = [row + [zero] for row in P] + [[zero] * d + [one]]
        Q = [row + [zero] for row in Q] + [[zero] * (d + 1)]
    return P, Q


def attend(case, P, Q, Z):
    """What one head adds to each token."""
    columns = list(zip(*Q))
    added, over_n = [], Scalar(ONE / Decimal(len(Z) - 1))
    for z in Z:
        u = [dot(z, column) for column in columns]
        a = row_function(case["attention"], [dot(u, key) for key in Z])
        w = [dot(a, [key[j] for key in Z[:-1]]) for j in range(len(z))]
        added.append([dot([dot(row, w)], [over_n]) for row in P])
    return added


def prediction(case, theta, tokens):
    read, d = Reader(theta), case["d"]
    Z = [[constant(x) for x in token] for token in tokens]
    if case["mlp_hidden"]:
        front = read.network(case["mlp_hidden"], d)
        Z = [network(front, z[:d]) + [z[d]] for z in Z]
    for _ in range(case["layers"]):
        heads = [attend(case, *head(case, read), Z) for _ in range(case["heads"])]
        Z = [[total([x] + [h[i][j] for h in heads]) for j, x in enumerate(z)] for i, z in enumerate(Z)]
        if case["ff_hidden"]:
            block = read.network(case["ff_hidden"], d + 1)
            Z = [[total([x, y]) for x, y in zip(z, network(block, z))] for z in Z]
    assert read.at == len(theta)
    return Z[-1][d]  # minus the prediction


def evaluate(case, theta, direction, tokens, targets):
    """Predictions, loss, gradient and H u."""
    Scalar.tape = []
    parameters = [Scalar(Decimal(x), Decimal(u)) for x, u in zip(theta, direction)]
    last = [prediction(case, parameters, prompt) for prompt in tokens]
    misses = [total([y, constant(target)]) for y, target in zip(last, targets)]
    loss = dot([dot(misses, misses)], [Scalar(ONE / Decimal(len(targets)))])
    back(loss)
    return [-y.x for y in last], loss.x, [p.bar for p in parameters], [p.bar_dot for p in parameters]


# ---- The files --------------------------------------------------------------------------------------------------------------

NAMES = ("attention", "form", "layers", "heads", "d", "n", "B", "mlp_hidden", "qk_rank", "ff_hidden")
CASES = {
    "own_ff_linear_block": ("linear", "block", 2, 1, 2, 4, 3, 0, 0, 3),
    "own_ff_softmax_qk_two_heads_mlp": ("softmax", "full", 2, 2, 2, 5, 3, 3, 2, 4),
    "own_ff_softmax_context_block": ("softmax_context", "block", 1, 2, 3, 6, 4, 0, 0, 5),
    "own_ff_relu_full": ("relu", "full", 3, 1, 2, 5, 3, 0, 0, 4),
}


def parameter_count(case):
    d, r, side = case["d"], case["qk_rank"], case["d"] + (case["form"] == "full")
    of_network = lambda h, width: 2 * h * width + h + width if h else 0
    heads = case["heads"] * (side * side + (2 * r * side if r else side * side))
    return of_network(case["mlp_hidden"], d) + case["layers"] * (heads + of_network(case["ff_hidden"], d + 1))


def write(path, case, arrays):
    def text(x):
        return repr(float(x)) if x else "0.0"

    with open(path, "w") as out:
        print("# known answer; make_feed_forward.py, 50 digits; targets are +<w,x>, predictions already carry the minus sign",
              file=out)
        for name, value in case.items():
            print("config", name, value, file=out)
        for name, shape, values in arrays:
            print("array", name, *shape, file=out)
            for i in range(0, len(values), 6):
                print(*map(text, values[i : i + 6]), file=out)


def make(path, values, seed):
    case = dict(zip(NAMES, values))
    case["nparams"] = p = parameter_count(case)
    B, n, d = case["B"], case["n"], case["d"]
    uniform = random.Random(seed).uniform  # of random(), whose sequence Python promises to keep
    normal = lambda: sum(uniform(-1, 1) for _ in range(3))  # nearly, of variance 1
    theta, direction = [uniform(-0.6, 0.6) for _ in range(p)], [uniform(-1, 1) for _ in range(p)]
    tokens, targets = [], []
    for _ in range(B):
        w, prompt = [normal() for _ in range(d)], [[normal() for _ in range(d)] for _ in range(n + 1)]
        responses = [sum(a * b for a, b in zip(w, x)) for x in prompt]
        tokens.append([x + [y] for x, y in zip(prompt[:n], responses)] + [prompt[n] + [0.0]])
        targets.append(responses[n])
    predictions, loss, gradient, product = evaluate(case, theta, direction, tokens, targets)
    unit = lambda i: [float(i == j) for j in range(p)]
    hessian = [evaluate(case, theta, unit(i), tokens, targets)[3] for i in range(p)]
    assert max(abs(hessian[i][j] - hessian[j][i]) for i in range(p) for j in range(i)) < Decimal("1e-40")
    diagonal = [hessian[i][i] for i in range(p)]
    sizes = sorted(map(abs, diagonal))
    median = sizes[(p - 1) // 2]
    arrays = [("Z", (B, n + 1, d + 1), [x for prompt in tokens for token in prompt for x in token]), ("target", (B,), targets),
              ("theta", (p,), theta), ("prediction", (B,), predictions), ("loss", (1,), [loss]), ("gradient", (p,), gradient),
              ("direction", (p,), direction), ("hessian_direction", (p,), product)]
    if p <= 80:
        arrays.append(("hessian", (p, p), [x for row in hessian for x in row]))
    arrays += [("hessian_diagonal", (p,), diagonal),
               ("robust_condition_diagonal_lower_median", (1,), [sizes[-1] / median if median else Decimal("inf")])]
    write(path, case, arrays)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for number, (name, values) in enumerate(CASES.items()):
        make(os.path.join(folder, name + ".txt"), values, number + 1)
