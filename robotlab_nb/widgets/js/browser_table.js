// The page of runs of a log browser: a table that is gone through by keys.

import { make, say, sign } from "./dom.js";

// name of a column; by what it sorts; its class
const COLUMNS = [
  ["", "", "rlnb-pick"],
  ["started", "time", "rlnb-when"],
  ["run", "", ""],
  ["state", "", ""],
  ["model", "", "rlnb-wide"],
  ["took", "duration", "rlnb-0"],
  ["tokens", "tokens", "rlnb-0 rlnb-mid"],
  ["cost", "cost", "rlnb-0"],
  ["tags", "", "rlnb-tags"],
  ["asked", "", "rlnb-asked"],
  ["answered", "", "rlnb-asked rlnb-q"],
];
const MOVES = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

export class RunTable {
  constructor(chosen, { tell, chose }) {
    this.chosen = chosen;
    this.tell = tell;
    this.chose = chose;
    this.rows = [];
    this.at = 0;
    this.heads = COLUMNS.map(([name, sort, kind]) => this.column(name, sort, kind));
    this.body = make("tbody");
    const table = make("table", "", make("thead", "", make("tr", "", ...this.heads)), this.body);
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", "runs");
    table.setAttribute("aria-multiselectable", "true");
    this.root = make("div", "rlnb-w rlnb-runs", table);
    this.body.onkeydown = (event) => this.key(event);
  }

  column(name, sort, kind) {
    const node = make("th", kind);
    node.scope = "col";
    if (!sort) {
      node.append(name);
      return node;
    }
    const button = make("button", "", name);
    button.type = "button";
    button.title = `put in order by ${sort}`;
    button.onclick = () => this.tell({ sort });
    node.append(button);
    node.dataset.sort = sort;
    return node;
  }

  draw(all, head) {
    for (const node of this.heads) {
      const { sort } = node.dataset;
      if (!sort) continue;
      const on = sort === head.sort;
      if (on) node.setAttribute("aria-sort", head.falling ? "descending" : "ascending");
      else node.removeAttribute("aria-sort");
    }
    const records = [...all].filter(([key]) => key[0] === "R").map(([, record]) => record);
    const had = this.body.contains(document.activeElement);
    while (this.rows.length > records.length) this.rows.pop().node.remove();
    while (this.rows.length < records.length) this.rows.push(this.row());
    records.forEach((record, place) => this.fill(this.rows[place], record));
    const open = all.get("O");
    for (const { node, run } of this.rows) {
      if (open?.runs.includes(run)) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
    if (this.first !== records[0]?.run) this.root.scrollTop = 0;
    this.first = records[0]?.run;
    this.root.hidden = !records.length;
    this.go(this.at, had);
    this.choose();
  }

  row() {
    const box = make("input");
    Object.assign(box, { type: "checkbox", tabIndex: -1 });
    const row = {
      box, when: make("span"), name: make("b"), about: make("span", "rlnb-q"), id: make("code", "rlnb-q"),
      state: make("span"), model: make("span"), sim: make("span", "rlnb-b", "simulated"),
      took: make("span"), tokens: make("span"), cost: make("span"), tags: make("span"),
      asked: make("span"), said: make("span"),
    };
    const cells = [
      [box], [row.when], [row.name, row.about, " ", row.id], [row.state], [row.model, " ", row.sim],
      [row.took], [row.tokens], [row.cost], [row.tags], [row.asked], [row.said],
    ];
    row.node = make("tr", "", ...cells.map((parts, n) => make("td", COLUMNS[n][2], ...parts)));
    row.node.tabIndex = -1;
    box.onclick = (event) => {
      event.stopPropagation();
      this.pick(row);
    };
    row.node.onclick = () => {
      if (!getSelection().isCollapsed) return; // words are being chosen
      this.go(this.rows.indexOf(row), true);
      this.tell({ run: [row.run] });
    };
    this.body.append(row.node);
    return row;
  }

  fill(row, record) {
    row.run = record.run;
    row.box.setAttribute("aria-label", `choose ${record.id}`);
    const [day, clock] = record.began.split(" ");
    say(row.when, clock ? `${day.slice(5)} ${clock}` : "");
    row.when.title = clock ? `${record.began} UTC` : "";
    say(row.name, record.name);
    say(row.about, record.about ? ` ${record.about}` : "");
    say(row.id, record.id);
    row.node.classList.toggle("rlnb-in", record.inside);
    sign(row.state, record.icon, record.state, record.hue);
    say(row.model, record.model);
    row.sim.hidden = !record.simulated || record.model.startsWith("simulated/");
    for (const name of ["took", "tokens", "cost", "asked", "said"]) say(row[name], record[name]);
    const tags = [record.rating, ...record.tags].join("\n");
    const words = record.tags.flatMap((tag) => [make("span", "rlnb-b", tag), " "]);
    if (row.tagged !== tags) row.tags.replaceChildren(record.rating, " ", ...words);
    row.tagged = tags;
  }

  // -- moving, choosing ----------------------------------------------------------------------

  // The row that Tab leads to; with the keyboard on it if that was in the table.
  go(place, focus) {
    this.rows[this.at]?.node.setAttribute("tabindex", "-1");
    this.at = Math.max(0, Math.min(place, this.rows.length - 1));
    const row = this.rows[this.at];
    if (!row) return;
    row.node.tabIndex = 0;
    if (focus && document.activeElement !== row.node) row.node.focus({ preventScroll: !focus });
  }

  focus() {
    this.go(this.at, true);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key in MOVES) this.go(this.at + MOVES[key], true);
    else if (key === "Enter") this.tell({ run: [this.rows[this.at].run] });
    else if (key === " " && event.target !== this.rows[this.at].box) this.pick(this.rows[this.at]);
    else if (key === "PageDown") this.tell({ page: "next" });
    else if (key === "PageUp") this.tell({ page: "prev" });
    else return;
    event.preventDefault();
  }

  pick({ run }) {
    const place = this.chosen.indexOf(run);
    if (place < 0) this.chosen.push(run);
    else this.chosen.splice(place, 1);
    this.choose();
    this.chose();
  }

  choose() {
    for (const { node, box, run } of this.rows) {
      const on = this.chosen.includes(run);
      box.checked = on;
      node.setAttribute("aria-selected", String(on));
    }
  }
}
