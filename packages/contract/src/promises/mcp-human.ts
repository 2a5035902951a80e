import type { ContractPromise } from "./promise.ts";

const APP = [
  {
    id: "MCP-APP-RESOURCE",
    says: "ui://formbridge/form is one document that loads nothing; its policy lets it reach only where files go.",
  },
  { id: "MCP-APP-ONLY", says: "The form's tool is marked as the app's, and not shown to a client that shows no apps." },
  { id: "MCP-APP-FIELDS", says: "The form shows and fills every kind of field: nested, lists, choices, dates, files." },
  {
    id: "MCP-APP-NUMBERS",
    says: "A number is kept as it was typed in the form, or sent as text for the server to refuse: never as another one.",
  },
  {
    id: "MCP-APP-ERRORS",
    says: "What is wrong stands at its field, in the contract's words, and is read out with it.",
  },
  {
    id: "MCP-APP-ACTOR",
    says: "What is filled in the form is its hand-off session's; the host's key adds nothing to it.",
  },
  { id: "MCP-APP-HUMAN-ONLY", says: "A field for humans only is filled in the form, and refused to the agent." },
  { id: "MCP-APP-CODE", says: "A magic link opens in the form with the address and the code, and not without." },
  {
    id: "MCP-APP-CONFLICT",
    says: "When somebody else wrote first, the form keeps what was typed and shows what changed.",
  },
  { id: "MCP-APP-UPLOAD", says: "Files go from the form straight to the server, by the upload's own URL." },
  { id: "MCP-APP-SUBMIT", says: "The form submits once, however often the button is pressed, and shows the end." },
  { id: "MCP-APP-ACCESSIBLE", says: "The form works by keyboard alone, and axe finds nothing wrong with it." },
  { id: "MCP-APP-TELLS", says: "The form tells the model that something was saved or sent, and none of the values." },
] as const satisfies readonly ContractPromise[];

const ASKING = [
  { id: "MCP-HANDOFF-LINK", says: "A hand-off's result carries the link, whatever the host can or the person does." },
  {
    id: "MCP-HANDOFF-URL",
    says: "A link that carries no secret is offered as a URL elicitation too; others never are.",
  },
  { id: "MCP-ASK", says: "The person is asked for a few plain fields by the host; the answers are set in one write." },
  { id: "MCP-ASK-PLAIN", says: "Sensitive, human-only, file and nested fields are never asked for by the host." },
  { id: "MCP-ASK-ACTOR", says: "Answers are the key's actor's; with a token alone a human's, recorded as declared." },
  { id: "MCP-ASK-DECLINED", says: "Declined, cancelled, lost or badly answered, a question changes no field." },
  { id: "MCP-REQUEST-STATE", says: "A requestState that is forged, old, or of another caller or call is refused." },
] as const satisfies readonly ContractPromise[];

const WAITING = [
  { id: "MCP-WAIT", says: "status with waitMs answers as soon as the submission changed, or after that time." },
  {
    id: "MCP-WAIT-BOUNDS",
    says: "waitMs is at most 25 seconds; what has changed or ended already is answered at once.",
  },
  { id: "MCP-WAIT-PROGRESS", says: "A caller that gave a progress token is told meanwhile that the wait goes on." },
  {
    id: "MCP-WAIT-TASK",
    says: "A client with the tasks extension gets a task for a wait: known to every instance, and to its caller alone.",
  },
  { id: "MCP-WAIT-LEFT", says: "The wait of a client that went away ends." },
] as const satisfies readonly ContractPromise[];

/** §9 and §12.2 over MCP: the form in the host, asking the user, and waiting for them. */
export const MCP_HUMAN_PROMISES = [...APP, ...ASKING, ...WAITING] as const satisfies readonly ContractPromise[];
