import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  type Panel,
  RowBuilder,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimeseriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

/** The Prometheus that the viewer chose at the top of the board. */
const SOURCE = { type: "prometheus", uid: "$source" };

interface Shown {
  title: string;
  /** What the number means, shown behind the panel's question mark. */
  about: string;
  /** PromQL by legend; a single number needs no legend. */
  show: string | Record<string, string>;
  /** A unit of Grafana's: s, ms, percentunit, short. */
  unit?: string;
}

const queriesOf = (show: Shown["show"]): DataqueryBuilder[] =>
  Object.entries(typeof show === "string" ? { "": show } : show).map(([legend, expr], index) =>
    new DataqueryBuilder()
      .expr(expr)
      .refId(String.fromCharCode(65 + index))
      .legendFormat(legend),
  );

/** One number. */
export const stat = ({ title, about, show, unit = "short" }: Shown): Builder<Panel> =>
  new StatBuilder()
    .title(title)
    .description(about)
    .datasource(SOURCE)
    .unit(unit)
    .span(6)
    .height(4)
    .noValue("0")
    .targets(queriesOf(show));

/** Values over time. */
export const graph = ({ title, about, show, unit = "short" }: Shown): Builder<Panel> =>
  new TimeseriesBuilder()
    .title(title)
    .description(about)
    .datasource(SOURCE)
    .unit(unit)
    .min(0)
    .span(12)
    .height(8)
    .targets(queriesOf(show));

export interface Board {
  uid: string;
  title: string;
  about: string;
  rows: Record<string, Builder<Panel>[]>;
}

export function build({ uid, title, about, rows }: Board): string {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(about)
    .tags(["formbridge"])
    .refresh("1m")
    .time({ from: "now-24h", to: "now" })
    .timezone("browser")
    .withVariable(new DatasourceVariableBuilder("source").label("Prometheus").type("prometheus"));
  for (const [name, panels] of Object.entries(rows)) {
    board.withRow(new RowBuilder(name));
    for (const panel of panels) board.withPanel(panel);
  }
  return `${JSON.stringify(board.build(), null, 2)}\n`;
}
