// A chat box: what was said, a line to type in. It takes the place of its own picture, which is what
// the notebook stores. Everything that a model, a tool or a person wrote enters as a text node.

import { drawAsk } from "./asks.js";
import { make, PAGE, say, sign } from "./dom.js";
import { drafts, Line } from "./line.js";
import { PIECES } from "./pieces.js";
import { build } from "./prose.js";
import { follow, Records } from "./records.js";
import { keep, Seats } from "./seats.js";
import { Transcript } from "./transcript.js";

const TICK_MS = 250;
const UNHEARD = "the kernel is busy: it hears this when the running cell ends";
// by first letter of its key: how a record is drawn; in this order
const CHAT_DRAWN = { c: "head", L: "mark", Q: "ask", E: "entry", P: "piece", W: "wait" };
const CHAT_ORDER = Object.keys(CHAT_DRAWN).join("");

// A text that is whole has the form that its Markdown gives it; not while a reader has chosen words
// in it.
const [makeText, drawText] = PIECES.text;
PIECES.text = [
  (record) => {
    const parts = makeText(record);
    const formed = make("div", "rlnb-a");
    return { ...parts, node: make("div", "", parts.node, formed), plain: parts.node, formed };
  },
  (parts, piece) => {
    drawText({ ...parts, node: parts.plain }, piece);
    form(parts, piece);
  },
];

function form(parts, piece) {
  const { tree } = piece;
  const chosen = getSelection();
  if (tree && !parts.tree && !chosen.isCollapsed && chosen.containsNode(parts.text, true)) {
    setTimeout(() => form(parts, piece), 1000);
    return;
  }
  if (tree && parts.tree !== tree) parts.formed.replaceChildren(...tree.map(build));
  parts.tree = tree;
  parts.formed.hidden = !tree;
  parts.text.hidden = Boolean(tree);
  parts.plain.hidden = Boolean(tree) && !parts.end.textContent;
}

class ChatView {
  constructor(el, records, line) {
    this.records = records;
    this.fresh = [];
    this.line = line;
    this.send = line.send;
    this.nodes = new Map();
    this.marks = new Map();
    this.told = new Map();
    this.transcript = new Transcript(records, (who) => this.marks.get(who));
    this.build(el);
    this.draw(new Set(records.all.keys()));
    this.news.replaceChildren();
    this.field.value = drafts.get(this.chat.seat);
    this.fit();
    records.views.add(this);
    this.timer = setInterval(() => this.tick(), TICK_MS);
    requestAnimationFrame(() => this.transcript.toEnd());
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

  get chat() {
    return this.records.all.get("chat") ?? {};
  }

  build(el) {
    this.name = make("b");
    this.about = make("span", "rlnb-q");
    this.sim = make("span", "rlnb-b", "simulated");
    this.state = make("span", "rlnb-q");
    this.end = this.button("End", () => this.line.tell({ end: true }));
    this.end.title = "end the chat: what was said stays";
    const { log, newest } = this.transcript;
    this.asks = make("div");
    this.outbox = make("div", "rlnb-out");
    this.chips = make("div", "rlnb-bar rlnb-chips");
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "To begin with");
    this.field = make("textarea");
    this.field.rows = 1;
    this.field.oninput = () => this.typed();
    this.field.onkeydown = (event) => this.key(event);
    this.go = this.button("Send", () => this.submit());
    this.stop = this.button("■ Stop", () => this.halt());
    this.form = make("div", "rlnb-say", this.field, this.stop, this.go);
    this.warn = make("p", "rlnb-q rlnb-i rlnb-kw");
    this.how = make("span", "", "Enter sends · Shift-Enter starts a line · Esc stops");
    this.figures = make("span", "rlnb-e");
    this.foot = make("p", "rlnb-q rlnb-bar rlnb-foot", this.how, this.figures);
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    const right = make("span", "rlnb-e rlnb-bar", this.state, newest, this.end);
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live rlnb-chat",
      make("div", "rlnb-bar", this.name, this.about, this.sim, right),
      log, this.asks, this.outbox, this.chips, this.form, this.warn, this.foot, this.news,
    );
    this.root.setAttribute("role", "group");
    el.append(this.root);
  }

  button(words, press) {
    const node = make("button", "", words);
    node.type = "button";
    node.onclick = press;
    return node;
  }

  // -- what a person does ------------------------------------------------------------------

  typed() {
    drafts.set(this.chat.seat, this.field.value);
    this.fit();
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
    this.go.disabled = !this.field.value.trim();
  }

  key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Escape" && this.chat.busy) {
      event.preventDefault();
      this.halt();
    } else if (event.key === "ArrowUp" && !this.field.value) {
      event.preventDefault();
      this.recall();
    }
    event.stopPropagation();
  }

  submit(text = this.field.value) {
    if (!text.trim()) return;
    this.line.tell({ say: text });
    this.field.value = "";
    this.typed();
    this.field.focus();
    this.outgoing();
    this.transcript.toEnd();
  }

  halt() {
    if (!this.chat.busy || this.stop.disabled) return;
    this.stop.disabled = true;
    this.line.tell({ stop: true });
    this.field.focus();
  }

  // Puts what was said last into the empty line.
  recall() {
    const last = [...this.records.all].reverse().find(
      ([key, piece]) => key[0] === "P" && this.records.all.get(piece.in)?.person,
    );
    if (!last) return;
    this.field.value = last[1].text;
    this.typed();
  }

  // -- drawing what changed ----------------------------------------------------------------

  draw(keys) {
    const following = this.transcript.atEnd();
    const rank = (key) => CHAT_ORDER.indexOf(key[0]);
    for (const key of [...keys].sort((a, b) => rank(a) - rank(b))) {
      const record = this.records.all.get(key);
      if (!record) this.remove(key);
      else this[CHAT_DRAWN[key[0]]]?.(key, record);
    }
    this.outgoing();
    this.speak();
    if (following) this.transcript.toEnd();
    this.transcript.reach();
  }

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
    this.transcript.remove(key);
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

  head(_key, chat) {
    this.root.setAttribute("aria-label", `chat with ${chat.name}`);
    this.field.setAttribute("aria-label", `Message to ${chat.name}`);
    say(this.name, chat.name);
    say(this.about, `chat · ${chat.model}`);
    this.sim.hidden = !chat.sim;
    const { icon = "◐", say: words = "begins", tone = "kr" } = chat.doing ?? {};
    sign(this.state, icon, words, tone);
    this.state.hidden = !chat.busy;
    if (!chat.busy) this.stop.disabled = false;
    this.stop.hidden = !chat.busy || !chat.open;
    this.go.hidden = this.field.hidden = !chat.open;
    this.form.hidden = this.end.hidden = this.how.hidden = !chat.open;
    if (this.field.placeholder !== chat.placeholder) this.field.placeholder = chat.placeholder;
    if (chat.height) this.transcript.log.style.maxHeight = `${Number(chat.height)}px`;
    say(this.figures, chat.figures);
    if (this.told.has("chat") || chat.busy)
      this.note("chat", chat.name, chat.busy ? "answers" : "has answered");
  }

  starters(chat) {
    if (!chat.starters) return;
    if (this.chips.children.length !== chat.starters.length) {
      this.chips.replaceChildren(
        ...chat.starters.map((text) => this.button(text, () => this.submit(text))),
      );
    }
    const begun = this.begun() || this.outbox.children.length;
    this.chips.hidden = Boolean(begun) || !chat.open || !chat.starters.length;
  }

  begun() {
    return [...this.records.all.keys()].some((key) => key[0] === "E");
  }

  mark(_key, mark) {
    this.marks.set(mark.name, mark);
  }

  ask(key, ask) {
    drawAsk(this, key, ask);
  }

  entry(key, entry) {
    this.transcript.entry(key, entry);
  }

  piece(key, piece) {
    this.transcript.piece(key, piece);
    if (piece.kind === "note" && piece.err) this.note(key, "", piece.text);
  }

  wait(key, { text }) {
    const parts = this.node(key, this.outbox, () => letter("waits for the answer above"));
    say(parts.text, text);
  }

  // What was sent and not heard yet.
  outgoing() {
    const { heard = [], refused = "" } = this.chat;
    this.line.look(heard);
    let late = false;
    for (const key of [...this.nodes.keys()])
      if (key[0] === "!" && !this.line.open.has(key.slice(1))) this.remove(key);
    for (const [id, each] of this.line.open) {
      const slow = this.line.late(each);
      if (!each.content.say) late ||= slow;
      else {
        const parts = this.node(`!${id}`, this.outbox, () => letter(""));
        say(parts.text, each.content.say);
        say(parts.note, slow ? UNHEARD : "sending …");
      }
    }
    const words = late ? `${UNHEARD}; ■ in the toolbar stops the cell` : refused;
    say(this.warn, words);
    this.warn.hidden = !words;
    this.outbox.hidden = !this.outbox.children.length;
    this.starters(this.chat);
    this.transcript.log.hidden = !this.begun();
  }

  tick() {
    if (this.line.open.size) this.outgoing();
  }

  // -- what is said aloud: states, not words of a model ---------------------------------------

  note(key, name, word) {
    if (this.told.get(key) !== word) this.fresh = [...(this.fresh ?? []), `${name} ${word}`.trim()];
    this.told.set(key, word);
  }

  speak() {
    if (this.fresh?.length) say(this.news, this.fresh.slice(-3).join("; "));
    this.fresh = [];
  }
}

// A message on its way.
function letter(words) {
  const [text, note] = [make("p", "rlnb-t"), make("span", "rlnb-e", words)];
  const head = make("p", "rlnb-h rlnb-q", make("strong", "", "you"), note);
  return { node: make("blockquote", "rlnb-u", head, text), text, note };
}

export default () => {
  const records = new Records();
  let line = null;
  return {
    initialize({ model }) {
      follow(records, model);
      line = new Line((content) => model.send(content));
      const seats = new Seats(
        () => (records.all.get("chat")?.open ? records.all.get("chat").seat : null),
        (frame) => new ChatView(frame, records, line),
      );
      model.on("msg:custom", ({ still, last }) => {
        if (!still) return;
        let kept = false;
        try {
          kept = keep(model.widget_manager, records.all.get("chat").seat, still);
        } catch { /* another front end, or another version of this one */ }
        if (kept && last) seats.close();
      });
      // A kernel that is gone takes the box along; its picture stays.
      let alive = true;
      model.on("comm_live_update", () => {
        alive = !alive;
        if (!alive) seats.close();
      });
      return () => seats.close();
    },
    render({ el }) {
      const view = new ChatView(el, records, line);
      return () => view.close();
    },
  };
};
