// Takes a picture that came as HTML over into the page: the elements and attributes that pictures are
// made of, one by one, and nothing else. Whoever wrote the picture has escaped it; this is a second lock.

import { make } from "./dom.js";

const PLAIN = `div p span blockquote td th b strong em s code pre br hr dl dt dd ul ol li details summary
  table thead tbody tr h3 h4 h5 h6 a img progress`.split(/\s+/);
const TAKEN = new Set(PLAIN);
const ATTRIBUTES = {
  a: ["href"], ol: ["start"], th: ["scope"], img: ["width", "alt", "src"], progress: ["max", "value"], details: ["open"],
};
const LINK = /^(https?:|mailto:)/i;
const PIXELS = /^data:image\/(svg\+xml|png|jpeg|gif|webp);base64,[\w+/=]*$/;

export function adopt(html) {
  // A document that is never shown: nothing in it loads or runs.
  const found = new DOMParser().parseFromString(html, "text/html");
  return [...found.body.childNodes].map(taken).filter(Boolean);
}

function taken(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || !TAKEN.has(node.localName)) return null;
  const classes = [...node.classList].filter((name) => name.startsWith("rlnb-"));
  const made = make(node.localName, classes.join(" "));
  for (const name of ATTRIBUTES[node.localName] ?? []) {
    const value = node.getAttribute(name);
    if (value === null || (name === "href" && !LINK.test(value)) || (name === "src" && !PIXELS.test(value))) continue;
    made.setAttribute(name, value);
  }
  if (made.localName === "a") Object.assign(made, { rel: "noopener noreferrer", target: "_blank" });
  made.append(...[...node.childNodes].map(taken).filter(Boolean));
  return made;
}
