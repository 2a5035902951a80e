import { FormBridgeError } from "@formbridge/client";
import type { FormSession } from "./form-session.ts";

/**
 * Saves everything that was typed. Throws when that failed, so that nothing is submitted without it; conflicts and
 * refused values are the person's to settle and stay in `session.state`.
 */
export async function saveAll(
  session: Pick<FormSession, "flush" | "state">,
  pending: ReadonlySet<() => void>,
): Promise<void> {
  for (const flush of [...pending]) flush();
  await session.flush();
  const { saving, conflicts, refused } = session.state;
  if (saving !== "saved" && conflicts.length === 0 && refused.length === 0) {
    throw new FormBridgeError("network_error", "The answers could not be saved.", { retryable: true });
  }
}
