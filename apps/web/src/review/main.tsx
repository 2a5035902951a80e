import "@formbridge/form/form.css";
import "../shared/page.css";
import "./review.css";
import { createRoot } from "react-dom/client";
import { applyLanguage } from "../shared/reader.ts";
import { createReader } from "./language.ts";
import { LinkApp } from "./link-app.tsx";
import { QueueApp } from "./queue.tsx";

const reader = await createReader(navigator.languages);
applyLanguage(reader);
document.title = reader.t("page.title");
const [place, secret = ""] = location.pathname.split("/").filter((part) => part !== "");
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    place === "reviews" ? (
      <LinkApp secret={decodeURIComponent(secret)} reader={reader} />
    ) : (
      <QueueApp reader={reader} />
    ),
  );
}
