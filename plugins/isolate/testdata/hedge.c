// The built-in hedge: see strategies/builtin/hedge.go.

#include "counts.h"

enum { experts = 12 };

typedef struct {
  int own, opponent; // in the last match: 1 even, -1 odd, 0 none
  counts choices, joint;
  int met;
  int losses[experts];
} panel;

static panel memory[players];

static inline void advice(const panel *p, int role, int *to) {
  to[0] = 1;
  to[1] = -1;
  to[2] = p->own;
  to[3] = -p->own;
  to[4] = p->opponent;
  to[5] = -p->opponent;
  to[6] = role == 1 ? 1 : role == 2 ? -1 : 0;
  for (int order = 0; order < 4; order++)
    to[7 + order] = -predict(&p->choices, order, 1);
  to[11] = -predict(&p->joint, 4, 2);
}

static double exp_negative(double x) {
  double y = x / 256, e = 1;
  for (double k = 6; k >= 1; k--)
    e = 1 - y * e / k;
  for (int i = 0; i < 8; i++)
    e *= e;
  return e;
}

static double power(double base, int n) {
  double p = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1)
      p *= base;
    base *= base;
  }
  return p;
}

EXPORT("choose") double choose(int opponent, int round, int role) {
  if (opponent < 0 || opponent >= players)
    return 0.5;
  const panel *p = &memory[opponent];
  int best = p->losses[0];
  for (int i = 1; i < experts; i++)
    best = p->losses[i] < best ? p->losses[i] : best;
  double half = exp_negative(__builtin_sqrt(2.4849066497880004 / (p->met + 1)));
  int to[experts];
  advice(p, role, to);
  double even = 0, total = 0;
  for (int i = 0; i < experts; i++) {
    double weight = power(half, p->losses[i] - best);
    even += weight * ((1 + to[i]) / 2.0);
    total += weight;
  }
  return even / total;
}

EXPORT("observe") void observe(int opponent, int round, int role, int choice, int theirs) {
  if (opponent < 0 || opponent >= players || theirs < 0)
    return;
  panel *p = &memory[opponent];
  int to[experts], sign = theirs ? 1 : -1;
  advice(p, role, to);
  for (int i = 0; i < experts; i++)
    p->losses[i] += 1 + to[i] * sign;
  p->met++;
  add(&p->choices, theirs, 3, 1, theirs);
  if (choice >= 0) {
    add(&p->joint, theirs, 4, 2, choice << 1 | theirs);
    p->own = choice ? 1 : -1;
  }
  p->opponent = sign;
}
