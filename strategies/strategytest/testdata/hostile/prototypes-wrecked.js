// Tries prototypes that loop wherever the host might touch them.
// Want timeout at 3
const loop = () => { for (;;) {} };
for (const k of ["history", "choice", "opponent", "then", "toJSON", "0", "length", "constructor"]) {
  Object.defineProperty(Object.prototype, k, { get: loop, set: loop, configurable: true });
}
Object.defineProperty(Array.prototype, "0", { get: loop, set: loop, configurable: true });
Array.prototype.push = Array.prototype[Symbol.iterator] = Object.prototype.toString = String.prototype.valueOf = loop;
Function.prototype.call = Function.prototype.apply = loop;
function choose(turn) { return "even"; }
