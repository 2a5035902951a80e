import { type ReactElement, useMemo } from "react";
import type { Reader } from "./language.ts";
import { ReviewPage } from "./review-page.tsx";
import { linkSource } from "./source.ts";

/** What a review link opens. Opening it doesn't use it up. */
export function LinkApp({ secret, reader }: { secret: string; reader: Reader }): ReactElement {
  const source = useMemo(() => linkSource(secret), [secret]);
  return <ReviewPage source={source} reader={reader} />;
}
