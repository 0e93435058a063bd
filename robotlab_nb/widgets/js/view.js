// The view of a run, as its records say. Everything that a model or a tool wrote enters the page as a
// text node, and nodes are changed, never drawn again.

import { drawAsk } from "./asks.js";
import { make, PAGE, say, sign, time } from "./dom.js";
import { Graph } from "./graph.js";
import { drawLane, drawTrack } from "./lanes.js";
import { Transcript } from "./transcript.js";

const UNHEARD_MS = 1500;
const AGAIN_MS = 1000;
// by first letter of its key: how a record is drawn; in this order
const DRAWN = {
  r: "run", s: "stopping", Q: "ask", L: "lane", T: "task",
  G: "graph", W: "edge", N: "box", E: "entry", P: "piece",
};
const ORDER = Object.keys(DRAWN).join("");

export class View {
  constructor(el, records, send) {
    this.records = records;
    this.send = send;
    this.nodes = new Map();
    this.lanes = new Map();
    this.chosen = null;
    this.told = new Map();
    this.transcript = new Transcript(records, (who) => this.lanes.get(who), () => this.choose(null));
    this.picture = new Graph(records, (key) => this.choose(key));
    this.build(el);
    this.draw(new Set(records.all.keys()));
    records.views.add(this);
    this.timer = setInterval(() => this.tick(), 1000);
    requestAnimationFrame(() => this.transcript.atEnd() && this.transcript.toEnd());
    // Said more than once: while a page connects anew, what it says may be lost.
    send({ hello: PAGE });
    this.hellos = [1000, 3000].map((ms) => setTimeout(() => send({ hello: PAGE }), ms));
  }

  close() {
    this.records.views.delete(this);
    clearInterval(this.timer);
    this.hellos.forEach(clearTimeout);
    this.picture.close();
  }

  build(el) {
    this.state = make("span");
    this.name = make("b");
    this.sim = make("span", "rlnb-b", "simulated");
    this.strip = make("span", "rlnb-q rlnb-s");
    this.strip.title = "one mark per task, in order";
    this.figures = make("span", "rlnb-q");
    this.stop = make("button", "", "■ Stop");
    this.stop.type = "button";
    this.stop.hidden = true;
    this.stop.onclick = () => this.press();
    this.how = make("span", "rlnb-q");
    this.how.title = "or interrupt the kernel";
    const top = [this.state, this.name, this.sim, this.strip, this.figures];
    this.counts = make("p", "rlnb-q");
    this.fault = make("blockquote", "rlnb-r rlnb-kf", make("p"));
    this.asks = make("div");
    this.rows = make("div", "rlnb-lanes");
    this.tasks = make("ul", "rlnb-tasks rlnb-q");
    this.titled = make("span");
    this.folded = make("details", "", make("summary", "", this.titled), this.tasks);
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    const { chips, log } = this.transcript;
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live",
      make("div", "rlnb-bar", ...top, make("span", "rlnb-e rlnb-bar", this.how, this.stop)),
      this.asks, this.counts, this.fault, this.picture.root, this.folded, this.rows,
      chips, log, this.news,
    );
    el.append(this.root);
  }

  press() {
    this.stop.disabled = true;
    say(this.stop, "stopping …");
    // A click may be lost (a page that was loaded again still connects): say it until it is heard.
    const ask = () => this.send({ stop: true, hello: PAGE });
    ask();
    const again = setInterval(() => (this.unheard() ? ask() : clearInterval(again)), AGAIN_MS);
    setTimeout(() => {
      if (this.unheard())
        say(this.how, "not heard yet, a cell holds the kernel: stop with ■ in the toolbar");
    }, UNHEARD_MS);
  }

  unheard() {
    const { all, views } = this.records;
    return views.has(this) && all.get("stop")?.how !== "stopping" && all.get("run")?.live;
  }

  // -- drawing what changed ----------------------------------------------------------------

  draw(keys) {
    const following = this.transcript.atEnd();
    const rank = (key) => ORDER.indexOf(key[0]);
    for (const key of [...keys].sort((a, b) => rank(a) - rank(b))) {
      const record = this.records.all.get(key);
      if (record) this[DRAWN[key[0]]](key, record);
      else this.remove(key);
    }
    this.tick();
    this.count();
    this.tell();
    if (following) this.transcript.toEnd(following);
    this.transcript.reach();
  }

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
    this.transcript.remove(key);
    this.picture.remove(key);
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

  run(_key, run) {
    const kind = run.kind === "robot" ? "robot" : "network";
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", `${kind} ${run.name}, live`);
    sign(this.state, run.icon, run.word, run.hue);
    say(this.name, run.name);
    this.sim.hidden = !run.sim;
    this.marks(this.strip, (run.strip ?? []).map(([icon, hue]) => [icon, "", hue]), "");
    this.marks(this.counts, run.counts ?? [], " · ");
    this.fault.hidden = !run.fault;
    say(this.fault.firstChild, run.fault ?? "");
    if (!run.live) {
      this.stop.hidden = true;
      say(this.how, "");
    }
    this.note("run", run.name, run.word);
  }

  marks(parent, marks, between) {
    parent.hidden = !marks.length;
    while (parent.children.length > marks.length) parent.lastChild.remove();
    marks.forEach((mark, at) => {
      const node = parent.children[at] ?? parent.appendChild(make("span", "", make("span")));
      if (at && between && node.childNodes.length === 1) node.prepend(between);
      sign(node.lastChild, ...mark);
    });
  }

  stopping(_key, stop) {
    const live = this.records.all.get("run")?.live;
    const button = stop.how === "button" || stop.how === "stopping";
    this.stop.hidden = !live || !button;
    if (stop.how !== "button" || !this.stop.disabled) {
      this.stop.disabled = stop.how === "stopping";
      say(this.stop, stop.how === "stopping" ? "stopping …" : "■ Stop");
    }
    say(this.how, live && stop.how === "kernel" ? "stop with ■ in the toolbar" : "");
    if (live && !button) this.send({ hello: PAGE });
  }

  ask(key, ask) {
    drawAsk(this, key, ask);
  }

  lane(key, lane) {
    drawLane(this, key, lane);
  }

  // Shows the entries of one robot, or of a box of the graph; of all when it was chosen already.
  choose(key) {
    this.chosen = this.chosen === key ? null : key;
    for (const [each, { node }] of this.nodes)
      if (each[0] === "L") node.setAttribute("aria-pressed", String(each === this.chosen));
    this.picture.press(this.chosen);
    const record = this.records.all.get(this.chosen);
    if (!record) this.transcript.only(null);
    else if (this.chosen[0] === "L") this.transcript.only(record.name);
    else this.transcript.only(null, new Set(record.tasks.map((at) => `T${at}`)), this.title(record));
  }

  title({ tasks, name }) {
    const task = tasks.length === 1 && this.records.all.get(`T${tasks[0]}`);
    return task ? `task ${task.name}` : name;
  }

  graph(_key, graph) {
    this.picture.whole(graph);
  }

  edge(key, edge) {
    this.picture.edge(key, edge);
  }

  box(key, box) {
    this.picture.box(key, box);
  }

  task(key, task) {
    const parts = this.node(key, this.tasks, () => {
      const [state, name, note] = ["span", "strong", "span"].map((tag) => make(tag));
      return { node: make("li", "", state, name, note), state, name, note };
    });
    sign(parts.state, task.icon, task.word, task.hue);
    say(parts.name, task.name);
    say(parts.note, [task.who, task.note].filter(Boolean).join(" · "));
    this.picture.state(`N${key.slice(1)}`);
    this.note(key, task.name, task.word);
  }

  entry(key, entry) {
    this.transcript.entry(key, entry);
  }

  piece(key, piece) {
    this.transcript.piece(key, piece);
  }

  // -- what is counted, what is said ---------------------------------------------------------

  count() {
    const lanes = [...this.records.all.keys()].filter((key) => key[0] === "L").length;
    const rows = this.tasks.children.length;
    const { tasks } = this.records.all.get("run") ?? {};
    this.rows.hidden = lanes < 2 && !tasks;
    this.folded.hidden = !rows;
    say(this.titled, `Tasks · ${rows < tasks ? `the first ${rows} of ` : ""}${tasks}`);
    this.transcript.count();
  }

  tick() {
    const run = this.records.all.get("run");
    if (!run) return;
    const elapsed = this.records.elapsed();
    say(this.figures, [run.figures, time(elapsed, run.live)].filter(Boolean).join(" · "));
    for (const [key, { track }] of this.nodes)
      if (key[0] === "L") drawTrack(track, this.records.all.get(key).spans, elapsed);
    this.picture.tick(elapsed);
  }

  note(key, name, word) {
    if (this.told.get(key) !== word) this.fresh = [...(this.fresh ?? []), `${name} ${word}`];
    this.told.set(key, word);
  }

  tell() {
    if (this.fresh?.length) say(this.news, this.fresh.slice(-6).join("; "));
    this.fresh = [];
  }
}
