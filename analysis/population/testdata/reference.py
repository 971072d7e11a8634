"""Reference values for package population, by other means than the package's own.

Run: python3 reference.py > reference.json (standard library only).

- Fixation probabilities: the chain of the number of mutants is solved as a system
  of linear equations in exact fractions (Moran) or high-precision decimals (Fermi),
  not by the product formula.
- Alpha-rank: the stationary distribution by repeated squaring of the chain.
- Replicator: plain iteration of the discrete dynamics in decimals.
"""
import json
from decimal import Decimal as D, getcontext
from fractions import Fraction as F

getcontext().prec = 250


def solve(matrix, rhs):
    n = len(matrix)
    m = [row[:] + [b] for row, b in zip(matrix, rhs)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(m[r][c]))
        m[c], m[p] = m[p], m[c]
        for r in range(n):
            if r != c and m[r][c] != 0:
                f = m[r][c] / m[c][c]
                m[r] = [x - f * y for x, y in zip(m[r], m[c])]
    return [m[i][n] / m[i][i] for i in range(n)]


def absorb(n, up, down):
    """chance to be absorbed in n, started in 1, of a birth-death chain"""
    a, b = [], []
    for i in range(1, n):
        u, d = up(i), down(i)
        row = [u * 0] * (n - 1)
        row[i - 1] = u + d
        if i > 1:
            row[i - 2] = -d
        if i < n - 1:
            row[i] = -u
        a.append(row)
        b.append(u if i == n - 1 else u * 0)
    return solve(a, b)[0]


def payoffs(a, b, c, d, i, n):
    return ((i - 1) * a + (n - i) * b) / (n - 1), (i * c + (n - i - 1) * d) / (n - 1)


def moran(a, b, c, d, n, w):
    a, b, c, d, w = map(F, (a, b, c, d, w))
    def fit(i):
        f, g = payoffs(a, b, c, d, i, n)
        return 1 - w + w * f, 1 - w + w * g
    def up(i):
        f, g = fit(i)
        return i * f / (i * f + (n - i) * g) * F(n - i, n)
    def down(i):
        f, g = fit(i)
        return (n - i) * g / (i * f + (n - i) * g) * F(i, n)
    return absorb(n, up, down)


def fermi(a, b, c, d, n, s):
    a, b, c, d, s = (D(str(x)) for x in (a, b, c, d, s))
    def step(i, sign):
        f, g = payoffs(a, b, c, d, i, n)
        return D(i) / n * D(n - i) / n / (1 + (-sign * s * (f - g)).exp())
    return absorb(n, lambda i: step(i, 1), lambda i: step(i, -1))


def alpharank(m, n, alpha):
    k = len(m)
    c = [[D(0)] * k for _ in range(k)]
    for s in range(k):
        for r in range(k):
            if r != s:
                c[s][r] = fermi(m[r][r], m[r][s], m[s][r], m[s][s], n, alpha) / (k - 1)
        c[s][s] = 1 - sum(c[s])
    for _ in range(80):
        c = [[sum(c[i][l] * c[l][j] for l in range(k)) for j in range(k)] for i in range(k)]
        c = [[x / sum(row) for x in row] for row in c]
    return c[0]


def replicator(p, steps):
    n = len(p)
    p = [[D(str(x)) for x in row] for row in p]
    x = [D(1) / n] * n
    out = []
    for g in range(steps + 1):
        f = [sum(p[i][j] * x[j] for j in range(n)) for i in range(n)]
        mean = sum(a * b for a, b in zip(f, x))
        out.append((x, 1 + mean / 2))
        x = [a * b / mean for a, b in zip(x, f)]
    return out


MORAN = [("1.2", "1.4", "1.4", "1.1", 10, "1"), ("1", "1.5", "1.5", "1", 50, "1"), ("1.25", "1.25", "1.25", "1.25", 20, "1"),
         ("2", "2", "1", "1", 6, "1"), ("3", "0", "5", "1", 8, "0.1"), ("1.5", "1.25", "1.25", "1.3", 30, "0.5")]
FERMI = [(1.2, 1.4, 1.4, 1.1, 10, 5), (1, 1.5, 1.5, 1, 50, 20), (1.5, 1.25, 1.25, 1.3, 50, 20), (3, 0, 5, 1, 8, 0.3)]
GAME = [[1.2, 1.45, 1.3, 1.25], [1.45, 1.1, 1.4, 1.25], [1.3, 1.4, 1.35, 1.25], [1.25, 1.25, 1.25, 1.25]]
DIFFER = [[0.4, 0.9, 0.6, 0.5], [0.9, 0.2, 0.8, 0.5], [0.6, 0.8, 0.7, 0.5], [0.5, 0.5, 0.5, 0.5]]

def borda(p):
    # Borda's count from ballots: every strategy ranks the others by what they
    # score against it, ties share the mean of their places, and the first of
    # k gets k-1 points, the last none.
    n, share = len(p), [F(0)] * len(p)
    for voter in range(n):
        ballot = sorted((i for i in range(n) if i != voter), key=lambda i: -p[i][voter])
        k = len(ballot)
        for i in ballot:
            level = [place for place, other in enumerate(ballot, 1) if p[other][voter] == p[i][voter]]
            share[i] += (k - F(sum(level), len(level))) / (k - 1) / (n - 1)
    return share


BORDA = [[0, 3, 5, 2], [3, 0, 4, 2], [5, 4, 0, 2], [2, 2, 2, 0]]

print(json.dumps({
    "borda": {"differ": [[v / 10 for v in row] for row in BORDA], "want": [float(v) for v in borda(BORDA)]},
    "moran": [{"args": [float(F(v)) for v in c], "want": float(moran(*c))} for c in MORAN],
    "fermi": [{"args": c, "want": float(fermi(*c))} for c in FERMI],
    "alpharank": {"payoff": GAME, "m": 50, "alpha": 2, "want": [float(v) for v in alpharank(GAME, 50, 2)]},
    "replicator": {"differ": DIFFER, "steps": [{"share": [float(v) for v in x], "payoff": float(m)} for x, m in replicator(DIFFER, 20)]},
}))
