import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("../../web/dist", import.meta.url));

/** The build output of the pages; undefined if they weren't built, as in a checkout that only runs unit tests. */
export const PAGES_FOLDER: string | undefined = existsSync(BUILT) ? BUILT : undefined;

/** The form for agents' hosts. */
export const FORM_SCRIPT: string | undefined =
  PAGES_FOLDER === undefined ? undefined : join(PAGES_FOLDER, "mcp-app.js");
