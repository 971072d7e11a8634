// Tries an array whose methods make other things than arrays.
// Want timeout budget error at 3-6
class Odd extends Array { static get [Symbol.species]() { return function () { for (;;) {} }; } }
function choose(turn) {
  return new Odd(1, 2, 3).map(x => x);
  return "even";
}
