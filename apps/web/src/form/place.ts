import type { ClientErrorType } from "@formbridge/client";
import { createContext, useContext } from "react";
import type { Door } from "./opening.ts";

/** What happened in the form. Only ids and counts, no value or secret: it is passed to other people's pages and models. */
export type News =
  | { kind: "ready"; submissionId: string | undefined }
  | { kind: "saved"; submissionId: string; version: number; missing: number }
  | { kind: "completed"; submissionId: string; handoffId: string }
  | { kind: "refused"; submissionId: string; problems: number }
  | { kind: "submitted"; submissionId: string; state: string }
  | { kind: "error"; submissionId: string | undefined; type: ClientErrorType };

/** Where the form is shown: a page of ours, an element in somebody else's page, or an app in a host. */
export interface Place {
  door: Door;
  /** A page of ours: it has a head, can be printed, and its links can be sent around. */
  isPage: boolean;
  /** Show the fields step by step where the intake has steps. */
  showsSteps: boolean;
  tell(news: News): void;
}

const Context = createContext<Place | undefined>(undefined);
export const PlaceProvider = Context.Provider;

export function usePlace(): Place {
  const place = useContext(Context);
  if (place === undefined) throw new Error("the form was drawn outside of a place");
  return place;
}
