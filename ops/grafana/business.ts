import { type Board, graph, stat } from "./panels.ts";

const average = (histogram: string): string =>
  `sum(increase(${histogram}_sum[$__range])) / sum(increase(${histogram}_count[$__range]))`;
const SUBMITTED = "formbridge_submission_created_to_submitted_duration_seconds";
const single = (kind: string): string =>
  `sum(increase(formbridge_submission_single_actor_count_total{kind="${kind}"}[$__range]))`;

/** How well the forms work for those who fill them in. */
export const business: Board = {
  uid: "formbridge-business",
  title: "FormBridge: Business",
  about: "Who fills the forms in, how long it takes, and where people give up.",
  rows: {
    Submissions: [
      stat({
        title: "Operations per submission",
        about: "Writes per submission until it was submitted, on average.",
        show: average("formbridge_submission_operations_per_submission"),
      }),
      stat({
        title: "Time to submit",
        about: "From creation to submit, on average.",
        unit: "s",
        show: average(SUBMITTED),
      }),
      stat({
        title: "Completion rate",
        about: "Submitted as a share of those that were submitted or given up.",
        unit: "percentunit",
        show: `sum(increase(${SUBMITTED}_count[$__range])) / (sum(increase(${SUBMITTED}_count[$__range])) + (sum(increase(formbridge_submission_abandoned_count_total[$__range])) or vector(0)))`,
      }),
    ],
    "Who fills them in": [
      stat({ title: "Agents alone", about: "Submissions that only agents wrote.", show: single("agent") }),
      stat({ title: "People alone", about: "Submissions that only people wrote.", show: single("human") }),
      stat({
        title: "Together",
        about: "Submissions that agents and people wrote.",
        show: "sum(increase(formbridge_submission_multi_actor_count_total[$__range]))",
      }),
    ],
    "Given up": [
      stat({
        title: "Abandoned",
        about: "Submissions that expired before they were submitted.",
        show: "sum(increase(formbridge_submission_abandoned_count_total[$__range]))",
      }),
      graph({
        title: "Where they stopped",
        about: "The first field that was missing, the ten most frequent.",
        show: {
          "{{step}}": "topk(10, sum by (step) (increase(formbridge_submission_abandoned_count_total[$__range])))",
        },
      }),
      graph({
        title: "By intake",
        about: "Submits a second.",
        show: { "{{intake_id}}": `sum by (intake_id) (rate(${SUBMITTED}_count[$__rate_interval]))` },
      }),
    ],
  },
};
