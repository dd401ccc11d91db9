import { missing, obtained, type JsonList } from "../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { IdpClient, IdpRequest, Reading } from "../../scanner/okta/idp_client.ts";

/** A provider that is a table: path to the list, object or refusal that it answers with. What it does not know is 404. */
export type Answers = Readonly<Record<string, JsonList | JsonObject | Reading<never>>>;

export function mapIdpClient(answers: Answers) {
  const requests: IdpRequest[] = [];
  return {
    /** In order. */
    requests: requests as readonly IdpRequest[],
    paths: (): readonly string[] => requests.map((request) => request.path),
    getObject: (request) => answer(request) as Promise<Reading<JsonObject>>,
    getList: (request) => answer(request) as Promise<Reading<JsonList>>,
  } satisfies IdpClient & Record<string, unknown>;

  async function answer(request: IdpRequest): Promise<Reading<unknown>> {
    requests.push(request);
    await Promise.resolve();
    const found = answers[request.path];
    if (found === undefined) return aRefusal(404, "E0000007");
    if (isReading(found)) return found;
    return obtained(isList(found) && request.keep !== undefined ? found.map(request.keep) : found);
  }
}

export function aRefusal(httpStatus: number, errorCode: string | null = null): Reading<never> {
  const reason = errorCode === "E0000006" ? "missing_role" : "provider_error";
  return { ...missing<never>(reason, `refused with ${httpStatus}`), refusal: { httpStatus, errorCode } };
}

function isList(answer: JsonList | JsonObject): answer is JsonList {
  return Array.isArray(answer);
}

function isReading(value: JsonList | JsonObject | Reading<never>): value is Reading<never> {
  return "state" in value && (value.state === "obtained" || value.state === "missing");
}
