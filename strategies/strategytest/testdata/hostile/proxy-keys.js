// Tries a proxy with four thousand million keys.
// Want error
const p = new Proxy({}, { ownKeys: () => ({ length: 2 ** 32 - 1 }) });
function choose(turn) {
  Object.keys(p);
  return "even";
}
