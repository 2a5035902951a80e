import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { putIntakes } from "./intakes.ts";
import { inCommon } from "./same.ts";
import { endScenes } from "./scenes/ends.ts";
import { fillingScenes } from "./scenes/filling.ts";
import { togetherScenes } from "./scenes/together.ts";
import { type Line, play, type Scene } from "./stage.ts";
import { type AgentsWay, overHttp, overMcp } from "./ways.ts";

const SCENES = [...fillingScenes, ...togetherScenes, ...endScenes];
const [WHOLE_STORY] = togetherScenes.filter(({ name }) => name.startsWith("an agent hands over"));

async function open({ env }: AgentsWay): Promise<TestServer> {
  const server = await startTestServer({ env });
  await putIntakes(server);
  return server;
}

const playOn = (server: TestServer, way: AgentsWay, scene: Scene): Promise<Line[]> =>
  play({ server, connect: () => way.connect(server) }, scene);

/** What each scene results in over HTTP: all other ways are compared with it. */
const measure = new Map<string, Line[]>();
beforeAll(async () => {
  const server = await open(overHttp);
  try {
    for (const scene of SCENES) measure.set(scene.name, await playOn(server, overHttp, scene));
  } finally {
    await server.stop();
  }
});

describe.each(overMcp)("[MCP-SAME] $name", (way) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await open(way);
  });
  afterAll(() => server.stop());

  it.each(way.isSlow ? [WHOLE_STORY as Scene] : SCENES)("$name", async (scene) => {
    const lines = await playOn(server, way, scene);
    expect(lines.map(inCommon)).toEqual(measure.get(scene.name)?.map(inCommon));
  });
});
