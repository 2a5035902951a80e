import formStyle from "@formbridge/form/form.css?inline";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";
import { App } from "../form/app.tsx";
import type { Link } from "../form/link.ts";
import { type News, type Place, PlaceProvider } from "../form/place.ts";
import { Frame } from "../shared/frame.tsx";
import inlineStyle from "../shared/inline.css?inline";
import { applyLanguage, createReader, type Reader } from "../shared/language.ts";
import pageStyle from "../shared/page.css?inline";
import { createHostDoor } from "./door.ts";
import { connectHost, type Host, type JsonObject } from "./host.ts";

const style = new CSSStyleSheet();
style.replaceSync(formStyle + pageStyle + inlineStyle);
document.adoptedStyleSheets = [style];

/** What a model gets. It knows the server's tools and can read the submission itself; none of the person's answers are in it. */
function inWords(news: News): string | undefined {
  switch (news.kind) {
    case "ready":
      return undefined;
    case "saved":
      return `The person saved the form: submission ${news.submissionId}, version ${news.version}, ${news.missing} needed fields still empty.`;
    case "completed":
      return `The person said that their part is done: submission ${news.submissionId}.`;
    case "refused":
      return `The person tried to submit the form, and it was not submitted: submission ${news.submissionId} has ${news.problems} fields to fill in or correct.`;
    case "submitted":
      return `The person submitted the form: submission ${news.submissionId} is now ${news.state}.`;
    case "error":
      return news.submissionId === undefined
        ? `The form could not be opened: ${news.type}.`
        : `The person tried to submit the form, and it was not submitted: submission ${news.submissionId}, ${news.type}.`;
  }
}

/** The hand-off says how it is opened: with what its link carries, or with the code that came by e-mail. */
function linkOf({ submissionId: id, url, kind }: JsonObject): Link | undefined {
  const submissionId = String(id);
  if (kind === "magic_link") return { kind: "code", submissionId, code: "" };
  const session = URL.canParse(String(url)) ? new URL(String(url)).searchParams.get("session") : null;
  return session === null ? undefined : { kind: "session", submissionId, session };
}

/** A direct link carries the agent's own token, so writes with it would look like the agent's. */
function Elsewhere({ host, url, reader }: { host: Host; url: string; reader: Reader }): ReactElement {
  return (
    <Frame isPage={false}>
      <button type="button" className="fb-button fb-primary" onClick={() => host.openLink(url)}>
        {reader.t("code.open")}
      </button>
    </Frame>
  );
}

const host = connectHost();
const locale = await host.locale;
const reader = await createReader(locale === "" ? navigator.languages : [locale]);
applyLanguage(reader);
document.title = reader.t("page.loading");
const place: Place = {
  door: createHostDoor(host),
  isPage: false,
  // A host shows the form in the middle of a conversation, in full.
  showsSteps: false,
  tell(news) {
    const words = inWords(news);
    if (words !== undefined) host.tellModel(words);
  },
};
const handoff = await host.opened.catch((): JsonObject => ({}));
const link = handoff.ok === true ? linkOf(handoff) : ({ kind: "mistyped" } as const);
const main = document.querySelector("main");
if (main !== null) {
  main.className = "pg-inline";
  createRoot(main).render(
    <PlaceProvider value={place}>
      {link === undefined ? (
        <Elsewhere host={host} url={String(handoff.url)} reader={reader} />
      ) : (
        <App link={link} hint={undefined} reader={reader} />
      )}
    </PlaceProvider>,
  );
}
