// An editor over a textarea: line numbers beside it, and the colours of the script below
// its transparent text.
import {tokens} from "./highlight.js";

const longest = 100000; // characters that are coloured

export class Editor {
  constructor(root) {
    this.root = root;
    this.area = root.querySelector("textarea");
    this.gutter = root.querySelector(".gutter");
    this.paint = root.querySelector(".paint");
    this.marks = new Map(); // by line
    this.language = "lua";
    this.lines = 0;
    this.painting = 0;
    root.classList.add("lit");
    this.area.addEventListener("input", () => { this.marks.clear(); this.later(); });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.follow()).observe(this.area);
  }

  get text() { return this.area.value; }

  // show replaces the script. Undo does not go back beyond it.
  show(text, language) {
    this.language = language;
    this.marks.clear();
    if (this.area.value !== text) this.area.value = text;
    this.draw();
    this.area.scrollTop = 0;
    this.area.setSelectionRange(0, 0);
  }

  // replace replaces the script by another version of it, which can be undone. The cursor
  // and what is seen stay where they are.
  replace(text) {
    const {scrollTop, selectionStart} = this.area, focused = document.activeElement;
    this.area.focus({preventScroll: true});
    this.area.select();
    if (!document.execCommand("insertText", false, text)) this.area.value = text;
    this.area.setSelectionRange(selectionStart, selectionStart);
    if (focused !== this.area) focused?.focus({preventScroll: true});
    this.marks.clear();
    this.draw();
    this.area.scrollTop = scrollTop;
    this.follow();
  }

  // mark shows findings at their lines; the worst of a line first.
  mark(findings) {
    this.marks.clear();
    for (const f of findings) if (f.line && f.level !== "ok" && !this.marks.has(f.line)) this.marks.set(f.line, f);
    this.area.setAttribute("aria-invalid", findings.some((f) => f.level === "error"));
    this.draw();
  }

  // goto puts the cursor on a line.
  goto(line) {
    const before = this.text.split("\n").slice(0, line - 1);
    const from = before.reduce((n, l) => n + l.length + 1, 0);
    const end = this.text.indexOf("\n", from);
    this.area.focus();
    this.area.setSelectionRange(from, end < 0 ? this.text.length : end);
    this.area.scrollTop = (line - 4) * this.height();
    this.follow();
  }

  height() { return parseFloat(getComputedStyle(this.area).lineHeight); }

  // key keeps the indentation of a new line.
  key(e) {
    if (e.key !== "Enter" || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const at = this.area.selectionStart;
    const line = this.text.slice(this.text.lastIndexOf("\n", at - 1) + 1, at);
    const indent = /^[ \t]*/.exec(line)[0];
    if (!indent) return;
    e.preventDefault();
    document.execCommand("insertText", false, "\n" + indent); // which can be undone
  }

  later() {
    cancelAnimationFrame(this.painting);
    this.painting = requestAnimationFrame(() => this.draw());
  }

  draw() {
    const text = this.text, count = text.split("\n").length;
    const list = text.length > longest ? [["", text]] : tokens(text, this.language);
    const paint = document.createDocumentFragment();
    for (const [kind, part] of list) {
      if (!kind) { paint.append(part); continue; }
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = part;
      paint.append(span);
    }
    paint.append("\n"); // so that an empty last line has its height
    for (const [line, f] of this.marks) {
      const mark = document.createElement("i");
      mark.className = "mark " + f.level;
      mark.style.setProperty("--line", line - 1);
      paint.append(mark);
    }
    this.paint.replaceChildren(paint);
    const numbers = document.createDocumentFragment();
    for (let n = 1; n <= count; n++) {
      const f = this.marks.get(n);
      if (!f) { numbers.append(n + "\n"); continue; }
      const b = document.createElement("b");
      b.className = f.level;
      b.title = f.what;
      b.textContent = n;
      numbers.append(b, "\n");
    }
    this.gutter.replaceChildren(numbers);
    this.follow();
  }

  follow() {
    this.gutter.scrollTop = this.paint.scrollTop = this.area.scrollTop;
    this.paint.scrollLeft = this.area.scrollLeft;
  }
}
