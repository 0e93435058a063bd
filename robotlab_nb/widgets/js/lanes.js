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
