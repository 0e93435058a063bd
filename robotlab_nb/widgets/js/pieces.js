// The pieces of a message: text, reasoning, a tool call, a note. Each kind makes its nodes once and
// then changes them.

import { copier } from "./copy.js";
import { make, say, sign, SPACE } from "./dom.js";

function make_text() {
  const text = make("span", "rlnb-t");
  const end = make("span", "rlnb-q");
  return { node: make("p", "", text, end), text, end };
}

function draw_text({ node, text, end }, piece) {
  say(text, piece.text);
  node.classList.toggle("rlnb-void", Boolean(piece.void));
  text.classList.toggle("rlnb-on", Boolean(piece.on));
  say(end, piece.void ? " … not used: the attempt failed" : piece.cut ? " … cut here" : "");
}

function make_think() {
  const note = make("span");
  const text = make("p", "rlnb-t rlnb-q");
  const title = make("summary", "", make("span", "", "∴ reasoning"), " ", note);
  return { node: make("details", "", title, text), note, text };
}

function draw_think({ text, note, node }, piece) {
  say(text, piece.text);
  say(note, `· ${piece.text.length.toLocaleString("en")}${SPACE}characters`);
  node.classList.toggle("rlnb-void", Boolean(piece.void));
}

function make_tool(record) {
  const [name, args, out, state] = ["b", "span", "span", "span"].map((tag) => make(tag));
  const [given, got] = [make("pre"), make("pre")];
  const title = make("span", "", "ƒ ", make("code", "", name, args), out);
  const head = make("summary", "", title, make("span", "rlnb-e", state));
  const what = make("span", "", "result");
  const copies = [
    copier("the arguments", () => record().given, () => given),
    copier("the result", () => record().got, () => got),
  ];
  const asked = make("p", "rlnb-q", make("span", "", "arguments"), " ", copies[0]);
  const told = make("p", "rlnb-q", what, " ", copies[1]);
  const node = make("details", "", head, asked, given, told, got);
  return { node, name, args, out, state, given, got, what, told };
}

function draw_tool(parts, piece) {
  say(parts.name, piece.name);
  say(parts.args, piece.args);
  say(parts.out, piece.out ? ` → ${piece.out}` : "");
  sign(parts.state, piece.icon, piece.word, piece.hue);
  say(parts.given, piece.given);
  say(parts.got, piece.got);
  say(parts.what, piece.err ? "error" : "result");
  parts.told.hidden = parts.got.hidden = !piece.got;
}

function make_note() {
  const [mark, text] = [make("span"), make("span")];
  return { node: make("p", "rlnb-q", mark, " ", text), mark, text };
}

function draw_note({ mark, text }, piece) {
  sign(mark, piece.icon, "", piece.hue);
  say(text, piece.text);
}

// kind of piece -> its nodes (made with a reader of its record), and how they are changed
export const PIECES = {
  text: [make_text, draw_text],
  think: [make_think, draw_think],
  tool: [make_tool, draw_tool],
  note: [make_note, draw_note],
};
