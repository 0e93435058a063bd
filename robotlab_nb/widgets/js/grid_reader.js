// What a person does in a grid: moves, opens, rates, writes a note, compares, hides names. What was
// not heard yet is shown as done, and said so.

import { PAGE, say } from "./dom.js";
import { starred } from "./grid_cells.js";
import { choices, keyed, reached } from "./grid_keys.js";

// The half of a grid's view that listens. The other half has records, line, board, panel, reader,
// root and the nodes that are named here.
export class GridReader {
  key(event) {
    if (event.target.closest("textarea,input,select") || this.asks.contains(event.target)) return;
    const inside = this.board.node.contains(event.target);
    const opened = this.panel.node.contains(event.target);
    if (event.key === "Enter" && event.target.closest("button,summary,a")) return;
    // In an opened cell the other keys scroll.
    if (opened && /^(Arrow(Up|Down)|Page|Home|End|Enter)/.test(event.key)) return;
    const found = keyed(event);
    if (!found || !(inside || opened || "fbd".includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    const [method, ...given] = found;
    this[method](...given);
  }

  pressed({ target }) {
    target.closest(".rlnb-k")?.focus({ preventScroll: true });
  }

  // A cell has the keyboard.
  arrive(target) {
    const node = target.closest?.(".rlnb-k");
    if (!node) return;
    this.choose(Number(node.dataset.cell));
  }

  choose(index) {
    this.mark(index);
    this.keepChoices();
    if (this.reader.open) {
      this.look(index);
      this.panel.show(index);
    }
  }

  // Which cell Tab leads to.
  mark(index) {
    for (const at of new Set([this.reader.at, this.tabbed])) {
      const before = this.board.cells.get(at)?.node;
      if (before && at !== index) {
        before.tabIndex = -1;
        before.removeAttribute("aria-selected");
      }
    }
    this.reader.at = this.tabbed = index;
    const node = this.board.cells.get(index)?.node;
    if (!node) return;
    node.tabIndex = 0;
    node.setAttribute("aria-selected", "true");
  }

  move(down, right) {
    const record = this.records.all.get(`K${this.reader.at}`);
    if (!record) return;
    const here = this.board.at(record.r, record.c);
    const from = { row: record.r, column: record.c, again: here.indexOf(this.reader.at) };
    const index = reached(from, down, right, {
      rows: this.board.shown(),
      columns: this.board.order(),
      cells: (row, column) => this.board.at(row, column),
    });
    if (index !== null) this.go(index);
  }

  edge(step) {
    const [rows, columns] = [this.board.shown(), this.board.order()];
    const cells = this.board.at(rows.at(step < 0 ? 0 : -1), columns.at(step < 0 ? 0 : -1));
    if (cells.length) this.go(cells.at(step < 0 ? 0 : -1));
  }

  // The keyboard goes to a cell; in an opened one it stays there.
  go(index) {
    const node = this.board.cells.get(index)?.node;
    if (!node) return;
    if (this.panel.node.contains(document.activeElement)) {
      this.choose(index);
      this.panel.node.focus({ preventScroll: true });
    } else node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  open() {
    if (this.reader.at === null) return;
    this.reader.open = true;
    this.choose(this.reader.at);
    this.panel.node.focus({ preventScroll: true });
    this.panel.node.scrollIntoView({ block: "nearest" });
  }

  shut() {
    if (!this.reader.open) return;
    const { activeElement } = document;
    const inside = this.panel.node.contains(activeElement) || activeElement === document.body;
    this.reader.open = false;
    this.keepChoices();
    this.panel.show(null);
    if (inside) this.back();
  }

  back() {
    const node = this.board.cells.get(this.reader.at)?.node;
    node?.focus({ preventScroll: true });
  }

  // Asks for all of a cell, and of the one that it is compared with.
  look(index) {
    for (const each of [index, this.baseOf(index)?.index]) {
      if (each === undefined || this.records.all.has(`D${each}`)) continue;
      const open = [...this.line.open.values()].some(({ content }) => content.look === each);
      if (!open) this.line.tell({ look: each });
    }
  }

  rateHere(rating) {
    if (this.reader.at !== null) this.rate(this.reader.at, rating);
  }

  rate(index, rating) {
    const record = this.records.all.get(`K${index}`);
    if (!record) return;
    if (!record.done) return this.aloud("only an answer can be rated");
    this.line.tell({ rate: [index, rating] });
    this.aloud(`${this.title(index)}: ${starred(rating) || "no rating"}`);
    this.changed(index);
  }

  write() {
    if (this.reader.at === null) return;
    if (!this.reader.open) this.open();
    this.panel.field.focus();
  }

  keepNote(index, text) {
    this.line.tell({ note: [index, text] });
    this.aloud(text ? "note kept" : "no note");
    this.changed(index);
  }

  changed(index) {
    this.board.redraw(index);
    this.panel.draw();
    this.outgoing();
  }

  toggle(what) {
    this.reader[what] = !this.reader[what];
    this.chosen();
    const names = { only: "failures only", blind: "names hidden, columns mixed" };
    this.aloud(this.reader[what] ? names[what] : `not ${names[what]}`);
  }

  // Compares with the column of the chosen cell; with none when it was that one already.
  compare() {
    const column = this.records.all.get(`K${this.reader.at}`)?.c ?? 0;
    this.reader.base = this.reader.base === column ? null : column;
    this.chosen();
    const against = this.reader.base === null ? "no differences" : `differences against ${this.board.name(column)}`;
    this.aloud(against);
  }

  chosen() {
    this.keepChoices();
    this.about("grid", this.head);
    this.board.redrawAll();
    this.tools();
    const row = this.board.cells.get(this.reader.at)?.node.closest(".rlnb-row");
    if (row?.hidden) {
      const first = this.board.shown().map((each) => this.board.at(each, this.board.order()[0])[0])[0];
      if (first !== undefined) this.mark(first);
      if (this.root.contains(document.activeElement) || document.activeElement === document.body) this.back();
    }
    if (this.reader.open) this.choose(this.reader.at);
  }

  keepChoices() {
    choices.set(this.head.seat, this.reader);
  }

  halt() {
    this.stop.disabled = true;
    say(this.stop, "stopping …");
    const open = () => this.records.views.has(this) && this.head.live && this.stopped !== "stopping";
    const ask = () => this.send({ stop: true, hello: PAGE });
    ask();
    const again = setInterval(() => (open() ? ask() : clearInterval(again)), 1000);
    setTimeout(() => {
      if (open()) say(this.how, "not heard yet, a cell holds the kernel: stop with ■ in the toolbar");
    }, 1500);
  }

  // -- what is known of a cell, with what was not heard yet ------------------------------------

  sent(index, what) {
    const open = [...this.line.open.values()].map(({ content }) => content[what]);
    return open.filter((each) => each?.[0] === index).at(-1);
  }

  rating(index) {
    const sent = this.sent(index, "rate");
    return sent ? sent[1] : this.records.all.get(`K${index}`)?.rating ?? 0;
  }

  noted(index) {
    const { all } = this.records;
    return this.sent(index, "note")?.[1] ?? all.get(`D${index}`)?.note ?? all.get(`K${index}`)?.note ?? "";
  }

  unheard(index) {
    return [...this.line.open.values()].some(
      (each) => this.line.late(each) && (each.content.rate ?? each.content.note)?.[0] === index,
    );
  }

  late() {
    return [...this.line.open.values()].some((each) => this.line.late(each));
  }

  // The cell of the baseline that stands beside a cell: index, record and name; null without one.
  baseOf(index) {
    const { base } = this.reader;
    const record = this.records.all.get(`K${index}`);
    if (base === null || !record || record.c === base) return null;
    const there = this.board.at(record.r, base);
    const other = there[this.board.at(record.r, record.c).indexOf(index)] ?? there[0];
    const found = this.records.all.get(`K${other}`);
    return found ? { index: other, record: found, name: this.board.name(base) } : null;
  }

  title(index) {
    const record = this.records.all.get(`K${index}`) ?? {};
    const again = this.board.at(record.r, record.c).length > 1 ? `, ${record.rep + 1}.` : "";
    return `${this.board.name(record.c)} · ${this.records.all.get(`R${record.r}`)?.name ?? ""}${again}`;
  }
}
