// The cells of a grid, and its rows and heads: made once, then changed. What a model wrote enters as
// text nodes.

import { make, own, say, sign, SPACE } from "./dom.js";
import { wordDiff } from "./grid_words.js";

export function makeHead() {
  const [name, base, sum] = [make("strong"), make("span", "rlnb-b", "baseline"), make("span", "rlnb-q")];
  const node = make("div", "rlnb-head", name, " ", base, sum);
  node.setAttribute("role", "columnheader");
  return { node, name, base, sum };
}

export function makeRow(name) {
  const head = make("div", "rlnb-rowhead", name);
  head.setAttribute("role", "rowheader");
  const node = make("div", "rlnb-row", head);
  node.setAttribute("role", "row");
  return { node, head, places: new Map() };
}

export function makeCell(index) {
  const [state, again, text, changed] = ["span", "span", "span", "span"].map((tag) => make(tag));
  text.className = changed.className = "rlnb-t";
  again.className = "rlnb-q";
  const end = make("span", "rlnb-q");
  const error = make("p");
  const answer = make("p", "rlnb-said", again, text, changed, end);
  const [figures, sim] = [make("span"), make("span", "rlnb-b", "simulated")];
  const about = make("p", "rlnb-q", figures, " ", sim);
  const scores = make("div");
  const mine = make("p", "rlnb-q rlnb-mine");
  const node = make("div", "rlnb-k", make("p", "", state), error, answer, about, scores, mine);
  own(node).tabIndex = -1;
  node.setAttribute("role", "gridcell");
  node.dataset.cell = index;
  return { node, state, again, text, changed, end, error, answer, figures, sim, about, scores, mine };
}

// How many stars, in words as well.
export function starred(rating) {
  return rating ? `${"★".repeat(rating)}${"☆".repeat(5 - rating)} rated${SPACE}${rating}` : "";
}

// record: the cell; rating, note: with what was not heard yet; blind: whether what tells the model is
// hidden; base: the record to compare with, or null; some: whether only some cells are simulated.
export function drawCell(parts, record, { rating, note, late, blind, base, some, repeats }) {
  const { node, state, text, changed } = parts;
  sign(state, record.icon, record.word, record.hue);
  state.parentNode.hidden = record.done;
  say(parts.again, repeats ? `${record.rep + 1}.${SPACE}` : "");
  say(parts.error, blind ? "" : record.err);
  parts.error.hidden = !record.err || blind;
  const compared = base && base !== record && record.ended && base.ended;
  if (compared) drawDiff(changed, base.text, record.text);
  else {
    changed.replaceChildren();
    changed.compared = null;
    say(text, record.text);
  }
  text.hidden = Boolean(compared);
  changed.hidden = !compared;
  text.classList.toggle("rlnb-on", record.on && Boolean(record.text));
  const more = record.more ? ` … ${record.more.toLocaleString("en")} more characters` : "";
  const none = record.done && !record.text ? "no text" : "";
  say(parts.end, record.say ? `∴ ${record.say}` : more || none);
  parts.answer.hidden = !record.text && !record.say && !none;
  say(parts.figures, blind ? "" : record.fig);
  parts.sim.hidden = blind || !some || !record.sim;
  parts.about.hidden = blind || !(record.fig || (some && record.sim));
  drawScores(parts.scores, record.scores);
  const words = [starred(rating), note && `note: ${note}`, late && "not heard yet"];
  say(parts.mine, words.filter(Boolean).join(" · "));
  parts.mine.hidden = !words.some(Boolean);
  node.classList.toggle("rlnb-bad", Boolean(record.bad));
  node.setAttribute("aria-busy", String(Boolean(record.on)));
}

export function drawScores(parent, scores) {
  while (parent.children.length > scores.length) parent.lastChild.remove();
  scores.forEach(([icon, words, hue], at) => {
    const node = parent.children[at] ?? parent.appendChild(make("p", "rlnb-score", make("span")));
    sign(node.firstChild, icon, words, hue);
    if (!hue) node.firstChild.classList.add("rlnb-q");
  });
}

// What is in the first alone is struck out, what is in the second alone underlined.
export function drawDiff(parent, before, after) {
  const key = `${before}\u0000${after}`;
  if (parent.compared === key) return;
  parent.compared = key;
  parent.replaceChildren(
    ...wordDiff(before, after).map(([kind, text]) =>
      kind === "same" ? document.createTextNode(text) : make(kind, "", text)),
  );
}
