// The counts of markov-2 and hedge: see strategies/builtin/counts.go.

#define EXPORT(name) __attribute__((export_name(name)))

enum { players = 64, bits = 4 };

typedef struct {
  int surplus[2 << bits]; // by context, behind a one that marks its length
  unsigned past;
  int length;
} counts;

static inline int context(const counts *c, int n) { return 1 << n | (c->past & ((1 << n) - 1)); }
static inline int sign(int n) { return (n > 0) - (n < 0); }

// predict returns 1 for even, -1 for odd, 0 where nothing tells.
static inline int predict(const counts *c, int order, int step) {
  for (int n = order < c->length ? order : c->length; n >= 0; n -= step) {
    int s = c->surplus[context(c, n)];
    if (s != 0)
      return sign(s);
  }
  return 0;
}

static inline void add(counts *c, int theirs, int order, int step, unsigned latest) {
  for (int n = order < c->length ? order : c->length; n >= 0; n -= step)
    c->surplus[context(c, n)] += theirs ? 1 : -1;
  c->past = c->past << step | latest;
  c->length = c->length + step < bits ? c->length + step : bits;
}
