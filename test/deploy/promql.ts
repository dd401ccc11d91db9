import { parser } from "@prometheus-io/lezer-promql";

/** What a query of Prometheus names. */
export interface PromqlNames {
  readonly metrics: readonly string[];
  /** Of selectors, with the value where it is matched exactly; and of `by` and `without`. */
  readonly labels: readonly { readonly metric: string | null; readonly name: string; readonly value: string | null }[];
}

/** Prometheus' own grammar. Throws `SyntaxError`. */
export function parsePromql(query: string): PromqlNames {
  const tree = parser.parse(query);
  const metrics: string[] = [];
  const labels: PromqlNames["labels"][number][] = [];
  const text = (node: { readonly from: number; readonly to: number }) => query.slice(node.from, node.to);
  tree.iterate({
    enter(node) {
      if (node.type.isError) throw new SyntaxError(`Cannot parse ${query}: at ${node.from}`);
      if (node.name === "VectorSelector") {
        const metric = node.node.getChild("Identifier");
        if (metric === null) throw new SyntaxError(`Cannot parse ${query}: a selector without a metric's name`);
        metrics.push(text(metric));
        const matchers = node.node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
        for (const matcher of matchers) {
          const [name, operator, value] = /^(\w+)\s*(=~|!=|!~|=)\s*"(.*)"$/.exec(text(matcher))?.slice(1) ?? [];
          labels.push({ metric: text(metric), name: name ?? "", value: operator === "=" ? (value ?? null) : null });
        }
      }
      if (node.name === "GroupingLabels") {
        for (const label of node.node.getChildren("LabelName")) {
          labels.push({ metric: null, name: text(label), value: null });
        }
      }
    },
  });
  return { metrics, labels };
}
