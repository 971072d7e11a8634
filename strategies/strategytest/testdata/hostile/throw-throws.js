// Tries an error whose getters throw errors whose getters throw.
// Want error at 3-4
const bad = () => { const e = new Error(); Object.defineProperty(e, "message", { get() { throw bad(); } }); return e; };
function choose(turn) { throw bad(); }
