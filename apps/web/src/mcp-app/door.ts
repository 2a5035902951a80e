import { createClient, FormBridgeError } from "@formbridge/client";
import { type Door, openForm } from "../form/opening.ts";
import type { Host } from "./host.ts";
import { createHostFetch, HOST_URL } from "./host-fetch.ts";

/** The door of an app: everything goes through its host, in the session of the hand-off. */
export function createHostDoor(host: Host): Door {
  const client = createClient({ url: HOST_URL, fetch: createHostFetch(host) });
  const notHere = async (): Promise<never> => {
    throw new FormBridgeError("not_found", "An app can only show the form of a hand-off.");
  };
  return {
    async openLink(link, actor) {
      if (link.kind !== "session") return await notHere();
      const proof = { session: link.session, carrier: "header", ...(actor && { actor }) } as const;
      const { submission } = await client.openSession(link.submissionId, proof);
      return await openForm(submission);
    },
    async openCode(submissionId, proof) {
      const { submission } = await client.openSession(submissionId, { ...proof, carrier: "header" });
      return await openForm(submission);
    },
    openNew: notHere,
    publicIntake: notHere,
  };
}
