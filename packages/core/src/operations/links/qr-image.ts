import { crc32, deflateSync } from "node:zlib";
import encodeQR from "qr";

const OPTIONS = { ecc: "medium", border: 4 } as const;
/** Pixels per module, so that a phone can read it from a screen. */
const SCALE = 8;

/** A link as a QR code. */
export function qrImage(text: string, format: "svg" | "png"): { svg: string } | { png: string } {
  if (format === "svg") return { svg: encodeQR(text, "svg", OPTIONS) };
  const png = pngOf(encodeQR(text, "raw", OPTIONS));
  return { png: `data:image/png;base64,${png.toString("base64")}` };
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const GRAYSCALE_8_BIT = [8, 0, 0, 0, 0];

/** A PNG with one byte per pixel: simple enough to write here, without the dependencies of a PNG library. */
function pngOf(modules: readonly (readonly boolean[])[]): Buffer {
  const size = modules.length * SCALE;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set(GRAYSCALE_8_BIT, 8);
  const lines = modules.flatMap((row) => {
    // Every row starts with its filter type: 0, none.
    const line = Buffer.alloc(1 + size);
    for (const [x, dark] of row.entries()) line.fill(dark ? 0 : 0xff, 1 + x * SCALE, 1 + (x + 1) * SCALE);
    return Array<Buffer>(SCALE).fill(line);
  });
  const pixels = deflateSync(Buffer.concat(lines));
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
