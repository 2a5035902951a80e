import { createContext, type ReactElement, type ReactNode, useContext, useMemo, useState } from "react";

interface Live {
  /** Whether everything is saved. `isShown`: people who see the page need to read it too. */
  status(text: string, isShown?: boolean): void;
  /** Something that happened: new answers, a refusal. */
  news(text: string): void;
}

const Context = createContext<Live>({ status: () => {}, news: () => {} });
export const useLive = (): Live => useContext(Context);

/** The one live region: always there, so that screen readers notice what is put into it. */
export function LiveRegion({ children }: { children: ReactNode }): ReactElement {
  const [status, setStatus] = useState({ text: "", isShown: false });
  const [news, setNews] = useState("");
  const live = useMemo<Live>(
    () => ({ status: (text, isShown = false) => setStatus({ text, isShown }), news: setNews }),
    [],
  );
  return (
    <Context.Provider value={live}>
      {children}
      <div className={status.isShown ? "pg-live" : "fb-sr"} role="status">
        <span>{status.text}</span> <span className="fb-sr">{news}</span>
      </div>
    </Context.Provider>
  );
}
