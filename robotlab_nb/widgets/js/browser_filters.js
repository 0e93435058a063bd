// The conditions of a log browser: menus of the values that there are, fields, and what was chosen.

import { make, say } from "./dom.js";

const TYPED_MS = 500;
const FIELDS = [
  ["words", "search", "words in the question"],
  ["since", "text", "since: 7d, a date"],
  ["until", "text", "until"],
];

export class RunFilters {
  constructor(tell) {
    this.tell = tell;
    this.menus = new Map();
    this.told = new Map();
    this.fields = new Map();
    this.bar = make("div", "rlnb-bar rlnb-filters");
    this.chips = make("div", "rlnb-bar rlnb-chips");
    this.wrong = make("p", "rlnb-i rlnb-kw rlnb-told");
    for (const [name, type, words] of FIELDS) this.bar.append(this.field(name, type, words));
    this.root = make("div", "", this.bar, this.chips, this.wrong);
    this.root.setAttribute("role", "search");
  }

  field(name, type, words) {
    const node = make("input", `rlnb-${name}`);
    Object.assign(node, { type, placeholder: words, maxLength: 200 });
    node.setAttribute("aria-label", words);
    let told = "";
    let timer = null;
    const send = () => {
      clearTimeout(timer);
      if (node.value !== told) this.tell({ [name]: node.value });
      told = node.value;
    };
    node.oninput = () => {
      clearTimeout(timer);
      // A time is only known when it is written to its end.
      if (name === "words" || !node.value) timer = setTimeout(send, TYPED_MS);
    };
    node.onchange = send;
    node.onkeydown = (event) => event.key === "Enter" && send();
    this.fields.set(name, { node, set: (text) => { node.value = told = text; } });
    return node;
  }

  // Shows which values there are.
  offer(all) {
    for (const [key, { name, key: of, values }] of all) {
      if (key[0] !== "F") continue;
      const menu = this.menus.get(of) ?? this.menu(of, name);
      const told = JSON.stringify(values);
      // A menu that is open would shut.
      if (told === this.told.get(of)) continue;
      this.told.set(of, told);
      const options = values.map(([number, words, runs]) => new Option(`${words} (${runs.toLocaleString("en")})`, number));
      menu.replaceChildren(new Option(name, ""), ...options);
      // A menu that was of use stays where it is. Having no tag is no value.
      if (values.length > (of === "tag" ? 0 : 1)) menu.hidden = false;
    }
  }

  menu(of, name) {
    const menu = make("select");
    menu.setAttribute("aria-label", `only runs with this ${name}`);
    menu.onchange = () => {
      if (menu.value) this.tell({ pick: Number(menu.value) });
      menu.selectedIndex = 0;
    };
    menu.hidden = true;
    this.menus.set(of, menu);
    this.bar.insertBefore(menu, this.fields.get("words").node);
    return menu;
  }

  // Shows what was chosen and typed.
  draw({ chips, fixed, wrong, ...head }) {
    for (const [name, { node, set }] of this.fields) {
      node.hidden = fixed.includes(name);
      if (document.activeElement !== node && node.value !== head[name]) set(head[name]);
      node.setAttribute("aria-invalid", String(name in wrong));
    }
    const many = chips.length + FIELDS.filter(([name]) => head[name]).length;
    const key = JSON.stringify([chips, many]);
    if (key !== this.drawn) {
      const had = this.chips.contains(document.activeElement);
      this.chips.replaceChildren(...chips.map((chip) => this.chip(...chip)));
      if (many) this.chips.append(this.all());
      if (had) (this.chips.querySelector("button") ?? this.bar.querySelector(":not([hidden])")).focus();
    }
    this.drawn = key;
    this.chips.hidden = !many;
    say(this.wrong, Object.values(wrong).join(" "));
    this.wrong.hidden = !this.wrong.textContent;
  }

  chip(number, name, words) {
    const node = make("button", "rlnb-chip", make("span", "rlnb-q", `${name} `), words, " ✕");
    node.type = "button";
    node.setAttribute("aria-label", `${name} ${words}: take this condition away`);
    node.onclick = () => this.tell({ drop: number });
    return node;
  }

  all() {
    const node = make("button", "", "Clear all");
    node.type = "button";
    node.onclick = () => this.tell({ clear: true });
    return node;
  }
}
