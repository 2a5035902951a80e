import { isIPv4 } from "node:net";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import Type from "typebox";
import { actorPrefix, Issuer } from "./issuer.ts";

const Issuers = Type.Array(Issuer, { minItems: 1 });

/** Parses the operator's settings. Throws an error that says where the problem is and what it is. */
export function checkIssuers(value: unknown): Issuer[] {
  const hasShape = new Ajv2020({ allErrors: true }).compile<Issuer[]>(Issuers);
  if (!hasShape(value)) throw new Error(schemaProblem(hasShape.errors ?? []));
  for (const [index, issuer] of value.entries()) {
    const problem = keysProblem(issuer) ?? twinProblem(issuer, value.slice(0, index));
    if (problem !== undefined) throw new Error(`${index}.${problem}`);
  }
  return value;
}

/** Of all the validator's errors, the one at the deepest path: the others follow from it. */
function schemaProblem(found: readonly ErrorObject[]): string {
  const errors = found.filter(({ keyword }) => keyword !== "anyOf");
  const depth = (path: string): number => path.split("/").length;
  const deepest = errors.toSorted((a, b) => depth(b.instancePath) - depth(a.instancePath))[0]?.instancePath ?? "";
  const there = errors.filter(({ instancePath }) => instancePath === deepest);
  const telling = there.filter(({ keyword }) => keyword !== "type");
  const words = wordsFor(telling.length > 0 ? telling : there);
  const place = deepest.slice(1).replaceAll("/", ".");
  return `${place === "" ? "it" : place} ${[...new Set(words)].join(" or ")}`;
}

function wordsFor(errors: readonly ErrorObject[]): string[] {
  const told = errors.map(({ params, message = "is not right" }) => ({ ...(params as Params), message }));
  const missing = told.flatMap(({ missingProperty = [] }) => missingProperty);
  const rest = told.filter(({ missingProperty }) => missingProperty === undefined);
  return [
    ...(missing.length > 0 ? [`lacks ${missing.join(", ")}`] : []),
    ...rest.map(({ allowedValues, additionalProperty, message }) => {
      if (allowedValues !== undefined) return `must be one of ${allowedValues.join(", ")}`;
      return additionalProperty === undefined ? message.replace("NOT", "not") : `does not know ${additionalProperty}`;
    }),
  ];
}

interface Params {
  allowedValues?: unknown[];
  additionalProperty?: string;
  missingProperty?: string;
}

function keysProblem({ jwksUri, jwksFile }: Issuer): string | undefined {
  if ((jwksUri === undefined) === (jwksFile === undefined)) return "jwksUri or jwksFile is needed, but not both";
  if (jwksUri === undefined) return undefined;
  if (!URL.canParse(jwksUri)) return "jwksUri must be a URL";
  const { protocol, hostname, username, password } = new URL(jwksUri);
  if (username !== "" || password !== "") return "jwksUri must not contain a user name or password";
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return undefined;
  return "jwksUri must be https, or http on loopback";
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));

/** What two issuers must not share, or tokens of one would pass as the other's. */
function twinProblem(issuer: Issuer, others: readonly Issuer[]): string | undefined {
  for (const other of others) {
    if (other.name === issuer.name) return `name ${issuer.name} is taken by another issuer`;
    if (other.issuer === issuer.issuer) return `issuer ${issuer.issuer} is listed twice`;
    const [mine, theirs] = [actorPrefix(issuer), actorPrefix(other)];
    if (mayMeet(issuer, other) && (mine.startsWith(theirs) || theirs.startsWith(mine))) {
      return `actor.prefix ${JSON.stringify(mine)} can't be distinguished from ${JSON.stringify(theirs)} of ${other.name}: one begins with the other`;
    }
  }
  return undefined;
}

/** Whether both can produce principals of the same tenant. */
function mayMeet(a: Issuer, b: Issuer): boolean {
  const [mine, theirs] = [tenantsOf(a), tenantsOf(b)];
  return mine === "any" || theirs === "any" || mine.some((tenant) => theirs.includes(tenant));
}

const tenantsOf = ({ tenant }: Issuer): "any" | readonly string[] =>
  typeof tenant === "string" ? [tenant] : (tenant.allowed ?? "any");
