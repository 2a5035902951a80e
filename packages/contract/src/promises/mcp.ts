import type { ContractPromise } from "./promise.ts";

/** §12.2: MCP. */
export const MCP_PROMISES = [
  {
    id: "MCP-TOOLS",
    says: "Each intake can be called by formbridge_{intakeId}_{create|set|validate|upload|confirm|submit|status|events|handoff|cancel}. Listed are a create for each of up to 12 intakes and one set of verbs for all, or what FORMBRIDGE_MCP_TOOLS says.",
  },
  {
    id: "MCP-ANNOTATED",
    says: "Every tool has all four annotations: whether it only reads, destroys, may be repeated, and reaches other systems.",
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
    says: "Every response is the contract's envelope as data and as text, and matches the tool's output schema.",
  },
  {
    id: "MCP-SHORT",
    says: "A response is a few hundred tokens unless verbose is requested, which returns what HTTP returns; missing fields are listed in schema order, with descriptions.",
  },
  {
    id: "MCP-ERROR",
    says: "A contract error is a result with isError and the same envelope as over HTTP; its next actions name tools.",
  },
  {
    id: "MCP-ARGUMENTS",
    says: "Arguments that are missing, of a wrong type, too large or unknown are a result with isError that names them, and change nothing.",
  },
  {
    id: "MCP-UNKNOWN",
    says: "An unknown tool, prompt or resource is the protocol's error, the same as for one that exists but not for this caller.",
  },
  { id: "MCP-OWN-INTAKE", says: "For a tool of one intake, submissions of other intakes do not exist." },
  {
    id: "MCP-STALE",
    says: "The error of a stale token says what others have changed and proposes the merged call, and that call succeeds.",
  },
  {
    id: "MCP-REPLAY",
    says: "A replayed response has _meta.idempotent_replayed: true, and nothing was executed twice.",
  },
  {
    id: "MCP-ACTOR",
    says: "The actor is the given one or the key's own; without either, an agent with the name of the client.",
  },
  {
    id: "MCP-RIGHTS",
    says: "Keys, roles, tenants and rate limits work as over HTTP; an invalid key is a 401.",
  },
  {
    id: "MCP-LIST-CHANGED",
    says: "When an intake is registered, changed or retired, the tools follow, and subscribers are notified, on every instance.",
  },
  {
    id: "MCP-RESOURCES",
    says: "An intake, its schema, a submission and its events are resources, with the same rights as over HTTP; no listed URI contains a token.",
  },
  { id: "MCP-PROMPTS", says: "The prompts fill_intake and continue_submission name the tools that the caller sees." },
  {
    id: "MCP-REVISIONS",
    says: "One endpoint serves the revisions 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26, and keeps no session.",
  },
  {
    id: "MCP-DOOR",
    says: "/mcp refuses a foreign Host and pages of an Origin that is not allowed, before anything else.",
  },
  {
    id: "MCP-MALFORMED",
    says: "Malformed, oversized and hostile JSON-RPC gets the error that the protocol names, and changes nothing.",
  },
  {
    id: "MCP-GONE",
    says: "A client that disconnects mid-call leaves nothing half done, and the same call with its idempotency key returns the outcome.",
  },
  {
    id: "MCP-OWN-MISTAKES",
    says: "Our own errors are logged, and reported to the caller without details.",
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
    says: "Requests received before the host closed its side, or before the process was asked to stop, are still answered.",
  },
  {
    id: "MCP-BRIDGE",
    says: "formbridge mcp --url forwards messages to a server with the key from the environment, and reports an error when that can't be reached.",
  },
  {
    id: "MCP-SAME",
    says: "A call over MCP has the same outcome as over HTTP: the same responses, records and history, over HTTP and stdio, with clients of this and of earlier revisions.",
  },
  {
    id: "MCP-CONFORMS",
    says: "The official conformance suite and the official inspector find nothing, but for exceptions that are listed with their reasons.",
  },
  { id: "MCP-SECRETS", says: "No token, session, key or idempotency key of a call over MCP is in a log." },
] as const satisfies readonly ContractPromise[];
