import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Loose } from "../support/harness.ts";
import { goodArguments, type HostileWorld, needsToken } from "./hostile-world.ts";

/** A call that must be refused, and what the refusal may not reveal. */
export interface HostileCase {
  tool: string;
  what: string;
  args: unknown;
  /** The refusal must be the same as for a token that was never issued. */
  likeUnknown?: true;
}

const deep = (depth: number): unknown => (depth === 0 ? "end" : { in: deep(depth - 1) });

/** Useless values of every type. */
const CORPUS: readonly (readonly [name: string, value: unknown])[] = [
  ["null", null],
  ["true", true],
  ["zero", 0],
  ["a negative number", -7],
  ["a fraction", 1.5],
  ["a huge number", 1e300],
  ["an empty text", ""],
  ["a text", "nonsense"],
  ["a text with a zero byte", "a\u0000b"],
  ["a text of 200 kB", "x".repeat(200_000)],
  ["an empty list", []],
  ["a list", ["nonsense", 1]],
  ["an empty object", {}],
  ["an object", { nonsense: 1 }],
  ["a deep object", deep(50)],
];

export const UNKNOWN_TOKEN = `rtok_${"u".repeat(43)}`;
const MALFORMED = [
  "",
  "rtok_",
  "rtok_short",
  `fbk_${"u".repeat(43)}`,
  `rtok_${"!".repeat(43)}`,
  `rtok_${"u".repeat(5000)}`,
];

const ajv = new Ajv2020({ strict: false, validateFormats: true });
formats.default(ajv);

/** Each argument with each value that its own schema, as listed, does not accept. */
function wrongValues(world: HostileWorld, tool: Loose): HostileCase[] {
  const good = goodArguments(world, tool);
  const properties = Object.entries(tool.inputSchema.properties as Record<string, Loose>);
  return properties.flatMap(([name, schema]) => {
    const takes = ajv.compile(schema);
    return CORPUS.filter(([, value]) => !takes(value)).map(([kind, value]) => ({
      tool: tool.name,
      what: `${name} is ${kind}`,
      args: { ...good, [name]: value },
    }));
  });
}

function missing(world: HostileWorld, tool: Loose): HostileCase[] {
  const good = goodArguments(world, tool);
  return Object.keys(good).map((name) => {
    const { [name]: _, ...args } = good;
    return { tool: tool.name, what: `${name} is missing`, args };
  });
}

function wrongTokens(world: HostileWorld, tool: Loose): HostileCase[] {
  if (!needsToken(tool)) return [];
  const { own, others, foreign, cancelled } = world;
  const good = goodArguments(world, tool);
  const isOfOneIntake = tool.name.includes("_alpha_");
  const isRead = tool.annotations.readOnlyHint === true;
  const with_ = (what: string, more: object): HostileCase => ({ tool: tool.name, what, args: { ...good, ...more } });
  const withId = Object.hasOwn(tool.inputSchema.properties, "submissionId");
  return [
    with_("an unknown token", { resumeToken: UNKNOWN_TOKEN }),
    ...MALFORMED.map((resumeToken) => with_(`a malformed token ${resumeToken.slice(0, 12)}`, { resumeToken })),
    ...(isOfOneIntake
      ? [{ ...with_("a token of another intake", { resumeToken: foreign.token }), likeUnknown: true as const }]
      : []),
    ...(withId
      ? [
          with_("another submission's token", { submissionId: own.submissionId, resumeToken: others.token }),
          with_("another submission's id", { submissionId: others.submissionId, resumeToken: own.token }),
          with_("another intake's submission", { submissionId: foreign.submissionId, resumeToken: own.token }),
          with_("an id without a token or key", { submissionId: own.submissionId, resumeToken: undefined }),
        ]
      : []),
    // The holder of an older token may still read.
    ...(isRead ? [] : [with_("a token of what was cancelled", { resumeToken: cancelled.token })]),
    ...(isRead ? [] : [with_("a token that was replaced", { resumeToken: own.staleToken })]),
  ];
}

function oddArguments(world: HostileWorld, tool: Loose): HostileCase[] {
  const good = goodArguments(world, tool);
  return [
    ...[null, "text", 7, [], [good]].map((args) => ({
      tool: tool.name,
      what: `its arguments are ${JSON.stringify(args)?.slice(0, 20)}`,
      args,
    })),
    { tool: tool.name, what: "an argument that it does not have", args: { ...good, surprise: 1 } },
    { tool: tool.name, what: "a prototype", args: JSON.parse(`{"__proto__":{"polluted":1},"surprise":1}`) },
  ];
}

/** Every tool with every mistake that can be derived from its schema. */
export const hostileCases = (world: HostileWorld): HostileCase[] =>
  world.tools.flatMap((tool) => [missing, wrongValues, wrongTokens, oddArguments].flatMap((make) => make(world, tool)));
