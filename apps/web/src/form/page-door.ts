import { createClient, type FormBridgeClient, FormBridgeError } from "@formbridge/client";
import { type Door, type Opened, openForm, publicIntake } from "./opening.ts";

/** Removes the link's secret, which is no longer needed, from the address bar; reloading uses the cookie. */
function inPlace(submissionId: string, opened: Opened): Opened {
  history.replaceState(null, "", `/resume/${encodeURIComponent(submissionId)}`);
  return opened;
}

const ADDRESS_MS = 2_000;

/**
 * Keeps the newest token in the address of a direct link, since every write rotates it. At most every two seconds:
 * browsers limit how often a page may change its address.
 */
function withNewestLink(opened: Opened): Opened {
  const { session } = opened;
  let shown: string | undefined;
  let isDue = false;
  const show = () => {
    isDue = false;
    const { resumeToken } = session.state;
    if (resumeToken === undefined || resumeToken === shown) return;
    shown = resumeToken;
    const path = `/resume/${resumeToken}`;
    // Changing the address takes milliseconds, and when a link is opened it is usually right.
    if (location.pathname === path) return;
    const query = new URLSearchParams(location.search);
    query.delete("token");
    history.replaceState(null, "", `${path}${query.size > 0 ? `?${query}` : ""}`);
  };
  show();
  session.subscribe(() => {
    if (isDue || session.state.resumeToken === shown) return;
    isDue = true;
    setTimeout(show, ADDRESS_MS);
  });
  return opened;
}

async function openToken(client: FormBridgeClient, link: { resumeToken: string; submissionId?: string }) {
  const { resumeToken, submissionId } = link;
  const id = submissionId === undefined ? {} : { submissionId };
  try {
    return withNewestLink(await openForm(client.submission({ resumeToken, ...id })));
  } catch (error) {
    // The token was rotated since the link was made. The 409 has the current one for callers who may hold it.
    const current = error instanceof FormBridgeError && error.type === "token_conflict" ? error.body?.resumeToken : "";
    if (current === undefined || current === "" || current === resumeToken) throw error;
    return withNewestLink(await openForm(client.submission({ resumeToken: current, ...id })));
  }
}

/** The door of our own pages. */
export function createPageDoor(fetch: typeof globalThis.fetch): Door {
  const client = createClient({ url: location.origin, actor: { kind: "human", id: "form" }, fetch });
  /** In a session the server knows who acts. */
  const cookieClient = createClient({ url: location.origin, fetch });
  return {
    async openLink(link, actor) {
      if (link.kind === "token") return await openToken(client, link);
      const { submissionId } = link;
      if (link.kind === "session") {
        // Opened before in this browser: another exchange would only make another session.
        const again = await openForm(cookieClient.submission({ submissionId })).catch(() => undefined);
        if (again !== undefined) return inPlace(submissionId, again);
        const { submission } = await cookieClient.openSession(submissionId, {
          session: link.session,
          ...(actor && { actor }),
        });
        return inPlace(submissionId, await openForm(submission));
      }
      return await openForm(cookieClient.submission({ submissionId }));
    },

    async openCode(submissionId, proof) {
      const { submission } = await cookieClient.openSession(submissionId, proof);
      return inPlace(submissionId, await openForm(submission));
    },

    /** The address becomes the submission's link, so that a reload comes back to it. */
    async openNew(intakeId, idempotencyKey) {
      const submission = await client.create(intakeId, {}, { idempotencyKey });
      history.replaceState(null, "", `/resume/${submission.resumeToken}`);
      return withNewestLink(await openForm(submission));
    },

    publicIntake: (intakeId) => publicIntake(client, intakeId),
  };
}
