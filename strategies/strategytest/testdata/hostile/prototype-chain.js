// Tries a chain of prototypes on which the host's stack would burst.
// Want budget timeout with default limits
let o = {};
function F() {}
function choose(turn) {
  for (let i = 0; i < 300000; i++) { F.prototype = o; o = new F(); }
  o.x;
  return "even";
}
