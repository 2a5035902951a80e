import "@formbridge/form/form.css";
import "../shared/page.css";
import { fetchWith, startReads } from "./early-reads.ts";
import { hintIn, readLink } from "./link.ts";

// A small file that runs before the large ones have arrived: the form's data is on its way while they load.
const link = readLink(location);
const early = startReads(link);
const { showPage } = await import("./page.tsx");
await showPage({ link, hint: hintIn(location.search), fetch: fetchWith(early) });
