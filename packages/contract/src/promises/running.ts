import type { ContractPromise } from "./promise.ts";

const GATES = [
  { id: "RUNNING-GATES-ORDER", says: "Gates are passed one after another, in the order of the definition." },
  { id: "RUNNING-GATES-FROZEN", says: "A submission meets the gates of the definition it was created with." },
  {
    id: "RUNNING-GATES-DISTINCT",
    says: "requiredApprovals counts different reviewers; one who approves twice is a 409.",
  },
  { id: "RUNNING-GATES-AUTO", says: "autoApproveIf sees fields, submission and actor, and only `true` approves." },
  { id: "RUNNING-GATES-OWN-WORK", says: "Nobody reviews what they submitted, not even an admin." },
  {
    id: "RUNNING-GATES-REASONS",
    says: "Rejecting without reasons is a 422 and changes nothing; reasons stay visible.",
  },
  {
    id: "RUNNING-GATES-REVIEWERS",
    says: "A gate that names reviewers, by id, role or e-mail, accepts decisions only from them.",
  },
  {
    id: "RUNNING-GATES-KEY",
    says: "A review needs a reviewer's key; a resume token or a declared actor is not enough.",
  },
  {
    id: "RUNNING-GATES-FRESH",
    says: "An approval counts only for the version it saw: after a rejection, all gates start again.",
  },
  {
    id: "RUNNING-GATES-RACE",
    says: "Approvals at the same moment all count, and the last one needed passes the gate.",
  },
  {
    id: "RUNNING-GATES-VERSION",
    says: "A review that names a version or token is refused when that is not the current one.",
  },
  { id: "RUNNING-GATES-ROTATE", says: "A review rotates the token, and the history shows its reviewer." },
  {
    id: "RUNNING-EMBEDDED",
    says: "A program can run the whole server inside itself, with its own settings, intakes and callbacks.",
  },
] as const satisfies readonly ContractPromise[];

const KEYS = [
  { id: "RUNNING-KEYS-SHOWN-ONCE", says: "A new key is shown in the response that creates it and never again." },
  { id: "RUNNING-KEYS-HASHED", says: "Only the hash of a key is stored." },
  { id: "RUNNING-KEYS-LIST", says: "Keys are listed with their rights, without their secrets." },
  { id: "RUNNING-KEYS-REVOKE", says: "A revoked key stops working at once, and revoking it again is a 404." },
  {
    id: "RUNNING-KEYS-EXPIRE",
    says: "A key with an expiry stops working at that moment; one that would be expired already is not created.",
  },
  { id: "RUNNING-KEYS-ADMIN-ONLY", says: "Only admins create, list and revoke keys." },
  { id: "RUNNING-KEYS-INTAKES", says: "A key limited to some intakes sees nothing of any other." },
  { id: "RUNNING-KEYS-ACTOR", says: "With a key the recorded actor is the key's own, and not a declared one." },
  {
    id: "RUNNING-KEYS-ACTS-FOR",
    says: "A key names another actor only where it may act for it; elsewhere that is a 403.",
  },
  {
    id: "RUNNING-KEYS-HUMAN",
    says: "An agent key with a human actor counts as human: it can fill in human-only fields.",
  },
  { id: "RUNNING-KEYS-PRESET", says: "The preset admin key is the human `admin`, and may create anywhere." },
  {
    id: "RUNNING-ROLES-AGENT",
    says: "An agent creates, and reads, lists and cancels what its actor created, no more.",
  },
  {
    id: "RUNNING-ROLES-VIEWER",
    says: "A viewer reads everything of its tenant, writes nothing and never gets a token.",
  },
  { id: "RUNNING-ROLES-REVIEWER", says: "A reviewer sees the submissions of its gates, and no others." },
  { id: "RUNNING-CREATE-NEEDS-KEY", says: "Creating needs an agent's key, unless the intake is public." },
  { id: "RUNNING-PUBLIC-DECLARED", says: "A caller who creates without a key is recorded as declared." },
  {
    id: "RUNNING-TOKEN-ENOUGH",
    says: "A resume token alone is enough for every call on its submission that accepts a token.",
  },
  { id: "RUNNING-BY-ID-NEEDS-KEY", says: "Reading by id needs a key; a version alone authorizes nobody." },
] as const satisfies readonly ContractPromise[];

const TENANTS = [
  { id: "RUNNING-TENANTS-APART", says: "No list, read, write, feed or key reaches into another tenant." },
  { id: "RUNNING-TENANTS-OWN-INTAKES", says: "An intake belongs to one tenant; public creates go to that tenant." },
  { id: "RUNNING-TENANTS-INTAKE-IDS", says: "An intake id exists once in a deployment, whichever tenant has it." },
  { id: "RUNNING-TENANTS-KEYS", says: "A tenant's admin creates keys of that tenant only." },
] as const satisfies readonly ContractPromise[];

const INTAKES = [
  { id: "RUNNING-INTAKES-LIST", says: "Intakes are listed with version, access, origin and whether they are retired." },
  {
    id: "RUNNING-INTAKES-SEALED",
    says: "Secrets, headers and URLs with credentials in a definition are sealed at rest, and still work.",
  },
  { id: "RUNNING-INTAKES-NO-SECRETS", says: "A definition is shown without secrets, headers and passwords in URLs." },
  {
    id: "RUNNING-INTAKES-PRESENTATION",
    says: "Hints, steps, translations and branding are checked against the schema and shown with the definition.",
  },
  { id: "RUNNING-INTAKES-SCHEMA", says: "An intake's schema can be read on its own." },
  { id: "RUNNING-INTAKES-PUBLIC", says: "Definition and schema of a public intake are readable without a key." },
  { id: "RUNNING-INTAKES-ADMIN-ONLY", says: "Only admins register and retire intakes." },
  {
    id: "RUNNING-INTAKES-PUT",
    says: "A new definition is a 201, a changed one a 200, and the response is what was stored.",
  },
  { id: "RUNNING-INTAKES-PUT-SAME", says: "The same definition again is a 200 and changes nothing." },
  {
    id: "RUNNING-INTAKES-VERSION",
    says: "Any change needs another version, which need not be higher; otherwise it is a 409.",
  },
  {
    id: "RUNNING-INTAKES-REFUSED",
    says: "A definition that can't be used is refused, with the location of every problem.",
  },
  { id: "RUNNING-INTAKES-MAX-FIELDS", says: "A schema has at most 500 fields, or as configured." },
  {
    id: "RUNNING-INTAKES-FOLDER-OWNS",
    says: "An intake defined in the folder can't be changed or retired over the API; putting the same definition is fine.",
  },
  {
    id: "RUNNING-INTAKES-FOLDER-CHANGED",
    says: "A folder definition that was changed without a new version stops the start with an explanation.",
  },
  { id: "RUNNING-INTAKES-RETIRE", says: "A retired intake accepts no new submissions (404); existing ones continue." },
  { id: "RUNNING-INTAKES-RETURN", says: "A retired id may be registered again." },
  { id: "RUNNING-INTAKES-FROZEN", says: "A submission keeps the whole definition that it was created with." },
] as const satisfies readonly ContractPromise[];

const OPERATING = [
  { id: "RUNNING-RATE-LOOKUPS", says: "Failed token lookups are limited per address and second, and per minute." },
  { id: "RUNNING-RATE-GOOD-TOKENS", says: "Valid tokens are not counted as failed lookups." },
  { id: "RUNNING-RATE-CREATES", says: "Creates are limited per key, and without a key per address." },
  { id: "RUNNING-RATE-NETWORK", says: "Addresses of one IPv6 network (/64) count as one." },
  { id: "RUNNING-RATE-ANSWER", says: "A call over a limit is a retryable 429 with Retry-After, and executes nothing." },
  { id: "RUNNING-RATE-RECOVERS", says: "After the window the caller may continue." },
  { id: "RUNNING-RATE-OFF", says: "Limits can be disabled." },
  { id: "RUNNING-HEALTHZ", says: "/healthz says that the process is up, even when a store is not." },
  { id: "RUNNING-READYZ", says: "/readyz lists each store with its latency, and is a 503 when one does not respond." },
  { id: "RUNNING-OPENAPI-VALID", says: "/openapi.json is a valid OpenAPI 3.1 document of every path." },
  {
    id: "RUNNING-OPENAPI-EXAMPLES",
    says: "Every example in the document matches its schema, and works where it can be sent.",
  },
  { id: "RUNNING-OPENAPI-TRUE", says: "Responses match what the document declares." },
  { id: "RUNNING-DOCS", says: "/docs is a page that loads nothing from elsewhere." },
  {
    id: "RUNNING-CORS",
    says: "Any origin may call, without credentials; methods and headers of the contract are allowed.",
  },
  { id: "RUNNING-CORS-EXPOSED", says: "A page may read every header named by the contract." },
  { id: "RUNNING-REQUEST-ID", says: "X-Request-Id is echoed, or generated, on every response." },
  { id: "RUNNING-NO-STORE", says: "No response may be cached." },
  {
    id: "RUNNING-CLEAR-TEXT",
    says: "Over plain HTTP beyond loopback, tokens, sessions and keys are refused, unless a proxy is declared.",
  },
  { id: "RUNNING-LOGS-NO-SECRETS", says: "No token, session, key, code or value is logged, at any level." },
  { id: "RUNNING-LOGS-REQUESTS", says: "The log line of a request has method, route, status and request id." },
  {
    id: "RUNNING-EXPIRY-LAZY",
    says: "An overdue submission is shown as expired to everyone, whether the sweep has reached it or not.",
  },
  { id: "RUNNING-EXPIRY-SKEW", says: "Expiry tolerates 30 seconds of clock skew, or as configured." },
  { id: "RUNNING-EXPIRY-SWEEP", says: "A sweep expires what is due in bounded batches until nothing is left." },
  {
    id: "RUNNING-EXPIRY-SYSTEM",
    says: "An expiry is done by the system: it is in the history and raises the version.",
  },
  {
    id: "RUNNING-EXPIRY-ONLY-OPEN",
    says: "Only editable submissions expire: what was submitted waits as long as it takes.",
  },
  { id: "RUNNING-EXPIRY-MEND", says: "A rejection leaves at least 24 hours for corrections." },
  {
    id: "RUNNING-CLEAN-UP",
    says: "Expired records are removed in bounded batches; live ones are kept.",
  },
  { id: "RUNNING-SHUTDOWN-FINISHES", says: "A write in flight when the server stops is finished and answered." },
  { id: "RUNNING-SHUTDOWN-STREAMS", says: "Live streams end when the server stops." },
  { id: "RUNNING-SHUTDOWN-CLOSED", says: "After it stopped, the server accepts no connection." },
  { id: "RUNNING-SHUTDOWN-SIGNAL", says: "SIGTERM and SIGINT stop the server gracefully, with exit code 0." },
] as const satisfies readonly ContractPromise[];

const REDIS = [
  {
    id: "RUNNING-REDIS-NOT-TRUTH",
    says: "Redis may lose everything at any moment: no submission, token or recorded response is lost with it.",
  },
  {
    id: "RUNNING-REDIS-LOST-LOCK",
    says: "When a lock is lost and two requests with one key run, the database lets exactly one of them commit.",
  },
  {
    id: "RUNNING-REDIS-DOWN",
    says: "Without Redis, hybrid uses the database at once; what needs Redis is a 503 that executes nothing, until Redis is back.",
  },
  {
    id: "RUNNING-REDIS-SENTINEL",
    says: "With Redis Sentinel the next primary is found without a restart; until then Redis counts as down.",
  },
  {
    id: "RUNNING-REDIS-NO-SECRETS",
    says: "Redis contains only hashes and sealed text: no token, key, address, value or response.",
  },
  { id: "RUNNING-REDIS-LIMITS", says: "With Redis, rate limits count the calls to all instances together." },
  { id: "RUNNING-REDIS-FAN-OUT", says: "With Redis, a live stream shows what another instance wrote." },
  {
    id: "RUNNING-REDIS-SAME-KEY",
    says: "Concurrent creates with one key, spread over instances, make one submission; the others get its replay.",
  },
  {
    id: "RUNNING-REDIS-READYZ",
    says: "/readyz reports on Redis, and is a 503 only when a configured backend needs it.",
  },
  {
    id: "RUNNING-REDIS-CHOICE",
    says: "A combination of backends that can't keep these promises stops the start with an explanation.",
  },
] as const satisfies readonly ContractPromise[];

const COMMANDS = [
  { id: "RUNNING-CLI-SERVE", says: "serve prints its URL and one curl line that works as printed, on every start." },
  { id: "RUNNING-CLI-ADMIN-KEY", says: "The first start creates an admin key and prints it; later starts print none." },
  { id: "RUNNING-CLI-SECRET", says: "A secret is generated and kept in the data folder, readable by its owner only." },
  {
    id: "RUNNING-CLI-RESEAL",
    says: "`secrets reseal` seals everything with the newest secret; `secrets retire` refuses while something is sealed with a retired one.",
  },
  {
    id: "RUNNING-CLI-ENVIRONMENT",
    says: "Settings have the names that the contract gives, and the aliases PORT, DATABASE_URL and REDIS_URL.",
  },
  {
    id: "RUNNING-CLI-BAD-SETTING",
    says: "A bad setting stops the start with the variable, the value it has and the values it accepts.",
  },
  { id: "RUNNING-CLI-HELP", says: "--help lists every command, every setting with its default, and an example." },
  { id: "RUNNING-CLI-KEYS", says: "Keys can be created, listed and revoked from the command line." },
  {
    id: "RUNNING-CLI-INTAKES-CHECK",
    says: "intakes check names the file and location of every problem, without starting a server.",
  },
  { id: "RUNNING-CLI-EVENTS", says: "events prints the history of all streams, one JSON object per line." },
  { id: "RUNNING-CLI-VERIFY", says: "verify names the first event that was altered, added or removed, and fails." },
  {
    id: "RUNNING-CLI-TOKENS",
    says: "tokens lists and counts the tokens of a submission by state, and never prints one.",
  },
  {
    id: "RUNNING-CLI-IDEMPOTENCY",
    says: "idempotency shows what is recorded under a key, without key or response, and deletes it: the history says so, and a repeated request is executed again.",
  },
  {
    id: "RUNNING-CLI-PROBE",
    says: "probe submits one submission to a running server, says in one line how long it took or what failed, leaves nothing open, and sends nothing to anybody unless told to.",
  },
  {
    id: "RUNNING-CLI-CHAOS",
    says: "chaos makes faults only on a server that says it is for staging, checks that nothing is lost, doubled or unverifiable, and leaves nothing open.",
  },
  { id: "RUNNING-CLI-MIGRATE", says: "migrate brings a database up to date, and is safe to repeat." },
  { id: "RUNNING-CLI-DOCTOR", says: "doctor reports what a start would need and fails when something is wrong." },
  { id: "RUNNING-CLI-UNKNOWN", says: "An unknown command or a missing option fails and shows the correct usage." },
] as const satisfies readonly ContractPromise[];

/** What operators, administrators and reviewers can rely on. */
export const RUNNING_PROMISES = [
  ...GATES,
  ...KEYS,
  ...TENANTS,
  ...INTAKES,
  ...OPERATING,
  ...REDIS,
  ...COMMANDS,
] as const satisfies readonly ContractPromise[];
