import { service } from "./service.ts";

/** The queue servers of this test run. Tests share them: each takes names of its own. */
export const rabbitmqUrl = async (): Promise<string> => (await service("rabbitmq")).url ?? "";
export const natsUrl = async (): Promise<string> => (await service("nats")).url ?? "";
