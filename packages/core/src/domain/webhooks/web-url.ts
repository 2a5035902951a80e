import { WEBHOOK_SCHEMES } from "@formbridge/contract";

const SCHEMES: readonly string[] = WEBHOOK_SCHEMES;

/** Whether it may be reached is asked with every message: that depends on what its name means at that moment. */
export const isWebUrl = (url: string): boolean => SCHEMES.includes(URL.parse(url)?.protocol ?? "");
