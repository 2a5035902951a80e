import { createRoot } from "react-dom/client";
import { applyLanguage, createReader } from "../shared/language.ts";
import { App } from "./app.tsx";
import type { Link } from "./link.ts";
import { createPageDoor } from "./page-door.ts";
import { type Place, PlaceProvider } from "./place.ts";

interface PageOptions {
  link: Link;
  hint: string | undefined;
  fetch: typeof globalThis.fetch;
}

export async function showPage({ link, hint, fetch }: PageOptions): Promise<void> {
  const reader = await createReader(navigator.languages);
  applyLanguage(reader);
  const root = document.getElementById("root");
  const page: Place = { door: createPageDoor(fetch), isPage: true, showsSteps: true, tell: () => {} };
  if (root === null) return;
  createRoot(root).render(
    <PlaceProvider value={page}>
      <App link={link} hint={hint} reader={reader} />
    </PlaceProvider>,
  );
}
