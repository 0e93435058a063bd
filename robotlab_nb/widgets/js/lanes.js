// One row per robot: who it is, when it worked, what it does now.

import { make, say, sign, SPACE } from "./dom.js";

export function drawLane(view, key, lane) {
  const parts = view.node(key, view.rows, () => {
    const [mark, name, track, state] = ["span", "strong", "span", "span"].map((t) => make(t));
    track.className = "rlnb-track";
    const node = make("button", "rlnb-lane", make("span", "", mark, SPACE, name), track, state);
    node.type = "button";
    node.setAttribute("aria-pressed", "false");
    node.onclick = () => view.choose(key);
    return { node, mark, name, track, state };
  });
  sign(parts.mark, lane.shape, "", lane.hue);
  say(parts.name, lane.name);
  sign(parts.state, lane.icon, lane.say, lane.tone);
  parts.track.className = `rlnb-track${lane.hue ? ` rlnb-${lane.hue}` : ""}`;
  view.lanes.set(lane.name, lane);
}

const PARTS = ["rlnb-work", "rlnb-slot", "rlnb-held"];

// When it worked, waited for a free slot, waited for a person; what goes on grows.
export function drawTrack(track, spans, elapsed) {
  const whole = Math.max(elapsed, 1);
  while (track.children.length > spans.length) track.lastChild.remove();
  spans.forEach(([start, end, kind], at) => {
    const part = track.children[at] ?? track.appendChild(make("span"));
    part.className = PARTS[kind] ?? PARTS[0];
    part.style.left = `${(100 * start) / whole}%`;
    part.style.width = `${(100 * Math.max((end ?? elapsed) - start, 0)) / whole}%`;
  });
}
