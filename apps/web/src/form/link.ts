/** What the address of the page says: which submission, and with what it opens. */
export type Link =
  | { kind: "token"; resumeToken: string; submissionId?: string }
  | { kind: "session"; submissionId: string; session: string }
  | { kind: "code"; submissionId: string; code: string }
  /** Opened before: the browser has the session's cookie. */
  | { kind: "opened"; submissionId: string }
  | { kind: "new"; intakeId: string }
  | { kind: "mistyped" };

const TOKEN = /^rtok_[\w-]{43}$/;
const ID = /^sub_[\w-]+$/;

export function readLink({ pathname, search }: { pathname: string; search: string }): Link {
  const [place, first = "", second = ""] = pathname.split("/").filter((part) => part !== "");
  const query = new URLSearchParams(search);
  if (place === "forms")
    return first === "" ? { kind: "mistyped" } : { kind: "new", intakeId: decodeURIComponent(first) };
  const token = [first, second, query.get("token") ?? ""].find((part) => TOKEN.test(part));
  if (token !== undefined) {
    return { kind: "token", resumeToken: token, ...(ID.test(first) && { submissionId: first }) };
  }
  if (!ID.test(first)) return { kind: "mistyped" };
  const session = query.get("session");
  const code = query.get("code");
  if (session !== null) return { kind: "session", submissionId: first, session };
  if (code !== null) return { kind: "code", submissionId: first, code };
  return { kind: "opened", submissionId: first };
}

/** A hint that the link carries is shown, never trusted. */
export const hintIn = (search: string): string | undefined => new URLSearchParams(search).get("hint")?.slice(0, 500);
