// The transcript of a run: entries of pieces, chips that choose kinds, a log that scrolls.
// Nodes are changed, never drawn again: an opened section, a selection and a scroll position stay.

import { make, say, sign, SPACE } from "./dom.js";
import { PIECES } from "./pieces.js";

const KINDS = { all: "All", text: "Messages", tool: "Tools", think: "Reasoning", err: "Errors" };

export class Transcript {
  // records: of the view; laneOf(name): the row of a robot, for its mark and hue
  constructor(records, laneOf) {
    this.records = records;
    this.laneOf = laneOf;
    this.nodes = new Map();
    this.kind = "all";
    this.who = null;
    this.chips = make("div", "rlnb-bar", ...Object.keys(KINDS).map((kind) => this.chip(kind)));
    this.newest = make("button", "", "↓ Newest");
    this.newest.onclick = () => this.toEnd();
    this.full = make("button", "", "Show all lines");
    this.full.onclick = () => this.pressFull();
    this.newest.type = this.full.type = "button";
    this.chips.append(make("span", "rlnb-e rlnb-bar", this.newest, this.full));
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Show in the transcript");
    this.log = make("div", "rlnb-log");
    this.log.tabIndex = 0;
    this.log.addEventListener("toggle", () => this.count(), true);
    this.log.addEventListener("scroll", () => this.reach());
    this.log.setAttribute("role", "region");
    this.log.setAttribute("aria-label", "Transcript");
  }

  chip(kind) {
    const button = make("button", "", KINDS[kind]);
    button.type = "button";
    button.dataset.kind = kind;
    button.setAttribute("aria-pressed", String(kind === "all"));
    button.onclick = () => {
      this.kind = kind;
      for (const each of this.chips.querySelectorAll("[data-kind]"))
        each.setAttribute("aria-pressed", String(each === button));
      this.filter();
    };
    return button;
  }

  pressFull() {
    const full = this.log.classList.toggle("rlnb-full");
    say(this.full, full ? "Show fewer lines" : "Show all lines");
    this.reach();
  }

  // Whether the reader is at the end, or has not seen it yet.
  atEnd() {
    const first = !this.placed;
    this.placed = this.log.clientHeight > 0;
    return first || this.below() < 24;
  }

  below() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight;
  }

  toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  reach() {
    this.newest.hidden = this.below() < 24;
  }

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
  }

  node(key, parent, build) {
    let parts = this.nodes.get(key);
    if (!parts) {
      parts = build();
      this.nodes.set(key, parts);
      parent.append(parts.node);
    }
    return parts;
  }

  entry(key, entry) {
    const lane = this.laneOf(entry.who);
    const parts = this.node(key, this.log, () => {
      const mark = entry.person || !lane ? null : make("span");
      const who = make("span", "", mark, mark ? SPACE : "", make("strong", "", entry.who));
      if (entry.label) who.append(` · ${entry.label}`);
      const when = make("span", "rlnb-e");
      const node = make("blockquote", "", make("p", "rlnb-h rlnb-q", who, when));
      return { node, mark, when };
    });
    parts.node.className = entry.person ? "rlnb-u" : `rlnb-r rlnb-${lane?.hue || "ki"}`;
    if (parts.mark) sign(parts.mark, lane.shape, "", lane.hue);
    say(parts.when, entry.person ? "" : entry.at || "now");
    this.sift(key);
  }

  piece(key, piece) {
    const entry = this.nodes.get(piece.in);
    if (!entry) return;
    const [build, change] = PIECES[piece.kind];
    const parts = this.node(key, entry.node, build);
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
    for (const [key, piece] of this.records.all) {
      if (piece.in !== entry) continue;
      const parts = this.nodes.get(key);
      const shown = this.matches(piece);
      some ||= shown;
      if (parts) parts.node.hidden = !shown;
    }
    const here = !this.who || record.who === this.who;
    const parts = this.nodes.get(entry);
    if (parts) parts.node.hidden = !here || !(some || this.kind === "all");
  }

  // Shows the entries of one robot alone; of all with null.
  only(who) {
    this.who = who;
    this.filter();
  }

  filter() {
    for (const key of this.records.all.keys()) if (key[0] === "E") this.sift(key);
    this.toEnd();
    this.count();
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
    this.reach();
    this.full.hidden = !this.log.classList.contains("rlnb-full")
      && this.log.scrollHeight <= this.log.clientHeight + 1;
  }
}
