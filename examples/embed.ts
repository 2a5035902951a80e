/** A program that embeds FormBridge: orders that people and agents fill in arrive as calls of a function. */
import { readFileSync } from "node:fs";
import { createFormBridge, type FormBridge } from "@formbridge/server";

const order = JSON.parse(readFileSync(new URL("./destinations/callback.json", import.meta.url), "utf8"));

export interface Order {
  item: string;
  amount?: number;
}

/** `save` returns when the order is stored. It may be called twice with the same id; the second call should do nothing. */
export const startOrders = (
  settings: Record<string, string | undefined>,
  save: (id: string, order: Order) => Promise<void>,
): Promise<FormBridge> =>
  createFormBridge({
    settings,
    intakes: [order],
    callbacks: {
      saveOrder: ({ deliveryId, body }) => save(deliveryId, JSON.parse(body).data.fields),
    },
  });
