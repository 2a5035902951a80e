import {
  IntakeDefinitionSchema,
  IntakeResponse,
  IntakeSchemaResponse,
  ListIntakesQuery,
  ListIntakesResponse,
  RetireIntakeResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { ADMIN_ERRORS, param } from "./shared.ts";

export const intakeRoutes: Route[] = [
  {
    method: "GET",
    path: "/intakes",
    id: "listIntakes",
    summary: "List intakes; without a key, the public ones",
    query: ListIntakesQuery,
    response: ListIntakesResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listIntakes({ caller, query }),
  },
  {
    method: "GET",
    path: "/intakes/:intakeId",
    id: "getIntake",
    summary: "Read an intake's definition, without its secrets",
    response: IntakeResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, request) =>
      operations.getIntake({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
  {
    method: "GET",
    path: "/forms/:intakeId",
    id: "openForm",
    isLink: true,
    summary: "The form of a public intake, for a browser; other clients get the definition",
    page: "form",
    response: IntakeResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, request) =>
      operations.getIntake({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
  {
    method: "GET",
    path: "/intakes/:intakeId/schema",
    id: "getIntakeSchema",
    summary: "Read an intake's JSON Schema",
    response: IntakeSchemaResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, request) =>
      operations.getIntakeSchema({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
  {
    method: "PUT",
    path: "/intakes/:intakeId",
    id: "putIntake",
    summary: "Register an intake, or a new version of it",
    body: IntakeDefinitionSchema,
    checksItself: true,
    response: IntakeResponse,
    creates: true,
    opensWith: "key",
    errors: [...ADMIN_ERRORS, "conflict", "invalid"],
    call: (operations, request) =>
      operations.putIntake({
        caller: request.caller,
        intakeId: param(request, "intakeId"),
        definition: request.body,
      }),
  },
  {
    method: "DELETE",
    path: "/intakes/:intakeId",
    id: "retireIntake",
    summary: "Retire an intake: no new submissions, existing ones continue",
    response: RetireIntakeResponse,
    opensWith: "key",
    errors: [...ADMIN_ERRORS, "conflict"],
    call: (operations, request) =>
      operations.retireIntake({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
];
