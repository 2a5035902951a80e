import { expect } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { AGENT, history, record } from "../support/submissions.ts";
import type { Action, ActionArguments, Answer, Driver } from "./driver.ts";
import { createNames } from "./same.ts";

/** A line of a scene's transcript: what was done, and the outcome. */
export type Line = Record<string, unknown>;

/** Where a scene is played: a server, an agent that reaches it in some way, and a manual clock. */
export interface Stage {
  server: TestServer;
  intakeId: string;
  /** The agent acts, with any outcome. */
  act(action: Action, args: ActionArguments): Promise<Answer>;
  /** The agent acts and succeeds; returns the body. */
  does(action: Action, args: ActionArguments): Promise<Loose>;
  /** The agent acts and is refused with this error; returns the body. */
  isRefused(type: string, action: Action, args: ActionArguments): Promise<Loose>;
  /** The agent is restarted: it only has what it remembered. */
  comesBack(): Promise<void>;
  /** Adds everything that the store knows of a submission to the transcript. */
  lookInto(submissionId: string): Promise<void>;
}

export interface Scene {
  name: string;
  intakeId: string;
  play(stage: Stage): Promise<void>;
}

/** Reads need no actor. */
const READS: readonly Action[] = ["status", "events"];

export interface Play {
  server: TestServer;
  connect(): Promise<Driver>;
}

/** Plays a scene and returns its transcript, in which ids and tokens have names that are the same in every run. */
export async function play({ server, connect }: Play, scene: Scene): Promise<Line[]> {
  const { intakeId } = scene;
  const names = createNames(server.clock.now());
  const lines: Line[] = [];
  let driver = await connect();
  const act: Stage["act"] = async (action, args) => {
    const full = READS.includes(action) ? args : { actor: AGENT, ...args };
    const answer = await driver.call(intakeId, action, full);
    lines.push({ action, isError: answer.isError, replayed: answer.replayed, body: names.rename(answer.body) });
    return answer;
  };
  const stage: Stage = {
    server,
    intakeId,
    act,
    async does(action, args) {
      const { isError, body } = await act(action, args);
      if (isError || body.ok !== true) throw new Error(`${action} did not work: ${JSON.stringify(body)}`);
      return body;
    },
    async isRefused(type, action, args) {
      const { isError, body } = await act(action, args);
      expect({ isError, ok: body.ok, type: body.error?.type }, action).toEqual({ isError: true, ok: false, type });
      return body;
    },
    async comesBack() {
      await driver.close();
      driver = await connect();
    },
    async lookInto(submissionId) {
      const events = (await history(server, submissionId)).map((event) => names.rename(event));
      lines.push({ record: names.rename(await record(server, submissionId)), events });
    },
  };
  try {
    await scene.play(stage);
  } finally {
    await driver.close();
  }
  return lines;
}
