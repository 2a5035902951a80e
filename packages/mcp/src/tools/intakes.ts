import { IntakeResponse, ListIntakesQuery, ListIntakesResponse } from "@formbridge/contract";
import Type from "typebox";
import { shortIntake, shortIntakeItem } from "../answers/short.ts";
import { pick, READS, type Tool } from "./tool.ts";

const itemOf = ({ id, version, name, description, access, retired, source }: IntakeResponse["intake"]) => ({
  id,
  version,
  name,
  ...(description !== undefined && { description }),
  access: access ?? "key",
  retired: retired ?? false,
  source: source ?? "api",
});

export const listTool: Tool = {
  generic: "formbridge_list_intakes",
  title: "List intakes",
  annotations: READS,
  args: Type.Omit(ListIntakesQuery, ["language"]),
  required: [],
  output: ListIntakesResponse,
  describe: () => "List what can be filled in here, with the intakeId of each.",
  call: async ({ operations, caller, args }) => {
    const { verbose: _verbose, ...query } = args;
    if (caller.apiKey !== undefined) return await operations.listIntakes({ caller, query: query as ListIntakesQuery });
    // Without an API key: the intakes that the caller's tools come from.
    const { intakes } = await operations.openIntakes({ caller });
    const open = intakes.filter(({ retired }) => !retired);
    return { body: { ok: true, items: open.map(({ definition }) => itemOf(definition)) } };
  },
  short: (body) => ({
    ok: true,
    items: (body.items as Record<string, unknown>[]).filter(({ retired }) => retired !== true).map(shortIntakeItem),
    ...pick(body, ["nextPageToken"]),
  }),
};

export const getTool: Tool = {
  generic: "formbridge_get_intake",
  title: "Read an intake",
  annotations: READS,
  args: Type.Object({ intakeId: Type.String() }),
  required: ["intakeId"],
  output: IntakeResponse,
  describe: () =>
    "Read what an intake asks for: its fields in order, with type, meaning and whether they are required. verbose adds its JSON Schema.",
  call: ({ operations, caller, args }) => operations.getIntake({ caller, intakeId: String(args.intakeId) }),
  short: (body) => ({ ok: true, intake: shortIntake(body.intake as Record<string, unknown>) }),
};

export const INTAKE_TOOLS: readonly Tool[] = [listTool, getTool];
