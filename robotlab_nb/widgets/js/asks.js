// Open questions: who asks what, what it is about, and how it is answered.

import { make, say, sign } from "./dom.js";

// An open question: who asks what, what it is about, and the code that answers it.
export function drawAsk(view, key, ask) {
  const parts = view.node(key, view.asks, () => {
    const [state, who, limit] = ["span", "span", "span"].map((tag) => make(tag));
    limit.className = "rlnb-q";
    const [tool, given, text, why, choices] = ["p", "pre", "p", "p", "p"].map((t) => make(t));
    const name = tool.appendChild(make("code", "", make("b"))).firstChild;
    const how = make("p", "rlnb-q");
    text.className = "rlnb-t";
    const head = make("p", "", make("strong", "", state), " · ", who, " · ", limit);
    const node = make("blockquote", "rlnb-r rlnb-kw", head, tool, given, text, why, choices, how);
    sign(state, "?", "waiting for you", "kw");
    view.note(key, `${ask.who} ${ask.what}`, ask.tool || ask.text);
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
