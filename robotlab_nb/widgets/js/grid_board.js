// The board of a grid: heads, rows and cells, in the order in which a reader sees them. Nodes are
// changed, never drawn again, so that focus and places stay while cells arrive.

import { make, say } from "./dom.js";
import { drawCell, makeCell, makeHead, makeRow } from "./grid_cells.js";
import { letter, mixed } from "./grid_words.js";

const [WIDE, NARROW] = [210, 120];

export class Board {
  // grid: has records, reader, head, rating(), noted(), unheard()
  constructor(grid) {
    this.grid = grid;
    this.heads = [];
    this.rows = new Map();
    this.cells = new Map();
    this.places = new Map();
    this.top = make("div", "rlnb-row", make("div", "rlnb-rowhead", "input"));
    this.top.setAttribute("role", "row");
    this.top.firstChild.setAttribute("role", "columnheader");
    this.node = make("div", "rlnb-pane", this.top);
    this.node.setAttribute("role", "grid");
    this.left = make("p", "rlnb-q");
  }

  get all() {
    return this.grid.records.all;
  }

  // The numbers of the columns as they stand.
  order() {
    const count = this.heads.length;
    return this.grid.reader.blind ? mixed(count, this.grid.head.id) : [...Array(count).keys()];
  }

  name(column) {
    if (this.grid.reader.blind) return letter(this.order().indexOf(column));
    return this.all.get(`H${column}`)?.name ?? "";
  }

  // -- what changed --------------------------------------------------------------------------

  drawHead(key, record) {
    const number = Number(key.slice(1));
    if (!this.heads[number]) {
      this.heads[number] = makeHead();
      this.arrange();
    }
    const { name, base, sum } = this.heads[number];
    const { blind, base: chosen } = this.grid.reader;
    say(name, this.name(number));
    say(sum, blind ? "" : record.sum);
    base.hidden = chosen !== number;
  }

  drawRow(key, record) {
    let row = this.rows.get(key);
    if (!row) {
      row = makeRow(record.name);
      this.rows.set(key, row);
      this.node.append(row.node);
      this.fill(row);
    }
    say(row.head, record.name);
  }

  drawCell(key, record) {
    const index = Number(key.slice(1));
    const row = this.rows.get(`R${record.r}`);
    const place = row?.places.get(record.c);
    if (!place) return;
    let parts = this.cells.get(index);
    if (!parts) {
      parts = makeCell(index);
      this.cells.set(index, parts);
      const there = this.at(record.r, record.c);
      there.push(index);
      there.sort((a, b) => this.all.get(`K${a}`).rep - this.all.get(`K${b}`).rep);
      place.insertBefore(parts.node, place.children[there.indexOf(index)] ?? null);
      if (there.length === 2) this.redraw(there[0]);
    }
    const { blind } = this.grid.reader;
    drawCell(parts, record, {
      rating: this.grid.rating(index),
      note: this.grid.noted(index),
      late: this.grid.unheard(index),
      blind,
      base: this.grid.baseOf(index)?.record,
      some: !this.grid.head.sim,
      repeats: this.at(record.r, record.c).length > 1,
    });
  }

  redraw(index) {
    const record = this.all.get(`K${index}`);
    if (record) this.drawCell(`K${index}`, record);
  }

  // Everything again: what a reader chose has changed.
  redrawAll() {
    this.arrange();
    for (const [key, record] of this.all) {
      if (key[0] === "H") this.drawHead(key, record);
      if (key[0] === "K") this.drawCell(key, record);
    }
    this.sift();
  }

  at(row, column) {
    const key = `${row} ${column}`;
    if (!this.places.has(key)) this.places.set(key, []);
    return this.places.get(key);
  }

  // -- where it stands -----------------------------------------------------------------------

  fill({ node, places }) {
    for (const column of this.order()) {
      if (!places.has(column)) places.set(column, make("div", "rlnb-place"));
      node.append(places.get(column));
    }
  }

  arrange() {
    const count = this.heads.length;
    this.node.style.setProperty("--rlnb-cols", `${NARROW}px repeat(${count},minmax(0,1fr))`);
    this.node.style.setProperty("--rlnb-wide", `${NARROW + count * WIDE}px`);
    this.node.setAttribute("aria-colcount", String(count + 1));
    const focused = this.node.contains(document.activeElement) ? document.activeElement : null;
    for (const column of this.order()) if (this.heads[column]) this.top.append(this.heads[column].node);
    for (const row of this.rows.values()) this.fill(row);
    if (focused && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  // Hides the rows that a filter leaves out; how many are shown.
  sift() {
    const { only } = this.grid.reader;
    const bad = new Set();
    if (only) for (const [key, record] of this.all) if (key[0] === "K" && record.bad) bad.add(record.r);
    for (const [key, { node }] of this.rows) node.hidden = only && !bad.has(Number(key.slice(1)));
    this.node.setAttribute("aria-rowcount", String(this.rows.size + 1));
    const { left } = this.grid.head;
    const words = [
      only ? `${bad.size.toLocaleString("en")} of ${this.rows.size.toLocaleString("en")} inputs have failures` : "",
      left ? `… ${left.toLocaleString("en")} more inputs: experiment.frame has all` : "",
    ];
    say(this.left, words.filter(Boolean).join(" · "));
    this.left.hidden = !words.some(Boolean);
  }

  shown() {
    return [...this.rows].filter(([, { node }]) => !node.hidden).map(([key]) => Number(key.slice(1)));
  }
}
