// The live view of a run: a widget that shows its records as they come from Python.

import { follow, Records } from "./records.js";
import { View } from "./view.js";

export default () => {
  const records = new Records();
  return {
    initialize({ model }) {
      follow(records, model);
    },
    render({ model, el }) {
      const view = new View(el, records, (content) => model.send(content));
      return () => view.close();
    },
  };
};
