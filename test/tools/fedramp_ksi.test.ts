import { expect, it } from "vitest";
import mapping from "../../scanner/catalog/fedramp_ksi.json" with { type: "json" };
import { ksiMapping } from "../../tools/fedramp_ksi.ts";

it("maps an indicator by the controls that the STIG names, enhancements exact", () => {
  const { source, version } = mapping;
  const ksi = {
    "KSI-A": { name: "Touched", controls: ["ia-2", "ia-2.1", "zz-9"] },
    "KSI-B": { name: "Not touched", controls: ["ia-2.99", "zz-9"] },
  };
  expect(ksiMapping({ source, version, ksi })).toEqual({
    source,
    version,
    total: 2,
    indicators: { "KSI-A": { name: "Touched", controls: ["ia-2.1"] } },
  });
});

it("is made by the tool from FedRAMP's rules: 13 of 46 indicators, each as the tool writes it", () => {
  expect(Object.keys(mapping.indicators)).toHaveLength(13);
  expect(mapping.total).toBe(46);
  expect(ksiMapping({ ...mapping, ksi: mapping.indicators }).indicators).toEqual(mapping.indicators);
});
