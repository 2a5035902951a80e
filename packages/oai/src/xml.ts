/** Text that is already XML. Only this file creates it from other text. */
export type Xml = string & { readonly isXml: true };

export type Attributes = Record<string, string | number | undefined>;

/** Attributes as they are in a tag, for elements of which a page has many. */
export type WrittenAttributes = string & { readonly isAttributes: true };

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
const REPLACEMENT = "\uFFFD";
const written = (character: string): string => ESCAPES[character] ?? REPLACEMENT;

// The second part is what XML 1.0 can't represent, escaped or not: most control characters, lone surrogates, U+FFFE and U+FFFF.
const NOT_TEXT = /[&<>\r]|[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const NOT_ATTRIBUTE = /[&<>"\t\n\r]|[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Character data. */
export const text = (value: string): Xml => value.replace(NOT_TEXT, written) as Xml;

export function writeAttributes(attributes: Attributes): WrittenAttributes {
  let all = "";
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) all += ` ${key}="${String(value).replace(NOT_ATTRIBUTE, written)}"`;
  }
  return all as WrittenAttributes;
}

const NONE = writeAttributes({});

/** An element; undefined attributes are left out. Names are ours, never a caller's. */
export const element = (name: string, attributes: Attributes | WrittenAttributes, ...children: readonly Xml[]): Xml =>
  tagged(name, attributes, children.join(""));

/** An element that contains only text. */
export const leaf = (name: string, value: string, attributes: Attributes | WrittenAttributes = NONE): Xml =>
  tagged(name, attributes, text(value));

function tagged(name: string, attributes: Attributes | WrittenAttributes, content: string): Xml {
  const tag = `<${name}${typeof attributes === "string" ? attributes : writeAttributes(attributes)}`;
  return (content === "" ? `${tag}/>` : `${tag}>${content}</${name}>`) as Xml;
}

export const document = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
