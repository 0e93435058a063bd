// The picture of a network's tasks: boxes, edges, groups. Drawn once from the places that Python
// worked out; afterwards only words, classes and paths are changed. A box is a button.

import { make, own, say, SPACE, time } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
// More boxes than this are one stop of the Tab key; arrow keys go from box to box in any case.
const STOPS = 24;

export function shape(tag, name, facts = {}) {
  const node = document.createElementNS(SVG, tag);
  if (name) node.setAttribute("class", name);
  put(node, facts);
  return node;
}

function put(node, facts) {
  for (const [name, value] of Object.entries(facts))
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function line(x, y, name, parent) {
  return parent.appendChild(shape("text", name, { x, y }));
}

export class Graph {
  // records: of the view; choose(key): a person pressed that box
  constructor(records, choose) {
    this.records = records;
    this.choose = choose;
    this.boxes = new Map();
    this.edges = new Map();
    this.frames = shape("g");
    this.lines = shape("g");
    this.nodes = shape("g");
    this.svg = shape("svg", "rlnb-net", { role: "group" });
    this.svg.append(this.frames, this.lines, this.nodes);
    this.svg.addEventListener("keydown", (event) => this.step(event));
    this.place = make("div", "rlnb-graph", this.svg);
    this.place.addEventListener("scroll", () => this.reach());
    this.keys = make("span", "rlnb-bar");
    this.more = make("button", "", "more →");
    this.more.type = "button";
    this.more.title = "the picture is larger than its place: it scrolls";
    this.more.onclick = () => this.scroll();
    this.foot = make("div", "rlnb-q rlnb-bar", this.keys, make("span", "rlnb-e", this.more));
    this.root = make("div", "", this.place, this.foot);
    this.root.hidden = true;
    this.sized = new ResizeObserver(() => this.reach());
    this.sized.observe(this.place);
  }

  close() {
    this.sized.disconnect();
  }

  // -- the whole -----------------------------------------------------------------------------

  whole(graph) {
    this.root.hidden = false;
    const size = { width: graph.w, height: graph.h, viewBox: `0 0 ${graph.w} ${graph.h}` };
    put(this.svg, { ...size, "aria-label": graph.name });
    const around = JSON.stringify([graph.frames, graph.keys, graph.note]);
    if (around !== this.around) {
      this.frames.replaceChildren(...graph.frames.map(frame));
      this.keys.replaceChildren(...graph.keys.map(sample), graph.note);
    }
    this.around = around;
    this.reach();
  }

  // Says that there is more than is seen, and where.
  reach() {
    const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = this.place;
    this.right = scrollWidth - scrollLeft - clientWidth > 2;
    this.down = scrollHeight - scrollTop - clientHeight > 2;
    this.more.hidden = scrollWidth <= clientWidth + 2 && scrollHeight <= clientHeight + 2;
    const where = `${this.right ? "→" : ""}${this.down ? "↓" : ""}`;
    say(this.more, where ? `more ${where}` : "← back");
    this.place.classList.toggle("rlnb-more", this.right);
    this.place.classList.toggle("rlnb-less", scrollLeft > 2);
  }

  scroll() {
    const { clientWidth, clientHeight } = this.place;
    if (this.right) this.place.scrollBy(clientWidth * 0.8, 0);
    else if (this.down) this.place.scrollBy(0, clientHeight * 0.8);
    else this.place.scrollTo(0, 0);
  }

  // -- edges ---------------------------------------------------------------------------------

  edge(key, edge) {
    let parts = this.edges.get(key);
    if (!parts) {
      parts = [shape("path"), shape("path")];
      this.edges.set(key, parts);
      this.lines.append(...parts);
    }
    put(parts[0], { d: edge.d, class: `rlnb-edge${edge.on ? "" : " rlnb-thin"}${edge.opt ? " rlnb-dash" : ""}` });
    put(parts[1], { d: edge.tip, class: `rlnb-tip${edge.on ? "" : " rlnb-thin"}` });
  }

  // -- boxes ---------------------------------------------------------------------------------

  box(key, node) {
    let parts = this.boxes.get(key);
    if (!parts) {
      parts = node.rows ? this.makePhase() : this.makeBox(node);
      this.boxes.set(key, parts);
      this.nodes.append(parts.root);
      parts.root.setAttribute("aria-pressed", "false");
      parts.root.addEventListener("click", () => this.choose(key));
      this.stops();
    }
    put(parts.root, { transform: `translate(${node.x} ${node.y})` });
    put(parts.sheet, { height: node.h });
    if (node.rows) this.phase(parts, node);
    else this.state(key);
  }

  makeBox(node) {
    const root = own(shape("g", "", { role: "button" }));
    const title = root.appendChild(shape("title"));
    const size = { width: this.records.all.get("G").box, height: node.h, rx: 6 };
    if (node.nested) root.append(shape("rect", "rlnb-sheet", { ...size, x: 4, y: 4 }));
    const sheet = root.appendChild(shape("rect", "rlnb-sheet", size));
    const drawn = this.records.all.get("G").marks[node.mark];
    if (drawn)
      root.append(shape("path", `rlnb-fill rlnb-${node.lane}`, { d: drawn, transform: "translate(11 9.5)" }));
    else say(line(13, 18.5, "rlnb-name", root), "ƒ");
    say(line(27, 19, "rlnb-name", root), node.name);
    const icon = [shape("path", "rlnb-stroke"), shape("path", "rlnb-fill")];
    icon.forEach((each) => put(root.appendChild(each), { transform: "translate(10 26)" }));
    const state = line(27, 36, "", root);
    const word = state.appendChild(shape("tspan", "rlnb-word"));
    const beside = state.appendChild(shape("tspan"));
    return { root, title, sheet, icon, word, beside, last: line(27, 51, "", root) };
  }

  // Where a task stands: its box is told.
  state(key) {
    const parts = this.boxes.get(key);
    const task = this.records.all.get(`T${key.slice(1)}`);
    const node = this.records.all.get(key);
    if (!parts?.icon || !task || !node) return; // a phase tells its counts
    const { icons } = this.records.all.get("G");
    this.look(parts.root, task.hue, task.faint);
    parts.icon.forEach((each, at) => put(each, { d: icons[task.icon]?.[at] ?? "" }));
    say(parts.word, task.word);
    say(parts.beside, task.beside);
    const words = [task.name, task.word, task.who, task.note, node.more].filter(Boolean).join(" · ");
    say(parts.title, words);
    put(parts.root, { "aria-label": words });
    this.figures(parts, task, this.records.elapsed());
  }

  figures(parts, task, elapsed) {
    const took = task.since === null ? task.took : time(Math.max(elapsed - task.since, 0), true);
    say(parts.last, task.line || [took, task.cost].filter(Boolean).join(" · "));
  }

  makePhase() {
    const root = own(shape("g", "", { role: "button" }));
    const sheet = root.appendChild(shape("rect", "rlnb-sheet", { width: this.records.all.get("G").box, rx: 6 }));
    return { root, sheet, name: line(11, 19, "rlnb-name", root), count: line(11, 35, "", root), rows: [] };
  }

  phase(parts, node) {
    const { icons } = this.records.all.get("G");
    this.look(parts.root, node.hue, false);
    say(parts.name, node.name);
    say(parts.count, node.count);
    while (parts.rows.length < node.rows.length) {
      const row = parts.root.appendChild(shape("g"));
      row.append(shape("path", "rlnb-stroke"), shape("path", "rlnb-fill"), shape("text", "rlnb-word", { x: 17, y: 10 }));
      put(row, { transform: `translate(10 ${42 + 16 * parts.rows.length})` });
      parts.rows.push(row);
    }
    parts.rows.forEach((row, at) => {
      const [icon, words, hue] = node.rows[at] ?? ["", "", ""];
      put(row, { class: hue ? `rlnb-hued rlnb-${hue}` : "" });
      [...row.children].forEach((each, n) => n < 2 && put(each, { d: icons[icon]?.[n] ?? "" }));
      say(row.lastChild, words);
    });
    const told = node.rows.map(([, words]) => words).join(", ");
    put(parts.root, { "aria-label": `${node.name}: ${node.count}: ${told}` });
  }

  look(root, hue, faint) {
    put(root, { class: `rlnb-node${hue ? ` rlnb-hued rlnb-${hue}` : ""}${faint ? " rlnb-faint" : ""}` });
  }

  tick(elapsed) {
    for (const [key, parts] of this.boxes) {
      const task = this.records.all.get(`T${key.slice(1)}`);
      if (parts.last && task && task.since !== null) this.figures(parts, task, elapsed);
    }
  }

  remove(key) {
    if (key === "G") this.root.hidden = true;
    for (const part of this.edges.get(key) ?? []) part.remove();
    this.boxes.get(key)?.root.remove();
    this.edges.delete(key);
    this.boxes.delete(key);
  }

  // -- what a person does --------------------------------------------------------------------

  press(chosen) {
    for (const [key, { root }] of this.boxes) put(root, { "aria-pressed": key === chosen });
  }

  stops(from) {
    const all = [...this.nodes.children];
    const first = from ?? all.find((each) => each === document.activeElement) ?? all[0];
    for (const each of all) put(each, { tabindex: all.length <= STOPS || each === first ? 0 : -1 });
  }

  step(event) {
    const all = [...this.nodes.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") all[at].dispatchEvent(new Event("click"));
    else if (event.key in to) {
      const next = all[Math.min(Math.max(to[event.key], 0), all.length - 1)];
      this.stops(next);
      next.focus();
    } else return;
    // JupyterLab would take the key for one of its own.
    event.preventDefault();
    event.stopPropagation();
  }
}

function frame([x, y, width, height, name]) {
  const node = shape("g");
  node.append(shape("rect", "rlnb-frame", { x, y, width, height, rx: 6 }));
  say(line(x + 10, y + 3.5, "rlnb-on-line", node), name);
  return node;
}

function sample(word) {
  const node = shape("svg", "rlnb-net", { width: 22, height: 8, "aria-hidden": "true" });
  const thin = word === "not yet passed" ? " rlnb-thin" : "";
  node.append(shape("path", `rlnb-edge${thin}${word === "optional" ? " rlnb-dash" : ""}`, { d: "M0 4h22" }));
  return make("span", "rlnb-s", node, SPACE, word);
}
