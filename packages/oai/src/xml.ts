/** Text that is already XML. Only this file creates it from other text. */
export type Xml = string & { readonly isXml: true };

export type Attributes = Record<string, string | number | undefined>;

/** Attributes as they are in a tag, for elements of which a page has many. */
export type WrittenAttributes = string & { readonly isAttributes: true };

// What XML 1.0 can't represent, escaped or not: most control characters, lone surrogates, U+FFFE and U+FFFF.
const UNWRITABLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const REPLACEMENT = "\uFFFD";

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // A parser would turn these into spaces or line feeds unless they are escaped.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};
const escaped = (character: string): string => ESCAPES[character] ?? character;

/** Character data. */
export const text = (value: string): Xml => value.replace(UNWRITABLE, REPLACEMENT).replace(/[&<>\r]/g, escaped) as Xml;

const attribute = (value: string): string => value.replace(UNWRITABLE, REPLACEMENT).replace(/[&<>"\t\n\r]/g, escaped);

export function writeAttributes(attributes: Attributes): WrittenAttributes {
  let written = "";
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) written += ` ${key}="${attribute(String(value))}"`;
  }
  return written as WrittenAttributes;
}

/** An element; undefined attributes are left out. Names are ours, never a caller's. */
export function element(name: string, attributes: Attributes | WrittenAttributes, ...children: readonly Xml[]): Xml {
  const tag = `<${name}${typeof attributes === "string" ? attributes : writeAttributes(attributes)}`;
  const content = children.join("");
  return (content === "" ? `${tag}/>` : `${tag}>${content}</${name}>`) as Xml;
}

/** An element that contains only text. */
export const leaf = (name: string, value: string, attributes: Attributes = {}): Xml =>
  element(name, attributes, text(value));

export const document = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
