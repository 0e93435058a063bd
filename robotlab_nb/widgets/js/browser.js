// A log browser: conditions, a page of runs, and what is open under it. It takes the place of its own
// picture, which is what the notebook stores. What a log says enters as text nodes; pictures of runs
// come as HTML of ours and are taken over element by element.

import { RunFilters } from "./browser_filters.js";
import { Pane } from "./browser_pane.js";
import { RunTable } from "./browser_table.js";
import { copier } from "./copy.js";
import { make, own, PAGE, say } from "./dom.js";
import { Line } from "./line.js";
import { follow, Records } from "./records.js";
import { keep, Seats } from "./seats.js";

const CHECK_MS = 250;
const BUSY = "the kernel is busy: it hears this when the running cell ends";

export function press(words, title, act) {
  const node = make("button", "", words);
  node.type = "button";
  if (title) node.title = title;
  node.onclick = act;
  return node;
}

class BrowserView {
  // chosen: ids of runs, in the order in which they were chosen; shared by all views
  constructor(el, records, line, chosen) {
    this.records = records;
    this.line = line;
    this.chosen = chosen;
    this.filters = new RunFilters((content) => this.tell(content));
    this.table = new RunTable(chosen, {
      tell: (content) => this.tell(content),
      chose: () => this.drawChosen(),
    });
    this.pane = new Pane((content) => this.tell(content), () => this.table.focus());
    this.build(el);
    this.draw(new Set(records.all.keys()));
    this.news.replaceChildren();
    records.views.add(this);
    this.timer = setInterval(() => this.check(), CHECK_MS);
    // Said more than once: while a page connects anew, what it says may be lost.
    const hello = () => line.send({ hello: PAGE });
    hello();
    this.hellos = [1000, 3000].map((ms) => setTimeout(hello, ms));
  }

  close() {
    this.records.views.delete(this);
    clearInterval(this.timer);
    this.hellos.forEach(clearTimeout);
    this.root.remove();
  }

  get head() {
    return this.records.all.get("head") ?? {};
  }

  tell(content) {
    this.line.tell(content);
    this.check();
  }

  build(el) {
    this.place = make("code");
    this.size = make("span", "rlnb-q");
    this.doing = make("span", "rlnb-q", "looking …");
    this.doing.hidden = true;
    this.again = press("↻ Refresh", "read the log again", () => this.tell({ refresh: true }));
    this.end = press("■ Close", "leave the table as it is", () => this.tell({ end: true }));
    const top = make(
      "div", "rlnb-bar", make("b", "", "Log"), this.place, this.size,
      make("span", "rlnb-e rlnb-bar", this.doing, this.again, this.end),
    );
    this.warn = make("p", "rlnb-i rlnb-kw rlnb-told");
    this.hint = make("p", "rlnb-q");
    this.prev = press("‹ Back", "the page before (Page Up)", () => this.tell({ page: "prev" }));
    this.next = press("Next ›", "the next page (Page Down)", () => this.tell({ page: "next" }));
    this.span = make("span", "rlnb-q");
    this.inside = make("input");
    this.inside.type = "checkbox";
    this.inside.onchange = () => this.tell({ inside: this.inside.checked });
    this.hidden = make("span");
    this.how = make("span", "rlnb-q rlnb-e", "↑↓ move · Enter opens · space chooses");
    const pages = make(
      "div", "rlnb-bar rlnb-pages", this.prev, this.span, this.next,
      make("label", "rlnb-q", this.inside, " ", this.hidden), this.how,
    );
    this.many = make("span", "rlnb-q");
    this.both = press("Compare", "two runs side by side", () => this.tell({ compare: this.chosen.slice(-2) }));
    this.word = make("input");
    Object.assign(this.word, { type: "text", placeholder: "tag", maxLength: 200 });
    this.word.setAttribute("aria-label", "tag for the chosen runs");
    this.word.onkeydown = (event) => event.key === "Enter" && this.label();
    this.give = press("Tag", "give the chosen runs this tag", () => this.label());
    this.none = press("Choose none", "", () => {
      this.chosen.length = 0;
      this.table.choose();
      this.drawChosen();
      this.table.focus();
    });
    this.picks = make(
      "div", "rlnb-bar rlnb-picks", this.many, this.both, this.word, this.give, this.none,
    );
    this.code = make("code");
    const copy = copier("the code", () => this.code.textContent, () => this.code);
    this.codes = make("p", "rlnb-q rlnb-codes", "the same as a table: ", this.code, " ", copy);
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live rlnb-browser", top, this.filters.root, this.warn, this.hint,
      this.table.root, pages, this.picks, this.codes, this.pane.root, this.news,
    );
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "log browser");
    own(this.root);
    // JupyterLab would take keys for its own.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    el.append(this.root);
  }

  label() {
    if (!this.word.value.trim() || !this.chosen.length) return;
    this.tell({ tag: this.word.value, runs: [...this.chosen] });
    this.word.value = "";
  }

  // -- drawing what changed ------------------------------------------------------------------

  draw(keys) {
    const { all } = this.records;
    const head = this.head;
    if (keys.has("head")) this.drawHead(head);
    if ([...keys].some((key) => key[0] === "F")) this.filters.offer(all);
    if ([...keys].some((key) => key[0] === "R") || keys.has("head") || keys.has("O"))
      this.table.draw(all, head);
    if (keys.has("O") || keys.has("head")) this.pane.draw(all.get("O"), head);
    if (keys.has("O")) this.note(all.get("O"));
    this.drawChosen();
    this.check();
  }

  drawHead(head) {
    const { fault, hint, refused } = head;
    say(this.place, head.place);
    const failed = head.failed ? ` · ${head.failed.toLocaleString("en")} failed` : "";
    say(this.size, `${head.size}${failed}`);
    this.filters.draw(head);
    say(this.span, head.span || head.empty);
    if (this.said !== undefined && this.said !== head.span + head.empty) say(this.news, `runs ${head.span || head.empty}`);
    this.said = head.span + head.empty;
    this.prev.disabled = !head.prev;
    this.next.disabled = !head.next;
    this.prev.hidden = this.next.hidden = !head.prev && !head.next;
    this.keep();
    this.inside.checked = head.inside;
    const more = head.inside ? "" : ` (${head.nested.toLocaleString("en")} more)`;
    say(this.hidden, `runs inside others too${more}`);
    this.inside.parentNode.hidden = !head.nested;
    this.how.hidden = !head.span;
    say(this.hint, hint);
    this.hint.hidden = !hint;
    this.trouble = fault || refused;
    say(this.code, head.code);
    this.codes.hidden = Boolean(fault) || !head.span;
    this.end.hidden = !head.open;
    this.writable = head.writable;
  }

  // A button that can no longer be pressed hears no keys.
  keep() {
    const on = document.activeElement;
    if (on?.disabled && this.root.contains(on)) this.table.focus();
  }

  note(open) {
    if (open && this.open !== open.title) say(this.news, open.fault || `${open.title} is open below`);
    this.open = open?.title;
  }

  drawChosen() {
    const many = this.chosen.length;
    this.picks.hidden = !many;
    say(this.many, `${many} chosen`);
    this.both.hidden = many < 2;
    say(this.both, many > 2 ? "Compare the last two" : "Compare");
    for (const node of [this.word, this.give]) node.hidden = !this.writable;
  }

  // What was said and not heard yet, and what is being done.
  check() {
    this.line.look(this.head.heard ?? []);
    const late = [...this.line.open.values()].some((each) => this.line.late(each));
    const words = late ? `${BUSY}; ■ in the toolbar stops the cell` : this.trouble ?? "";
    say(this.warn, words);
    this.warn.hidden = !words;
    const busy = this.line.open.size > 0 || this.head.busy;
    this.since = busy ? this.since ?? performance.now() : null;
    // What is there at once should not flicker.
    this.doing.hidden = !busy || performance.now() - this.since < CHECK_MS;
  }
}

export default () => {
  const records = new Records();
  const chosen = [];
  let line = null;
  return {
    initialize({ model }) {
      follow(records, model);
      line = new Line((content) => model.send(content));
      const seats = new Seats(
        () => (records.all.get("head")?.open ? records.all.get("head").seat : null),
        (frame) => new BrowserView(frame, records, line, chosen),
      );
      model.on("msg:custom", ({ still, last }) => {
        if (!still) return;
        let kept = false;
        try {
          kept = keep(model.widget_manager, records.all.get("head").seat, still);
        } catch { /* another front end, or another version of this one */ }
        if (kept && last) seats.close();
      });
      // A kernel that is gone takes the browser along; its picture stays.
      let alive = true;
      model.on("comm_live_update", () => {
        alive = !alive;
        if (!alive) seats.close();
      });
      return () => seats.close();
    },
    render({ el }) {
      const view = new BrowserView(el, records, line, chosen);
      return () => view.close();
    },
  };
};
