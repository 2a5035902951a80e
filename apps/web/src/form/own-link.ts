import { FormBridgeError } from "@formbridge/client";
import { useCallback, useRef, useState } from "react";
import type { Opened } from "./opening.ts";

interface MadeLink {
  url: string;
  expiresAt: string;
  qr?: { svg?: string; png?: string } | undefined;
}

export interface OwnLink {
  made: MadeLink | undefined;
  hasFailed: boolean;
  make(): void;
  /** Sends the person a link. False: it was not sent. Absent where the server sends no mail. */
  mail?(email: string): Promise<boolean>;
}

/** The link that a person makes for their own later use. Made once, however often it is looked at: a form has few. */
export function useOwnLink({ session, sendsMail }: Opened): OwnLink {
  const [made, setMade] = useState<MadeLink | undefined>(undefined);
  const [hasFailed, setFailed] = useState(false);
  const isMaking = useRef(false);
  const make = useCallback(() => {
    if (isMaking.current) return;
    isMaking.current = true;
    setFailed(false);
    session
      .started()
      .then((submission) => submission.handOff({ kind: "session", qrFormat: "png" }))
      .then(setMade, () => {
        isMaking.current = false;
        setFailed(true);
      });
  }, [session]);
  const mail = async (recipientEmail: string): Promise<boolean> => {
    try {
      await (await session.started()).handOff({ kind: "session", recipientEmail });
      return true;
    } catch (error) {
      if (!(error instanceof FormBridgeError)) throw error;
      return false;
    }
  };
  return { made, hasFailed, make, ...(sendsMail && { mail }) };
}
