import { button, el } from "./dom.ts";
import { showForm } from "./form.ts";
import { connectHost, type Host, Refused } from "./host.ts";
import { wordsOf } from "./schema.ts";
import { recordFrom } from "./state.ts";
import { type Actor, clone, type FieldHint, isObject, type JsonObject, type Step } from "./wire.ts";

const root = document.querySelector("main");
if (root !== null) void begin(root, connectHost());

async function begin(root: HTMLElement, host: Host): Promise<void> {
  try {
    await openLink(root, host, await host.opened);
  } catch (error) {
    tell(root, error);
  }
}

/** The hand-off says how it is opened: with what its link carries, or with the code that came by e-mail. */
async function openLink(root: HTMLElement, host: Host, handoff: JsonObject): Promise<void> {
  const { submissionId, url, kind } = handoff;
  const session = URL.canParse(String(url)) ? new URL(String(url)).searchParams.get("session") : null;
  if (kind === "magic_link") {
    return gate(root, {
      words: "A code was sent to you by e-mail. It shows that it is you who fills this in.",
      inputs: { email: "Your e-mail address", code: "The code" },
      open: (given) => openSession(root, host, { submissionId: String(submissionId), ...given }),
    });
  }
  if (session === null || session === "") return elsewhere(root, host, String(url));
  try {
    await openSession(root, host, { submissionId: String(submissionId), session });
  } catch (error) {
    // Several people may open the link: the one who does says who it is.
    if (!(error instanceof Refused) || error.failure.type !== "bad_request") throw error;
    gate(root, {
      words: "This form is for several people. Say who you are.",
      inputs: { id: "Your user name" },
      open: ({ id = "" }) =>
        openSession(root, host, { submissionId: String(submissionId), session, actor: { kind: "human", id } }),
    });
  }
}

async function openSession(root: HTMLElement, host: Host, link: JsonObject): Promise<void> {
  const answer = await host.call({ action: "open", ...link });
  const record = recordFrom(answer.record);
  const shown = isObject(answer.intake) ? answer.intake : {};
  const hints = isObject(shown.uiHints) ? shown.uiHints : {};
  showForm(root, {
    host,
    session: String(answer.session),
    actor: answer.actor as unknown as Actor,
    message: typeof answer.message === "string" ? answer.message : "",
    title: String(shown.name ?? record.schema.title ?? wordsOf(record.intakeId)),
    description: String(shown.description ?? record.schema.description ?? ""),
    hints: (hints.fieldHints ?? {}) as unknown as Record<string, FieldHint>,
    steps: (hints.steps ?? []) as unknown as Step[],
    record,
    draft: clone(record.fields),
    tried: false,
  });
}

interface Gate {
  words: string;
  inputs: Record<string, string>;
  open(given: Record<string, string>): Promise<void>;
}

function gate(root: HTMLElement, { words, inputs, open }: Gate): void {
  const status = el("p", { class: "error", role: "alert" });
  const controls = Object.entries(inputs).map(([name, label]) => {
    const id = `g-${name}`;
    const input = el("input", { id, type: name === "email" ? "email" : "text", autocomplete: "off" });
    return { name, input, field: el("div", { class: "field" }, el("label", { for: id }, label), input) };
  });
  const go = (): void => {
    status.textContent = "";
    const given = Object.fromEntries(controls.map(({ name, input }) => [name, input.value.trim()]));
    open(given).catch((error: unknown) => {
      status.textContent = error instanceof Error ? error.message : "This did not work.";
      controls[0]?.input.focus();
    });
  };
  for (const { input } of controls) {
    input.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") go();
    });
  }
  const fields = controls.map(({ field }) => field);
  root.replaceChildren(
    el("h1", {}, "Open the form"),
    el("p", { class: "lead" }, words),
    ...fields,
    status,
    button("Open", go, "first"),
  );
}

/** A direct link carries the agent's own token: whoever writes with it could not be told from the agent. */
function elsewhere(root: HTMLElement, host: Host, url: string): void {
  const words = "This form opens in a browser of its own.";
  root.replaceChildren(
    el("h1", {}, "Open the form"),
    el("p", {}, words),
    button("Open in browser", () => host.openLink(url), "first"),
  );
}

function tell(root: HTMLElement, error: unknown): void {
  const words = error instanceof Error ? error.message : "The form can't be shown.";
  root.replaceChildren(el("h1", {}, "The form can't be opened"), el("p", { class: "error", role: "alert" }, words));
}
