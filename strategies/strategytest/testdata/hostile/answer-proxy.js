// Tries a proxy for an answer, all of whose traps loop.
// Want invalid-choice at 4
const loop = () => { for (;;) {} };
function choose(turn) { return new Proxy(function () {}, { get: loop, apply: loop, has: loop, ownKeys: loop, getPrototypeOf: loop }); }
