import { type Caller, type OpenIntake, type Operations, sha256 } from "@formbridge/core";
import { type Advertised, genericTools, intakeTools } from "./tools/advertise.ts";
import { genericTool, readIntakeTool, TOOLS } from "./tools/table.ts";
import type { Tool } from "./tools/tool.ts";

/** Which tools are listed: one set for each intake, one for all of them, or what suits their number. */
export type ToolsMode = "auto" | "intake" | "generic";

/** The most intakes that get tools of their own by themselves: more would crowd a model's context. */
const MANY_INTAKES = 12;
/** Hints of changes may get lost; a view that is older than this is looked up anew. */
const VIEW_LIFE_MS = 5_000;
const MAX_VIEWS = 1_000;
const MAX_INTAKES = 2_000;
const MAX_TEXTS = 20;

export interface FoundTool {
  tool: Tool;
  /** Absent: the tool is for all intakes. */
  intake?: OpenIntake;
}

/** What one caller sees: its intakes, and the tools made of them. */
export interface CallerView {
  tenant: string;
  intakes: readonly OpenIntake[];
  /** As listed; made with the first look. */
  tools(): readonly Advertised[];
  /** The same as JSON: a long list is written once, not with every request. */
  toolsAsText(): string;
  /** Also finds what is not listed: a host may know the tools of yesterday. */
  find(name: string): FoundTool | undefined;
}

export interface Catalog {
  /** For a call, which is checked itself: a view of a few seconds ago will do. Throws for a key that never was good. */
  viewOf(caller: Caller): Promise<CallerView>;
  /** For showing it: only to a caller whose key is good at this moment; any other is `unauthorized`. */
  showTo(caller: Caller): Promise<CallerView>;
  forget(): void;
}

export interface CatalogOptions {
  operations: Operations;
  mode: ToolsMode;
  tokenTtlMs: number;
  now?: () => number;
}

/** Keeps what `tools/list` needs: views for a few seconds, tools for as long as their definition is the same. */
export function createCatalog({ operations, mode, tokenTtlMs, now = Date.now }: CatalogOptions): Catalog {
  const views = new Map<string, { at: number; view: Promise<CallerView> }>();
  const advertised = new Map<string, Advertised[]>();
  const texts = new Map<string, string>();
  const generic = genericTools(TOOLS, { tokenTtlMs });

  function toolsOf({ digest, definition, retired }: OpenIntake): Advertised[] {
    const key = retired ? `${digest} retired` : digest;
    const known = advertised.get(key);
    if (known !== undefined) return known;
    const made = intakeTools(TOOLS, definition, { tokenTtlMs });
    dropOldest(advertised, MAX_INTAKES);
    advertised.set(key, made);
    return made;
  }

  /** Who sees the same intakes shares the text: it may be megabytes. */
  function textOf(key: string, tools: CallerView["tools"]): string {
    const known = texts.get(key);
    if (known !== undefined) return known;
    const made = JSON.stringify(tools());
    dropOldest(texts, MAX_TEXTS);
    texts.set(key, made);
    return made;
  }

  async function look(caller: Caller): Promise<CallerView> {
    const { tenant, intakes } = await operations.openIntakes({ caller });
    const open = intakes.filter(({ retired }) => !retired);
    const perIntake = mode === "intake" || (mode === "auto" && open.length > 0 && open.length <= MANY_INTAKES);
    const byId = new Map(intakes.map((intake) => [intake.definition.id, intake]));
    let listed: readonly Advertised[] | undefined;
    const tools = () => {
      listed ??= perIntake ? open.flatMap(toolsOf) : generic;
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
      toolsAsText: () => textOf(perIntake ? open.map(({ digest }) => digest).join(" ") : "generic", tools),
      // An intake may be called so that its tool has a generic one's name: the kind that is listed comes first.
      find: (name) => (perIntake ? (ofIntake(name) ?? ofAll(name)) : (ofAll(name) ?? ofIntake(name))),
    };
  }

  function viewOf(caller: Caller): Promise<CallerView> {
    const key = caller.apiKey === undefined ? "" : sha256(caller.apiKey);
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

function dropOldest(map: Map<string, unknown>, most: number): void {
  const oldest = map.keys().next();
  if (map.size >= most && oldest.done !== true) map.delete(oldest.value);
}
