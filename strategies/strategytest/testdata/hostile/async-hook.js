// Tries a choose that answers later.
// Want timeout
async function choose(turn) { for (;;) await null; }
