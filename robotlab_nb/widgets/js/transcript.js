// The transcript of a run: entries of pieces, chips that choose kinds, a log that scrolls.
// Nodes are changed, never drawn again: an opened section, a selection and a scroll position stay.

import { copier } from "./copy.js";
import { make, own, say, sign, SPACE } from "./dom.js";
import { PIECES } from "./pieces.js";

const KINDS = { all: "All", text: "Messages", tool: "Tools", think: "Reasoning", err: "Errors" };
const NEAR = 24;

function below(place) {
  return place.scrollHeight - place.scrollTop - place.clientHeight;
}

function press(words, title, act) {
  const button = make("button", "", words);
  button.type = "button";
  button.title = title;
  button.onclick = act;
  return button;
}

export class Transcript {
  // records: of the view; laneOf(name): the row of a robot, for its mark and hue;
  // all(): a person wants to see all entries again
  constructor(records, laneOf, all = () => this.only(null)) {
    this.records = records;
    this.laneOf = laneOf;
    this.nodes = new Map();
    this.columns = new Map();
    this.kind = "all";
    this.who = null;
    this.tasks = null;
    this.chips = make("div", "rlnb-bar", ...Object.keys(KINDS).map((kind) => this.chip(kind)));
    this.scope = press("", "show all again", () => all());
    this.scope.hidden = true;
    this.split = press("By robot", "a column for each robot", () => this.apart(!this.by));
    this.split.setAttribute("aria-pressed", "false");
    this.newest = press("↓ Newest", "to the end", () => this.toEnd());
    this.full = press("Show all lines", "the whole height", () => this.pressFull());
    const right = make("span", "rlnb-e rlnb-bar", this.newest, this.split, this.full);
    this.chips.append(this.scope, right);
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Show in the transcript");
    this.older = make("p", "rlnb-q");
    this.none = make("p", "rlnb-q");
    this.cols = make("div", "rlnb-cols");
    this.log = make("div", "rlnb-log", this.older, this.none, this.cols);
    this.older.hidden = this.none.hidden = this.cols.hidden = true;
    own(this.log).tabIndex = 0;
    this.log.addEventListener("toggle", () => this.count(), true);
    this.log.addEventListener("scroll", () => this.reach(), true);
    this.log.setAttribute("role", "region");
    this.log.setAttribute("aria-label", "Transcript");
  }

  chip(kind) {
    const button = press(KINDS[kind], "", () => {
      this.kind = kind;
      for (const each of this.chips.querySelectorAll("[data-kind]"))
        each.setAttribute("aria-pressed", String(each === button));
      this.filter();
    });
    button.dataset.kind = kind;
    button.setAttribute("aria-pressed", String(kind === "all"));
    return button;
  }

  pressFull() {
    const full = this.log.classList.toggle("rlnb-full");
    say(this.full, full ? "Show fewer lines" : "Show all lines");
    this.reach();
  }

  // -- where the reader is -------------------------------------------------------------------

  // What scrolls: the log, or each column of it.
  scrollers() {
    return this.by ? [...this.columns.values()] : [this.log];
  }

  // What the reader is at the end of, or has not seen yet; false when that is nothing.
  atEnd() {
    const first = !this.placed;
    this.placed = this.log.clientHeight > 0;
    this.held = this.scrollers().filter((each) => first || below(each) < NEAR);
    return this.by || this.held.length ? this.held : false;
  }

  toEnd(which = this.scrollers()) {
    for (const each of which) each.scrollTop = each.scrollHeight;
  }

  reach() {
    this.newest.hidden = this.scrollers().every((each) => below(each) < NEAR);
  }

  // -- side by side --------------------------------------------------------------------------

  // One column per robot, or one list. Nodes only move: what is open stays so, a selection too.
  apart(by) {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
    const chosen = anchorNode && this.log.contains(anchorNode);
    this.by = by;
    this.split.setAttribute("aria-pressed", String(by));
    this.log.classList.toggle("rlnb-by", by);
    for (const [key, { node }] of this.nodes) if (key[0] === "E") this.settle(key, node);
    this.cols.hidden = !by;
    if (chosen) getSelection().setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
    this.toEnd();
    this.count();
  }

  settle(key, node) {
    const entry = this.records.all.get(key);
    if (!entry) return;
    if (this.by && !entry.person) this.column(entry).append(node);
    else this.log.insertBefore(node, this.cols);
  }

  // The column of an entry's robot; in the order of the lanes.
  column({ who }) {
    const found = this.columns.get(who);
    if (found) return found;
    const lane = this.laneOf(who);
    const mark = make("span");
    sign(mark, lane?.shape ?? "", "", lane?.hue ?? "");
    const node = make("div", "rlnb-col", make("p", "rlnb-q", mark, SPACE, make("strong", "", who)));
    own(node).tabIndex = 0;
    node.setAttribute("role", "region");
    node.setAttribute("aria-label", `Transcript of ${who}`);
    this.columns.set(who, node);
    const order = [...this.records.all].filter(([key]) => key[0] === "L").map(([, { name }]) => name);
    const place = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
    const next = [...this.columns].find(([name]) => place(name) > place(who));
    this.cols.insertBefore(node, next?.[1] ?? null);
    this.columns = new Map([...this.columns].sort(([a], [b]) => place(a) - place(b)));
    this.held?.push(node);
    return node;
  }

  // -- entries and pieces --------------------------------------------------------------------

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
  }

  entry(key, entry) {
    const lane = this.laneOf(entry.who);
    let parts = this.nodes.get(key);
    if (!parts) {
      const mark = entry.person || !lane ? null : make("span");
      const name = make("span", "rlnb-who", mark, mark ? SPACE : "", make("strong", "", entry.who));
      const who = make("span", "", name, entry.label ? make("span", "", entry.label) : null);
      const when = make("span");
      const copy = copier("what was said", () => this.said(key), () => node);
      const node = make("blockquote", "", make("p", "rlnb-h rlnb-q", who, make("span", "rlnb-e", copy, when)));
      this.nodes.set(key, (parts = { node, mark, when, copy }));
      this.settle(key, node);
    }
    parts.node.className = entry.person ? "rlnb-u" : `rlnb-r rlnb-${lane?.hue || "ki"}`;
    if (parts.mark) sign(parts.mark, lane.shape, "", lane.hue);
    say(parts.when, entry.person ? "" : entry.at || "now");
    this.sift(key);
  }

  said(entry) {
    const pieces = [...this.records.all.values()].filter((each) => each.in === entry);
    return pieces.filter((each) => each.kind === "text").map((each) => each.text).join("\n\n");
  }

  piece(key, piece) {
    const entry = this.nodes.get(piece.in);
    if (!entry) return;
    const [build, change] = PIECES[piece.kind];
    let parts = this.nodes.get(key);
    if (!parts) {
      parts = build(() => this.records.all.get(key));
      this.nodes.set(key, parts);
      entry.node.append(parts.node);
    }
    parts.node.dataset.kind = piece.kind;
    change(parts, piece);
    this.sift(piece.in);
  }

  // -- what is hidden, what is counted -------------------------------------------------------

  matches(piece) {
    return this.kind === "all" || (this.kind === "err" ? piece.err : piece.kind === this.kind);
  }

  // Hides an entry and its pieces where the filter leaves them out.
  sift(entry) {
    const record = this.records.all.get(entry);
    let some = false;
    let words = false;
    for (const [key, piece] of this.records.all) {
      if (piece.in !== entry) continue;
      const parts = this.nodes.get(key);
      const shown = this.matches(piece);
      some ||= shown;
      words ||= piece.kind === "text";
      if (parts) parts.node.hidden = !shown;
    }
    const here = (!this.who || record.who === this.who) && (!this.tasks || this.tasks.has(record.task));
    const parts = this.nodes.get(entry);
    if (!parts) return;
    parts.copy.hidden = !words;
    parts.node.hidden = !here || !(some || this.kind === "all");
  }

  // Shows the entries of one robot alone, or of some tasks; of all with null.
  only(who, tasks = null, name = who) {
    this.who = who;
    this.tasks = tasks;
    this.named = name;
    this.scope.hidden = !name;
    say(this.scope, `Only ${name ?? ""} ✕`);
    this.scope.setAttribute("aria-label", `Only ${name ?? ""}: show all again`);
    this.log.setAttribute("aria-label", name ? `Transcript of ${name}` : "Transcript");
    this.filter();
  }

  filter() {
    for (const key of this.records.all.keys()) if (key[0] === "E") this.sift(key);
    this.count();
    this.toEnd();
  }

  count() {
    const counts = { all: 0, text: 0, tool: 0, think: 0, err: 0 };
    for (const record of this.records.all.values()) {
      if (!record.in) continue;
      counts.all += 1;
      if (record.kind in counts) counts[record.kind] += 1;
      if (record.err) counts.err += 1;
    }
    for (const chip of this.chips.querySelectorAll("[data-kind]")) {
      const { kind } = chip.dataset;
      say(chip, `${KINDS[kind]}${SPACE}${counts[kind]}`);
      chip.hidden = kind !== "all" && !counts[kind] && this.kind !== kind;
    }
    this.empty();
    for (const node of this.columns.values())
      node.hidden = ![...node.children].slice(1).some((each) => !each.hidden);
    this.split.hidden = !this.by && new Set(this.whose()).size < 2;
    this.reach();
    this.full.hidden = !this.log.classList.contains("rlnb-full")
      && this.scrollers().every((each) => each.scrollHeight <= each.clientHeight + 1);
  }

  whose() {
    return [...this.records.all].filter(([key, { person }]) => key[0] === "E" && !person).map(([, { who }]) => who);
  }

  // Says what is not there, and why.
  empty() {
    const { older } = this.records.all.get("run") ?? {};
    this.older.hidden = !older;
    say(this.older, `… ${(older ?? 0).toLocaleString("en")} older entries: the result has all`);
    const shown = [...this.nodes].some(([key, { node }]) => key[0] === "E" && !node.hidden);
    this.none.hidden = shown || !this.named;
    say(this.none, `Nothing of ${this.named ?? ""} yet${this.kind === "all" ? "" : " of this kind"}.`);
  }
}
