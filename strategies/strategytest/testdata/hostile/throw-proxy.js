// Tries to throw a proxy all of whose traps loop.
// Want error timeout
const loop = () => { for (;;) {} };
function choose(turn) { throw new Proxy({}, { get: loop, getPrototypeOf: loop, has: loop, ownKeys: loop }); }
