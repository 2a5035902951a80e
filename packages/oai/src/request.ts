import { lastSecond, readDate, toSeconds } from "./dates.ts";
import { OaiError } from "./errors.ts";

const LIST = { required: ["metadataPrefix"], optional: ["from", "until", "set"], resumes: true } as const;

/** The arguments of each verb. A resumption token excludes all others. */
const VERBS = {
  Identify: { required: [], optional: [], resumes: false },
  ListMetadataFormats: { required: [], optional: ["identifier"], resumes: false },
  ListSets: { required: [], optional: [], resumes: true },
  ListIdentifiers: LIST,
  ListRecords: LIST,
  GetRecord: { required: ["identifier", "metadataPrefix"], optional: [], resumes: false },
} as const satisfies Record<string, { required: readonly string[]; optional: readonly string[]; resumes: boolean }>;

export type Verb = keyof typeof VERBS;

/** A request with legal arguments, as given. */
export interface OaiRequest {
  verb: Verb;
  args: Partial<Record<string, string>>;
}

const bad = (message: string): OaiError => new OaiError("badArgument", message);

/** Throws `badVerb` or `badArgument`. */
export function readRequest(given: readonly (readonly [string, string])[]): OaiRequest {
  const verbs = given.filter(([name]) => name === "verb").map(([, value]) => value);
  const [verb] = verbs;
  if (verb === undefined || verbs.length > 1) throw new OaiError("badVerb", "Give exactly one verb.");
  if (!isVerb(verb)) throw new OaiError("badVerb", "This verb is not one of OAI-PMH 2.0.");
  const args = readArguments(given.filter(([name]) => name !== "verb"));
  checkArguments(verb, args);
  return { verb, args };
}

const isVerb = (verb: string): verb is Verb => Object.hasOwn(VERBS, verb);

function readArguments(given: readonly (readonly [string, string])[]): Record<string, string> {
  const args = new Map<string, string>();
  for (const [name, value] of given) {
    if (args.has(name)) throw bad(`The argument ${shortened(name)} is given twice.`);
    args.set(name, value);
  }
  return Object.fromEntries(args);
}

const shortened = (name: string): string => name.slice(0, 50);

function checkArguments(verb: Verb, args: Record<string, string>): void {
  const { required, optional, resumes } = VERBS[verb];
  const names = Object.keys(args);
  if (resumes && names.includes("resumptionToken")) {
    if (names.length > 1) throw bad("resumptionToken takes no other argument beside it.");
    return;
  }
  const known: readonly string[] = [...required, ...optional];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw bad(`${verb} takes no argument ${shortened(unknown)}.`);
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) throw bad(`${verb} needs the argument ${missing}.`);
  checkValues(args);
}

const NAME = /^[A-Za-z0-9\-_.!~*'()]+$/;
const SET = /^[A-Za-z0-9\-_.!~*'()]+(?::[A-Za-z0-9\-_.!~*'()]+)*$/;
const URI = /^(?:[A-Za-z0-9\-._~:/?#@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;

/** Refuses values that the protocol's schema doesn't allow in the response. */
function checkValues({ metadataPrefix, set, identifier, from, until }: Record<string, string>): void {
  if (metadataPrefix !== undefined && !NAME.test(metadataPrefix)) throw bad("metadataPrefix has illegal characters.");
  if (set !== undefined && !SET.test(set)) throw bad("set is not a setSpec.");
  if (identifier !== undefined && !URI.test(identifier)) throw bad("identifier is not a URI.");
  const first = from === undefined ? undefined : dateOf("from", from);
  const last = until === undefined ? undefined : dateOf("until", until);
  if (first === undefined || last === undefined) return;
  if (first.granularity !== last.granularity) throw bad("from and until must have the same granularity.");
  if (first.at > last.at) throw bad("from is later than until.");
}

function dateOf(name: string, value: string) {
  const date = readDate(value);
  if (date === undefined) throw bad(`${name} must be a date, YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ.`);
  return date;
}

/** The range of a list, both ends included, to the second. */
export function rangeOf({ from, until }: OaiRequest["args"]): { from?: string; until?: string } {
  const first = from === undefined ? undefined : readDate(from);
  const last = until === undefined ? undefined : readDate(until);
  return {
    ...(first && { from: toSeconds(first.at) }),
    ...(last && { until: toSeconds(lastSecond(last)) }),
  };
}
