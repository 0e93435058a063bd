// Questions: a card while one is open, with buttons where a click is heard; one line afterwards.
// Nothing is promised: a card says that it was drawn, and has buttons once Python says so.

import { make, own, PAGE, say, sign, SPACE, time } from "./dom.js";

// milliseconds after which an answer that nobody heard is said again
const SAY_AGAIN = [1000, 3000, 9000];
const NOT_HEARD_MS = 1500;
let said_here = 0;

// A question: who asks what, what it is about, how it is answered. `view` has asks, node(), note(),
// send() and records.
export function drawAsk(view, key, ask) {
  const card = view.node(key, view.asks, () => make_card(view, key, ask));
  card.ask = ask;
  if (ask.over) return freeze(view, key, card);
  say(card.who, `${ask.who} ${ask.what}`);
  say(card.name, ask.tool);
  const texts = {
    given: ask.whole || ask.given,
    text: ask.text,
    why: ask.why && `why it asks: ${ask.why}`,
    choices: ask.choices,
  };
  for (const [field, words] of Object.entries(texts)) {
    say(card[field], words);
    card[field].hidden = !words;
  }
  card.tool.hidden = !ask.tool;
  if (ask.call !== undefined && ask.call !== card.call) {
    card.call = ask.call;
    here(view, card);
    for (const ms of SAY_AGAIN.slice(0, 2))
      setTimeout(() => card.frozen || card.ask.via === "click" || here(view, card), ms);
  }
  const click = ask.via === "click";
  if (click && !card.controls) control(view, card);
  if (card.controls) card.controls.hidden = !click;
  if (click) card.choices.hidden = true;
  hear(view, key, card);
  explain(card, click);
  count_down(view, card);
  if (click && !card.offered) offer(card);
}

function here(view, { ask }) {
  view.send({ drawn: [[ask.id, ask.call]], hello: PAGE });
}

function make_card(view, key, ask) {
  const [state, who, limit] = ["span", "span", "span"].map((tag) => make(tag));
  limit.className = "rlnb-q";
  limit.setAttribute("role", "timer");
  const [tool, given, text, why, choices] = ["p", "pre", "p", "p", "p"].map((tag) => make(tag));
  const name = tool.appendChild(make("code", "", make("b"))).firstChild;
  const [note, how] = [make("p", "rlnb-q"), make("p", "rlnb-q")];
  text.className = "rlnb-t";
  note.hidden = true;
  const head = make("p", "", make("strong", "", state), " · ", who, " · ", limit);
  const node = make(
    "blockquote", "rlnb-r rlnb-kw rlnb-ask", head, tool, given, text, why, choices, note, how,
  );
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", [ask.who, ask.what, ask.tool].filter(Boolean).join(" "));
  own(given).tabIndex = 0;
  given.setAttribute("role", "region");
  given.setAttribute("aria-label", "arguments");
  sign(state, "?", "waiting for you", "kw");
  if (!ask.over) view.note(key, `${ask.who} ${ask.what}`, ask.tool || ask.text);
  const card = { node, who, limit, tool, name, given, text, why, choices, note, how };
  card.timer = setInterval(() => {
    const gone = view.nodes?.get(key) !== card || !view.records.views.has(view);
    if (gone || card.frozen) clearInterval(card.timer);
    else count_down(view, card);
  }, 500);
  return card;
}

// The time that is left, without a word from Python.
function count_down(view, { limit, ask }) {
  const left = ask.until == null ? null : ask.until - view.records.elapsed();
  if (left === null || !view.records.all.get("run")?.live) return say(limit, ask.limit);
  say(limit, left > 0 ? `${time(Math.ceil(left), true)} left, ${ask.after}` : "the time is up");
}

function explain({ how, ask }, click) {
  how.hidden = ask.via === "prompt";
  how.replaceChildren(click ? "or in a cell: " : "Next cell: ");
  ask.how.forEach(([call, what], at) => {
    how.append(at ? ", " : "", make("code", "", call), what ? ` ${what}` : "");
  });
}

// -- buttons and fields --------------------------------------------------------------------------

function control(view, card) {
  card.controls = make("div", "rlnb-says");
  card.parts = [];
  if (card.ask.approval) approval(view, card);
  else question(view, card);
  card.controls.append(...card.rows);
  card.note.before(card.controls);
}

function button(view, card, words, value) {
  const node = make("button", "", words);
  node.type = "button";
  node.onclick = () => answer(view, card, value());
  card.parts.push(node);
  return node;
}

function field(view, card, tag, label, hint) {
  const node = make(tag);
  node.placeholder = hint;
  node.spellcheck = false;
  node.setAttribute("aria-label", label);
  card.parts.push(node);
  return node;
}

// Yes, no and "yes, but" weigh the same.
function approval(view, card) {
  const { edit } = card.ask;
  const text = field(view, card, "textarea", "arguments, as JSON", "");
  text.value = edit;
  text.rows = Math.min(Math.max(edit.split("\n").length, 3), 16);
  text.hidden = true;
  const yes = button(view, card, "Approve", () => (text.hidden ? { approve: true } : { edit: text.value }));
  const reason = field(view, card, "input", "why not", "why not (optional, the model reads it)");
  const no = button(view, card, "Deny", () => ({ deny: reason.value }));
  const change = make("button", "", "Edit");
  change.type = "button";
  change.hidden = !edit;
  change.setAttribute("aria-expanded", "false");
  const turn = (on) => {
    if (card.waits) return;
    text.hidden = !on;
    change.setAttribute("aria-expanded", String(on));
    say(change, on ? "Leave edit" : "Edit");
    say(yes, on ? "Approve as edited" : "Approve");
    tell(card, "");
    (on ? text : change).focus({ preventScroll: true });
  };
  change.onclick = () => turn(text.hidden);
  text.onkeydown = (event) => {
    if (event.key === "Escape") turn(false);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) yes.click();
  };
  reason.onkeydown = (event) => {
    if (event.key === "Enter" && !event.isComposing) no.click();
  };
  card.first = no;
  card.editing = () => !text.hidden && text;
  card.parts.push(change);
  card.rows = [text, make("div", "rlnb-bar", yes, no, change, reason)];
}

function question(view, card) {
  const { ask } = card;
  const picks = ask.picks.map((pick, at) => {
    const node = button(view, card, pick, () => ({ choice: at }));
    if (at === ask.preset) node.append(make("span", "rlnb-q", `${SPACE}(default)`));
    return node;
  });
  card.rows = picks.length ? [make("div", "rlnb-bar", ...picks)] : [];
  card.first = picks[0];
  if (picks.length && !ask.more) return;
  const hint = ask.default === null ? "your answer" : `nothing typed means: ${ask.default}`;
  const text = field(view, card, "textarea", "your answer", hint);
  text.rows = 1;
  const send = button(view, card, "Send", () => ({ text: text.value }));
  send.onclick = () => {
    if (text.value.trim() || ask.default !== null) answer(view, card, { text: text.value });
    else tell(card, "Type an answer first.");
  };
  text.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send.click();
  };
  card.first ??= text;
  card.rows.push(make("div", "rlnb-bar rlnb-line", text, send));
}

// Where nobody is doing anything else, the keyboard is here: on the safe answer.
function offer(card) {
  card.offered = true;
  const { activeElement, body } = document;
  if (!activeElement || activeElement === body) card.first.focus({ preventScroll: true });
}

// -- an answer on its way ------------------------------------------------------------------------

function answer(view, card, value) {
  if (card.waits) return;
  const name = `${PAGE}-${(said_here += 1)}`;
  const content = { answer: { id: card.ask.id, try: name, value }, hello: PAGE };
  const waits = (call) => () => card.waits === name && call();
  card.waits = name;
  hold(card, true);
  tell(card, "sending …");
  view.send(content);
  // A page that was loaded again still connects: what was lost is said again, and counts once.
  card.again = SAY_AGAIN.map((ms) => setTimeout(waits(() => view.send(content)), ms));
  const late = "sent, not heard yet: a cell holds the kernel, and it is heard when that ends";
  card.again.push(setTimeout(waits(() => tell(card, late)), NOT_HEARD_MS));
}

function hear(view, key, card) {
  const { ask } = card;
  if (card.waits && ask.tried === card.waits) {
    card.again.forEach(clearTimeout);
    if (!ask.error) return tell(card, "taken");
    card.waits = null;
    hold(card, false);
    tell(card, ask.error, "kf");
    view.note(`${key}!`, "not taken:", ask.error);
    if (card.editing?.()) card.editing().focus({ preventScroll: true });
  } else if (ask.via === "prompt") {
    tell(card, "asked at the prompt of the cell that waits for it");
    card.prompted = true;
  } else if (card.prompted) {
    tell(card, "");
    card.prompted = false;
  }
}

function tell({ note }, words, hue) {
  note.className = hue ? `rlnb-told rlnb-i rlnb-${hue}` : "rlnb-q";
  say(note, words);
  note.hidden = !words;
}

// Not disabled: that would take the keyboard away.
function hold({ parts }, on) {
  for (const part of parts) {
    part.setAttribute("aria-disabled", String(on));
    if (part.localName !== "button") part.readOnly = on;
  }
}

// -- once it is settled --------------------------------------------------------------------------

function freeze(view, key, card) {
  const { node, ask } = card;
  if (!card.frozen) {
    card.frozen = true;
    (card.again ?? []).forEach(clearTimeout);
    const focused = node.contains(document.activeElement);
    const sign_ = make("span");
    sign(sign_, ask.over.icon, "", ask.over.hue);
    card.late = make("span", "rlnb-told rlnb-i rlnb-kf");
    node.replaceChildren(make("p", "rlnb-q", sign_, SPACE, ask.over.text, " ", card.late));
    node.className = "rlnb-over";
    node.setAttribute("aria-label", "settled question");
    if (focused) {
      own(node).tabIndex = -1;
      node.focus({ preventScroll: true });
    }
    if (card.who.firstChild) view.note(key, "settled:", ask.over.text);
  }
  say(card.late, ask.error ?? "");
}
