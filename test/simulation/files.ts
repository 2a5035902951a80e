import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FileName, UploadStorage } from "@formbridge/core";
import { inFlight, type World } from "./world.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000049444154", "hex");

/** An image of that many bytes. */
const imageOf = (sizeBytes: number): Buffer => Buffer.concat([PNG, Buffer.alloc(sizeBytes)]).subarray(0, sizeBytes);

/** A storage where a file did not arrive, arrived as announced, or arrived as something else. */
export function createFiles(world: () => World): UploadStorage {
  const announced = new Map<string, number>();
  const arrived = new Map<string, Buffer>();
  const idOf = ({ submissionId, uploadId }: FileName): string => `${submissionId}/${uploadId}`;
  return {
    maxBytes: 1_000_000,
    way: {
      kind: "direct",
      async signPut({ name, sizeBytes }) {
        announced.set(idOf(name), sizeBytes);
        return { url: "http://127.0.0.1/upload", headers: {} };
      },
      signGet: async () => "http://127.0.0.1/download",
      signParts: async () => ({ multipartId: "m", partBytes: 1, parts: [] }),
      joinParts: async () => {},
    },
    async seal(name) {
      const { dice } = world();
      const size = announced.get(idOf(name)) ?? 0;
      const came = dice.chance(0.2) ? undefined : imageOf(dice.chance(0.2) ? size + 1 : size);
      const flight = inFlight.getStore();
      if (flight !== undefined) flight.inspected = came && inspected(came);
      if (came === undefined) return undefined;
      arrived.set(idOf(name), came);
      return { sizeBytes: came.length };
    },
    read: async (name) => Readable.from([arrived.get(idOf(name)) ?? Buffer.alloc(0)]),
    drop: async () => {},
    list: async () => ({ names: [] }),
  };
}

const inspected = (bytes: Buffer) => ({
  sizeBytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
  sniffedType: "image/png",
});
