import "@formbridge/form/form.css";
import "../shared/page.css";
import { createRoot } from "react-dom/client";
import { applyLanguage, createReader } from "../shared/language.ts";
import { App } from "./app.tsx";
import { hintIn, readLink } from "./link.ts";
import { pageDoor } from "./page-door.ts";
import { type Place, PlaceProvider } from "./place.ts";

const reader = await createReader(navigator.languages);
applyLanguage(reader);
const root = document.getElementById("root");
const page: Place = { door: pageDoor, isPage: true, showsSteps: true, tell: () => {} };
if (root !== null) {
  createRoot(root).render(
    <PlaceProvider value={page}>
      <App link={readLink(location)} hint={hintIn(location.search)} reader={reader} />
    </PlaceProvider>,
  );
}
