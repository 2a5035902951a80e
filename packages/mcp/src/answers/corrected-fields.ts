import type { FieldError } from "@formbridge/contract";
import { isObject } from "@formbridge/core";
import type { Guide } from "../schema/guide.ts";
import { getTool } from "../tools/intakes.ts";
import { closestNames } from "./closest.ts";
import { type NextCall, ownName, type Refused, submissionIn } from "./next-call.ts";
import { edited } from "./patch.ts";

/**
 * After values that could not be stored: the same call without them, so that the rest isn't lost, with misspelt names
 * corrected. If nothing is left, the call that can provide the refused values: a hand-off, an upload, or reading the
 * field names.
 */
export function correctedFields(refused: Refused): NextCall | undefined {
  const { tool, call, body, guide } = refused;
  const own = ownName(refused);
  const given = tool.fieldsIn === undefined ? undefined : call.args[tool.fieldsIn];
  if (own === undefined || guide === undefined || tool.fieldsIn === undefined || !isObject(given)) {
    return otherFile(refused);
  }
  const problems = body.error.fields ?? [];
  const renames = new Map(problems.flatMap(({ path }) => renamed(path, { guide, given })));
  const refusedPaths = new Set(problems.map(({ path }) => path));
  const left = edited(given, (path) => renames.get(path) ?? !refusedPaths.has(path));
  const notes = problems.slice(0, 5).map((problem) => noteOn(problem, { guide, meant: renames.get(problem.path) }));
  if (Object.keys(left).length > 0 || tool.suffix === "create") {
    return { tool: own, arguments: { ...call.args, [tool.fieldsIn]: left }, note: notes.join(" ") };
  }
  return instead(refused, problems, notes.join(" "));
}

/** A field name that isn't in the schema, and the closest sibling that is. */
function renamed(path: string, { guide, given }: { guide: Guide; given: object }): [string, string][] {
  if (guide.knows(path)) return [];
  const segments = path.split(".");
  const above = segments
    .slice(0, -1)
    .map((segment) => `${segment}.`)
    .join("");
  const beside = guide.names.filter((name) => name.startsWith(above) && !name.slice(above.length).includes("."));
  const free = beside.map((name) => name.slice(above.length)).filter((name) => !Object.hasOwn(given, above + name));
  const [meant] = closestNames(
    segments.at(-1) ?? "",
    free.filter((name) => guide.describe(above + name).fill !== "human"),
  );
  return meant === undefined ? [] : [[path, meant]];
}

function noteOn({ path, message }: FieldError, { guide, meant }: { guide: Guide; meant: string | undefined }): string {
  if (guide.knows(path)) return message;
  if (meant !== undefined) return `There is no field ${path}. Did you mean ${meant}?`;
  const near = closestNames(path, guide.names);
  return `There is no field ${path}.${near.length > 0 ? ` Did you mean ${near.join(", ")}?` : ""}`;
}

function instead(refused: Refused, problems: readonly FieldError[], note: string): NextCall | undefined {
  const { view, guide, intakeId } = refused;
  const target = submissionIn(refused);
  const known = problems.map(({ path }) => guide?.describe(path)).filter((field) => field?.type !== undefined);
  const handoff = view.nameOf("handoff", intakeId);
  if (known.some((field) => field?.fill === "human") && handoff !== undefined) {
    return { tool: handoff, arguments: target, note: `${note} Give the url in the response to a human.` };
  }
  const file = known.find((field) => field?.file === true);
  const upload = view.nameOf("upload", intakeId);
  if (file !== undefined && upload !== undefined) {
    const supply = ["filename", "mimeType", "sizeBytes"];
    return { tool: upload, arguments: { ...target, field: file.path }, supply, note };
  }
  if (known.length > 0 || intakeId === undefined || !view.lists(getTool)) return undefined;
  return { tool: getTool.generic, arguments: { intakeId }, note: `${note} Read which fields there are.` };
}

/** For an upload to a field that doesn't take files. */
function otherFile(refused: Refused): NextCall | undefined {
  const { tool, call, guide, view, intakeId } = refused;
  const own = ownName(refused);
  const { field } = call.args as { field?: unknown };
  if (tool.fileFieldIn === undefined || own === undefined || guide === undefined || typeof field !== "string") {
    return undefined;
  }
  if (guide.describe(field).file === true) {
    const supply = ["filename", "mimeType", "sizeBytes"];
    const { filename: _name, mimeType: _type, sizeBytes: _size, sha256: _hash, ...rest } = call.args;
    return { tool: own, arguments: rest, supply, note: `Announce another file for ${field}.` };
  }
  const files = guide.names.filter((name) => guide.describe(name).file === true);
  const [meant = files[0]] = closestNames(field, files);
  if (meant !== undefined) {
    return { tool: own, arguments: { ...call.args, field: meant }, note: `File fields here: ${files.join(", ")}.` };
  }
  const validate = view.nameOf("validate", intakeId);
  if (validate === undefined) return undefined;
  return { tool: validate, arguments: submissionIn(refused), note: "This intake takes no files." };
}
