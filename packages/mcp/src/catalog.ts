import { type Caller, type OpenIntake, type Operations, type Policy, sha256 } from "@formbridge/core";
import { closestNames } from "./answers/closest.ts";
import { type Advertised, genericTools, intakeTools } from "./tools/advertise.ts";
import { type Audience, audienceOf, isFor, keyOf } from "./tools/audience.ts";
import { getTool, listTool } from "./tools/intakes.ts";
import { createTool } from "./tools/submissions.ts";
import { genericTool, intakeToolName, readIntakeTool, TOOLS, toolWith } from "./tools/table.ts";
import type { Suffix, Tool } from "./tools/tool.ts";

/**
 * Which tools are listed. auto: a create tool per intake and one generic set of verbs; intake: also every intake's own
 * verbs; generic: only the generic set. Unlisted tools can be called too.
 */
export const TOOLS_MODES = ["auto", "intake", "generic"] as const;
export type ToolsMode = (typeof TOOLS_MODES)[number];

/**
 * How many intakes can have their own create tool in `auto`: more would crowd a model's context, and some hosts
 * truncate long lists.
 */
const MANY_INTAKES = 12;
/** Notifications may get lost, so a view older than this is loaded again. */
const VIEW_LIFE_MS = 5_000;
const MAX_VIEWS = 1_000;
const MAX_INTAKES = 2_000;
const MAX_TEXTS = 20;

export interface FoundTool {
  tool: Tool;
  /** Absent for a generic tool. */
  intake?: OpenIntake;
}

/** What one caller sees: its intakes and their tools. */
export interface CallerView {
  tenant: string;
  intakes: readonly OpenIntake[];
  /** As listed; built on first use. */
  tools(): readonly Advertised[];
  /** The same as JSON, serialized once because the list can be long. */
  toolsAsText(): string;
  /** Also finds unlisted tools: a host may have cached an older list, or know the names of an intake's own tools. */
  find(name: string): FoundTool | undefined;
  /** A tool's listed name, for a submission of this intake if given. Undefined if it isn't listed. */
  nameOf(suffix: Suffix, intakeId?: string): string | undefined;
  /** Whether the generic tool is listed. */
  lists(tool: Tool): boolean;
  /** The names of the listed tools that start a submission. */
  creates(): string[];
  /** The intake whose id is most likely meant by a misspelt one. */
  closestIntake(id: string): string | undefined;
  /** Whether this caller can only open submissions with a resume token. */
  needsToken: boolean;
}

export interface Catalog {
  /**
   * For calls, which are authorized separately, so a view that is a few seconds old will do. Throws for an unknown API
   * key.
   */
  viewOf(caller: Caller): Promise<CallerView>;
  /** For listing: throws `unauthorized` unless the API key is valid right now. */
  showTo(caller: Caller): Promise<CallerView>;
  forget(): void;
}

export interface CatalogOptions {
  operations: Operations;
  mode: ToolsMode;
  /** The lifetimes stated in tool descriptions. */
  policy: Policy;
  now?: () => number;
}

/** Caches what `tools/list` needs: views for a few seconds, tools until their definition changes. */
export function createCatalog({ operations, mode, policy, now = Date.now }: CatalogOptions): Catalog {
  const views = new Map<string, { at: number; view: Promise<CallerView> }>();
  const advertised = new Map<string, Advertised[]>();
  const texts = new Map<string, string>();

  function toolsOf({ digest, definition, retired }: OpenIntake, plan: ListPlan): Advertised[] {
    const key = `${digest} ${retired} ${keyOf(plan.audience)}`;
    const known = advertised.get(key);
    if (known !== undefined) return known;
    const tool = (suffix: Suffix): string => plan.nameOf(suffix, definition.id) ?? "";
    const made = intakeTools(plan.ofIntakes, definition, { policy, audience: plan.audience, tool });
    dropOldest(advertised, MAX_INTAKES);
    advertised.set(key, made);
    return made;
  }

  function list(open: readonly OpenIntake[], plan: ListPlan): Advertised[] {
    const own = plan.ofIntakes.length === 0 ? [] : open.flatMap((intake) => toolsOf(intake, plan));
    const taken = new Set(own.map(({ name }) => name));
    const tool = (suffix: Suffix): string => plan.nameOf(suffix) ?? "";
    const shared = genericTools(plan.shared, { audience: plan.audience, tool });
    return [...own, ...shared.filter(({ name }) => !taken.has(name))];
  }

  /** Callers that see the same intakes share the text, which may be megabytes. */
  function textOf(key: string, tools: CallerView["tools"]): string {
    const known = texts.get(key);
    if (known !== undefined) return known;
    const made = JSON.stringify(tools());
    dropOldest(texts, MAX_TEXTS);
    texts.set(key, made);
    return made;
  }

  async function look(caller: Caller): Promise<CallerView> {
    const { tenant, intakes, roles } = await operations.openIntakes({ caller });
    const open = intakes.filter(({ retired }) => !retired);
    const audience = audienceOf({ roles, hasSession: caller.session !== undefined });
    const plan = planOf(mode, open, audience);
    const byId = new Map(intakes.map((intake) => [intake.definition.id, intake]));
    let listed: readonly Advertised[] | undefined;
    const tools = () => {
      listed ??= list(open, plan);
      return listed;
    };
    const ofIntake = (name: string): FoundTool | undefined => {
      const read = readIntakeTool(name);
      const intake = read === undefined ? undefined : byId.get(read.intakeId);
      return read === undefined || intake === undefined ? undefined : { tool: read.tool, intake };
    };
    const ofAll = (name: string): FoundTool | undefined => {
      const tool = genericTool(name);
      return tool === undefined ? undefined : { tool };
    };
    return {
      tenant,
      intakes,
      tools,
      toolsAsText: () => textOf([keyOf(audience), ...open.map(({ digest }) => digest)].join(" "), tools),
      nameOf: plan.nameOf,
      lists: (tool) => plan.shared.includes(tool),
      creates: () => open.flatMap(({ definition }) => plan.nameOf("create", definition.id) ?? []),
      closestIntake: (id) =>
        closestNames(
          id,
          open.map(({ definition }) => definition.id),
        )[0],
      needsToken: audience.needsToken,
      // An intake's tool may have the same name as a generic one; the kind that is listed wins.
      find: (name) => (mode === "intake" ? (ofIntake(name) ?? ofAll(name)) : (ofAll(name) ?? ofIntake(name))),
    };
  }

  function viewOf(caller: Caller): Promise<CallerView> {
    const key = caller.apiKey === undefined ? String(caller.session !== undefined) : sha256(caller.apiKey);
    const known = views.get(key);
    if (known !== undefined && now() - known.at < VIEW_LIFE_MS) return known.view;
    const view = look(caller);
    views.delete(key);
    dropOldest(views, MAX_VIEWS);
    views.set(key, { at: now(), view });
    view.catch(() => {
      if (views.get(key)?.view === view) views.delete(key);
    });
    return view;
  }

  return {
    viewOf,
    async showTo(caller) {
      await operations.checkCaller({ caller });
      return await viewOf(caller);
    },
    forget: () => views.clear(),
  };
}

/** What a list consists of: the tools of each intake, and the generic ones. */
interface ListPlan {
  audience: Audience;
  ofIntakes: readonly Tool[];
  shared: readonly Tool[];
  nameOf: CallerView["nameOf"];
}

function planOf(mode: ToolsMode, open: readonly OpenIntake[], audience: Audience): ListPlan {
  const usable = TOOLS.filter((tool) => isFor(tool, audience));
  const withSuffix = usable.filter(({ suffix }) => suffix !== undefined);
  const creates = usable.filter((tool) => tool === createTool);
  const hasCreates = mode === "auto" && creates.length > 0 && open.length > 0 && open.length <= MANY_INTAKES;
  const ofIntakes = mode === "intake" ? withSuffix : hasCreates ? creates : [];
  // With a create tool per intake, the tools already list the intakes; without any intake there is nothing to create or
  // read.
  const hasNone = mode === "auto" && open.length === 0;
  const without = hasCreates ? [createTool, listTool] : hasNone ? [createTool, getTool] : [];
  const shared = usable.filter((tool) => !without.includes(tool));
  const own = new Set(open.map(({ definition }) => definition.id));
  return {
    audience,
    ofIntakes,
    shared,
    nameOf(suffix, intakeId) {
      const tool = toolWith(suffix);
      if (tool === undefined) return undefined;
      if (intakeId !== undefined && own.has(intakeId) && ofIntakes.includes(tool))
        return intakeToolName(intakeId, suffix);
      return shared.includes(tool) ? tool.generic : undefined;
    },
  };
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const oldest = map.keys().next();
  if (map.size >= most && oldest.done !== true) map.delete(oldest.value);
}
