import { createHash } from "node:crypto";

/** A Lua script, which Redis runs atomically in one round trip. All its keys share one hash tag. */
export interface Script {
  text: string;
  sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** For scripts that need the time in milliseconds: from the first argument, or from Redis if that is empty. */
export const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end`;
