const SCHEMES = ["http:", "https:"];

/** Whether it may be reached is asked with every message: that depends on what its name means at that moment. */
export const isWebUrl = (url: string): boolean => SCHEMES.includes(URL.parse(url)?.protocol ?? "");
