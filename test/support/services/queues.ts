import { service } from "./service.ts";

/** This test run's queue servers. Tests share them, each with its own names. */
export const rabbitmqUrl = async (): Promise<string> => (await service("rabbitmq")).url ?? "";
export const natsUrl = async (): Promise<string> => (await service("nats")).url ?? "";
