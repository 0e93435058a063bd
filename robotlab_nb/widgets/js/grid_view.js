// The view of a grid, as its records say. Nodes are changed, never drawn again.

import { drawAsk } from "./asks.js";
import { make, PAGE, say, sign, SPACE, time } from "./dom.js";
import { Board } from "./grid_board.js";
import { choices } from "./grid_keys.js";
import { Panel } from "./grid_panel.js";
import { GridReader } from "./grid_reader.js";

const GRID_TICK_MS = 500;
const GRID_UNHEARD = "the kernel is busy: it hears this when the running cell ends";
// by first letter of its key: how a record is drawn; in this order
const GRID_DRAWN = { r: null, g: "about", s: "stopping", Q: "ask", H: "column", R: "input", K: "cell", D: "detail" };
const GRID_ORDER = Object.keys(GRID_DRAWN).join("");
const KEYS_TOLD = [
  ["←↑↓→", "move"], ["Enter", "opens"], ["1–5", "rate"], ["0", "clears"], ["n", "note"],
  ["d", "difference"], ["b", "blind"], ["f", "failures"],
];

export class GridView extends GridReader {
  constructor(el, records, line) {
    super();
    this.records = records;
    this.line = line;
    this.send = line.send;
    this.nodes = new Map();
    this.told = new Map();
    this.fresh = [];
    this.reader = choices.get(this.head.seat);
    this.board = new Board(this);
    this.panel = new Panel(this);
    this.build(el);
    this.draw(new Set(records.all.keys()));
    this.news.replaceChildren();
    records.views.add(this);
    if (this.reader.open) this.panel.show(this.reader.at);
    this.timer = setInterval(() => this.tick(), GRID_TICK_MS);
    // Said more than once: while a page connects anew, what it says may be lost.
    this.send({ hello: PAGE });
    this.hellos = [1000, 3000].map((ms) => setTimeout(() => this.send({ hello: PAGE }), ms));
  }

  close() {
    this.records.views.delete(this);
    clearInterval(this.timer);
    this.hellos.forEach(clearTimeout);
    this.root.remove();
  }

  get head() {
    return this.records.all.get("grid") ?? {};
  }

  build(el) {
    this.state = make("span");
    this.name = make("b");
    this.size = make("span", "rlnb-q");
    this.sim = make("span", "rlnb-b", "simulated");
    this.how = make("span", "rlnb-q");
    this.stop = this.button("■ Stop", () => this.halt());
    this.done = make("progress", "rlnb-done");
    this.figures = make("span", "rlnb-q");
    this.plan = make("p", "rlnb-q");
    this.fault = make("blockquote", "rlnb-r rlnb-kf", make("p"));
    this.asks = make("div");
    this.only = this.button("Failures only", () => this.toggle("only"));
    this.blind = this.button("Blind", () => this.toggle("blind"));
    this.blind.title = "hide what tells prompts and models apart, and mix the columns";
    this.diff = this.button("Difference", () => this.compare());
    this.diff.title = "by word, against the column of the chosen cell";
    this.warn = make("p", "rlnb-q rlnb-i rlnb-kw");
    const keys = KEYS_TOLD.flatMap(([key, what], at) => [at ? " · " : "", make("kbd", "", key), ` ${what}`]);
    this.keys = make("p", "rlnb-q", ...keys);
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    const right = make("span", "rlnb-e rlnb-bar", this.how, this.stop);
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live rlnb-grid",
      make("div", "rlnb-bar", this.state, this.name, this.size, this.sim, right),
      make("div", "rlnb-bar", this.done, this.figures), this.plan, this.fault, this.asks,
      make("div", "rlnb-bar", this.only, this.blind, this.diff),
      this.board.node, this.board.left, this.panel.node, this.warn, this.keys, this.news,
    );
    this.root.setAttribute("role", "group");
    this.root.onkeydown = (event) => this.key(event);
    this.board.node.onclick = (event) => this.pressed(event);
    this.board.node.ondblclick = () => this.open();
    this.board.node.addEventListener("focusin", ({ target }) => this.arrive(target));
    el.append(this.root);
  }

  button(words, press) {
    const node = make("button", "", words);
    node.type = "button";
    node.onclick = press;
    return node;
  }

  // -- drawing what changed ----------------------------------------------------------------

  draw(keys) {
    const rank = (key) => GRID_ORDER.indexOf(key[0]);
    for (const key of [...keys].sort((a, b) => rank(a) - rank(b))) {
      const record = this.records.all.get(key);
      if (!record) this.remove(key);
      else if (GRID_DRAWN[key[0]]) this[GRID_DRAWN[key[0]]](key, record);
    }
    if (!this.board.cells.has(this.reader.at)) this.mark(this.board.at(0, this.board.order()[0])[0] ?? null);
    else if (this.tabbed !== this.reader.at) this.mark(this.reader.at);
    this.board.sift();
    this.tools();
    this.outgoing();
    if (this.reader.open && [...keys].some((key) => key.slice(1) === String(this.panel.index) || key[0] === "D"))
      this.panel.draw();
    this.tick();
    this.speak();
  }

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
  }

  node(key, parent, construct) {
    let parts = this.nodes.get(key);
    if (!parts) {
      parts = construct();
      this.nodes.set(key, parts);
      parent.append(parts.node);
    }
    return parts;
  }

  about(_key, head) {
    this.root.setAttribute("aria-label", `experiment ${head.name}`);
    this.board.node.setAttribute("aria-label", `${head.name}: inputs by prompts and models`);
    sign(this.state, head.icon, head.word, head.hue);
    say(this.name, head.name);
    say(this.size, ["experiment", head.size, this.reader.blind ? "" : head.same].filter(Boolean).join(" · "));
    this.sim.hidden = !head.sim;
    this.done.max = head.total || 1;
    this.done.value = head.done;
    this.done.setAttribute("aria-label", "cells that have ended");
    this.done.hidden = !head.live;
    say(this.plan, head.plan);
    this.plan.hidden = !head.plan;
    this.fault.hidden = !head.reason;
    say(this.fault.firstChild, head.reason);
    if (!head.live) {
      this.stop.hidden = true;
      say(this.how, "");
    }
    this.note("grid", head.name, head.word);
  }

  stopping(_key, { how }) {
    this.stopped = how;
    const { live } = this.head;
    const button = how === "button" || how === "stopping";
    this.stop.hidden = !live || !button;
    if (how !== "button" || !this.stop.disabled) {
      this.stop.disabled = how === "stopping";
      say(this.stop, how === "stopping" ? "stopping …" : "■ Stop");
    }
    say(this.how, live && how === "kernel" ? "stop with ■ in the toolbar" : "");
    if (live && !button) this.send({ hello: PAGE });
  }

  ask(key, ask) {
    drawAsk(this, key, ask);
  }

  column(key, record) {
    this.board.drawHead(key, record);
  }

  input(key, record) {
    this.board.drawRow(key, record);
  }

  cell(key, record) {
    this.board.drawCell(key, record);
    if (this.reader.base === record.c) {
      for (const column of this.board.order())
        for (const index of this.board.at(record.r, column)) if (column !== record.c) this.board.redraw(index);
    }
  }

  detail() {
    // The panel is drawn when all is there.
  }

  tools() {
    const bad = [...this.records.all].filter(([key, record]) => key[0] === "K" && record.bad).length;
    const { only, blind, base } = this.reader;
    say(this.only, `Failures only${SPACE}${bad}`);
    this.only.hidden = !bad && !only;
    say(this.diff, base === null ? "Difference" : `Difference against ${this.board.name(base)}`);
    this.diff.hidden = this.blind.hidden = this.board.heads.length < 2;
    for (const [node, on] of [[this.only, only], [this.blind, blind], [this.diff, base !== null]])
      node.setAttribute("aria-pressed", String(on));
  }

  // What was sent and not heard yet.
  outgoing() {
    const { heard = [], refused = "" } = this.head;
    const before = [...this.line.open.values()].map(({ content }) => content);
    this.line.look(heard);
    const after = new Set([...this.line.open.values()].map(({ content }) => content));
    for (const content of before)
      if (!after.has(content) && !content.look) this.board.redraw((content.rate ?? content.note)?.[0]);
    for (const { content } of this.line.open.values())
      if (!("look" in content)) this.board.redraw((content.rate ?? content.note)?.[0]);
    const words = this.late() ? GRID_UNHEARD : refused;
    say(this.warn, words);
    this.warn.hidden = !words;
  }

  tick() {
    const { head } = this;
    const live = this.records.all.get("run")?.live;
    const took = this.records.elapsed();
    const told = [head.figures, took ? time(took, live) : "", head.live ? head.eta : "", head.rated ? `${head.rated} rated` : ""];
    say(this.figures, told.filter(Boolean).join(" · "));
    if (this.line.open.size) this.outgoing();
  }

  // -- what is said aloud: states, and what a person did ----------------------------------------

  note(key, name, word) {
    if (this.told.get(key) !== word) this.fresh.push(`${name} ${word}`);
    this.told.set(key, word);
  }

  aloud(words) {
    say(this.news, words);
  }

  speak() {
    if (this.fresh.length) say(this.news, this.fresh.slice(-3).join("; "));
    this.fresh = [];
  }
}
