import type { SetFieldsRequest, SetFieldsResponse } from "@formbridge/contract";
import { decideSetFields } from "../domain/decide/set-fields.ts";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { fieldsOf, findingsOf, markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type SetFieldsCall = WriteCall & Pick<SetFieldsRequest, "fields">;

export async function setFields(context: Context, call: SetFieldsCall): Promise<OperationResponse<SetFieldsResponse>> {
  const { fields } = call;
  let updatedFields: string[] = [];
  return await runWrite(context, call, {
    operation: "setFields",
    actorRequired: true,
    attempted: fields,
    keyed: {
      operation: "setFields",
      meaning: ({ submission }) => ({ operation: "setFields", submissionId: submission.submissionId, fields }),
    },
    decide(submission, decideContext) {
      const decision = decideSetFields(submission, { fields }, decideContext);
      const [event] = decision.events;
      if (event?.type === "field.updated") {
        updatedFields = [...event.set.map((leaf) => leaf.path), ...event.removed].map((path) => path.join("."));
      }
      return decision;
    },
    body: (shown) => ({
      ...markOf(shown),
      fields: fieldsOf(shown),
      updatedFields,
      ...findingsOf(shown),
      updatedAt: toIso(shown.submission.updatedAt),
    }),
  });
}
