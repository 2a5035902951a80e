import { expect, it } from "vitest";
import { checkIssuers } from "./check-issuers.ts";

const GOOD = {
  name: "corp",
  issuer: "https://id.example",
  audience: "formbridge",
  jwksUri: "https://id.example/jwks",
  tenant: "acme",
  roles: ["agent"],
  actor: { kind: "agent" },
};
const other = (over: object) => ({ ...GOOD, name: "other", issuer: "https://other.example", ...over });

it("accepts complete settings", () => {
  const rich = {
    ...GOOD,
    audience: ["a", "b"],
    algorithms: ["ES256"],
    tenant: { claim: "org", allowed: ["acme"] },
    roles: { claim: "roles", map: { x: "admin" }, allowed: ["admin"] },
    intakes: { claim: "intakes" },
    actor: { claim: "client_id", prefix: "", kind: { claim: "t", map: { a: "agent" } }, name: "name", email: "email" },
  };
  expect(checkIssuers([rich])).toEqual([rich]);
  for (const jwksUri of ["http://127.0.0.1:9/jwks", "http://localhost/jwks", "http://[::1]:9/", "https://a/?b=c"]) {
    expect(checkIssuers([{ ...GOOD, jwksUri }])).toHaveLength(1);
  }
});

it.each([
  [{}, "it must be array"],
  [[], "it must not have fewer than 1 items"],
  [[{ ...GOOD, audience: undefined }], "0 lacks audience"],
  [[{ ...GOOD, audience: [] }], "0.audience"],
  [[{ ...GOOD, secret: "x" }], "0 does not know secret"],
  [[{ ...GOOD, algorithms: ["HS256"] }], "0.algorithms.0 must be one of RS256"],
  [[{ ...GOOD, algorithms: ["none"] }], "0.algorithms.0 must be one of RS256"],
  [[{ ...GOOD, roles: ["root"] }], "0.roles.0 must be one of admin, agent, reviewer, viewer"],
  [[{ ...GOOD, roles: { claim: "roles" } }], "0.roles lacks allowed"],
  [[{ ...GOOD, roles: 5 }], "0.roles must be array or must be object"],
  [[{ ...GOOD, tenant: "No" }], "0.tenant"],
  [[{ ...GOOD, actor: { kind: "system" } }], "0.actor.kind"],
  [[{ ...GOOD, jwksUri: undefined }], "0.jwksUri"],
  [[{ ...GOOD, jwksFile: "keys.json" }], "0.jwksUri or jwksFile is needed, but not both"],
  [[{ ...GOOD, jwksUri: "jwks" }], "0.jwksUri must be a URL"],
  [[{ ...GOOD, jwksUri: "http://id.example/jwks" }], "0.jwksUri must be https, or http on loopback"],
  [[{ ...GOOD, jwksUri: "http://127.0.0.1.evil.example/" }], "0.jwksUri must be https, or http on loopback"],
  [[{ ...GOOD, jwksUri: "file:///etc/passwd" }], "0.jwksUri must be https, or http on loopback"],
  [[{ ...GOOD, jwksUri: "https://u:pa55@id.example/" }], "0.jwksUri must not contain a user name or password"],
  [[GOOD, other({ name: "corp" })], "1.name corp is taken"],
  [[GOOD, other({ issuer: GOOD.issuer })], "1.issuer https://id.example is listed twice"],
])("refuses %j: %s", (value, words) => {
  const check = (): unknown => checkIssuers(value);
  expect(check).toThrow(words);
  expect(check).not.toThrow(/pa55/);
});

it("refuses actor ids that two issuers of one tenant could both produce", () => {
  const twins = (prefix: string, over: object = {}) => [GOOD, other({ actor: { kind: "agent", prefix }, ...over })];
  expect(checkIssuers(twins("other:"))).toHaveLength(2);
  for (const prefix of ["", "c", "corp:", "corp:x"]) {
    expect(() => checkIssuers(twins(prefix))).toThrow("1.actor.prefix");
    expect(() => checkIssuers(twins(prefix, { tenant: { claim: "org" } }))).toThrow("1.actor.prefix");
    expect(checkIssuers(twins(prefix, { tenant: "globex" }))).toHaveLength(2);
    expect(checkIssuers(twins(prefix, { tenant: { claim: "org", allowed: ["globex"] } }))).toHaveLength(2);
  }
});
