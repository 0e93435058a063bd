// A button that copies. Where the clipboard is closed (a page that did not come over HTTPS), what is
// to be copied is selected instead.

import { make, say } from "./dom.js";

// what: told to whoever hovers; read(): the text; node(): what shows it
export function copier(what, read, node) {
  const button = make("button", "rlnb-copy", "copy");
  button.type = "button";
  button.title = `copy ${what}`;
  button.onclick = async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(read());
    } catch {
      getSelection().selectAllChildren(node());
      done = document.execCommand("copy");
    }
    say(button, done ? "copied" : "selected");
    setTimeout(() => say(button, "copy"), 1500);
  };
  return button;
}
