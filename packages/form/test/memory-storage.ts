import type { Edit } from "../src/session/edits.ts";
import type { EditStorage } from "../src/session/form-state.ts";

/** What a browser stores across reloads. */
export function memoryStorage(): EditStorage & { kept: string } {
  const storage = {
    kept: "[]",
    async takeOver(_submissionId: string, take: (edits: Edit[]) => Edit[]): Promise<void> {
      take(JSON.parse(storage.kept));
    },
    save(_submissionId: string, edits: readonly Edit[]): void {
      storage.kept = JSON.stringify(edits);
    },
  };
  return storage;
}
