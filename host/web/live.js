// Keeps the parts of a page up to date: each event replaces the content of one element.
const offline = document.getElementById("offline");
let version = document.body.dataset.version;

// What the reader has opened, scrolled and focused stays so.
const kept = "details, .scroll, a, summary, [tabindex]";

function replace(at, content) {
  const before = [...at.querySelectorAll(kept)].map(e => [e.open, e.scrollLeft, e === document.activeElement]);
  const below = at.scrollLeft;
  at.replaceChildren(content);
  at.scrollLeft = below;
  const now = [...at.querySelectorAll(kept)];
  if (now.length !== before.length) return;
  now.forEach((e, i) => {
    const [open, left, focused] = before[i];
    if (open !== undefined) e.open = open;
    if (left) e.scrollLeft = left;
    if (focused) e.focus({preventScroll: true});
  });
}

function connect() {
  const source = new EventSource("events?since=" + encodeURIComponent(version));
  source.onopen = () => { if (offline) offline.hidden = true; };
  source.addEventListener("part", (e) => {
    const {part, html} = JSON.parse(e.data);
    const template = document.createElement("template");
    template.innerHTML = html; // the server has escaped it, and its policy runs no code in it
    const at = document.getElementById(part);
    if (at) replace(at, template.content);
    version = e.lastEventId;
    document.dispatchEvent(new CustomEvent("part", {detail: part}));
  });
  source.addEventListener("reload", () => { source.close(); location.reload(); });
  source.addEventListener("end", () => {
    if (document.querySelector("[data-over]")) source.close();
  });
  source.onerror = () => {
    if (offline) offline.hidden = false;
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  };
}

connect();
