import type { EventActor } from "@formbridge/contract";

/** Ids without a person: a session without a name, and the form of a direct link. */
const NAMELESS = /^(?:hof_|form$|token_bearer$)/;

/** What an actor is called. Somebody who gave no name is shown as that, not by the id of their link. */
export const nameOf = ({ kind, id, name }: EventActor, t: (id: "page.nameless") => string): string =>
  name ?? (kind !== "agent" && NAMELESS.test(id) ? t("page.nameless") : id);
