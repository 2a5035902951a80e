import formStyle from "@formbridge/form/form.css?inline";
import { createRoot, type Root } from "react-dom/client";
import { App } from "../form/app.tsx";
import { type Link, readLink } from "../form/link.ts";
import { type News, type Place, PlaceProvider } from "../form/place.ts";
import inlineStyle from "../shared/inline.css?inline";
import { createReader, directionOf } from "../shared/language.ts";
import pageStyle from "../shared/page.css?inline";
import { createHeaderDoor } from "./door.ts";

const ATTRIBUTES = ["server", "link", "token", "submission", "session", "intake", "lang", "steps"] as const;

/** A stylesheet object needs no `unsafe-inline` in the policy of the page around us. */
const style = new CSSStyleSheet();
style.replaceSync(formStyle + pageStyle + inlineStyle);

/** The server that this file came from, unless the element names another. */
const here = import.meta.url;
const HOME = new URL("..", here).href;

interface Shown {
  root: Root;
  close(): void;
}

/**
 * The form of an intake as an element of any page. It says what happens by events, which carry ids and no secret; see
 * `News`: a saved form is `formbridge-saved`.
 */
export class FormBridgeFormElement extends HTMLElement {
  static readonly observedAttributes = ATTRIBUTES;
  readonly #inside = this.attachShadow({ mode: "open" });
  #shown: Shown | undefined;
  #isDue = false;

  constructor() {
    super();
    this.#inside.adoptedStyleSheets = [style];
  }

  connectedCallback(): void {
    if (this.#shown === undefined) this.#redraw();
  }

  /** Being moved to another place of the page is no reason to begin again. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (!this.isConnected) this.#end();
    });
  }

  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (before !== now && this.isConnected) this.#redraw();
  }

  /** Once for all attributes that are set together. */
  #redraw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      void this.#draw();
    });
  }

  async #draw(): Promise<void> {
    this.#end();
    const given = this.#given();
    const mount = document.createElement("div");
    const door = createHeaderDoor(given.server);
    const root = createRoot(mount);
    const shown: Shown = {
      root,
      close() {
        root.unmount();
        mount.remove();
        door.close();
      },
    };
    this.#shown = shown;
    const reader = await createReader(given.languages);
    // Another attribute may have changed while the texts were loading.
    if (this.#shown !== shown) return;
    mount.className = "pg-inline";
    mount.lang = reader.locale;
    mount.dir = directionOf(reader);
    this.#inside.append(mount);
    const place: Place = { door, isPage: false, showsSteps: given.steps, tell: (news) => this.#tell(news) };
    root.render(
      <PlaceProvider value={place}>
        <App link={given.link} hint={undefined} reader={reader} />
      </PlaceProvider>,
    );
  }

  #end(): void {
    this.#shown?.close();
    this.#shown = undefined;
  }

  #given(): { server: string; link: Link; languages: readonly string[]; steps: boolean } {
    const attribute = (name: (typeof ATTRIBUTES)[number]) => this.getAttribute(name) ?? undefined;
    const whole = attribute("link");
    const linked = whole !== undefined && URL.canParse(whole) ? new URL(whole) : undefined;
    const lang = attribute("lang");
    return {
      server: attribute("server") ?? linked?.origin ?? HOME,
      link: linked === undefined ? linkOf(attribute) : readLink(linked),
      languages: lang === undefined ? navigator.languages : [lang],
      steps: attribute("steps") !== "off",
    };
  }

  #tell({ kind, ...detail }: News): void {
    this.dispatchEvent(new CustomEvent(`formbridge-${kind}`, { detail, bubbles: true, composed: true }));
  }
}

function linkOf(attribute: (name: (typeof ATTRIBUTES)[number]) => string | undefined): Link {
  const [resumeToken, submissionId] = [attribute("token"), attribute("submission")];
  const [session, intakeId] = [attribute("session"), attribute("intake")];
  if (resumeToken !== undefined) return { kind: "token", resumeToken, ...(submissionId && { submissionId }) };
  if (submissionId !== undefined && session !== undefined) return { kind: "session", submissionId, session };
  return intakeId === undefined ? { kind: "mistyped" } : { kind: "new", intakeId };
}
