import { spawnSync } from "node:child_process";

/** `npm run test:nightly`: what takes too long for `npm test`. Each runs whatever came of the others; exit code 1 when any failed. */
const programs: readonly (readonly [environment: Readonly<Record<string, string>>, command: string])[] = [
  [{}, "npx vitest run --project nightly"],
  [{ NIGHTLY: "1", FUZZ_SEED: "random" }, "npx vitest run test/shared/history test/gateway/features/keeping/history"],
  [{ VERDICT_CASES: "all" }, "npx vitest run test/verdicts"],
  [{ FUZZ_ORGS: "10000" }, "npx vitest run test/fuzz/orgs.test.ts"],
  [{}, "node bench/soak/main.ts --minutes 5"],
];
const failed = programs.filter(([environment, command]) => {
  console.log(`\n> ${command}`);
  const [program = "", ...args] = command.split(" ");
  return spawnSync(program, args, { stdio: "inherit", env: { ...process.env, ...environment } }).status !== 0;
});
for (const [, command] of failed) console.error(`failed: ${command}`);
console.log(`${programs.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
