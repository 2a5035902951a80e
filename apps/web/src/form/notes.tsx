import type { SubmissionRecord } from "@formbridge/contract";
import { ConflictChoice, type Edit } from "@formbridge/form";
import type { ReactElement } from "react";
import type { Reader } from "../shared/language.ts";
import { nameOf } from "../shared/names.ts";
import type { EditingSession } from "./opening.ts";

/** Shown below a field: a choice between two values, or who filled it in. */
export function FieldNote(props: {
  path: string;
  record: SubmissionRecord;
  conflicts: readonly Edit[];
  me: string | undefined;
  session: EditingSession | undefined;
  reader: Reader;
}): ReactElement | null {
  const { path, record, conflicts, me, session, reader } = props;
  const conflict = conflicts.find((edit) => edit.path.join(".") === path);
  if (conflict !== undefined && session !== undefined) {
    const by = authorOf(record, path)?.actor ?? record.lastUpdatedBy;
    return (
      <ConflictChoice
        conflict={conflict}
        name={nameOf(by, reader.t)}
        t={reader.t}
        onChoose={(choice) => session.choose(conflict.path, choice)}
      />
    );
  }
  const author = authorOf(record, path);
  if (author === undefined) return null;
  return <p className="pg-note">{written(author, me, reader)}</p>;
}

function written({ actor, at }: Authored, me: string | undefined, { t, time }: Reader): string {
  if (me !== undefined && actor.id === me) return t("form.authorYou", { time: time(at) });
  return t("form.author", { name: nameOf(actor, t), time: time(at) });
}

type Authored = NonNullable<SubmissionRecord["attribution"]>[string];

/** A field may be called `toString`, which every object has. */
function authorOf({ attribution = {} }: SubmissionRecord, path: string) {
  return Object.hasOwn(attribution, path) ? attribution[path] : undefined;
}
