import { WEBHOOK_SCHEMES } from "@formbridge/contract";

const SCHEMES: readonly string[] = WEBHOOK_SCHEMES;

/** Whether it may be reached is checked on every send, because that depends on DNS at that moment. */
export const isWebUrl = (url: string): boolean => SCHEMES.includes(URL.parse(url)?.protocol ?? "");
