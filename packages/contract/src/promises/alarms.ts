import type { ContractPromise } from "./promise.ts";

export const ALARM_PROMISES: readonly ContractPromise[] = [
  { id: "ALARMS-TRIP", says: "Every alarm is raised by its attack, and not by similar harmless traffic." },
  { id: "ALARMS-ONCE", says: "An attack is one incident per cause and time window, however many instances see it." },
  { id: "ALARMS-QUIET", says: "A week of ordinary traffic raises no alarm." },
  { id: "ALARMS-BOUNDED", says: "A flood of failed lookups from many addresses uses bounded memory." },
  { id: "ALARMS-HANDLE", says: "Only admins list, acknowledge and close the incidents of their tenant." },
  { id: "ALARMS-POLICY", says: "An intake decides which alarms its submissions have and what is done about them." },
  { id: "ALARMS-UNDO", says: "Closing an incident as a false positive lifts its block and restores a revoked token." },
  {
    id: "ALARMS-BLOCK",
    says: "Callers without an API key are refused from a blocked address, with the time when the block ends.",
  },
  { id: "ALARMS-SETTINGS", says: "An invalid threshold stops the start with an explanation." },
];
