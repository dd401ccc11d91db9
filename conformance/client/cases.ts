import type { ConformanceCase } from "./case.ts";
import { endingCases } from "./ending_cases.ts";
import { livenessCases } from "./liveness_cases.ts";
import { readingCases } from "./reading_cases.ts";
import { reconnectingCases } from "./reconnecting_cases.ts";
import { refusalCases } from "./refusal_cases.ts";

export const conformanceCases: readonly ConformanceCase[] = [
  ...readingCases,
  ...endingCases,
  ...refusalCases,
  ...reconnectingCases,
  ...livenessCases,
];
