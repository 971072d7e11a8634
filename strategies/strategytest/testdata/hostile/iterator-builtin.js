// Tries an iterator whose next is a built-in function and never ends.
// Want timeout budget at 3-5
const endless = { [Symbol.iterator]() { return { next: Object.bind(null, { done: false, value: 1 }) }; } };
function choose(turn) {
  new Set(endless);
  return "even";
}
