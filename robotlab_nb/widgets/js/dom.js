// Nodes of a page, and words in them. What a model or a tool wrote is only ever put into text nodes.

export const PAGE = Math.random().toString(36).slice(2);
export const SPACE = "\u00a0";

// What has the keyboard keeps it: JupyterLab would take an x on a button for "cut this cell".
export function own(node) {
  node.setAttribute("data-lm-suppress-shortcuts", "true");
  return node;
}

const KEYED = new Set(["button", "input", "select", "summary", "textarea"]);

export function make(tag, name, ...children) {
  const node = document.createElement(tag);
  if (KEYED.has(tag)) own(node);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null));
  return node;
}

// Changes a node's text; what only grew is appended to the text node that is there.
export function say(node, text) {
  const last = node.lastChild;
  if (last?.nodeType !== Node.TEXT_NODE) node.append(text);
  else if (text.startsWith(last.data)) last.appendData(text.slice(last.data.length));
  else last.data = text;
}

export function sign(node, icon, word, hue) {
  node.className = hue ? `rlnb-s rlnb-i rlnb-${hue}` : "rlnb-s";
  say(node, word ? `${icon}${SPACE}${word}` : icon);
}

export function time(seconds, whole) {
  if (seconds < 60) return `${whole ? Math.floor(seconds) : seconds.toFixed(1)}${SPACE}s`;
  return `${Math.floor(seconds / 60)}${SPACE}min${SPACE}${Math.floor(seconds % 60)}${SPACE}s`;
}
