import type { Evidence } from "../artifacts.ts";
import type { Reading } from "../../idp/idp_client.ts";

/** A reading as it is kept: the HTTP status of a refusal is for collectors, the artifact has its reason and detail. */
export function evidenceOf<Value>(reading: Reading<Value>): Evidence<Value> {
  if (reading.state === "obtained") return { state: "obtained", value: reading.value };
  const { reason, detail, partial } = reading;
  return { state: "missing", reason, detail, partial };
}
