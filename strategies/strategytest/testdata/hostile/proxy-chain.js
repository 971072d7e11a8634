// Tries proxies of proxies.
// Want budget at 5
function choose(turn) {
  let p = {};
  for (;;) p = new Proxy(p, {});
  return "even";
}
