import { createHash } from "node:crypto";

/** A Lua script, which Redis runs whole or not at all, in one round trip. All its keys carry one hash tag. */
export interface Script {
  text: string;
  sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** For scripts that tell the time: by the first argument, or by Redis when it is empty. In milliseconds. */
export const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end`;
