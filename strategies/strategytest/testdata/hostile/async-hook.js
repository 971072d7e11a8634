// Tries a choose that answers later.
// Want load at 3
async function choose(turn) { for (;;) await null; }
