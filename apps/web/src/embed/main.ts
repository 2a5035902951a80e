import { FormBridgeFormElement } from "./element.tsx";

// Two script tags on one page are no error.
if (customElements.get("formbridge-form") === undefined)
  customElements.define("formbridge-form", FormBridgeFormElement);
