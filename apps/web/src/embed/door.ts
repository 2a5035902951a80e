import { createClient, FormBridgeError } from "@formbridge/client";
import { StartingSession } from "@formbridge/form";
import { type CodeProof, type Door, type Opened, openForm, type Person, publicIntake } from "../form/opening.ts";

/** The door of an element: it works on any origin, so no cookie is sent or taken, and nothing is put into the address. */
export function createHeaderDoor(url: string): Door & { close(): void } {
  const client = createClient({ url, actor: { kind: "human", id: "form" } });
  const opened = new Set<Opened>();
  const keep = (one: Opened): Opened => {
    opened.add(one);
    return one;
  };

  async function openSession(submissionId: string, proof: { session: string; actor?: Person } | CodeProof) {
    const { submission } = await client.openSession(submissionId, { ...proof, carrier: "header" });
    return keep(await openForm(submission));
  }

  return {
    async openLink(link, actor) {
      if (link.kind === "session") {
        return await openSession(link.submissionId, { session: link.session, ...(actor && { actor }) });
      }
      if (link.kind === "token") {
        const { resumeToken, submissionId } = link;
        const where = { resumeToken, ...(submissionId !== undefined && { submissionId }) };
        return keep(await openForm(client.submission(where)));
      }
      throw new FormBridgeError("unauthorized", "The element was given no token and no session.");
    },
    openCode: openSession,
    publicIntake: (intakeId) => publicIntake(client, intakeId),
    async openNew(intakeId, idempotencyKey) {
      const intake = await publicIntake(client, intakeId);
      const session = new StartingSession({
        intake,
        async create() {
          return (await openForm(await client.create(intakeId, {}, { idempotencyKey }))).session;
        },
      });
      return keep({ session, intake, sendsMail: false });
    },
    close() {
      for (const { session } of opened) session.close();
    },
  };
}
