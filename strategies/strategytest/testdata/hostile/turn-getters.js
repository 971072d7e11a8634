// Tries getters and setters that loop on the turn that the host writes.
// Want none
const loop = () => { for (;;) {} };
function choose(turn) {
  for (const k of Object.keys(turn)) Object.defineProperty(turn, k, { get: loop, set: loop, configurable: true });
  Object.setPrototypeOf(turn, new Proxy({}, { get: loop, set: loop, has: loop }));
  return "even";
}
