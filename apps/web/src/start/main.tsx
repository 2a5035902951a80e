import "@formbridge/form/form.css";
import "../shared/page.css";
import { createClient } from "@formbridge/client";
import { createRoot } from "react-dom/client";
import { applyLanguage } from "../shared/reader.ts";
import { FrontDoor } from "./front-door.tsx";
import { createReader } from "./language.ts";

const reader = await createReader(navigator.languages);
applyLanguage(reader);
const client = createClient({ url: location.origin });
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<FrontDoor client={client} reader={reader} />);
