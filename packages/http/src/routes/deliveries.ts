import {
  ChangeDestinationRequest,
  ChangeDestinationResponse,
  ListDeliveriesQuery,
  ListDeliveriesResponse,
  RetryDeliveriesRequest,
  RetryDeliveriesResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { BY_KEY, WRITES_BY_KEY, writeCall } from "./shared.ts";

export const deliveryRoutes: Route[] = [
  {
    method: "GET",
    path: "/deliveries",
    id: "listDeliveries",
    summary: "List deliveries with their attempts, newest submission first",
    query: ListDeliveriesQuery,
    response: ListDeliveriesResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listDeliveries({ caller, query }),
  },
  {
    method: "POST",
    path: "/deliveries/retry",
    id: "retryDeliveries",
    summary: "Restart all deliveries that match",
    body: RetryDeliveriesRequest,
    response: RetryDeliveriesResponse,
    ...BY_KEY,
    call: (operations, { caller, body }) =>
      operations.retryDeliveries({ caller, request: body as RetryDeliveriesRequest }),
  },
  {
    method: "PATCH",
    path: "/submissions/:ref/destination",
    id: "changeDestination",
    summary: "Send one submission to another destination",
    body: ChangeDestinationRequest,
    response: ChangeDestinationResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => {
      const { destination } = request.body as ChangeDestinationRequest;
      return operations.changeDestination({ ...writeCall(request), destination });
    },
  },
];
