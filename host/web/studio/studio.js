// The page of the studio: sends what is in the editor to be checked while one types, and to
// be saved and tried when one asks for it. What comes back is HTML that the server has
// escaped, and its policy runs no code in it.
import {Editor} from "./editor.js";

const $ = (id) => document.getElementById(id);
const app = $("app"), message = $("message"), failure = $("error");
const tab = crypto.getRandomValues(new Uint32Array(4)).join("-");

// The token of a team comes in the fragment, which no server sees, and stays in this tab.
let token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  sessionStorage.setItem("studio-token", token);
  history.replaceState(null, "", location.pathname + location.search);
} else {
  token = sessionStorage.getItem("studio-token") ?? "";
}

const running = new Map(); // controllers of requests, by action

// ask sends an action and returns its answer; null if a newer one has taken its place. One
// action supersedes another one with the same key.
async function ask(action, input, {key = action, step} = {}) {
  running.get(key)?.abort();
  const own = new AbortController();
  running.set(key, own);
  try {
    const headers = {"Content-Type": "application/json"};
    if (token) headers.Authorization = "Bearer " + token;
    const reply = await fetch("api/" + action, {method: "POST", headers, body: JSON.stringify({tab, ...input}), signal: own.signal});
    const lines = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", last = null;
    for (;;) {
      const {value, done} = await lines.read();
      const parts = (rest + (value ?? "")).split("\n");
      rest = parts.pop();
      for (const line of parts) {
        last = JSON.parse(line);
        if (last.what !== undefined && step) step(last);
      }
      if (done) break;
    }
    if (own.signal.aborted) return null;
    if (last?.error) throw Object.assign(new Error(last.error), {status: reply.status});
    return last;
  } catch (e) {
    if (own.signal.aborted) return null;
    throw e.status ? e : new Error("no answer from the studio: " + e.message);
  } finally {
    if (running.get(key) === own) running.delete(key);
  }
}

// say shows a message that a screen reader reads; only what is new.
function say(text) { if (text && message.textContent !== text) message.textContent = text; }

function fail(e) {
  failure.textContent = e.message;
  failure.hidden = false;
}

let failed = null; // what the error that is shown is of

// attempt does something and shows its error. What nobody asked for leaves the errors of
// others where they are.
async function attempt(what, asked = true) {
  if (asked || failed === what) failure.hidden = true;
  try {
    await what();
  } catch (e) {
    if (e.status === 401) return enter(e);
    failed = what;
    fail(e);
  }
}

// part shows the answer about a text, which may have changed meanwhile.
function part(answer, source) {
  if (!answer?.part) return;
  const template = document.createElement("template");
  template.innerHTML = answer.html;
  $(answer.part).replaceChildren(template.content);
  $(answer.part).toggleAttribute("data-stale", source !== editor.text);
}

let editor, work, saved = "", before = "", waiting = 0;

const file = () => work.elements.namedItem("file").value;
const language = (name) => name.endsWith(".js") ? "js" : "lua";
const draft = () => ({file: file(), source: editor.text});

// The version before is what was saved last or, of a draft that is saved, what was before.
const older = () => editor.text === saved ? before : saved;

// opponents are those that are chosen and the one that is written, without empty names.
const opponents = (data) => data.getAll("field").map((name) => name.trim()).filter(Boolean);

function trial() {
  const data = new FormData(work);
  return {...draft(), before: older(), compare: data.get("compare") !== null, field: opponents(data),
    leagues: Number(data.get("leagues")), league: Number(data.get("league")), against: data.get("against")};
}

let onDisk = null, looking = false; // the version of the file that the page has not taken over

// look takes over the script when another program has changed its file. A draft that is not
// saved stays until one chooses.
async function look() {
  if (!work || looking || document.hidden) return;
  const [name, version] = [file(), onDisk?.version ?? work.elements.namedItem("version").value];
  looking = true;
  const answer = await ask("look", {file: name, version}).catch(() => null); // what one does next shows the error
  looking = false;
  const now = work.elements.namedItem("version").value;
  if (!answer?.text || name !== file() || answer.text.version === now || running.has("save")) return;
  onDisk = answer.text;
  if (editor.text === saved || editor.text === onDisk.source) return reload();
  $("disk").firstElementChild.textContent = name + " has changed on disk, and what is here is not saved.";
  $("disk").hidden = false;
}

// settle ends the question which version to go on with. From here on the page knows that
// of the file.
function settle() {
  work.elements.namedItem("version").value = onDisk.version;
  onDisk = null;
  $("disk").hidden = true;
  failure.hidden = true;
}

// reload shows the version of the file; undo brings the draft back. If it is ready, it is
// tried as the one before was.
function reload() {
  const {source, file: name} = onDisk, own = editor.text;
  settle();
  if (own !== source) before = own;
  saved = source;
  if (own !== source) editor.replace(source);
  state();
  if (own === source) return;
  say("Loaded " + name + ", which has changed on disk.");
  attempt(async () => {
    const answer = await check();
    const ready = answer && !(answer.findings ?? []).some((f) => f.level === "error");
    if (ready && (running.has("try") || $("outcome").childElementCount > 0)) await play("try");
  });
}

function state() { $("state").textContent = editor.text === saved ? "" : "not saved"; }

// text shows a script that was opened.
function text(t) {
  work.elements.namedItem("file").value = t.file;
  work.elements.namedItem("version").value = t.version;
  $("file").textContent = t.file;
  onDisk = null;
  $("disk").hidden = true;
  saved = before = t.source;
  for (const id of ["verdict", "outcome", "league"]) $(id).replaceChildren();
  editor.show(t.source, language(t.file));
  for (const a of app.querySelectorAll("#scripts a")) {
    if (a.dataset.file === t.file) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  state();
}

// busy says that the verdict is not yet about what is in the editor.
function busy(yes) { $("verdict").setAttribute("aria-busy", yes); }

async function check() {
  clearTimeout(waiting);
  busy(true);
  const answer = await ask("check", draft()).catch((e) => {
    $("verdict").replaceChildren(); // it is about another text, and there will be none about this one
    busy(false);
    throw e;
  });
  if (!answer) return; // a newer check is running
  busy(false);
  part(answer, editor.text);
  editor.mark(answer.findings ?? []);
  say(answer.message);
  return answer;
}

function soon() {
  clearTimeout(waiting);
  busy(true);
  message.textContent = ""; // it may be the verdict on the text before
  running.get("check")?.abort(); // its draft is no more
  waiting = setTimeout(() => attempt(check, false), 700);
}

async function save() {
  const source = editor.text;
  const answer = await ask("save", {...draft(), version: work.elements.namedItem("version").value});
  if (!answer) return;
  if (source !== saved) before = saved;
  saved = source;
  work.elements.namedItem("version").value = answer.text.version;
  $("scripts").innerHTML = answer.list;
  say(answer.message);
  state();
}

async function play(action) {
  const progress = $("progress"), words = $("progress-text");
  $("running").hidden = false;
  words.textContent = "";
  progress.removeAttribute("value");
  const input = trial();
  const answer = await ask(action, input, {key: "try", step: ({done, total, what}) => {
    if (total) [progress.max, progress.value] = [total, done];
    words.textContent = what;
  }}).finally(() => { if (!running.has("try")) $("running").hidden = true; });
  if (!answer) return;
  part(answer, input.source);
  say(answer.message);
  const failed = (answer.findings ?? []).filter((f) => f.line);
  if (failed.length > 0 && input.source === editor.text) editor.mark(failed);
}

async function league() {
  const input = trial();
  const answer = await ask("league", input);
  part(answer, input.source);
  if (answer) say(answer.message);
}

async function open(name) {
  if (editor && editor.text !== saved && !confirm(file() + " is not saved. Leave it?")) return;
  const answer = await ask("open", {file: name});
  if (!answer) return;
  history.replaceState(null, "", "?file=" + encodeURIComponent(answer.text.file));
  if (!work) return load(name);
  text(answer.text);
  say(answer.message);
  attempt(check);
}

const actions = {save, check, try: () => play("try"), confirm: () => play("confirm"), league};

// bind makes the form of the page work without sending it.
function bind() {
  work = $("work");
  $("new").addEventListener("submit", (e) => {
    e.preventDefault();
    const data = new FormData(e.target);
    attempt(async () => {
      const answer = await ask("new", {file: data.get("file") + data.get("ending")});
      $("scripts").innerHTML = answer.list;
      e.target.reset();
      await open(answer.text.file);
      say(answer.message);
    });
  });
  $("scripts").addEventListener("click", (e) => {
    const link = e.target.closest("a[data-file]");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    attempt(() => open(link.dataset.file));
  });
  if (!work) return;
  editor = new Editor($("editor"));
  if ("saved" in work.dataset) saved = before = editor.text;
  editor.show(editor.text, language(file()));
  editor.area.addEventListener("input", () => {
    state();
    soon();
    for (const id of ["outcome", "league"]) $(id).setAttribute("data-stale", "");
  });
  work.addEventListener("submit", (e) => {
    e.preventDefault();
    attempt(actions[e.submitter?.value ?? "save"]);
  });
  work.addEventListener("click", (e) => {
    const line = e.target.closest("[data-line]"), watch = e.target.closest("[data-against]");
    if (line) editor.goto(Number(line.dataset.line));
    if (!watch) return;
    const against = $("against");
    if (![...against.options].some((o) => o.value === watch.dataset.against)) against.add(new Option(watch.dataset.against));
    against.value = watch.dataset.against;
    attempt(league);
    $("league").scrollIntoView({block: "nearest"});
  });
  work.addEventListener("change", (e) => {
    if (e.target.name !== "field") return;
    const chosen = opponents(new FormData(work));
    $("against").replaceChildren(new Option("all opponents", ""), ...chosen.map((name) => new Option(name)));
  });
  $("load").addEventListener("click", reload);
  $("keep").addEventListener("click", () => {
    saved = onDisk.source; // Save replaces it
    settle();
    state();
  });
  $("stop").addEventListener("click", () => {
    running.get("try")?.abort();
    running.delete("try");
    $("running").hidden = true;
    say("Stopped.");
  });
}

document.addEventListener("keydown", (e) => {
  if (!work || !(e.ctrlKey || e.metaKey) || e.altKey) return;
  // With Caps Lock the key is S; on a keyboard of other letters it is the one in its place.
  const s = !e.shiftKey && (e.key.toLowerCase() === "s" || e.code === "KeyS" && e.key > "\x7f");
  const action = s ? save : e.key === "Enter" ? actions.try : null;
  if (!action) return;
  e.preventDefault();
  attempt(action);
});
setInterval(look, 1500);
for (const event of ["focus", "visibilitychange"]) addEventListener(event, look);
addEventListener("beforeunload", (e) => { if (work && editor.text !== saved) e.preventDefault(); });

// load shows the studio of a team.
async function load(name) {
  const answer = await ask("app", {file: name ?? new URLSearchParams(location.search).get("file") ?? ""});
  if (!answer) return;
  app.innerHTML = answer.html;
  say(answer.message);
  bind();
  if (work) attempt(check);
}

// enter asks for the token of a team.
function enter(e) {
  const form = $("enter");
  if (!form) return location.reload(); // the token was good before
  form.hidden = false;
  if (token) fail(e);
  form.onsubmit = (s) => {
    s.preventDefault();
    token = $("token").value.trim();
    sessionStorage.setItem("studio-token", token);
    attempt(() => load());
  };
}

if ("class" in document.body.dataset) {
  if (token) attempt(() => load());
  else enter();
} else {
  bind();
  if (work) attempt(check);
}
