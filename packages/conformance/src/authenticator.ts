import { type Authenticator, AuthenticatorDown } from "@formbridge/core";
import { describe, expect, it } from "vitest";

/** An authenticator, and a way to get credentials as its authority would issue them. */
export interface OpenedAuthenticator {
  authenticator: Authenticator;
  /** A valid credential; a new one each time, even for the same subject. */
  issue(subject: string): Promise<string>;
  /** Invalid credentials of its kind, each for a different reason. */
  bad(): Promise<string[]>;
}

/** `reachable: false` opens one whose authority doesn't respond. */
export type OpenAuthenticator = (options: { reachable: boolean }) => Promise<OpenedAuthenticator>;

export function describeAuthenticator(open: OpenAuthenticator): void {
  describe("authenticator", () => {
    it("recognizes its own kind of credentials, valid or not, and no API key or resume token", async () => {
      const { authenticator, issue, bad } = await open({ reachable: true });
      for (const credential of [await issue("ada"), ...(await bad())]) {
        expect(authenticator.recognizes(credential)).toBe(true);
      }
      for (const other of [`fbk_${"a".repeat(43)}`, `rtok_${"a".repeat(43)}`, "", "a-preset-key", "a.b.c"]) {
        expect(authenticator.recognizes(other)).toBe(false);
      }
    });

    it("gives one subject the same id each time, and other subjects other ids", async () => {
      const { authenticator, issue } = await open({ reachable: true });
      const [first, again, other] = await Promise.all(
        ["ada", "ada", "bob"].map(async (subject) => await authenticator.identify(await issue(subject))),
      );
      expect(first?.keyId).toEqual(expect.any(String));
      expect(again).toEqual(first);
      expect(other?.keyId).not.toBe(first?.keyId);
      expect(other?.actor.id).not.toBe(first?.actor.id);
    });

    it("returns nobody for an invalid credential, without a reason", async () => {
      const { authenticator, bad } = await open({ reachable: true });
      const credentials = await bad();
      expect(credentials.length).toBeGreaterThan(1);
      for (const credential of credentials) expect(await authenticator.identify(credential)).toBeUndefined();
    });

    it("says when it can't decide, and when to ask again", async () => {
      const { authenticator, issue } = await open({ reachable: false });
      const refusal: unknown = await authenticator.identify(await issue("ada")).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(AuthenticatorDown);
      expect((refusal as AuthenticatorDown).retryAfterMs).toBeGreaterThan(0);
    });
  });
}
