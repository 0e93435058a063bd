// The live view of a run. Records come from Python: a snapshot, then numbered batches of changes.
// Everything that a model or a tool wrote enters the page as a text node, and nodes are changed,
// never drawn again: an opened section, a selection and a scroll position stay.

const PAGE = Math.random().toString(36).slice(2);
const SPACE = "\u00a0";
const KINDS = { all: "All", text: "Messages", tool: "Tools", think: "Reasoning", err: "Errors" };
const UNHEARD_MS = 1500;
const AGAIN_MS = 1000;

function make(tag, name, ...children) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null));
  return node;
}

// Changes a node's text; what only grew is appended to the text node that is there.
function say(node, text) {
  const last = node.lastChild;
  if (last?.nodeType !== Node.TEXT_NODE) node.append(text);
  else if (text.startsWith(last.data)) last.appendData(text.slice(last.data.length));
  else last.data = text;
}

function sign(node, icon, word, hue) {
  node.className = hue ? `rlnb-s rlnb-i rlnb-${hue}` : "rlnb-s";
  say(node, word ? `${icon}${SPACE}${word}` : icon);
}

function time(seconds, whole) {
  if (seconds < 60) return `${whole ? Math.floor(seconds) : seconds.toFixed(1)}${SPACE}s`;
  return `${Math.floor(seconds / 60)}${SPACE}min${SPACE}${Math.floor(seconds % 60)}${SPACE}s`;
}

class Records {
  constructor() {
    this.all = new Map();
    this.n = -1;
    this.at = 0;
    this.stamp = 0;
    this.views = new Set();
  }

  // Returns whether nothing is missing before this batch.
  batch(message) {
    if (message.n > this.n + 1) return false;
    if (message.n === this.n + 1) this.apply(message);
    return true;
  }

  load(snapshot) {
    if (!(snapshot?.n > this.n)) return;
    const kept = new Set(snapshot.ops.map(([key]) => key));
    const gone = [...this.all.keys()].filter((key) => !kept.has(key));
    this.apply({ ...snapshot, ops: [...gone.map((key) => [key, null]), ...snapshot.ops] });
  }

  apply({ n, at, ops }) {
    for (const [key, change] of ops) {
      const record = this.all.get(key) ?? {};
      if (change === null) this.all.delete(key);
      else if (typeof change === "string") record.text += change;
      else Object.assign(record, change);
      if (change !== null) this.all.set(key, record);
    }
    Object.assign(this, { n, at, stamp: performance.now() });
    const keys = new Set(ops.map(([key]) => key));
    for (const view of this.views) view.draw(keys);
  }

  elapsed() {
    const since = this.all.get("run")?.live ? (performance.now() - this.stamp) / 1000 : 0;
    return this.at + since;
  }
}

class View {
  constructor(el, records, send) {
    this.records = records;
    this.send = send;
    this.nodes = new Map();
    this.lanes = new Map();
    this.lane = null;
    this.kind = "all";
    this.told = new Map();
    this.build(el);
    this.draw(new Set(records.all.keys()));
    records.views.add(this);
    this.timer = setInterval(() => this.tick(), 1000);
    requestAnimationFrame(() => this.atEnd() && this.toEnd());
    // Said more than once: while a page connects anew, what it says may be lost.
    send({ hello: PAGE });
    this.hellos = [1000, 3000].map((ms) => setTimeout(() => send({ hello: PAGE }), ms));
  }

  close() {
    this.records.views.delete(this);
    clearInterval(this.timer);
    this.hellos.forEach(clearTimeout);
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
    this.folded = make("details", "", make("summary", "", make("span", "", "Tasks")), this.tasks);
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
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live",
      make("div", "rlnb-bar", ...top, make("span", "rlnb-e rlnb-bar", this.how, this.stop)),
      this.asks, this.counts, this.fault, this.rows, this.folded, this.chips, this.log, this.news,
    );
    el.append(this.root);
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
    const follow = this.atEnd();
    const rank = (key) => "rsQLTEP".indexOf(key[0]);
    for (const key of [...keys].sort((a, b) => rank(a) - rank(b))) {
      const record = this.records.all.get(key);
      if (record) this[`draw_${key[0]}`](key, record);
      else this.remove(key);
    }
    this.tick();
    this.count();
    this.tell();
    if (follow) this.toEnd();
    this.reach();
  }

  // Whether the reader is at the end of the transcript, or has not seen it yet.
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

  draw_r(_key, run) {
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

  draw_s(_key, stop) {
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

  // An open question: who asks what, what it is about, and the code that answers it.
  draw_Q(key, ask) {
    const parts = this.node(key, this.asks, () => {
      const [state, who, limit] = ["span", "span", "span"].map((tag) => make(tag));
      limit.className = "rlnb-q";
      const [tool, given, text, why, choices] = ["p", "pre", "p", "p", "p"].map((t) => make(t));
      const name = tool.appendChild(make("code", "", make("b"))).firstChild;
      const how = make("p", "rlnb-q");
      text.className = "rlnb-t";
      const head = make("p", "", make("strong", "", state), " · ", who, " · ", limit);
      const node = make("blockquote", "rlnb-r rlnb-kw", head, tool, given, text, why, choices, how);
      sign(state, "?", "waiting for you", "kw");
      this.note(key, `${ask.who} ${ask.what}`, ask.tool || ask.text);
      return { node, who, limit, tool, name, given, text, why, choices, how };
    });
    say(parts.who, `${ask.who} ${ask.what}`);
    say(parts.limit, ask.limit);
    say(parts.name, ask.tool);
    for (const field of ["given", "text", "why", "choices"]) {
      const words = field === "why" && ask.why ? `why it asks: ${ask.why}` : ask[field];
      say(parts[field], words);
      parts[field].hidden = !words;
    }
    parts.tool.hidden = !ask.tool;
    parts.how.replaceChildren("Next cell: ");
    ask.how.forEach(([call, what], at) => {
      parts.how.append(at ? ", " : "", make("code", "", call), what ? ` ${what}` : "");
    });
  }

  draw_L(key, lane) {
    const parts = this.node(key, this.rows, () => {
      const [mark, name, track, state] = ["span", "strong", "span", "span"].map((t) => make(t));
      track.className = "rlnb-track";
      const node = make("button", "rlnb-lane", make("span", "", mark, SPACE, name), track, state);
      node.type = "button";
      node.setAttribute("aria-pressed", "false");
      node.onclick = () => this.choose(key);
      return { node, mark, name, track, state };
    });
    sign(parts.mark, lane.shape, "", lane.hue);
    say(parts.name, lane.name);
    sign(parts.state, lane.icon, lane.say, lane.tone);
    parts.track.className = `rlnb-track${lane.hue ? ` rlnb-${lane.hue}` : ""}`;
    this.lanes.set(lane.name, lane);
  }

  choose(key) {
    this.lane = this.lane === key ? null : key;
    for (const [each, { node }] of this.nodes)
      if (each[0] === "L") node.setAttribute("aria-pressed", String(each === this.lane));
    this.filter();
  }

  draw_T(key, task) {
    const parts = this.node(key, this.tasks, () => {
      const [state, name, note] = ["span", "strong", "span"].map((tag) => make(tag));
      return { node: make("li", "", state, name, note), state, name, note };
    });
    sign(parts.state, task.icon, task.word, task.hue);
    say(parts.name, task.name);
    say(parts.note, [task.who, task.note].filter(Boolean).join(" · "));
    this.note(key, task.name, task.word);
  }

  draw_E(key, entry) {
    const lane = this.lanes.get(entry.who);
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

  draw_P(key, piece) {
    const entry = this.nodes.get(piece.in);
    if (!entry) return;
    const parts = this.node(key, entry.node, () => this[`make_${piece.kind}`]());
    parts.node.dataset.kind = piece.kind;
    this[`draw_${piece.kind}`](parts, piece);
    this.sift(piece.in);
  }

  make_text() {
    const text = make("span", "rlnb-t");
    const end = make("span", "rlnb-q");
    return { node: make("p", "", text, end), text, end };
  }

  draw_text({ node, text, end }, piece) {
    say(text, piece.text);
    node.classList.toggle("rlnb-void", Boolean(piece.void));
    text.classList.toggle("rlnb-on", Boolean(piece.on));
    say(end, piece.void ? " … not used: the attempt failed" : piece.cut ? " … cut here" : "");
  }

  make_think() {
    const note = make("span");
    const text = make("p", "rlnb-t rlnb-q");
    const title = make("summary", "", make("span", "", "∴ reasoning"), " ", note);
    return { node: make("details", "", title, text), note, text };
  }

  draw_think({ text, note, node }, piece) {
    say(text, piece.text);
    say(note, `· ${piece.text.length.toLocaleString("en")}${SPACE}characters`);
    node.classList.toggle("rlnb-void", Boolean(piece.void));
  }

  make_tool() {
    const [name, args, out, state] = ["b", "span", "span", "span"].map((tag) => make(tag));
    const [given, got] = [make("pre"), make("pre")];
    const title = make("span", "", "ƒ ", make("code", "", name, args), out);
    const head = make("summary", "", title, make("span", "rlnb-e", state));
    const what = make("p", "rlnb-q", "result");
    const node = make("details", "", head, make("p", "rlnb-q", "arguments"), given, what, got);
    return { node, name, args, out, state, given, got, what };
  }

  draw_tool(parts, piece) {
    say(parts.name, piece.name);
    say(parts.args, piece.args);
    say(parts.out, piece.out ? ` → ${piece.out}` : "");
    sign(parts.state, piece.icon, piece.word, piece.hue);
    say(parts.given, piece.given);
    say(parts.got, piece.got);
    say(parts.what, piece.err ? "error" : "result");
    parts.what.hidden = parts.got.hidden = !piece.got;
  }

  make_note() {
    const [mark, text] = [make("span"), make("span")];
    return { node: make("p", "rlnb-q", mark, " ", text), mark, text };
  }

  draw_note({ mark, text }, piece) {
    sign(mark, piece.icon, "", piece.hue);
    say(text, piece.text);
  }

  // -- what is hidden, what is counted, what is said ---------------------------------------

  matches(piece) {
    return this.kind === "all" || (this.kind === "err" ? piece.err : piece.kind === this.kind);
  }

  // Hides an entry and its pieces where the filter leaves them out.
  sift(entry) {
    const record = this.records.all.get(entry);
    const lane = this.lane && this.records.all.get(this.lane);
    let some = false;
    for (const [key, piece] of this.records.all) {
      if (piece.in !== entry) continue;
      const parts = this.nodes.get(key);
      const shown = this.matches(piece);
      some ||= shown;
      if (parts) parts.node.hidden = !shown;
    }
    const here = !lane || record.who === lane.name;
    const parts = this.nodes.get(entry);
    if (parts) parts.node.hidden = !here || !(some || this.kind === "all");
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
    const lanes = [...this.records.all.keys()].filter((key) => key[0] === "L").length;
    const tasks = this.tasks.children.length;
    this.rows.hidden = lanes < 2 && !tasks;
    this.folded.hidden = !tasks;
    this.reach();
    this.full.hidden = !this.log.classList.contains("rlnb-full")
      && this.log.scrollHeight <= this.log.clientHeight + 1;
  }

  tick() {
    const run = this.records.all.get("run");
    if (!run) return;
    const elapsed = this.records.elapsed();
    say(this.figures, [run.figures, time(elapsed, run.live)].filter(Boolean).join(" · "));
    const whole = Math.max(elapsed, 1);
    for (const [key, { track }] of this.nodes) {
      if (key[0] !== "L") continue;
      const { spans } = this.records.all.get(key);
      while (track.children.length > spans.length) track.lastChild.remove();
      spans.forEach(([start, end], at) => {
        const bar = track.children[at] ?? track.appendChild(make("span", "rlnb-work"));
        bar.style.left = `${(100 * start) / whole}%`;
        bar.style.width = `${(100 * ((end ?? elapsed) - start)) / whole}%`;
      });
    }
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

export default () => {
  const records = new Records();
  return {
    initialize({ model }) {
      records.load(model.get("snapshot"));
      model.on("change:snapshot", () => records.load(model.get("snapshot")));
      model.on("msg:custom", (message) => {
        if (!records.batch(message)) model.send({ want: records.n });
      });
    },
    render({ model, el }) {
      const view = new View(el, records, (content) => model.send(content));
      return () => view.close();
    },
  };
};
