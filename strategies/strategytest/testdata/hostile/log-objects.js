// Tries objects that throw, which costs it nothing, or loop when they are printed.
// Want timeout at 5
function choose(turn) {
  console.log({ get a() { throw null; }, toString() { throw 1; } });
  console.log({ get a() { for (;;) {} } });
  return "even";
}
