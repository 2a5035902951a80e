import type { ContractPromise } from "./promise.ts";

/** §12.2: MCP. */
export const MCP_PROMISES = [
  {
    id: "MCP-TOOLS",
    says: "Each intake can be called by formbridge_{intakeId}_{create|set|validate|upload|confirm|submit|status|events|handoff|cancel}. Listed are a create for each of up to 12 intakes and one set of verbs for all, or what FORMBRIDGE_MCP_TOOLS says.",
  },
  {
    id: "MCP-ANNOTATED",
    says: "Every tool says with all four annotations whether it only reads, destroys, may be repeated, and reaches out.",
  },
  {
    id: "MCP-FLAT",
    says: "The root of every input schema is a plain object, whatever the intake's schema is, and values that are valid in the intake are valid there.",
  },
  {
    id: "MCP-SCHEMA",
    says: "Input schemas have the intake's fields with titles, descriptions and examples, without those that only a human may set, and explain file fields.",
  },
  {
    id: "MCP-ANSWER",
    says: "Every answer is the contract's envelope as data and as text, and fits the tool's output schema.",
  },
  {
    id: "MCP-SHORT",
    says: "An answer is a few hundred tokens unless verbose is asked for, which gives what HTTP gives; missing fields come in the order of the schema and described.",
  },
  {
    id: "MCP-ERROR",
    says: "A contract error is a result with isError and the envelope of HTTP, its next actions in words that name tools.",
  },
  {
    id: "MCP-ARGUMENTS",
    says: "Arguments that are missing, of a wrong type, too large or unknown are a result with isError that names them, and change nothing.",
  },
  {
    id: "MCP-UNKNOWN",
    says: "An unknown tool, prompt or resource is the protocol's error, the same when it is there and not for this caller.",
  },
  { id: "MCP-OWN-INTAKE", says: "To a tool of one intake, a submission of another one is not there." },
  {
    id: "MCP-STALE",
    says: "The error of a stale token says what others have changed and proposes the merged call, and that call succeeds.",
  },
  { id: "MCP-REPLAY", says: "A replayed answer has _meta.idempotent_replayed: true, and nothing happened twice." },
  {
    id: "MCP-ACTOR",
    says: "Who acts is the actor that is given or the key's own; without both, an agent by the name of the client.",
  },
  {
    id: "MCP-RIGHTS",
    says: "Keys, roles, tenants and rate limits hold as over HTTP; a key that is not good is a 401.",
  },
  {
    id: "MCP-LIST-CHANGED",
    says: "When an intake is registered, changed or retired, the tools follow, and whoever listens is told, on every instance.",
  },
  {
    id: "MCP-RESOURCES",
    says: "An intake, its schema, a submission and its events are resources, with the rights of HTTP; no listed URI has a token.",
  },
  { id: "MCP-PROMPTS", says: "The prompts fill_intake and continue_submission name the tools that the caller sees." },
  {
    id: "MCP-REVISIONS",
    says: "One endpoint serves the revisions 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26, and keeps no session.",
  },
  {
    id: "MCP-DOOR",
    says: "/mcp refuses a Host that is not ours and a page of an Origin that is not allowed, before anything else.",
  },
  {
    id: "MCP-MALFORMED",
    says: "Malformed, oversized and hostile JSON-RPC gets the error that the protocol names, and changes nothing.",
  },
  {
    id: "MCP-GONE",
    says: "A client that disappears mid-call leaves nothing half done, and the same call with its idempotency key tells what became of it.",
  },
  {
    id: "MCP-OWN-MISTAKES",
    says: "What goes wrong on our side is logged, and told to the caller without its words.",
  },
  {
    id: "MCP-STDIO",
    says: "formbridge mcp serves a host over standard input and output, writes nothing else there, and ends with it.",
  },
  {
    id: "MCP-STDIO-STRICT",
    says: "A line on standard input is read as strictly as a body of HTTP; a request that is refused for it gets its error.",
  },
  {
    id: "MCP-STDIO-ANSWERED",
    says: "What was asked before the host closed its side, or the process was told to end, is still answered.",
  },
  {
    id: "MCP-BRIDGE",
    says: "formbridge mcp --url passes messages on to a server with the key of the environment, and answers when that can't be reached.",
  },
  {
    id: "MCP-SAME",
    says: "What is done over MCP ends as it does over HTTP: the same answers, record and history, by HTTP and standard input and output, with clients of this revision and of those before it.",
  },
  {
    id: "MCP-CONFORMS",
    says: "The official conformance suite and the official inspector find nothing, but for exceptions that are listed with their reasons.",
  },
  { id: "MCP-SECRETS", says: "No token, session, key or idempotency key of a call over MCP is in a log." },
] as const satisfies readonly ContractPromise[];
