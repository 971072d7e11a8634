// Tries objects that loop or throw when they are printed.
// Want timeout error at 4
function choose(turn) {
  console.log({ get a() { throw null; }, toString() { throw 1; } });
  console.log(new Proxy({}, { get() { for (;;) {} } }));
  return "even";
}
