// Tries an error whose name, message and stack loop.
// Want error timeout
class Bad extends Error { get name() { for (;;) {} } get message() { for (;;) {} } get stack() { for (;;) {} } toString() { for (;;) {} } }
function choose(turn) { throw new Bad(); }
