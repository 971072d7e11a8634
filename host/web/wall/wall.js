// Counts down the time that players have to choose, by the clock of the server.
const ahead = Date.now() - Number(document.body.dataset.now);
const longest = new Map(); // by deadline: the time that was left when it was seen first

function tick() {
  const now = Date.now() - ahead;
  const clocks = document.querySelectorAll("progress[data-deadline]");
  for (const clock of clocks) {
    const left = Math.max(0, Number(clock.dataset.deadline) - now);
    const key = clock.dataset.deadline;
    if (!longest.has(key)) longest.set(key, Math.max(1, left));
    clock.max = longest.get(key);
    clock.value = left;
  }
  if (clocks.length === 0) longest.clear();
}

setInterval(tick, 250);
document.addEventListener("part", tick);

// Nobody scrolls the wall: what does not fit the window is shown by pages, each for a while.
const shown = 8000; // milliseconds
const main = document.querySelector("main"), header = document.querySelector("header");
const slides = [["stage", "matches", "table"], ["cross"], ["troubles", "referees"]];
let page = 0, held = false;

// pagesOf returns how many pages a part has, which are columns as wide as its window.
const pagesOf = (part) => part.clientWidth ? Math.round(part.scrollWidth / part.clientWidth) : 0;

const tooHigh = () => document.documentElement.scrollHeight > innerHeight;

function turn(by) {
  const {classList} = document.body;
  classList.remove("paged");
  delete header.dataset.page;
  if (!tooHigh() || innerWidth < 1000) return; // a narrow one is in a hand
  classList.add("paged");
  const pages = [];
  for (const [i, ids] of slides.entries()) {
    main.dataset.slide = i;
    const parts = ids.map((id) => document.getElementById(id)).filter((part) => part.hasChildNodes());
    const counts = parts.map(pagesOf);
    for (let k = 0; k < Math.max(0, ...counts); k++) pages.push(() => {
      main.dataset.slide = i;
      parts.forEach((part, at) => { part.scrollLeft = Math.min(k, counts[at] - 1) * part.clientWidth; });
    });
  }
  page = (page + by + pages.length) % pages.length;
  pages[page]();
  if (pages.length > 1) header.dataset.page = `${page + 1} / ${pages.length}`;
}

if (document.body.classList.contains("far")) {
  turn(0);
  setInterval(() => { if (!held) turn(1); }, shown);
  addEventListener("resize", () => turn(0));
  addEventListener("keydown", (e) => {
    if (e.key === " ") held = !held;
    else if (e.key === "ArrowRight" || e.key === "ArrowLeft") turn(e.key === "ArrowRight" ? 1 : -1);
  });
  document.addEventListener("part", () => { if (!document.body.classList.contains("paged") && tooHigh()) turn(0); });
}

// The organiser's controls send what the commands send, with the token of this tab.
const control = document.getElementById("control");
const token = document.getElementById("token");
const outcome = document.getElementById("outcome");

async function order(button) {
  sessionStorage.setItem("token", token.value);
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const params = {
    protocol: "league.v2", message_type: button.dataset.type, sender: "launcher", conversation_id: id,
    timestamp: new Date().toISOString(), league_id: document.querySelector("h1").dataset.league,
  };
  if (button.dataset.status) {
    params.player_id = document.getElementById("player").value.trim();
    params.status = button.dataset.status;
  }
  if (button.dataset.paused) params.paused = button.dataset.paused === "true";
  if (button.dataset.pace) {
    const seconds = document.getElementById(button.dataset.pace);
    if (!seconds.reportValidity() || seconds.value === "") return;
    params.pace_ms = Math.round(seconds.value * 1000);
  }
  outcome.textContent = "sent";
  try {
    const answer = await fetch("mcp", {
      method: "POST", body: JSON.stringify({jsonrpc: "2.0", id, method: button.dataset.method, params}),
      headers: {"Content-Type": "application/json", "Authorization": "Bearer " + token.value.trim()},
    });
    const {error} = await answer.json();
    outcome.textContent = error ? error.message : button.textContent + ": done";
  } catch (e) {
    outcome.textContent = "no answer: " + e.message;
  }
}

if (control) {
  control.hidden = false; // without JavaScript it could do nothing
  token.value = sessionStorage.getItem("token") ?? "";
  control.addEventListener("submit", (e) => e.preventDefault());
  control.addEventListener("click", (e) => { if (e.target.dataset.type) order(e.target); });
}
