/** Another process on the same file: commits what it is sent, and confirms it. */
import type { Change } from "@formbridge/core";
import { openSqliteBackend } from "@formbridge/store-sqlite";

const backend = openSqliteBackend({ file: process.argv[2] ?? "", now: () => 0 });

process.on("message", (change: Change | "close") => {
  if (change === "close") void backend.close().then(() => process.disconnect());
  else void backend.store.commit(change).then((committed) => process.send?.(committed.kind));
});
process.send?.("open");
