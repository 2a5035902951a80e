import type { ContractPromise } from "./promise.ts";

const APP = [
  {
    id: "MCP-APP-RESOURCE",
    says: "ui://formbridge/form is one document that loads nothing; its policy lets it reach only where files go.",
  },
  {
    id: "MCP-APP-ONLY",
    says: "The form's tool is marked as the app's, and not listed for a client that shows no apps.",
  },
  { id: "MCP-APP-FIELDS", says: "The form shows and fills every kind of field: nested, lists, choices, dates, files." },
  {
    id: "MCP-APP-NUMBERS",
    says: "A number is stored as typed, or sent as text for the server to refuse: never changed.",
  },
  {
    id: "MCP-APP-ERRORS",
    says: "A problem is shown at its field, in the contract's words, and screen readers read it with the field.",
  },
  {
    id: "MCP-APP-ACTOR",
    says: "What is filled in in the form is attributed to its hand-off session; the host's key is not involved.",
  },
  { id: "MCP-APP-HUMAN-ONLY", says: "A field for humans only is filled in the form, and refused to the agent." },
  { id: "MCP-APP-CODE", says: "A magic link opens in the form only with the address and the code." },
  {
    id: "MCP-APP-CONFLICT",
    says: "When somebody else wrote first, the form keeps what was typed and shows what changed.",
  },
  { id: "MCP-APP-UPLOAD", says: "Files go from the form straight to the server, by the upload's own URL." },
  { id: "MCP-APP-SUBMIT", says: "The form submits once, however often the button is pressed, and shows the outcome." },
  { id: "MCP-APP-ACCESSIBLE", says: "The form works by keyboard alone, and axe finds nothing wrong with it." },
  {
    id: "MCP-APP-TELLS",
    says: "The form tells the model that something was saved or submitted, but none of the values.",
  },
] as const satisfies readonly ContractPromise[];

const ASKING = [
  {
    id: "MCP-HANDOFF-LINK",
    says: "The result of a hand-off contains the link, whatever the host supports or the person does.",
  },
  {
    id: "MCP-HANDOFF-URL",
    says: "A link without a secret is also offered as a URL elicitation; others never are.",
  },
  { id: "MCP-ASK", says: "The host asks the person for a few simple fields; the answers are set in one write." },
  { id: "MCP-ASK-PLAIN", says: "The host never asks for sensitive, human-only, file or nested fields." },
  {
    id: "MCP-ASK-ACTOR",
    says: "Answers are attributed to the key's actor; with only a token, to a human recorded as declared.",
  },
  { id: "MCP-ASK-DECLINED", says: "A question that is declined, cancelled, lost or answered badly changes no field." },
  { id: "MCP-REQUEST-STATE", says: "A requestState that is forged, old, or of another caller or call is refused." },
] as const satisfies readonly ContractPromise[];

const WAITING = [
  { id: "MCP-WAIT", says: "status with waitMs returns as soon as the submission changes, or after that time." },
  {
    id: "MCP-WAIT-BOUNDS",
    says: "waitMs is at most 25 seconds; if something has already changed or ended, status returns at once.",
  },
  { id: "MCP-WAIT-PROGRESS", says: "A caller that gave a progress token gets progress notifications while it waits." },
  {
    id: "MCP-WAIT-TASK",
    says: "A client with the tasks extension gets a task for a wait; every instance knows it, and only its caller can use it.",
  },
  { id: "MCP-WAIT-LEFT", says: "A wait ends when its client disconnects." },
] as const satisfies readonly ContractPromise[];

/** §9 and §12.2 over MCP: the form in the host, asking the user, and waiting for them. */
export const MCP_HUMAN_PROMISES = [...APP, ...ASKING, ...WAITING] as const satisfies readonly ContractPromise[];
