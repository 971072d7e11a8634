// Tries an answer to be waited for.
// Want invalid-choice at 3
function choose(turn) { return { then(resolve) { for (;;) resolve("even"); } }; }
