import {
  AcknowledgeIncidentRequest,
  CloseIncidentRequest,
  CreateBlockRequest,
  CreateBlockResponse,
  IncidentResponse,
  ListBlocksQuery,
  ListBlocksResponse,
  ListIncidentsQuery,
  ListIncidentsResponse,
  RemoveBlockResponse,
} from "@formbridge/contract";
import type { Parsed, Route } from "../route.ts";
import { BY_KEY, param } from "./shared.ts";

const oneOf = (request: Parsed) => ({ caller: request.caller, incidentId: param(request, "incidentId") });

export const incidentRoutes: Route[] = [
  {
    method: "GET",
    path: "/incidents",
    id: "listIncidents",
    summary: "List security incidents, newest first",
    query: ListIncidentsQuery,
    response: ListIncidentsResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listIncidents({ caller, query }),
  },
  {
    method: "POST",
    path: "/incidents/:incidentId/acknowledge",
    id: "acknowledgeIncident",
    summary: "Acknowledge an incident: somebody is looking at it",
    body: AcknowledgeIncidentRequest,
    response: IncidentResponse,
    ...BY_KEY,
    call: (operations, request) =>
      operations.acknowledgeIncident({ ...oneOf(request), request: request.body as CloseIncidentRequest }),
  },
  {
    method: "POST",
    path: "/incidents/:incidentId/close",
    id: "closeIncident",
    summary: "Close an incident; as a false positive, also undo what the server did about it",
    body: CloseIncidentRequest,
    response: IncidentResponse,
    ...BY_KEY,
    call: (operations, request) =>
      operations.closeIncident({ ...oneOf(request), request: request.body as CloseIncidentRequest }),
  },
  {
    method: "GET",
    path: "/blocks",
    id: "listBlocks",
    summary: "List addresses that are blocked now",
    query: ListBlocksQuery,
    response: ListBlocksResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listBlocks({ caller, query }),
  },
  {
    method: "POST",
    path: "/blocks",
    id: "createBlock",
    summary: "Block an address until a given time",
    body: CreateBlockRequest,
    response: CreateBlockResponse,
    creates: true,
    ...BY_KEY,
    call: (operations, { caller, body }) =>
      operations.createBlock({ caller, request: body as unknown as CreateBlockRequest }),
  },
  {
    method: "DELETE",
    path: "/blocks/:blockId",
    id: "removeBlock",
    summary: "Lift a block",
    response: RemoveBlockResponse,
    ...BY_KEY,
    call: (operations, request) =>
      operations.removeBlock({ caller: request.caller, blockId: param(request, "blockId") }),
  },
];
