// An answer's form: a tree of elements from Python, built of nodes. Only these elements, with only
// these attributes; everything else is text.

import { make } from "./dom.js";

const TAGS = new Set(
  ("p strong em s del code pre ul ol li blockquote h3 h4 h5 h6 table thead tbody tr th td div a br "
    + "hr span").split(" "),
);
const CLASSES = new Set(["rlnb-0", "rlnb-w", "rlnb-q"]);

export function build(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, ...children] = tree;
  if (!TAGS.has(tag)) return document.createTextNode(children.map(String).join(""));
  const node = make(tag, CLASSES.has(attributes.class) ? attributes.class : "");
  if (tag === "a" && /^(https?:\/\/|mailto:)/i.test(attributes.href ?? "")) {
    node.href = attributes.href;
    node.target = "_blank";
    node.rel = "noopener noreferrer";
  }
  if (tag === "ol" && attributes.start) node.start = Number(attributes.start);
  node.append(...children.map(build));
  return node;
}
