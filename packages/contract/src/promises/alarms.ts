import type { ContractPromise } from "./promise.ts";

export const ALARM_PROMISES: readonly ContractPromise[] = [
  { id: "ALARMS-TRIP", says: "Every alarm trips on its attack and not on its near miss." },
  { id: "ALARMS-ONCE", says: "An attack is one incident per cause and window, however many instances see it." },
  { id: "ALARMS-QUIET", says: "A week of ordinary traffic trips no alarm." },
  { id: "ALARMS-BOUNDED", says: "A flood of failed look-ups from many addresses takes bounded memory." },
  { id: "ALARMS-HANDLE", says: "Admins list, acknowledge and close the incidents of their tenant; nobody else does." },
  { id: "ALARMS-POLICY", says: "An intake decides which alarms its submissions have and what is done about them." },
  { id: "ALARMS-UNDO", says: "Closing an incident as a false positive lifts its block and restores a revoked token." },
  {
    id: "ALARMS-BLOCK",
    says: "Callers without an API key are refused from a blocked address, with the time when the block ends.",
  },
  { id: "ALARMS-SETTINGS", says: "A threshold that makes no sense stops the start, in words." },
];
