import type { JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import type { Issuer } from "./issuer.ts";
import { readPrincipal } from "./principal.ts";

const ISSUER: Issuer = {
  name: "corp",
  issuer: "https://id.example",
  audience: "formbridge",
  jwksUri: "https://id.example/jwks",
  tenant: "acme",
  roles: ["agent"],
  actor: { kind: "agent" },
};

const read = (payload: JWTPayload, over: Partial<Issuer> = {}) =>
  readPrincipal({ sub: "ada", ...payload }, { ...ISSUER, ...over }, { reservedTenant: "default" });
const principal = (payload: JWTPayload, over: Partial<Issuer> = {}) => {
  const reading = read(payload, over);
  if ("refused" in reading) throw new Error(reading.refused);
  return reading.principal;
};

describe("the actor", () => {
  it("is the subject, prefixed with the issuer's name, and keeps one id", () => {
    expect(principal({})).toEqual({
      keyId: expect.stringMatching(/^jwt_[0-9a-f]{32}$/),
      tenant: "acme",
      roles: ["agent"],
      actor: { kind: "agent", id: "corp:ada" },
    });
    expect(principal({ jti: "2" }, { name: "renamed" }).keyId).toBe(principal({}).keyId);
    expect(principal({ sub: "bob" }).keyId).not.toBe(principal({}).keyId);
    expect(principal({}, { issuer: "https://other.example" }).keyId).not.toBe(principal({}).keyId);
  });

  it("may come from another claim, with a configurable prefix", () => {
    const actor = { claim: "client_id", prefix: "", kind: "agent" } as const;
    expect(principal({ client_id: "bot" }, { actor }).actor.id).toBe("bot");
    expect(read({}, { actor })).toEqual({ refused: "no actor" });
  });

  it.each([undefined, "", 7, ["ada"], "a\u0000b", "\ud800", "x".repeat(2001)])(
    "is absent with the subject %j",
    (sub) => {
      expect(read({ sub } as JWTPayload)).toHaveProperty("refused");
    },
  );

  it("is absent if the actor id would be too long to store", () => {
    expect(principal({ sub: "x".repeat(195) }).actor.id).toHaveLength(200);
    expect(read({ sub: "x".repeat(196) })).toEqual({ refused: "no actor" });
  });

  it("is agent or human as the issuer or a claim says", () => {
    const map = { user: "human", app: "agent" } as const;
    const actor = { kind: { claim: "idtyp", map } };
    expect(principal({ idtyp: "user" }, { actor }).actor.kind).toBe("human");
    expect(principal({ idtyp: "app" }, { actor }).actor.kind).toBe("agent");
    expect(read({ idtyp: "constructor" }, { actor })).toEqual({ refused: "no actor" });
    expect(principal({}, { actor: { kind: { ...actor.kind, otherwise: "agent" } } }).actor.kind).toBe("agent");
  });

  it("has a name and an e-mail address if configured, the address only when verified", () => {
    const actor = { kind: "human", name: "name", email: "email" } as const;
    const claims = { name: "Ada", email: "ada@example.com" };
    expect(principal(claims).actor).toEqual({ kind: "agent", id: "corp:ada" });
    expect(principal(claims, { actor }).actor).toEqual({ kind: "human", id: "corp:ada", name: "Ada" });
    const verified = principal({ ...claims, email_verified: true }, { actor });
    expect(verified.actor.metadata).toEqual({ email: "ada@example.com" });
    expect(principal({ ...claims, email_verified: "true" }, { actor }).actor.metadata).toBeUndefined();
  });
});

describe("roles", () => {
  const roles = { claim: "roles", allowed: ["agent", "viewer"] } satisfies Issuer["roles"];

  it("are those of the claim that the issuer may assign", () => {
    expect(principal({ roles: ["admin", "viewer", "root"] }, { roles }).roles).toEqual(["viewer"]);
    expect(principal({ roles: "viewer agent" }, { roles }).roles).toEqual(["agent", "viewer"]);
  });

  it("are translated by a map, and only by it", () => {
    const mapped = { ...roles, map: { "fb:write": "agent", boss: "admin" } } satisfies Issuer["roles"];
    expect(principal({ roles: ["fb:write", "viewer", "boss"] }, { roles: mapped }).roles).toEqual(["agent"]);
    expect(read({ roles: ["constructor", "viewer"] }, { roles: mapped })).toEqual({ refused: "no role" });
  });

  it.each([undefined, null, 1, { agent: true }, [["agent"]], "", []])(
    "of %j are none, so the token is refused",
    (claimed) => {
      expect(read({ roles: claimed }, { roles })).toEqual({ refused: "no role" });
    },
  );

  it("are found by a path, unless a claim has exactly that name", () => {
    const nested = { ...roles, claim: "realm_access.roles" };
    expect(principal({ realm_access: { roles: ["agent"] } }, { roles: nested }).roles).toEqual(["agent"]);
    const named = { realm_access: { roles: ["agent"] }, "realm_access.roles": ["viewer"] };
    expect(principal(named, { roles: nested }).roles).toEqual(["viewer"]);
  });
});

describe("tenant and intakes", () => {
  it("come from a claim; the reserved tenant must be named", () => {
    const tenant = { claim: "org" };
    expect(principal({ org: "globex" }, { tenant }).tenant).toBe("globex");
    expect(read({ org: "default" }, { tenant })).toEqual({ refused: "no tenant" });
    expect(principal({ org: "default" }, { tenant: { ...tenant, allowed: ["default"] } }).tenant).toBe("default");
    expect(read({ org: "globex" }, { tenant: { ...tenant, allowed: ["acme"] } })).toEqual({ refused: "no tenant" });
  });

  it.each([undefined, 1, "", "Acme", "../x", ["acme"]])("of %j are refused", (org) => {
    expect(read({ org }, { tenant: { claim: "org" } })).toEqual({ refused: "no tenant" });
  });

  it("limit to the intakes of the claim, and to none without it", () => {
    const intakes = { claim: "intakes" };
    expect(principal({ intakes: ["a", "b"] }, { intakes }).intakes).toEqual(["a", "b"]);
    expect(principal({}, { intakes }).intakes).toEqual([]);
    expect(principal({}, { intakes: ["c"] }).intakes).toEqual(["c"]);
    expect(principal({}).intakes).toBeUndefined();
  });
});
