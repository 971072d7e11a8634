// The built-in markov-2, except that the host tosses where nothing tells.

#include "counts.h"

static counts memory[players];

EXPORT("choose") double choose(int opponent) {
  if (opponent < 0 || opponent >= players)
    return 0.5;
  return 0.5 - 0.5 * predict(&memory[opponent], 2, 1);
}

EXPORT("observe") void observe(int opponent, int round, int role, int choice, int theirs) {
  if (opponent >= 0 && opponent < players && theirs >= 0)
    add(&memory[opponent], theirs, 2, 1, theirs);
}
