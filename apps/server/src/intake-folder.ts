import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { IntakeDefinition } from "@formbridge/contract";
import { type Backend, ContractError, checkDefinition, DEFAULT_TENANT, type Operations } from "@formbridge/core";

/** What is wrong with a definition file, and where. */
export interface FileProblem {
  file: string;
  path: string;
  message: string;
}

export interface FolderReading {
  definitions: { file: string; definition: IntakeDefinition }[];
  problems: FileProblem[];
}

interface Limits {
  maxFields: number;
}

/** Reads and checks every definition in a folder, and reports all problems. */
export function readIntakeFolder(folder: string, limits: Limits): FolderReading {
  const names = namesIn(folder);
  if (!Array.isArray(names)) return { definitions: [], problems: [names] };
  const files = names.map((name) => join(folder, name));
  const sources = files.map((file) => ({ file, read: () => JSON.parse(readFileSync(file, "utf8")) }));
  return checkAll(sources, limits);
}

function namesIn(folder: string): string[] | FileProblem {
  try {
    return readdirSync(folder)
      .filter((entry) => entry.endsWith(".json"))
      .sort();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return {
      file: folder,
      path: "",
      message: `can't be read (${code}). Set FORMBRIDGE_INTAKES to the folder with your intakes.`,
    };
  }
}

/** The same for definitions passed by a program; a position is used instead of the file name. */
export const checkIntakes = (definitions: readonly unknown[], limits: Limits): FolderReading =>
  checkAll(
    definitions.map((definition, index) => ({ file: `intakes[${index}]`, read: () => definition })),
    limits,
  );

function checkAll(sources: { file: string; read: () => unknown }[], limits: Limits): FolderReading {
  const reading: FolderReading = { definitions: [], problems: [] };
  for (const { file, read } of sources) {
    try {
      const definition = checkDefinition(read(), limits);
      const twin = reading.definitions.find((other) => other.definition.id === definition.id);
      if (twin === undefined) reading.definitions.push({ file, definition });
      else reading.problems.push({ file, path: "id", message: `${definition.id} is defined by ${twin.file} too.` });
    } catch (error) {
      reading.problems.push(...problemsOf(file, error));
    }
  }
  return reading;
}

function problemsOf(file: string, error: unknown): FileProblem[] {
  if (error instanceof SyntaxError) return [{ file, path: "", message: `is not valid JSON: ${error.message}` }];
  if (!(error instanceof ContractError)) throw error;
  const { fields } = error.detail;
  if (fields === undefined) return [{ file, path: "", message: error.message }];
  return fields.map(({ path, message }) => ({ file, path, message }));
}

export const problemLine = ({ file, path, message }: FileProblem): string =>
  `${file}${path === "" ? "" : ` at ${path}`}: ${message}`;

/** The folder owns what it defines: its definitions become current, and those no longer in it are retired. */
export async function registerFolder(
  { operations, backend }: { operations: Operations; backend: Backend },
  { definitions }: FolderReading,
): Promise<void> {
  for (const { file, definition } of definitions) {
    try {
      await operations.registerIntake({ tenant: DEFAULT_TENANT, source: "folder", definition });
    } catch (error) {
      if (error instanceof ContractError) throw new Error(`${file}: ${error.message}`, { cause: error });
      throw error;
    }
  }
  const kept = new Set(definitions.map(({ definition }) => definition.id));
  for (const stored of await backend.intakes.list({ tenant: DEFAULT_TENANT }, 10_000)) {
    const { id } = stored.definition;
    if (stored.source === "folder" && !stored.retired && !kept.has(id)) {
      await backend.intakes.retire({ tenant: DEFAULT_TENANT, id });
    }
  }
}
