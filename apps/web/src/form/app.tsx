import { FormBridgeError, newIdempotencyKey } from "@formbridge/client";
import { EDITABLE_STATES } from "@formbridge/contract/editable-states";
import { type ReactElement, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { Frame } from "../shared/frame.tsx";
import type { ShownIntake } from "../shared/intake-texts.ts";
import type { Reader } from "../shared/language.ts";
import { LiveRegion } from "../shared/live.tsx";
import { CodeForm } from "./code.tsx";
import { Editor } from "./editor.tsx";
import type { Link } from "./link.ts";
import { type Opened, type Person, peopleIn } from "./opening.ts";
import { usePlace } from "./place.ts";
import { type Problem, ProblemView, problemOf } from "./problem.tsx";
import { Receipt } from "./receipt.tsx";
import { Start } from "./start.tsx";
import { WhoIsThere } from "./who.tsx";

type View =
  | { kind: "loading" }
  | { kind: "code"; submissionId: string; code: string }
  | { kind: "who"; people: readonly Person[]; open(person: Person): Promise<Opened> }
  | { kind: "start"; intake: ShownIntake }
  | { kind: "problem"; problem: Problem }
  | { kind: "form"; opened: Opened }
  | { kind: "receipt"; opened: Opened };

const EDITABLE: ReadonlySet<string> = new Set(EDITABLE_STATES);

const viewOf = (opened: Opened): View => {
  const { state } = opened.session.state.record;
  if (EDITABLE.has(state)) return { kind: "form", opened };
  if (state === "cancelled" || state === "expired") return { kind: "problem", problem: state };
  return { kind: "receipt", opened };
};

/** Others act on the submission too: they may submit it, cancel it, or send it back for changes. */
function useMoves(view: View, show: (view: View) => void): void {
  const opened = "opened" in view ? view.opened : undefined;
  const { kind } = view;
  useEffect(() => {
    if (opened === undefined) return undefined;
    const follow = () => {
      const next = viewOf(opened);
      const hasUnsaved = Object.keys(opened.session.unsaved()).length > 0;
      if (next.kind !== kind && !(kind === "form" && hasUnsaved)) show(next);
    };
    // The state may have moved on before this effect ran.
    follow();
    return opened.session.subscribe(follow);
  }, [opened, kind, show]);
}

interface AppProps {
  link: Link;
  hint: string | undefined;
  reader: Reader;
}

/** What a link opens, from loading it to the receipt. */
export const App = (props: AppProps): ReactElement => (
  <LiveRegion>
    <Views {...props} />
  </LiveRegion>
);

function Views({ link, hint, reader }: AppProps): ReactElement {
  const { door, isPage, tell } = usePlace();
  const [view, setView] = useState<View>({ kind: "loading" });
  const show = useCallback(
    (opened: Opened) => {
      setView(viewOf(opened));
      tell({ kind: "ready", submissionId: opened.session.state.record.submissionId || undefined });
    },
    [tell],
  );
  const fail = useCallback(
    (error: unknown) => {
      const isOurs = error instanceof FormBridgeError;
      setView({ kind: "problem", problem: isOurs ? problemOf(error) : "other" });
      tell({ kind: "error", submissionId: undefined, type: isOurs ? error.type : "internal_error" });
    },
    [tell],
  );
  /** Asks who is here when the link was made for several people. */
  const failOrAsk = useCallback(
    (error: unknown, open: (person: Person) => Promise<Opened>) => {
      const people = peopleIn(error);
      if (people.length > 0) setView({ kind: "who", people, open });
      else fail(error);
    },
    [fail],
  );
  const load = useCallback(() => {
    if (link.kind === "mistyped") setView({ kind: "problem", problem: "mistyped" });
    else if (link.kind === "new" && !isPage) door.openNew(link.intakeId, newIdempotencyKey()).then(show, fail);
    else if (link.kind === "new")
      door.publicIntake(link.intakeId).then((intake) => setView({ kind: "start", intake }), fail);
    else if (link.kind === "code") setView({ ...link });
    else {
      const open = (person?: Person) => door.openLink(link, person);
      open().then(show, (error) => failOrAsk(error, open));
    }
  }, [link, door, isPage, show, fail, failOrAsk]);
  // Not after the first paint: the requests take longer than it.
  useLayoutEffect(load, [load]);
  useMoves(view, setView);

  switch (view.kind) {
    case "loading":
      return <Loading isPage={isPage} reader={reader} />;
    case "problem":
      return (
        <Frame isPage={isPage}>
          <ProblemView problem={view.problem} reader={reader} onRetry={load} />
        </Frame>
      );
    case "start":
      return (
        <Frame isPage={isPage} intake={view.intake}>
          <Start intake={view.intake} reader={reader} onOpened={show} onProblem={fail} />
        </Frame>
      );
    case "code":
      return (
        <Frame isPage={isPage}>
          <CodeForm {...view} reader={reader} onOpened={show} onProblem={failOrAsk} />
        </Frame>
      );
    case "who":
      return (
        <Frame isPage={isPage}>
          <WhoIsThere {...view} reader={reader} onOpened={show} onProblem={fail} />
        </Frame>
      );
    case "form": {
      const { opened } = view;
      return (
        <Frame isPage={isPage} intake={opened.intake}>
          <Editor opened={opened} reader={reader} hint={hint} />
        </Frame>
      );
    }
    case "receipt":
      return (
        <Frame isPage={isPage} intake={view.opened.intake}>
          <Receipt opened={view.opened} reader={reader} />
        </Frame>
      );
  }
}

const PATIENCE_MS = 300;

/** Says nothing at first: most links open sooner than it could be read, and drawing it would delay the form. */
function Loading({ isPage, reader }: { isPage: boolean; reader: Reader }): ReactElement | null {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isSlow) return null;
  return (
    <Frame isPage={isPage}>
      <p>{reader.t("page.loading")}</p>
    </Frame>
  );
}
